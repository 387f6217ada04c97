// Records described by state/base/schema.h as JSON, under their fields' names.
#pragma once
#include "state/base/schema.h"
#include "tools/json/json_writer.h"

// The whole record as an object, without hidden fields.
void json_record(struct json_writer *, const struct record_type *, const void *record);
// Writes members into an open object: the fields that have one of the flags, or all when flags is 0.
void json_record_members(
	struct json_writer *, const struct record_type *, const void *record, uint32_t flags);
