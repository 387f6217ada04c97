// Calls: arguments are evaluated, counted and converted before a function sees them.
#include "tools/hcl2/functions/functions.h"
#include <stdarg.h>
#include <stdio.h>

static const struct hcl2_type list_of_any = {.kind = HCL2_LIST, .element = &hcl2_any};
static const struct hcl2_type set_of_any = {.kind = HCL2_SET, .element = &hcl2_any};

struct parameter {
	const struct hcl2_type *type;
	bool nullable;
};

static struct parameter parameter_of(const char *at)
{
	struct parameter parameter = {.nullable = *at == '?'};
	switch (at[parameter.nullable]) {
	case 's': parameter.type = &hcl2_text_type; break;
	case 'n': parameter.type = &hcl2_number_type; break;
	case 'l': parameter.type = &hcl2_text_list_type; break;
	case 'e': parameter.type = &list_of_any; break;
	case 'x': parameter.type = &set_of_any; break;
	default: parameter.type = &hcl2_any; break;
	}
	return parameter;
}

// Parameters before the one of which there may be several.
static uint32_t parameter_count(const char *parameters, bool *more)
{
	uint32_t count = 0;
	*more = strchr(parameters, '*') != NULL;
	for (; *parameters; parameters++)
		count += *parameters != '?' && *parameters != '*';
	return count - *more;
}

static struct parameter parameter_at(const char *parameters, uint32_t index)
{
	const char *at = parameters;
	for (; index > 0; index--) {
		const char *next = at + 1 + (*at == '?');
		if (*next == '*' || !*next)
			break;
		at = next;
	}
	return parameter_of(at);
}

const struct hcl2_value *call_failed(struct call *call, const char *format, ...)
{
	char text[300];
	va_list values;
	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	text_make_printable(text);
	call->problem = hcl2_print(call->run, "%s", text);
	return NULL;
}

const struct hcl2_value *call_wrong(struct call *call, int argument, const char *format, ...)
{
	char text[300];
	va_list values;
	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	text_make_printable(text);
	call->problem = hcl2_print(call->run, "%s", text);
	call->wrong = argument;
	return NULL;
}

bool call_int(struct call *call, int argument, int64_t least, int64_t most, int64_t *number)
{
	if (hcl2_number_is_int(call->arguments[argument], least, most, number))
		return true;
	call_failed(call, "a whole number between %lld and %lld is required", (long long)least,
		(long long)most);
	return false;
}

const struct hcl2_value *call_written(struct call *call, struct writer *w)
{
	if (w->overflow)
		return call_failed(
			call, "the text becomes longer than %u bytes", HCL2_STRING_BYTES_MAX);
	return value_string(call->run, writer_text(w));
}

const struct hcl2_value *call_strings(
	struct call *call, const struct hcl2_value *const *items, uint32_t count)
{
	return value_collection(call->run, &hcl2_text_list_type, items, NULL, count);
}

// An argument: of one that is spread, each element is.
struct argument {
	const struct hcl2_node *node;
	const struct hcl2_value *value; // NULL: not evaluated yet
};

static bool spread_last(struct hcl2_run *run, const struct hcl2_scope *scope,
	const struct hcl2_node *node, struct argument **arguments, uint32_t *count)
{
	const struct hcl2_node *last = node->inside[node->count - 1];
	const struct hcl2_value *value = hcl2_evaluate(run, scope, last);
	if (!value)
		return false;
	if (value->is_null || !kind_is_sequence(value->type->kind))
		return hcl2_mistake(
			run, hcl2_range(last), "What ... spreads must be a list, and not null.");
	*count = node->count - 1 + value->count;
	*arguments = hcl2_take(run, *count * sizeof **arguments);
	for (uint32_t i = 0; i < *count; i++)
		(*arguments)[i] = i + 1 < node->count ? (struct argument){.node = node->inside[i]}
						      : (struct argument){last,
								value->items[i + 1 - node->count]};
	return true;
}

static bool take_arguments(struct hcl2_run *run, const struct hcl2_scope *scope,
	const struct hcl2_node *node, struct argument **arguments, uint32_t *count)
{
	if (node->flag)
		return spread_last(run, scope, node, arguments, count);
	*count = node->count;
	*arguments = hcl2_take(run, *count * sizeof **arguments);
	for (uint32_t i = 0; i < *count; i++)
		(*arguments)[i].node = node->inside[i];
	return true;
}

static bool check_count(struct hcl2_run *run, const struct hcl2_node *node,
	const struct function *function, const struct argument *arguments, uint32_t count)
{
	bool more;
	uint32_t least = parameter_count(function->parameters, &more);
	struct hcl2_range end = {node->source, node->close, node->to};
	if (count < least)
		return hcl2_mistake(run, end, "%s() wants %s%u arguments.", function->name,
			more ? "at least " : "", least);
	if (count > least && !more)
		return hcl2_mistake(run, hcl2_start_range(arguments[least].node),
			"%s() wants %u arguments only.", function->name, least);
	return true;
}

static const struct hcl2_value *argument_value(struct hcl2_run *run, const struct hcl2_scope *scope,
	const struct argument *argument, struct parameter parameter)
{
	const struct hcl2_value *value =
		argument->value ? argument->value : hcl2_evaluate(run, scope, argument->node);
	return value ? value_as(run, value, parameter.type, hcl2_start_range(argument->node),
			       "Unsuitable argument")
		     : NULL;
}

static const struct hcl2_value *call_function(struct hcl2_run *run, const struct hcl2_scope *scope,
	const struct hcl2_node *node, const struct function *function)
{
	struct argument *arguments = NULL;
	uint32_t count = 0;
	if (!take_arguments(run, scope, node, &arguments, &count) ||
		!check_count(run, node, function, arguments, count))
		return NULL;
	const struct hcl2_value **values = hcl2_take(run, count * sizeof *values);
	int null_one = -1;
	bool fine = true;
	for (uint32_t i = 0; i < count; i++) {
		struct parameter parameter = parameter_at(function->parameters, i);
		values[i] = argument_value(run, scope, &arguments[i], parameter);
		fine = fine && values[i];
		if (fine && values[i]->is_null && !parameter.nullable && null_one < 0)
			null_one = (int)i;
	}
	if (!fine)
		return NULL;
	struct call call = {run, node, values, count, "the argument must not be null", -1};
	call.wrong = null_one;
	const struct hcl2_value *result = null_one < 0 ? function->run(&call) : NULL;
	if (result && result->count <= HCL2_ELEMENTS_MAX)
		return result;
	struct hcl2_range at = call.wrong >= 0 && call.wrong < (int)count
				       ? hcl2_start_range(arguments[call.wrong].node)
				       : hcl2_start_range(node);
	return no_value(run, at, "%s() fails: %s.", function->name,
		result ? "the result has too many elements" : call.problem);
}

const struct hcl2_value *evaluate_call(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	struct hcl2_range name = {node->source, node->from, node->from + node->name.size};
	const struct hcl2_scope *outermost = scope;
	while (outermost && outermost->outer)
		outermost = outermost->outer;
	if (!outermost || outermost->without_functions)
		return no_value(run, hcl2_range(node), "Functions may not be called here.");
	evaluate_fn *special = function_find_special(node->name);
	if (special)
		return special(run, scope, node);
	const struct function *function = function_find(node->name);
	if (!function)
		return no_value(run, name, "There is no function named \"%.*s\".",
			(int)node->name.size, node->name.data);
	return call_function(run, scope, node, function);
}
