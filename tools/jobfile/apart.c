// Blocks whose members are not simply what is written.
#include "tools/jobfile/apart.h"
#include <string.h>
#include <strings.h>

// Shorthands of an operator: its name is the attribute, and its text what is compared with; the last one counts.
static const char *const constraint_shorthands[] = {
	"version", "semver", "regexp", "set_contains", NULL};
static const char *const affinity_shorthands[] = {"version", "semver", "regexp", "set_contains_any",
	"set_contains_all", "set_contains", NULL};

// A text that is not empty; NULL: there is none.
static json_t *given_text(struct decoder *d, const struct job_body *body, const char *name)
{
	const struct hcl2_attribute *attribute = body_attribute(body->body, name);
	json_t *text = attribute ? decode_text(d, body, attribute->expression, true) : NULL;
	if (text && json_string_length(text) > 0)
		return text;
	json_decref(text);
	return NULL;
}

static void put_text(struct decoder *d, const struct job_body *body, const char *name, json_t *to,
	const char *member)
{
	json_t *text = given_text(d, body, name);
	json_object_set_new(to, member, text ? text : json_string(""));
}

static json_t *read_comparison(
	struct decoder *d, const struct job_body *body, const char *const *shorthands)
{
	json_t *object = json_object();
	put_text(d, body, "attribute", object, "LTarget");
	put_text(d, body, "value", object, "RTarget");
	put_text(d, body, "operator", object, "Operand");
	for (; *shorthands; shorthands++) {
		json_t *text = given_text(d, body, *shorthands);
		if (!text)
			continue;
		json_object_set_new(object, "Operand", json_string(*shorthands));
		json_object_set_new(object, "RTarget", text);
	}
	return object;
}

static void finish_operand(json_t *object)
{
	if (json_string_length(json_object_get(object, "Operand")) == 0)
		json_object_set_new(object, "Operand", json_string("="));
}

static void read_distinct(struct decoder *d, const struct job_body *body, json_t *object)
{
	const struct hcl2_attribute *hosts = body_attribute(body->body, "distinct_hosts");
	json_t *property = given_text(d, body, "distinct_property");
	const char *problem;
	const struct hcl2_value *value =
		hosts ? hcl2_evaluate(d->run, body->scope, hosts->expression) : NULL;
	if (value) {
		value = hcl2_convert(d->run, value, &hcl2_bool_type, &problem);
		if (!value)
			hcl2_mistake(d->run, hcl2_range(hosts->expression), "Unsuitable value: %s.",
				problem);
	}
	if (value && !value->is_null) {
		json_object_set_new(object, "Operand", json_string("distinct_hosts"));
		json_object_set_new(
			object, "RTarget", json_string(value->boolean ? "true" : "false"));
	}
	if (property) {
		json_object_set_new(object, "Operand", json_string("distinct_property"));
		json_object_set_new(object, "LTarget", property);
	}
}

json_t *read_constraint(struct decoder *d, const struct job_body *body)
{
	static const char *const attributes[] = {"attribute", "value", "operator", "version",
		"semver", "regexp", "set_contains", "set_contains_all", "set_contains_any",
		"distinct_property", "distinct_hosts", "is_set", "is_not_set", NULL};
	struct body_rules rules = {.attributes = attributes};
	body_blocks(d, &rules, body);
	json_t *object = read_comparison(d, body, constraint_shorthands);
	read_distinct(d, body, object);
	finish_operand(object);
	return object;
}

json_t *read_affinity(struct decoder *d, const struct job_body *body)
{
	static const char *const attributes[] = {"attribute", "value", "operator", "weight",
		"version", "semver", "regexp", "set_contains", "set_contains_all",
		"set_contains_any", NULL};
	struct body_rules rules = {.attributes = attributes};
	const struct hcl2_attribute *weight = body_attribute(body->body, "weight");
	const char *problem;
	int64_t number;
	body_blocks(d, &rules, body);
	json_t *object = read_comparison(d, body, affinity_shorthands);
	json_object_set_new(object, "Weight", json_null());
	finish_operand(object);
	const struct hcl2_value *value =
		weight ? hcl2_evaluate(d->run, body->scope, weight->expression) : NULL;
	if (!value)
		return object;
	value = hcl2_convert(d->run, value, &hcl2_number_type, &problem);
	if (!value)
		hcl2_mistake(
			d->run, hcl2_range(weight->expression), "Unsuitable value: %s.", problem);
	else if (!value->is_null)
		json_object_set_new(object, "Weight",
			json_integer(
				(int8_t)(hcl2_number_is_int(value, INT64_MIN, INT64_MAX, &number)
						 ? number
						 : (int64_t)hcl2_number_double(value))));
	return object;
}

json_t *read_task_scaling(struct decoder *d, const struct job_body *body)
{
	return decode_body(d, &scaling_schema, body);
}

// The name of a task's policy is what it scales: "cpu" or "mem", in letters of any size, and each once.
void name_task_scaling(
	struct decoder *d, const struct job_block *block, json_t *policy, const json_t *others)
{
	const char *label = hcl2_copy(d->run, block->labels[0]).data;
	const char *type = strcasecmp(label, "cpu") == 0   ? "vertical_cpu"
			   : strcasecmp(label, "mem") == 0 ? "vertical_mem"
							   : NULL;
	const char *written = json_string_value(json_object_get(policy, "Type"));
	json_t *other;
	size_t i;
	if (!type) {
		hcl2_mistake(d->run, block->label_places[0],
			"A task's scaling policy is named \"cpu\" or \"mem\".");
		return;
	}
	json_array_foreach((json_t *)others, i,
		other) if (strcmp(json_string_value(json_object_get(other, "Type")), type) == 0)
		hcl2_mistake(d->run, block->header, "There may be only one scaling policy \"%s\".",
			label);
	if (written && *written && strcmp(written, type) != 0)
		hcl2_mistake(
			d->run, block->header, "A policy of this name has the type \"%s\".", type);
	json_object_set_new(policy, "Type", json_string(type));
}

void finish_periodic(struct decoder *d, const struct job_body *body, json_t *periodic)
{
	if (!json_is_absent(json_object_get(periodic, "Spec")) ||
		!json_is_absent(json_object_get(periodic, "Specs")))
		json_object_set_new(periodic, "SpecType", json_string("cron"));
}

// Ports with a number of their own are reserved, the others are dynamic.
void finish_network(struct decoder *d, const struct job_body *body, json_t *network)
{
	json_t *ports = json_object_get(network, "DynamicPorts"), *port;
	json_t *dynamic = json_array(), *reserved = json_array();
	size_t i;
	if (json_array_size(ports) > 0) {
		json_array_foreach(ports, i, port) json_array_append(
			json_integer_value(json_object_get(port, "Value")) > 0 ? reserved : dynamic,
			port);
		json_object_set(
			network, "DynamicPorts", json_array_size(dynamic) ? dynamic : json_null());
		json_object_set(network, "ReservedPorts",
			json_array_size(reserved) ? reserved : json_null());
	}
	json_decref(dynamic);
	json_decref(reserved);
}

static void fill_members(
	const struct block_schema *schema, json_t *object, const char *const *names)
{
	for (; *names; names++)
		member_fill(schema_member(schema, *names, (uint32_t)strlen(*names)), object);
}

void finish_template(struct decoder *d, const struct job_body *body, json_t *template)
{
	static const char *const filled[] = {
		"change_mode", "perms", "splay", "error_on_missing_key", NULL};
	fill_members(&template_schema, template, filled);
}

void finish_change_script(struct decoder *d, const struct job_body *body, json_t *script)
{
	if (json_is_absent(json_object_get(script, "Args")))
		json_object_set_new(script, "Args", json_array());
	if (json_is_absent(json_object_get(script, "Timeout")))
		json_object_set_new(script, "Timeout", json_integer(5000000000));
	if (json_is_absent(json_object_get(script, "FailOnError")))
		json_object_set_new(script, "FailOnError", json_false());
}

void finish_vault(struct decoder *d, const struct job_body *body, json_t *vault)
{
	static const char *const filled[] = {"env", "disable_file", "change_mode", NULL};
	fill_members(&vault_schema, vault, filled);
}

// Tasks without a vault block have the one of what they are in.
static void hand_down_vault(json_t *tasks, json_t *vault)
{
	json_t *task;
	size_t i;
	json_array_foreach(tasks, i,
		task) if (!json_is_absent(vault) && json_is_absent(json_object_get(task, "Vault")))
		json_object_set_new(task, "Vault", json_deep_copy(vault));
}

static void finish_scaling(struct decoder *d, const struct job_body *body, json_t *group)
{
	json_t *scaling = json_object_get(group, "Scaling");
	if (json_is_absent(scaling))
		return;
	if (json_string_length(json_object_get(scaling, "Type")) == 0)
		json_object_set_new(scaling, "Type", json_string("horizontal"));
	struct body_rules rules = {.schema = &group_schema};
	struct decoder quiet = *d;
	uint32_t before = d->run->mistake_count;
	struct job_block *block = body_blocks(&quiet, &rules, body);
	d->run->mistake_count = before;
	while (block && !text_equal(block->type, TEXT("scaling")))
		block = block->next;
	if (!block)
		return;
	const struct hcl2_attribute *type = body_attribute(block->body.body, "type");
	if (!body_attribute(block->body.body, "max"))
		hcl2_mistake(
			d->run, block->body.body->end, "The argument \"max\" is required here.");
	if (type && strcmp(json_string_value(json_object_get(scaling, "Type")), "horizontal") != 0)
		hcl2_mistake(d->run, hcl2_range(type->expression),
			"A group is scaled horizontally only.");
}

void finish_group(struct decoder *d, const struct job_body *body, json_t *group)
{
	json_t *vaults = json_object_get(group, "Vault");
	hand_down_vault(json_object_get(group, "Tasks"),
		json_array_get(vaults, json_array_size(vaults) - 1));
	json_object_del(group, "Vault");
	finish_scaling(d, body, group);
}

// Tasks of the job itself are groups of their own, before the others.
static void wrap_tasks(json_t *job)
{
	json_t *tasks = json_object_get(job, "Tasks"), *task;
	json_t *groups = json_array();
	size_t i;
	json_array_foreach(tasks, i, task)
	{
		json_t *group = schema_empty(&group_schema);
		json_object_set(group, "Name", json_object_get(task, "Name"));
		json_object_set_new(group, "Tasks", json_pack("[O]", task));
		json_array_append_new(groups, group);
	}
	if (!json_is_absent(json_object_get(job, "TaskGroups")))
		json_array_extend(groups, json_object_get(job, "TaskGroups"));
	if (json_array_size(groups))
		json_object_set(job, "TaskGroups", groups);
	json_decref(groups);
	json_object_del(job, "Tasks");
}

void finish_job(struct decoder *d, const struct job_body *body, json_t *job)
{
	json_t *group;
	size_t i;
	wrap_tasks(job);
	json_array_foreach(json_object_get(job, "TaskGroups"), i, group)
		hand_down_vault(json_object_get(group, "Tasks"), json_object_get(job, "Vault"));
	json_object_del(job, "Vault");
}
