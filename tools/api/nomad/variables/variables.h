// What the routes of variables have in common.
#pragma once
#include "state/records/variable.h"
#include "tools/acl/acl_words.h"
#include "tools/api/server/request.h"
#include "tools/keyring/variable_items.h"

// "NAMESPACE.PATH"; caller frees. NULL: no variable has such a path, and with a dot in it the name would be another's.
char *variable_name(const char *namespace_name, const char *path);
// Whether the request may do that with a variable.
bool request_may_variable(const struct request *, const char *namespace_name, const char *path,
	enum acl_variable_capability);
bool request_may_named(const struct request *, const char *name, enum acl_variable_capability);
// Writes what is known of a variable beside its items; NULL: that there is none of this name.
void variable_members_json(struct json_writer *, const char *name, const struct variable *);
// Writes the whole object; items NULL: null.
void variable_json(struct json_writer *, const char *name, const struct variable *,
	const struct variable_items *);
// Answers that a variable is there but cannot be decrypted.
void reply_sealed(struct reply *, const struct variable *, enum keyring_verdict);
