// Bodies of requests that are small JSON objects.
#pragma once
#include "tools/api/server/request.h"
#include "tools/json/json_reader.h"

// Parses the body as an object; an empty body gives an empty one. NULL with a reply when it is no JSON.
json_t *body_read(struct request *, struct reply *);
// The same, with these words before what is wrong.
json_t *body_read_or_say(struct request *, struct reply *, const char *before);
// The same, but refuses an empty body, with Nomad's words.
json_t *body_read_some(struct request *, struct reply *);
// Parses the body as a list; an empty body, or null, gives an empty one. NULL with a reply when it is none.
json_t *body_read_list(struct request *, struct reply *);
// Whether the body has the member, and not as null.
static inline bool body_says(const json_t *body, const char *member)
{
	return !json_is_absent(json_object_get(body, member));
}
// True when the body fits the path: its member is absent, empty, or equal to the path's id. False with a reply.
bool body_names(
	const struct request *, json_t *body, const char *member, const char *what, struct reply *);
