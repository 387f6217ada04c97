#include "tools/json/json_record.h"
#include "tools/json/timestamp.h"

static void put_array(
	struct json_writer *w, const struct record_type *type, const struct array *array)
{
	json_begin_array(w);
	for (uint32_t i = 0; i < array->count; i++)
		json_record(w, type, (const char *)array->items + i * type->size);
	json_end_array(w);
}

static void put_strings(struct json_writer *w, const struct array *array)
{
	json_begin_array(w);
	for (uint32_t i = 0; i < array->count; i++)
		json_write_string(w, *ARRAY_AT(array, char *, i));
	json_end_array(w);
}

static void put_integers(struct json_writer *w, const struct array *array)
{
	json_begin_array(w);
	for (uint32_t i = 0; i < array->count; i++)
		json_write_i64(w, *ARRAY_AT(array, int64_t, i));
	json_end_array(w);
}

static void put_map(struct json_writer *w, const struct array *array)
{
	json_begin_object(w);
	for (uint32_t i = 0; i < array->count; i++) {
		const struct string_pair *pair = ARRAY_AT(array, struct string_pair, i);
		json_put_string(w, pair->name, pair->value);
	}
	json_end_object(w);
}

static void put_struct_map(
	struct json_writer *w, const struct record_type *type, const struct array *array)
{
	json_begin_object(w);
	for (uint32_t i = 0; i < array->count; i++) {
		const char *item = (const char *)array->items + i * type->size;
		const char *name = *(char *const *)(item + type->fields[0].offset);
		json_write_key(w, name ? name : "");
		json_record(w, type, item);
	}
	json_end_object(w);
}

static void put_uuids(struct json_writer *w, const struct array *array)
{
	json_begin_array(w);
	for (uint32_t i = 0; i < array->count; i++)
		json_write_uuid(w, ARRAY_AT(array, struct uuid, i));
	json_end_array(w);
}

static void put_named(struct json_writer *w, enum field_kind kind, const struct array *array)
{
	json_begin_object(w);
	for (uint32_t i = 0; i < array->count; i++) {
		const struct named_count *item = ARRAY_AT(array, struct named_count, i);
		json_write_key(w, item->name ? item->name : "");
		if (kind == FIELD_COUNT_MAP)
			json_write_i64(w, item->count);
		else
			json_write_bool(w, item->count != 0);
	}
	json_end_object(w);
}

static void put_numbers(struct json_writer *w, const struct field *f, const struct numbers *numbers)
{
	json_begin_object(w);
	for (uint64_t left = numbers->there; left; left &= left - 1) {
		int at = __builtin_ctzll(left);
		json_write_key(w, f->names[at]);
		json_write_f64(w, numbers->at[at]);
	}
	json_end_object(w);
}

static void put_optional(struct json_writer *w, const struct record_type *type, const void *record)
{
	if (record)
		json_record(w, type, record);
	else
		json_write_null(w);
}

static void put_json(struct json_writer *w, const struct field *f, const char *value)
{
	const char *missing = f->names ? f->names[0] : "null";
	json_write_raw(w, text_of(value ? value : missing));
}

static void put_list(struct json_writer *w, const struct field *f, const struct array *array)
{
	if (array->count == 0 && (f->flags & FIELD_NULL_EMPTY)) {
		json_write_null(w);
		return;
	}
	switch (f->kind) {
	case FIELD_ARRAY: put_array(w, f->type, array); break;
	case FIELD_STRINGS: put_strings(w, array); break;
	case FIELD_INTEGERS: put_integers(w, array); break;
	case FIELD_UUIDS: put_uuids(w, array); break;
	case FIELD_MAP: put_map(w, array); break;
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP: put_named(w, f->kind, array); break;
	default: put_struct_map(w, f->type, array); break;
	}
}

static void put_integer(struct json_writer *w, const struct field *f, int64_t value)
{
	if (value == 0 && (f->flags & FIELD_NULL_ZERO))
		json_write_null(w);
	else if (value == 0 && (f->flags & FIELD_TIME))
		json_write_string(w, TIMESTAMP_NEVER);
	else if (f->flags & FIELD_TIME)
		json_write_time(w, value);
	else
		json_write_i64(w, value);
}

static void put_string(struct json_writer *w, const struct field *f, const char *value)
{
	if ((f->flags & FIELD_NULL_EMPTY) && !(value && *value))
		json_write_null(w);
	else
		json_write_string(w, value);
}

static void put_uuid(struct json_writer *w, const struct field *f, const struct uuid *value)
{
	if ((f->flags & FIELD_NULL_EMPTY) && uuid_is_zero(value))
		json_write_null(w);
	else
		json_write_uuid(w, value);
}

static void put_optional_i64(
	struct json_writer *w, const struct field *f, const struct optional_i64 *value)
{
	if (value->set)
		put_integer(w, f, value->value);
	else
		json_write_null(w);
}

static void put_optional_bool(struct json_writer *w, const struct optional_bool *value)
{
	if (value->set)
		json_write_bool(w, value->value);
	else
		json_write_null(w);
}

void json_write_field(struct json_writer *w, const struct field *f, const void *at)
{
	switch (f->kind) {
	// The applier changes a job's status and stability in the published record.
	case FIELD_BOOL:
		json_write_bool(w, __atomic_load_n((const bool *)at, __ATOMIC_RELAXED));
		break;
	case FIELD_I64: put_integer(w, f, *(const int64_t *)at); break;
	case FIELD_U64: json_write_u64(w, *(const uint64_t *)at); break;
	case FIELD_F64: json_write_f64(w, *(const double *)at); break;
	case FIELD_STRING: put_string(w, f, *(char *const *)at); break;
	case FIELD_ENUM:
		json_write_string(w, f->names[__atomic_load_n((const int *)at, __ATOMIC_RELAXED)]);
		break;
	case FIELD_UUID: put_uuid(w, f, at); break;
	case FIELD_STRUCT: json_record(w, f->type, at); break;
	case FIELD_OPTIONAL: put_optional(w, f->type, *(void *const *)at); break;
	case FIELD_ARRAY:
	case FIELD_STRINGS:
	case FIELD_INTEGERS:
	case FIELD_UUIDS:
	case FIELD_MAP:
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP:
	case FIELD_STRUCT_MAP: put_list(w, f, at); break;
	case FIELD_JSON: put_json(w, f, *(char *const *)at); break;
	case FIELD_OPTIONAL_I64: put_optional_i64(w, f, at); break;
	case FIELD_OPTIONAL_BOOL: put_optional_bool(w, at); break;
	case FIELD_NUMBERS: put_numbers(w, f, at); break;
	case FIELD_FIXED: json_write_raw(w, text_of(f->names[0])); break;
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_TEXT: break; // not in JSON
	}
}

static bool is_empty_text(const char *text)
{
	return !text || !*text;
}

// Like Go's "omitempty", for which structs are never empty.
static bool is_empty(const struct field *f, const void *at)
{
	switch (f->kind) {
	case FIELD_BOOL: return !*(const bool *)at;
	case FIELD_I64:
	case FIELD_U64: return *(const uint64_t *)at == 0;
	case FIELD_F64: return *(const double *)at == 0;
	case FIELD_STRING:
	case FIELD_JSON: return is_empty_text(*(char *const *)at);
	case FIELD_UUID: return uuid_is_zero(at);
	case FIELD_OPTIONAL: return !*(void *const *)at;
	case FIELD_OPTIONAL_I64: return !((const struct optional_i64 *)at)->set;
	case FIELD_OPTIONAL_BOOL: return !((const struct optional_bool *)at)->set;
	case FIELD_NUMBERS: return !((const struct numbers *)at)->there;
	case FIELD_ENUM:
	case FIELD_STRUCT:
	case FIELD_FIXED: return false;
	default: return ((const struct array *)at)->count == 0;
	}
}

void json_record_members(
	struct json_writer *w, const struct record_type *type, const void *record, uint32_t flags)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		const void *at = (const char *)record + f->offset;
		if (f->flags & FIELD_EMBEDDED) {
			json_record_members(w, f->type, at, flags);
			continue;
		}
		if ((f->flags & FIELD_HIDDEN) || (flags && !(f->flags & flags)) ||
			((f->flags & FIELD_OMIT_EMPTY) && is_empty(f, at)))
			continue;
		json_write_plain_key(w, f->name, strlen(f->name));
		json_write_field(w, f, at);
	}
}

void json_record(struct json_writer *w, const struct record_type *type, const void *record)
{
	json_begin_object(w);
	json_record_members(w, type, record, 0);
	json_end_object(w);
}
