// Variables: secrets under a path in a namespace. The state knows them encrypted alone: keys, and what they open, are
// of whoever answers requests (tools/keyring).
#pragma once
#include "state/base/schema.h"
#include "state/base/text.h"
#include "state/records/record.h"

struct variable {
	struct record record; // first
	char *name;           // NAMESPACE.PATH: a path has no '.', so the last one is between them
	struct uuid key;      // that it is encrypted with
	char *sealed;         // in base64: a nonce and what is encrypted with it
	int64_t create_time_ns, modify_time_ns;
};

extern const struct record_type variable_description;

// Letters, digits and -_~/ of at most VARIABLE_PATH_MAX.
bool variable_path_is_fit(struct text path);
bool variable_namespace_is_fit(struct text namespace_name);
// Whether the name has a fit path, and a namespace that a job might have.
bool variable_name_is_fit(struct text name);
struct text variable_namespace(const char *name);
const char *variable_path(const char *name);
