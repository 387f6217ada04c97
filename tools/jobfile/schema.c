// Tables of members, at work.
#include "tools/jobfile/schema.h"
#include "state/base/check.h"
#include <string.h>

const struct member_rule *schema_member(
	const struct block_schema *schema, const char *name, uint32_t size)
{
	for (const struct member_rule *f = schema->fields; f->member; f++)
		if (f->name && strlen(f->name) == size && memcmp(f->name, name, size) == 0)
			return f;
	return NULL;
}

static json_t *unwritten(const struct member_rule *field)
{
	if (field->flags & MEMBER_NULL)
		return json_null();
	switch (field->kind) {
	case MEMBER_TEXT: return json_string("");
	case MEMBER_BOOL: return json_false();
	case MEMBER_INT:
	case MEMBER_DURATION: return json_integer(0);
	default: return json_null();
	}
}

json_t *schema_empty(const struct block_schema *schema)
{
	json_t *object = json_object();
	if (schema->label)
		json_object_set_new(object, schema->label, json_string(""));
	for (const struct member_rule *f = schema->fields; f->member; f++)
		if (!(f->flags & MEMBER_OMITTED))
			json_object_set_new(object, f->member, unwritten(f));
	return object;
}

static bool wants_standard(const struct member_rule *field, const json_t *value)
{
	if (!field->standard)
		return false;
	if (json_is_absent(value))
		return true;
	bool zero = (json_is_string(value) && json_string_length(value) == 0) ||
		    (json_is_integer(value) && json_integer_value(value) == 0);
	return zero && (!(field->flags & MEMBER_NULL) || (field->flags & MEMBER_OR_EMPTY));
}

void member_fill(const struct member_rule *field, json_t *object)
{
	json_t *value = json_object_get(object, field->member);
	if (wants_standard(field, value)) {
		value = field->inside ? schema_empty(field->inside)
				      : json_loads(field->standard, JSON_DECODE_ANY, NULL);
		CHECK(value);
		json_object_set_new(object, field->member, value);
	}
	if (json_is_absent(value) || !field->inside)
		return;
	const char *key;
	size_t i;
	json_t *element;
	if (field->kind == MEMBER_BLOCK)
		schema_fill(field->inside, value);
	else if (field->kind == MEMBER_NAMED)
		json_object_foreach(value, key, element) schema_fill(field->inside, element);
	else
		json_array_foreach(value, i, element) schema_fill(field->inside, element);
}

void schema_fill(const struct block_schema *schema, json_t *object)
{
	for (const struct member_rule *f = schema->fields; f->member; f++)
		member_fill(f, object);
}
