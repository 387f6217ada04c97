// The one type that values of several types can become.
#include "tools/hcl2/convert.h"

static bool is_primitive(const struct hcl2_type *type)
{
	return type->kind == HCL2_BOOL || type->kind == HCL2_NUMBER || type->kind == HCL2_STRING;
}

static const struct hcl2_type *type_member(const struct hcl2_type *object, struct text name)
{
	for (uint32_t i = 0; i < object->count; i++)
		if (text_equal(object->names[i], name))
			return object->members[i];
	return NULL;
}

static bool members_can_convert(
	struct hcl2_run *run, const struct hcl2_type *from, const struct hcl2_type *to)
{
	for (uint32_t i = 0; i < to->count; i++) {
		const struct hcl2_type *member = from->kind == HCL2_OBJECT
							 ? type_member(from, to->names[i])
						 : from->element ? from->element
								 : from->members[i];
		if (!member || !type_can_convert(run, member, to->members[i]))
			return false;
	}
	return true;
}

static bool elements_can_convert(
	struct hcl2_run *run, const struct hcl2_type *from, const struct hcl2_type *element)
{
	if (from->element)
		return type_can_convert(run, from->element, element);
	for (uint32_t i = 0; i < from->count; i++)
		if (!type_can_convert(run, from->members[i], element))
			return false;
	return true;
}

bool type_can_convert(
	struct hcl2_run *run, const struct hcl2_type *from, const struct hcl2_type *to)
{
	if (from->kind == HCL2_ANY || to->kind == HCL2_ANY || from == to)
		return true;
	if (!hcl2_step(run, (struct hcl2_range){0}))
		return false;
	switch (to->kind) {
	case HCL2_STRING: return is_primitive(from);
	case HCL2_BOOL:
	case HCL2_NUMBER: return from->kind == to->kind || from->kind == HCL2_STRING;
	case HCL2_LIST:
	case HCL2_SET:
		return kind_is_sequence(from->kind) && elements_can_convert(run, from, to->element);
	case HCL2_MAP:
		return kind_is_mapping(from->kind) && elements_can_convert(run, from, to->element);
	case HCL2_TUPLE:
		return from->kind == HCL2_TUPLE && from->count == to->count &&
		       members_can_convert(run, from, to);
	case HCL2_OBJECT: return kind_is_mapping(from->kind) && members_can_convert(run, from, to);
	default: return false;
	}
}

// The type of all elements or members of all these types.
static const struct hcl2_type *unify_inside(
	struct hcl2_run *run, const struct hcl2_type *const *types, uint32_t count)
{
	uint32_t total = 0, at = 0;
	for (uint32_t i = 0; i < count; i++)
		total += types[i]->element ? 1 : types[i]->count;
	const struct hcl2_type **inside = hcl2_take(run, total * sizeof *inside);
	for (uint32_t i = 0; i < count; i++) {
		if (types[i]->element)
			inside[at++] = types[i]->element;
		for (uint32_t j = 0; j < types[i]->count; j++)
			inside[at++] = types[i]->members[j];
	}
	return total ? type_unify(run, inside, total) : &hcl2_any;
}

// Whether all have the same number of members, and of the same names.
static bool have_same_members(const struct hcl2_type *const *types, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		if (types[i]->count != types[0]->count)
			return false;
		for (uint32_t j = 0; types[0]->names && j < types[0]->count; j++)
			if (!text_equal(types[i]->names[j], types[0]->names[j]))
				return false;
	}
	return true;
}

static const struct hcl2_type *unify_members(
	struct hcl2_run *run, const struct hcl2_type *const *types, uint32_t count)
{
	const struct hcl2_type **members = hcl2_take(run, types[0]->count * sizeof *members);
	const struct hcl2_type **across = hcl2_take(run, count * sizeof *across);
	for (uint32_t j = 0; j < types[0]->count; j++) {
		for (uint32_t i = 0; i < count; i++)
			across[i] = types[i]->members[j];
		members[j] = type_unify(run, across, count);
		if (!members[j])
			return NULL;
	}
	return type_of_members(run, types[0]->kind, types[0]->count, members, types[0]->names);
}

static const struct hcl2_type *unify_as(struct hcl2_run *run, enum hcl2_kind kind,
	const struct hcl2_type *const *types, uint32_t count)
{
	const struct hcl2_type *element = unify_inside(run, types, count);
	return element ? type_of_elements(run, kind, element) : NULL;
}

// Primitive types, or what has nothing in common: the most general of those that are there.
static const struct hcl2_type *unify_by_choice(
	struct hcl2_run *run, const struct hcl2_type *const *types, uint32_t count)
{
	const struct hcl2_type *chosen = &hcl2_any;
	for (uint32_t i = 0; i < count; i++)
		if (chosen->kind == HCL2_ANY || types[i]->kind == HCL2_STRING)
			chosen = types[i];
	for (uint32_t i = 0; i < count; i++)
		if (!type_can_convert(run, types[i], chosen))
			return NULL;
	return chosen;
}

const struct hcl2_type *type_unify(
	struct hcl2_run *run, const struct hcl2_type *const *types, uint32_t count)
{
	uint32_t of[HCL2_OBJECT + 1] = {0};
	bool same = true;
	for (uint32_t i = 0; i < count; i++) {
		of[types[i]->kind]++;
		same = same && (i == 0 || type_is_equal(run, types[0], types[i]));
	}
	if (!count || !hcl2_step(run, (struct hcl2_range){0}))
		return NULL;
	if (same)
		return types[0];
	uint32_t known = count - of[HCL2_ANY];
	bool mapping = of[HCL2_MAP] + of[HCL2_OBJECT] == known;
	bool sequence = of[HCL2_LIST] + of[HCL2_TUPLE] == known || of[HCL2_SET] == known;
	if ((mapping || sequence) && of[HCL2_ANY])
		return &hcl2_any;
	if (of[HCL2_OBJECT] == count || of[HCL2_TUPLE] == count) {
		const struct hcl2_type *unified =
			have_same_members(types, count) ? unify_members(run, types, count) : NULL;
		if (unified || have_same_members(types, count))
			return unified;
	}
	if (mapping)
		return unify_as(run, HCL2_MAP, types, count);
	if (sequence)
		return unify_as(run, of[HCL2_SET] ? HCL2_SET : HCL2_LIST, types, count);
	return unify_by_choice(run, types, count);
}

const struct hcl2_value *value_unified_list(
	struct hcl2_run *run, const struct hcl2_value *const *items, uint32_t count)
{
	const struct hcl2_type **types = hcl2_take(run, count * sizeof *types);
	const char *problem;
	for (uint32_t i = 0; i < count; i++)
		types[i] = items[i]->type;
	const struct hcl2_type *element = count ? type_unify(run, types, count) : &hcl2_any;
	return element ? hcl2_convert(run, value_tuple(run, items, count),
				 type_of_elements(run, HCL2_LIST, element), &problem)
		       : NULL;
}
