// Records described by state/base/schema.h as JSON, under their fields' names.
#pragma once
#include "state/base/schema.h"
#include "tools/json/json_writer.h"

// The whole record as an object, without hidden fields.
void json_record(struct json_writer *, const struct record_type *, const void *record);
// Writes members into an open object: the fields that have one of the flags, or all when flags is 0.
void json_record_members(
	struct json_writer *, const struct record_type *, const void *record, uint32_t flags);
// The value of a field that has no record around it: `at` is where a record would have it.
void json_write_field(struct json_writer *, const struct field *, const void *at);

// A key and a record; null for NULL.
static inline void json_put_record(
	struct json_writer *w, const char *key, const struct record_type *type, const void *record)
{
	json_write_key(w, key);
	json_write_field(w, &(const struct field){.kind = FIELD_OPTIONAL, .type = type}, &record);
}

// A key and a list of records; null when there are none.
static inline void json_put_records(struct json_writer *w, const char *key,
	const struct record_type *type, const struct array *records)
{
	json_write_key(w, key);
	json_write_field(w,
		&(const struct field){.kind = FIELD_ARRAY, .type = type, .flags = FIELD_NULL_EMPTY},
		records);
}

// A key and an object: of FIELD_MAP, FIELD_COUNT_MAP or FIELD_FLAG_MAP.
static inline void json_put_map(
	struct json_writer *w, const char *key, enum field_kind kind, const struct array *map)
{
	json_write_key(w, key);
	json_write_field(w, &(const struct field){.kind = kind}, map);
}
