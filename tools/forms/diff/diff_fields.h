// Fields of a diff: names with their values as text.
#pragma once
#include "tools/forms/diff/diff_tree.h"

// Values by name ("Env[VER]"), collected in any order.
struct flat {
	struct array values; // string_pair
};
void flat_add(struct flat *, const char *name, const char *value); // value "" or NULL: adds nothing
// Adds the shown scalar fields and maps of a record, except the field `without` (NULL: all); a NULL record has none.
void flat_record(
	struct flat *, const struct record_type *, const void *record, const char *without);
// Adds a JSON value kept as text: every leaf under its path ("args[0]").
void flat_json(struct flat *, const char *json);
void flat_free(struct flat *);

// Whether the field is neither a block nor a list.
bool field_is_scalar(const struct field *);

// Collects the fields that differ, by name; with context, all fields. Consumes both.
void fields_compare(struct flat *before, struct flat *after, bool context, struct array *fields);
// The type that the fields give together: Edited when one is edited, or when some are added and others deleted.
int fields_type(const struct array *fields);
