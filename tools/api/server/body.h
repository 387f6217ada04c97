// Bodies of requests that are small JSON objects.
#pragma once
#include "tools/api/server/request.h"
#include "tools/json/json_reader.h"

// The body as an object: that of an empty body is empty. NULL with a reply when it is no JSON.
json_t *body_read(struct request *, struct reply *);
// True when the body may stand for this path: its member is absent, empty, or the same as the
// path's id. Else the reply says so.
bool body_names(
	const struct request *, json_t *body, const char *member, const char *what, struct reply *);
