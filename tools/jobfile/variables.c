// Variables: their declarations, their values by where they come from, and whether these fit.
#include "tools/jobfile/variables.h"
#include <glib.h>
#include <string.h>

#define ENVIRONMENT_PREFIX "NOMAD_VAR_"

struct validation {
	const struct hcl2_node *condition;
	const char *message;
	struct validation *next;
};

struct variable {
	struct text name;
	const struct hcl2_type *type; // NULL: none is written, and there is no default
	const struct hcl2_value *value;
	struct hcl2_range value_at;
	struct validation *validations;
	struct variable *next;
};

struct variables {
	struct decoder *decoder;
	const struct jobfile *options;
	struct variable *first, **last;
};

static const struct hcl2_scope nothing = {.without_functions = true, .without_variables = true};

static struct variable *find_variable(const struct variables *v, struct text name)
{
	for (struct variable *variable = v->first; variable; variable = variable->next)
		if (text_equal(variable->name, name))
			return variable;
	return NULL;
}

static struct variable *add_variable(struct variables *v, struct text name, struct hcl2_range at)
{
	if (find_variable(v, name)) {
		hcl2_mistake(v->decoder->run, at,
			"The variable \"%.*s\" is declared a second time.", (int)name.size,
			name.data);
		return NULL;
	}
	struct variable *variable = hcl2_take(v->decoder->run, sizeof *variable);
	variable->name = name;
	*v->last = variable;
	v->last = &variable->next;
	return variable;
}

// A variable's value as one of its type.
static bool set_value(struct variables *v, struct variable *variable,
	const struct hcl2_value *value, struct hcl2_range at)
{
	const char *problem;
	if (!value)
		return false;
	if (variable->type)
		value = hcl2_convert(v->decoder->run, value, variable->type, &problem);
	if (!value)
		return hcl2_mistake(v->decoder->run, at,
			"The value does not fit the type of the variable \"%.*s\": %s.",
			(int)variable->name.size, variable->name.data, problem);
	variable->value = value;
	variable->value_at = at;
	return true;
}

struct references {
	struct decoder *decoder;
	struct text name;
	uint32_t good;
};

static void check_reference(
	void *context, struct hcl2_range at, struct text name, struct text attribute)
{
	struct references *references = context;
	bool variable = text_equal(name, TEXT("var"));
	if (variable && text_equal(attribute, references->name))
		references->good++;
	else if (variable || text_equal(name, TEXT("local")))
		hcl2_mistake(references->decoder->run, at,
			"A validation can only refer to its own variable, var.%.*s.",
			(int)references->name.size, references->name.data);
}

// Whether it begins with a capital, where the alphabet has them, and ends as sentences do.
static bool is_sentence(const char *text)
{
	gunichar first = g_utf8_get_char(text);
	size_t size = strlen(text);
	return size > 0 && (!g_unichar_isalpha(first) || g_unichar_isupper(first)) &&
	       strchr(".?!", text[size - 1]);
}

static const char *read_message(struct variables *v, const struct hcl2_attribute *attribute)
{
	struct job_body body = {.scope = &nothing};
	json_t *text = decode_text(v->decoder, &body, attribute->expression, false);
	const char *message =
		text ? hcl2_print(v->decoder->run, "%s", json_string_value(text)) : NULL;
	json_decref(text);
	if (message && !is_sentence(message))
		hcl2_mistake(v->decoder->run, hcl2_range(attribute->expression),
			"An error message is a sentence: it begins with a capital, and ends with a "
			"period or a question mark.");
	return message;
}

static void read_validation(
	struct variables *v, struct variable *variable, const struct job_block *block)
{
	static const char *const attributes[] = {"condition", "error_message", NULL};
	struct body_rules rules = {.attributes = attributes, .required = attributes};
	body_blocks(v->decoder, &rules, &block->body);
	const struct hcl2_attribute *condition = body_attribute(block->body.body, "condition");
	const struct hcl2_attribute *message = body_attribute(block->body.body, "error_message");
	struct references references = {v->decoder, variable->name, 0};
	struct validation *validation = hcl2_take(v->decoder->run, sizeof *validation);
	if (condition) {
		validation->condition = condition->expression;
		hcl2_visit_variables(condition->expression, check_reference, &references);
		if (!references.good)
			hcl2_mistake(v->decoder->run, hcl2_range(condition->expression),
				"A condition must refer to its variable, var.%.*s.",
				(int)variable->name.size, variable->name.data);
	}
	if (message)
		validation->message = read_message(v, message);
	struct validation **end = &variable->validations;
	while (*end)
		end = &(*end)->next;
	*end = validation;
}

static void read_default(
	struct variables *v, struct variable *variable, const struct hcl2_node *node)
{
	const struct hcl2_value *value = hcl2_evaluate(v->decoder->run, &nothing, node);
	if (set_value(v, variable, value, hcl2_range(node)) && !variable->type)
		variable->type = value->type;
}

static void read_variable(struct variables *v, const struct job_block *block)
{
	static const char *const attributes[] = {"description", "default", "type", NULL};
	static const struct block_rule blocks[] = {{"validation", 0}, {0}};
	struct body_rules rules = {.attributes = attributes, .blocks = blocks};
	struct job_body body = {block->body.body, &nothing};
	struct variable *variable = add_variable(v, block->labels[0], block->header);
	if (!variable)
		return;
	struct job_block *inside = body_blocks(v->decoder, &rules, &body);
	const struct hcl2_attribute *description = body_attribute(body.body, "description");
	const struct hcl2_attribute *type = body_attribute(body.body, "type");
	const struct hcl2_attribute *standard = body_attribute(body.body, "default");
	if (!hcl2_is_name(variable->name))
		hcl2_mistake(v->decoder->run, block->label_places[0], "This is no name.");
	if (description)
		json_decref(decode_text(v->decoder, &body, description->expression, false));
	if (type)
		variable->type = hcl2_type_constraint(v->decoder->run, type->expression);
	if (standard && (!type || variable->type))
		read_default(v, variable, standard->expression);
	for (; inside; inside = inside->next)
		read_validation(v, variable, inside);
}

// "variables { name = default … }".
static void read_variables(struct variables *v, const struct hcl2_body *body)
{
	for (const struct hcl2_attribute *a = body->attributes; a; a = a->next) {
		struct variable *variable = add_variable(v, a->name, a->name_at);
		if (variable)
			read_default(v, variable, a->expression);
	}
	for (const struct hcl2_block *b = body->blocks; b; b = b->next)
		hcl2_mistake(v->decoder->run, b->type_at, "There are no blocks here.");
}

// A value from outside: as it is for texts and numbers and where no type is known, else an expression.
static void set_from_text(
	struct variables *v, struct variable *variable, const char *text, const char *from)
{
	struct hcl2_run *run = v->decoder->run;
	const char *name = hcl2_print(run, "<value of var.%.*s from %s>", (int)variable->name.size,
		variable->name.data, from);
	bool raw = !variable->type || variable->type->kind == HCL2_STRING ||
		   variable->type->kind == HCL2_NUMBER;
	if (raw) {
		struct hcl2_source *source = hcl2_take(run, sizeof *source);
		*source = (struct hcl2_source){name, hcl2_copy(run, text_of(text))};
		set_value(v, variable, hcl2_text_value(run, source->text),
			(struct hcl2_range){source, 0, source->text.size});
		return;
	}
	const struct hcl2_node *node = hcl2_parse_expression(run, name, text_of(text));
	if (node)
		set_value(v, variable, hcl2_evaluate(run, &nothing, node), hcl2_range(node));
}

static void undeclared(struct variables *v, struct hcl2_range at, struct text name)
{
	if (!v->options->lenient)
		hcl2_mistake(v->decoder->run, at,
			"A value is given for the variable \"%.*s\", which the job file does not "
			"declare.",
			(int)name.size, name.data);
}

static void take_environment(struct variables *v)
{
	const char *const *entry = v->options->environment;
	for (; entry && *entry; entry++) {
		if (strncmp(*entry, ENVIRONMENT_PREFIX, strlen(ENVIRONMENT_PREFIX)) != 0)
			continue;
		const char *name = *entry + strlen(ENVIRONMENT_PREFIX), *equals = strchr(name, '=');
		if (!equals)
			continue;
		struct variable *variable =
			find_variable(v, (struct text){name, (uint32_t)(equals - name)});
		if (variable)
			set_from_text(v, variable, equals + 1, "the environment");
	}
}

static bool take_json_file(struct variables *v, const char *name, struct text text)
{
	const char *problem;
	const struct hcl2_value *object = hcl2_parse_json(v->decoder->run, text, &problem);
	if (!object || object->type->kind != HCL2_OBJECT)
		return hcl2_mistake(v->decoder->run, (struct hcl2_range){0}, "%s: %s.", name,
			object ? "an object is required" : problem);
	for (uint32_t i = 0; i < object->count; i++) {
		struct variable *variable = find_variable(v, object->keys[i]);
		if (variable)
			set_value(v, variable, object->items[i], (struct hcl2_range){0});
		else
			undeclared(v, (struct hcl2_range){0}, object->keys[i]);
	}
	return true;
}

static bool take_file(struct variables *v, const char *name, struct text text)
{
	if (jobfile_is_json(text))
		return take_json_file(v, name, text);
	const struct hcl2_body *body = hcl2_parse(v->decoder->run, name, text);
	if (!body)
		return false;
	for (const struct hcl2_block *b = body->blocks; b; b = b->next)
		hcl2_mistake(v->decoder->run, b->type_at,
			"There are no blocks among values: write NAME = VALUE.");
	for (const struct hcl2_attribute *a = body->attributes; a; a = a->next) {
		struct variable *variable = find_variable(v, a->name);
		if (variable)
			set_value(v, variable,
				hcl2_evaluate(v->decoder->run, &nothing, a->expression),
				hcl2_range(a->expression));
		else
			undeclared(v, a->at, a->name);
	}
	return true;
}

static void take_arguments(struct variables *v)
{
	for (uint32_t i = 0; i < v->options->variable_count; i++) {
		const char *entry = v->options->variables[i], *equals = strchr(entry, '=');
		if (!equals)
			continue;
		struct text name = {entry, (uint32_t)(equals - entry)};
		struct variable *variable = find_variable(v, name);
		if (variable)
			set_from_text(v, variable, equals + 1, "arguments");
		else
			undeclared(v, (struct hcl2_range){0}, name);
	}
}

static void validate(struct variables *v, const struct variable *variable)
{
	struct hcl2_run *run = v->decoder->run;
	const char *problem;
	struct hcl2_scope scope = {.names = {TEXT("var")}};
	scope.values[0] = hcl2_object(run, 1, &variable->name, &variable->value);
	for (const struct validation *rule = variable->validations; rule; rule = rule->next) {
		if (!rule->condition || !rule->message)
			continue;
		const struct hcl2_value *fits = hcl2_evaluate(run, &scope, rule->condition);
		if (!fits)
			continue;
		fits = hcl2_convert(run, fits, &hcl2_bool_type, &problem);
		if (!fits || fits->is_null)
			hcl2_mistake(run, hcl2_range(rule->condition),
				"A condition is true or false: %s.", fits ? "it is null" : problem);
		else if (!fits->boolean)
			hcl2_mistake(run, variable->value_at, "%s", rule->message);
	}
}

static const struct hcl2_value *all_values(struct variables *v)
{
	struct hcl2_run *run = v->decoder->run;
	uint32_t count = 0;
	for (const struct variable *variable = v->first; variable; variable = variable->next)
		count++;
	struct text *names = hcl2_take(run, count * sizeof *names);
	const struct hcl2_value **values = hcl2_take(run, count * sizeof *values);
	count = 0;
	for (const struct variable *variable = v->first; variable; variable = variable->next) {
		if (!variable->value) {
			hcl2_mistake(run, (struct hcl2_range){0},
				"The variable \"%.*s\" has no value, and no default.",
				(int)variable->name.size, variable->name.data);
			continue;
		}
		validate(v, variable);
		names[count] = variable->name;
		values[count++] = variable->value;
	}
	return hcl2_object(run, count, names, values);
}

bool variables_read(struct decoder *decoder, const struct jobfile *options,
	const struct hcl2_body *file, struct hcl2_scope *scope)
{
	struct variables v = {.decoder = decoder, .options = options};
	static const struct block_rule blocks[] = {
		{"variables", 0}, {"variable", 1}, {"locals", 0}, {"job", 1}, {0}};
	struct body_rules rules = {.blocks = blocks};
	struct job_body body = {file, scope};
	v.last = &v.first;
	struct job_block *block = body_blocks(decoder, &rules, &body);
	if (decoder->run->mistake_count)
		return false;
	for (; block; block = block->next)
		if (text_equal(block->type, TEXT("variable")))
			read_variable(&v, block);
		else if (text_equal(block->type, TEXT("variables")))
			read_variables(&v, block->body.body);
	take_environment(&v);
	for (uint32_t i = 0; i < options->value_file_count; i++)
		if (!take_file(&v, options->value_file_names[i], options->value_files[i]))
			return false;
	take_arguments(&v);
	*scope = (struct hcl2_scope){.names = {TEXT("var"), TEXT("local")},
		.values = {all_values(&v), hcl2_object(decoder->run, 0, NULL, NULL)},
		.unknown_is_text = true};
	return locals_read(decoder, file, scope);
}
