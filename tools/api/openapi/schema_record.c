// Schemas of records: what tools/json/json_record.c writes of them.
#include "state/base/check.h"
#include "tools/api/openapi/schema.h"
#include <stdio.h>
#include <string.h>

static const char *name_of(const struct record_type *type)
{
	for (const struct named_schema *s = named_schemas; s->name; s++)
		if (s->type == type)
			return s->name;
	return NULL;
}

// A record within another one: by its name when it has one.
static void write_inner(
	struct json_writer *w, const struct record_type *type, enum schema_side side)
{
	const char *name = name_of(type);
	if (name)
		schema_write_text(w, name, side);
	else
		schema_write_record(w, type, NULL, side);
}

static const char *json_type_of(const struct field *f, enum schema_side side)
{
	bool is_text = (f->flags & FIELD_TIME) && side == SCHEMA_OF_ANSWER;
	switch (f->kind) {
	case FIELD_BOOL:
	case FIELD_OPTIONAL_BOOL: return "boolean";
	case FIELD_I64:
	case FIELD_OPTIONAL_I64: return is_text ? "string" : "integer";
	case FIELD_U64: return "integer";
	case FIELD_F64: return "number";
	case FIELD_STRING:
	case FIELD_ENUM:
	case FIELD_UUID: return "string";
	case FIELD_ARRAY:
	case FIELD_STRINGS:
	case FIELD_INTEGERS:
	case FIELD_UUIDS: return "array";
	default: return "object";
	}
}

static bool may_be_null(const struct field *f, enum schema_side side)
{
	return side == SCHEMA_OF_BODY || f->kind == FIELD_OPTIONAL_I64 ||
	       f->kind == FIELD_OPTIONAL_BOOL || (f->flags & (FIELD_NULL_EMPTY | FIELD_NULL_ZERO));
}

static void write_types(struct json_writer *w, const struct field *f, enum schema_side side)
{
	// A body may also say a duration or a time as text.
	bool is_said = side == SCHEMA_OF_BODY && (f->flags & (FIELD_DURATION | FIELD_TIME));
	const char *type = json_type_of(f, side);
	if (!may_be_null(f, side) && !is_said) {
		json_put_string(w, "type", type);
		return;
	}
	json_open_array(w, "type");
	json_write_string(w, type);
	if (is_said)
		json_write_string(w, "string");
	if (may_be_null(f, side))
		json_write_string(w, "null");
	json_end_array(w);
}

static void write_items(struct json_writer *w, const struct field *f, enum schema_side side)
{
	switch (f->kind) {
	case FIELD_ARRAY:
		json_write_key(w, "items");
		write_inner(w, f->type, side);
		break;
	case FIELD_STRINGS:
	case FIELD_UUIDS:
		json_write_key(w, "items");
		schema_write_text(w, "string", side);
		break;
	case FIELD_INTEGERS:
		json_write_key(w, "items");
		schema_write_text(w, "integer", side);
		break;
	case FIELD_STRUCT_MAP:
		json_write_key(w, "additionalProperties");
		write_inner(w, f->type, side);
		break;
	case FIELD_MAP:
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP:
	case FIELD_NUMBERS:
		json_write_key(w, "additionalProperties");
		schema_write_text(w,
			f->kind == FIELD_MAP         ? "string"
			: f->kind == FIELD_COUNT_MAP ? "integer"
			: f->kind == FIELD_FLAG_MAP  ? "boolean"
						     : "number",
			side);
		break;
	default: break;
	}
}

static void write_names(struct json_writer *w, const struct field *f)
{
	json_open_array(w, "enum");
	for (const char *const *name = f->names; *name; name++)
		json_write_string(w, *name);
	json_end_array(w);
}

static void write_plain(struct json_writer *w, const struct field *f, enum schema_side side)
{
	json_begin_object(w);
	write_types(w, f, side);
	if (f->kind == FIELD_ENUM && side == SCHEMA_OF_ANSWER)
		write_names(w, f);
	if ((f->flags & FIELD_TIME) && side == SCHEMA_OF_ANSWER)
		json_put_string(w, "format", "date-time");
	if ((f->flags & FIELD_DURATION) && side == SCHEMA_OF_BODY)
		json_put_string(w, "description", "Nanoseconds, or text such as \"30s\".");
	write_items(w, f, side);
	json_end_object(w);
}

static void write_optional(struct json_writer *w, const struct field *f, enum schema_side side)
{
	json_begin_object(w);
	json_open_array(w, "anyOf");
	write_inner(w, f->type, side);
	schema_write_null(w);
	json_end_array(w);
	json_end_object(w);
}

static void write_field(struct json_writer *w, const struct field *f, enum schema_side side)
{
	json_write_plain_key(w, f->name, strlen(f->name));
	switch (f->kind) {
	case FIELD_OPTIONAL: write_optional(w, f, side); break;
	case FIELD_STRUCT: write_inner(w, f->type, side); break;
	case FIELD_JSON:
	case FIELD_FIXED: schema_write_text(w, "any", side); break;
	default: write_plain(w, f, side);
	}
}

static bool is_shown(const struct field *f, enum schema_side side)
{
	if (f->kind >= FIELD_U8)
		return false;
	return !(f->flags & (side == SCHEMA_OF_ANSWER ? FIELD_HIDDEN : FIELD_DERIVED));
}

static void write_fields(
	struct json_writer *w, const struct record_type *type, enum schema_side side)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		if (f->flags & FIELD_EMBEDDED)
			write_fields(w, f->type, side);
		else if (is_shown(f, side))
			write_field(w, f, side);
	}
}

static void write_always_there(struct json_writer *w, const struct record_type *type)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		if (f->flags & FIELD_EMBEDDED)
			write_always_there(w, f->type);
		else if (is_shown(f, SCHEMA_OF_ANSWER) && !(f->flags & FIELD_OMIT_EMPTY))
			json_write_string(w, f->name);
	}
}

void schema_write_record(struct json_writer *w, const struct record_type *type, const char *more,
	enum schema_side side)
{
	json_begin_object(w);
	json_put_string(w, "type", "object");
	json_open_object(w, "properties");
	write_fields(w, type, side);
	if (more && side == SCHEMA_OF_ANSWER)
		schema_write_members(w, more, side);
	json_end_object(w);
	if (side == SCHEMA_OF_ANSWER) {
		json_open_array(w, "required");
		write_always_there(w, type);
		json_end_array(w);
	}
	json_end_object(w);
}

static void write_named(struct json_writer *w, const struct named_schema *s, enum schema_side side)
{
	char name[128];
	snprintf(name, sizeof name, "%s%s", s->name,
		side == SCHEMA_OF_BODY ? SCHEMA_BODY_SUFFIX : "");
	json_write_plain_key(w, name, strlen(name));
	if (s->type)
		schema_write_record(w, s->type, s->text, side);
	else
		schema_write_text(w, s->text, side);
}

void schema_write_all(struct json_writer *w)
{
	json_begin_object(w);
	for (const struct named_schema *s = named_schemas; s->name; s++) {
		write_named(w, s, SCHEMA_OF_ANSWER);
		write_named(w, s, SCHEMA_OF_BODY);
	}
	json_end_object(w);
}
