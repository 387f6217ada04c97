// What tables of fields are written with. For files that describe records.
#pragma once
#include "state/base/schema.h"

#define OF(type, member) offsetof(struct type, member)
#define FLAGS(flags) NULL, NULL, flags
// A member that stores nothing (FIELD_FIXED).
#define ALWAYS(name, value)                          \
	{                                            \
		name, FIELD_FIXED, 0, NULL, value, 0 \
	}

// The description of struct `type` by the table `type`_fields; its defaults are zeros, or what the function sets.
#define DESCRIBE(variable, type) DESCRIBE_WITH(variable, type, NULL)
#define DESCRIBE_WITH(variable, type, set_defaults)                                     \
	const struct record_type variable = {#type, sizeof(struct type), type##_fields, \
		sizeof type##_fields / sizeof type##_fields[0], set_defaults}
