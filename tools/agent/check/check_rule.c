#include "tools/agent/check/check_rule.h"
#include "dataplane/wire/siphash.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/agent/script/script.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Where the checks of one service are read.
struct reading {
	struct check_rules *rules;
	const struct alloc_run *alloc;
	const struct alloc_place *place;
	uint32_t owner; // index of the task, or CHECK_OF_GROUP
	struct environment environment;
	const json_t *service;
};

static const char *keep_bytes(struct check_rules *rules, const char *bytes, size_t size)
{
	char *copy = arena_take(&rules->texts, size + 1);
	memcpy(copy, bytes, size);
	return copy;
}

// On one line, whatever is in it.
__attribute__((format(printf, 2, 3))) static const char *keep_format(
	struct check_rules *rules, const char *format, ...)
{
	va_list values, again;
	va_start(values, format);
	va_copy(again, values);
	size_t size = (size_t)vsnprintf(NULL, 0, format, values) + 1;
	char *text = arena_take(&rules->texts, size);
	vsnprintf(text, size, format, again);
	va_end(again);
	va_end(values);
	text_make_printable(text);
	return text;
}

// A text of the description, expanded. What cannot be expanded stays as it is.
static const char *expanded(const struct reading *r, const char *text)
{
	char *value = environment_expand(&r->environment, r->place->node, text);
	const char *kept = keep_bytes(r->rules, value ? value : text, strlen(value ? value : text));
	free(value);
	return kept;
}

static const char *expanded_member(const struct reading *r, const json_t *object, const char *key)
{
	return expanded(r, spec_text(object, key));
}

static int64_t duration_of(const json_t *object, const char *key, int64_t without)
{
	int64_t ns;
	const json_t *value = json_object_get(object, key);
	return value && spec_duration(value, &ns) ? ns : without;
}

static uint32_t count_of(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));
	return value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;
}

static uint32_t task_named(const struct alloc_run *a, const char *name)
{
	for (uint32_t i = 0; i < a->task_count; i++)
		if (strcmp(a->tasks[i].spec->name, name) == 0)
			return i;
	return CHECK_OF_GROUP;
}

static const char *node_address(const struct reading *r)
{
	const struct node_facts *node = r->place->node;
	for (uint32_t i = 0; i < node->pair_count; i++)
		if (node->pairs[i].kind == WIRE_PAIR_ATTRIBUTE &&
			text_equal(node->pairs[i].name, TEXT("unique.network.ip-address")))
			return keep_bytes(
				r->rules, node->pairs[i].value.data, node->pairs[i].value.size);
	return "127.0.0.1";
}

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 6;
}

// "host": where the node is reached; "alloc" and "driver": by the port within.
static bool is_within(const char *mode)
{
	return strcmp(mode, "alloc") == 0 || strcmp(mode, "driver") == 0;
}

// HOST:PORT that the check connects to; NULL: it has none, and rule->wrong says why.
static const char *place_of_check(
	const struct reading *r, const json_t *json, struct check_rule *rule)
{
	const char *label = expanded_member(r, json, "PortLabel");
	const char *mode = spec_text(json, "AddressMode");
	const char *address = expanded_member(r, r->service, "Address");
	label = *label ? label : expanded_member(r, r->service, "PortLabel");
	mode = *mode ? mode : spec_text(r->service, "AddressMode");
	const json_t *port = alloc_spec_port(r->alloc->spec,
		r->owner == CHECK_OF_GROUP ? NULL : r->alloc->tasks[r->owner].spec, label);
	json_int_t number = json_integer_value(json_object_get(port, "Value"));
	json_int_t to = json_integer_value(json_object_get(port, "To"));
	if (!port && !is_number(label)) {
		rule->wrong = *label ? keep_format(r->rules, "there is no port \"%.64s\"", label)
				     : "neither the check nor its service names a port";
		return NULL;
	}
	if (!port)
		number = strtol(label, NULL, 10);
	else if (is_within(mode) && to > 0)
		number = to;
	if (!*address)
		address = spec_text(port, "HostIP");
	if (!*address)
		address = node_address(r);
	return keep_format(r->rules, strchr(address, ':') ? "[%s]:%lld" : "%s:%lld", address,
		(long long)number);
}

// Each value of each header is a line of its own.
static const char *const *headers_of(const struct reading *r, const json_t *json)
{
	size_t count = 0, i;
	const char *name;
	json_t *values;
	const json_t *value, *headers = json_object_get(json, "Header");
	json_object_foreach((json_t *)headers, name, values) count += json_array_size(values);
	const char **lines = arena_take(&r->rules->texts, (count + 1) * sizeof lines[0]);
	count = 0;
	json_object_foreach((json_t *)headers, name, values)
	{
		json_array_foreach(values, i, value)
		{
			const char *text = json_string_value(value);
			lines[count++] = keep_format(
				r->rules, "%s: %s", name, expanded(r, text ? text : ""));
		}
	}
	return lines;
}

static void read_http(const struct reading *r, const json_t *json, struct check_rule *rule)
{
	const char *path = expanded_member(r, json, "Path");
	const char *protocol = spec_text(json, "Protocol");
	const char *method = expanded_member(r, json, "Method");
	bool is_tls = strcmp(protocol, "https") == 0;
	if (*protocol && !is_tls && strcmp(protocol, "http") != 0)
		rule->wrong = "the protocol of a http check is http or https";
	rule->url = keep_format(r->rules, "%s://%s%s%s", is_tls ? "https" : "http", rule->address,
		*path == '/' ? "" : "/", path);
	rule->method = *method ? method : "GET";
	rule->body = expanded_member(r, json, "Body");
	rule->headers = headers_of(r, json);
	rule->server_name = expanded_member(r, json, "TLSServerName");
	rule->skips_verification = json_is_true(json_object_get(json, "TLSSkipVerify"));
}

static void read_arguments(const struct reading *r, const json_t *json, struct check_rule *rule)
{
	const char *command = expanded_member(r, json, "Command");
	const json_t *list = json_object_get(json, "Args");
	size_t count = json_array_size(list) + 1;
	const char **arguments = arena_take(&r->rules->texts, (count + 1) * sizeof arguments[0]);
	for (size_t i = 0; i < count; i++) {
		const char *text = i ? json_string_value(json_array_get(list, i - 1)) : "";
		arguments[i] = i ? expanded(r, text ? text : "") : command;
	}
	rule->arguments = (char *const *)arguments;
	if (!*command)
		rule->wrong = "the check has no command";
}

// Its texts are expanded as those of the task are in which it runs.
static void read_script(const struct reading *r, const json_t *json, struct check_rule *rule)
{
	struct reading within = *r;
	const struct task *task = &r->alloc->tasks[rule->task == CHECK_OF_GROUP ? 0 : rule->task];
	struct task_folders on_node, folders;
	char message[300];
	alloc_run_task_folders(r->alloc, task, r->place->data_folder, &on_node);
	script_folders(task, &on_node, &folders);
	(void)environment_build(&within.environment, r->place->node, r->alloc->spec, task->spec,
		&folders, message, sizeof message);
	read_arguments(&within, json, rule);
	environment_free(&within.environment);
	rule->script_task = rule->task;
	const struct driver *driver =
		rule->task == CHECK_OF_GROUP ? NULL : r->alloc->tasks[rule->task].driver;
	if (rule->wrong)
		return;
	if (rule->task == CHECK_OF_GROUP)
		rule->wrong = "a script of a group's service needs \"task\": where it runs";
	else if (!script_may_run_in(driver))
		rule->wrong = keep_format(r->rules, "scripts do not run in tasks of the driver %s",
			driver ? driver->name : "");
}

static enum check_effect effect_of(const char *on_update)
{
	if (strcmp(on_update, "ignore") == 0)
		return CHECK_IS_IGNORED;
	return strcmp(on_update, "ignore_warnings") == 0 ? CHECK_MAY_WARN : CHECK_HAS_TO_PASS;
}

static enum check_status status_named(const char *name)
{
	static const char *const names[] = {"", "passing", "warning", "critical"};
	for (uint32_t i = CHECK_PASSING; i <= CHECK_CRITICAL; i++)
		if (strcmp(name, names[i]) == 0)
			return (enum check_status)i;
	return CHECK_PENDING;
}

static void name_check(const struct reading *r, const json_t *json, struct check_rule *rule)
{
	static const struct wire_key none;
	char text[600], id[UUID_TEXT_BYTES];
	uint8_t tag[16];
	rule->service = expanded_member(r, r->service, "Name");
	rule->name = expanded_member(r, json, "Name");
	if (!*rule->name)
		rule->name = keep_format(r->rules, "service: \"%s\" check", rule->service);
	// Its number tells it from others that are named alike.
	snprintf(text, sizeof text, "%s %u %u %.200s %.200s", uuid_format(&r->alloc->id, id),
		r->owner, r->rules->count, rule->service, rule->name);
	siphash128(&none, (const uint8_t *)text, (uint32_t)strlen(text), tag);
	for (uint32_t i = 0; i < sizeof tag; i++)
		snprintf(rule->id + 2 * i, 3, "%02x", tag[i]);
}

static void read_kind(const struct reading *r, const json_t *json, struct check_rule *rule)
{
	const char *type = spec_text(json, "Type");
	if (strcmp(type, "script") == 0) {
		rule->type = CHECK_SCRIPT;
		read_script(r, json, rule);
		return;
	}
	rule->type = strcmp(type, "http") == 0 ? CHECK_HTTP : CHECK_TCP;
	if (rule->type == CHECK_TCP && strcmp(type, "tcp") != 0) {
		rule->wrong =
			keep_format(r->rules, "there are no checks of the type \"%.32s\"", type);
		return;
	}
	rule->address = place_of_check(r, json, rule);
	if (rule->address && rule->type == CHECK_HTTP)
		read_http(r, json, rule);
	else if (rule->address)
		rule->url = keep_format(r->rules, "http://%s", rule->address);
}

static void read_check(const struct reading *r, const json_t *json, struct check_rule *rule)
{
	const json_t *restart = json_object_get(json, "CheckRestart");
	const char *task = spec_text(json, "TaskName");
	*rule = (struct check_rule){.task = *task ? task_named(r->alloc, task) : r->owner,
		.effect = effect_of(spec_text(json, "OnUpdate")),
		.initial_status = status_named(spec_text(json, "InitialStatus")),
		.interval_ns = duration_of(json, "Interval", 0),
		.timeout_ns = duration_of(json, "Timeout", 0),
		.successes_to_pass = count_of(json, "SuccessBeforePassing"),
		.failures_to_fail = count_of(json, "FailuresBeforeCritical"),
		.restart_limit = count_of(restart, "Limit"),
		.restart_grace_ns = duration_of(restart, "Grace", NS_PER_S),
		.restart_ignores_warnings =
			json_is_true(json_object_get(restart, "IgnoreWarnings"))};
	if (rule->interval_ns < (int64_t)CHECK_INTERVAL_NS_MIN)
		rule->interval_ns = CHECK_INTERVAL_NS_MIN;
	if (rule->timeout_ns < (int64_t)CHECK_INTERVAL_NS_MIN)
		rule->timeout_ns = CHECK_INTERVAL_NS_MIN;
	rule->successes_to_pass += rule->successes_to_pass == 0;
	rule->failures_to_fail += rule->failures_to_fail == 0;
	name_check(r, json, rule);
	read_kind(r, json, rule);
}

static size_t count_checks(const json_t *services)
{
	size_t count = 0, i;
	const json_t *service;
	json_array_foreach(services, i, service) count +=
		json_array_size(json_object_get(service, "Checks"));
	return count;
}

static void read_services(struct check_rules *rules, const struct alloc_run *a,
	const struct alloc_place *place, const json_t *services, uint32_t owner)
{
	struct reading r = {.rules = rules, .alloc = a, .place = place, .owner = owner};
	const struct task *task = &a->tasks[owner == CHECK_OF_GROUP ? 0 : owner];
	struct task_folders folders;
	char message[300];
	size_t i, k;
	const json_t *check;
	if (count_checks(services) == 0)
		return;
	alloc_run_task_folders(a, task, place->data_folder, &folders);
	// One that is too large is expanded as far as it came; the task will say so.
	(void)environment_build(&r.environment, place->node, a->spec, task->spec, &folders, message,
		sizeof message);
	json_array_foreach(services, i, r.service)
	{
		json_array_foreach(json_object_get(r.service, "Checks"), k,
			check) if (rules->count < CHECKS_PER_ALLOC_MAX)
			read_check(&r, check, &rules->items[rules->count++]);
	}
	environment_free(&r.environment);
}

void check_rules_read(
	struct check_rules *rules, const struct alloc_run *a, const struct alloc_place *place)
{
	const json_t *of_group = json_object_get(a->spec->root, "Services");
	size_t count = count_checks(of_group);
	*rules = (struct check_rules){0};
	for (uint32_t i = 0; i < a->task_count; i++)
		count += count_checks(json_object_get(a->tasks[i].spec->json, "Services"));
	if (count == 0)
		return;
	rules->items =
		memory_take_array(count < CHECKS_PER_ALLOC_MAX ? count : CHECKS_PER_ALLOC_MAX,
			sizeof rules->items[0]);
	read_services(rules, a, place, of_group, CHECK_OF_GROUP);
	for (uint32_t i = 0; i < a->task_count; i++)
		read_services(
			rules, a, place, json_object_get(a->tasks[i].spec->json, "Services"), i);
}

void check_rules_free(struct check_rules *rules)
{
	arena_release(&rules->texts);
	free(rules->items);
	*rules = (struct check_rules){0};
}
