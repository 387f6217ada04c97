// Blocks of a diff: the objects inside a record, and what differs in them.
#pragma once
#include "tools/forms/diff/diff_fields.h"

// Appends an object for each block of the record that differs, in the order in which Nomad's
// clients show them; a record that is NULL has none. context: fields that do not differ are there
// too.
void objects_compare(const struct record_type *, const void *before, const void *after,
	bool context, struct array *objects);
// One such block under a name; nothing when it does not differ.
void object_compare(const char *name, const struct record_type *, const void *before,
	const void *after, bool context, struct array *objects);
