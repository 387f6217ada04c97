// Blocks of a diff: the objects inside a record, and their differences.
#pragma once
#include "tools/forms/diff/diff_fields.h"

// Appends an object for each block of the record that differs, in the order of Nomad's clients; a NULL record has none.
// context: includes the fields that do not differ.
void objects_compare(const struct record_type *, const void *before, const void *after,
	bool context, struct array *objects);
// Appends one block under a name; nothing when it does not differ.
void object_compare(const char *name, const struct record_type *, const void *before,
	const void *after, bool context, struct array *objects);
