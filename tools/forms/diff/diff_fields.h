// Fields of a diff: values as text, by name.
#pragma once
#include "tools/forms/diff/diff_tree.h"

// Values by name ("Env[VER]"), collected in any order.
struct flat {
	struct array values; // string_pair
};
void flat_add(struct flat *, const char *name, const char *value); // "" and NULL: nothing
// The scalar fields and maps of a record that its description shows, but the one called without
// (NULL: all); a record that is NULL has none.
void flat_record(
	struct flat *, const struct record_type *, const void *record, const char *without);
// A JSON value kept as text, every leaf under its path ("args[0]").
void flat_json(struct flat *, const char *json);
void flat_free(struct flat *);

// Neither a block nor a list.
bool field_is_scalar(const struct field *);

// The fields that differ, or, with context, all; by name. Consumes both.
void fields_compare(struct flat *before, struct flat *after, bool context, struct array *fields);
// What the fields together say: Edited when one is, or when some came and others went.
int fields_type(const struct array *fields);
