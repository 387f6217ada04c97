// Values as values of another type.
#include "tools/hcl2/convert.h"

static const char *const kind_names[] = {
	"any value", "bool", "number", "string", "list", "set", "map", "tuple", "object"};

const char *hcl2_type_name(struct hcl2_run *run, const struct hcl2_type *type)
{
	const char *name = kind_names[type->kind];
	if (!type->element)
		return name;
	return hcl2_print(run, "%s of %s", name, hcl2_type_name(run, type->element));
}

static const struct hcl2_value *convert_primitive(struct hcl2_run *run,
	const struct hcl2_value *value, const struct hcl2_type *to, const char **problem)
{
	enum hcl2_kind from = value->type->kind;
	const struct hcl2_value *number;
	if (to->kind == HCL2_STRING && from == HCL2_NUMBER)
		return value_string(run, number_text(run, value->number));
	if (to->kind == HCL2_STRING && from == HCL2_BOOL)
		return value_of_string(run, value->boolean ? "true" : "false");
	if (to->kind == HCL2_NUMBER && from == HCL2_STRING) {
		number = value_parse_number(run, value->string);
		*problem = "a number is required";
		return number;
	}
	if (to->kind == HCL2_BOOL && from == HCL2_STRING) {
		if (text_equal(value->string, TEXT("true")) || text_equal(value->string, TEXT("1")))
			return value_bool(run, true);
		if (text_equal(value->string, TEXT("false")) ||
			text_equal(value->string, TEXT("0")))
			return value_bool(run, false);
		*problem = "a bool is required";
		return NULL;
	}
	*problem = hcl2_print(run, "a %s is required", kind_names[to->kind]);
	return NULL;
}

// The element type where it is asked for as any: what all elements can become.
static const struct hcl2_type *element_type(
	struct hcl2_run *run, const struct hcl2_value *value, const struct hcl2_type *to)
{
	if (to->element->kind != HCL2_ANY)
		return to->element;
	if (value->type->element)
		return value->type->element;
	if (value->count == 0)
		return to->element;
	return type_unify(run, value->type->members, value->count);
}

static const struct hcl2_value *convert_elements(struct hcl2_run *run,
	const struct hcl2_value *value, const struct hcl2_type *to, const char **problem)
{
	const struct hcl2_type *element = element_type(run, value, to);
	if (!element) {
		*problem = hcl2_print(
			run, "all elements of a %s must be of one type", kind_names[to->kind]);
		return NULL;
	}
	const struct hcl2_value **items = hcl2_take(run, value->count * sizeof *items);
	for (uint32_t i = 0; i < value->count; i++) {
		items[i] = hcl2_convert(run, value->items[i], element, problem);
		if (!items[i])
			return NULL;
	}
	if (to->element != element)
		to = type_of_elements(run, to->kind, element);
	return value_collection(run, to, items, value->keys, value->count);
}

static const struct hcl2_value *convert_tuple(struct hcl2_run *run, const struct hcl2_value *value,
	const struct hcl2_type *to, const char **problem)
{
	const struct hcl2_value **items = hcl2_take(run, value->count * sizeof *items);
	if (value->count != to->count) {
		*problem = hcl2_print(run, "a tuple of %u elements is required", to->count);
		return NULL;
	}
	for (uint32_t i = 0; i < to->count; i++) {
		items[i] = hcl2_convert(run, value->items[i], to->members[i], problem);
		if (!items[i])
			return NULL;
	}
	return value_tuple(run, items, to->count);
}

static const struct hcl2_value *convert_object(struct hcl2_run *run, const struct hcl2_value *value,
	const struct hcl2_type *to, const char **problem)
{
	const struct hcl2_value **items = hcl2_take(run, to->count * sizeof *items);
	for (uint32_t i = 0; i < to->count; i++) {
		const struct hcl2_value *member = hcl2_member(value, to->names[i]);
		if (!member) {
			*problem = hcl2_print(run, "attribute \"%.*s\" is required",
				(int)to->names[i].size, to->names[i].data);
			return NULL;
		}
		items[i] = hcl2_convert(run, member, to->members[i], problem);
		if (!items[i])
			return NULL;
	}
	return value_object(run, items, to->names, to->count);
}

static bool shape_fits(enum hcl2_kind from, enum hcl2_kind to)
{
	if (to == HCL2_LIST || to == HCL2_SET)
		return kind_is_sequence(from);
	if (to == HCL2_TUPLE)
		return from == HCL2_TUPLE;
	return kind_is_mapping(to) && kind_is_mapping(from);
}

const struct hcl2_value *hcl2_convert(struct hcl2_run *run, const struct hcl2_value *value,
	const struct hcl2_type *to, const char **problem)
{
	*problem = "the value is too large";
	if (!hcl2_step(run, (struct hcl2_range){0}))
		return NULL;
	if (to->kind == HCL2_ANY || type_is_equal(run, value->type, to))
		return value;
	if (value->is_null && type_can_convert(run, value->type, to))
		return value_null(run, to);
	if (to->kind <= HCL2_STRING && value->type->kind <= HCL2_STRING && !value->is_null)
		return convert_primitive(run, value, to, problem);
	if (value->is_null || !shape_fits(value->type->kind, to->kind)) {
		*problem = hcl2_print(run, "%s required", hcl2_type_name(run, to));
		return NULL;
	}
	switch (to->kind) {
	case HCL2_TUPLE: return convert_tuple(run, value, to, problem);
	case HCL2_OBJECT: return convert_object(run, value, to, problem);
	default: return convert_elements(run, value, to, problem);
	}
}
