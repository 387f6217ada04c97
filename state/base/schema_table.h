// What tables of fields are written with. For files that describe records.
#pragma once
#include "state/base/schema.h"

#define OF(type, member) offsetof(struct type, member)
#define FLAGS(flags) NULL, NULL, flags
#define INITIALLY(value) NULL, NULL, 0, value
// An array of such records, or a map of them, which is null when it is empty.
#define OR_NULL(description) &description, NULL, FIELD_NULL_EMPTY
// A member that stores nothing (FIELD_FIXED).
#define ALWAYS(name, value)                          \
	{                                            \
		name, FIELD_FIXED, 0, NULL, value, 0 \
	}

// The description of struct `type` by the table `type`_fields.
#define DESCRIBE(variable, type)                                                        \
	const struct record_type variable = {#type, sizeof(struct type), type##_fields, \
		sizeof type##_fields / sizeof type##_fields[0]}
