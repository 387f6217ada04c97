// What a request writes into a variable.
#pragma once
#include "tools/api/nomad/variables/variables.h"

// From JSON: {"Namespace": "default", "Path": "…", "Items": {"name": "value"}}; the path of the request counts, and its
// namespace if the body names none. Returns the namespace, which the caller frees, and the items; NULL with a reply
// when it is no JSON of this form, or has no items.
char *variable_body_read(struct request *, struct reply *, struct variable_items *);
// Whether a variable may be there, and have these items. False with a reply in the words of a real server.
bool variable_is_fit(const char *namespace_name, const char *path, const struct variable_items *,
	struct reply *);
