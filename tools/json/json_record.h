// Records described by state/base/schema.h as JSON, under the names of their tables.
#pragma once
#include "state/base/schema.h"
#include "tools/json/json_writer.h"

// The whole record as an object; hidden fields are left out.
void json_record(struct json_writer *, const struct record_type *, const void *record);
// Members only, into an object that is open: of the fields that have one of the flags, or of all
// when 0.
void json_record_members(
	struct json_writer *, const struct record_type *, const void *record, uint32_t flags);
