// A sorted set of names.
#pragma once
#include "state/base/schema.h"
#include "tools/api/server/request.h"

struct name_set {
	struct array names; // char *, with the layout of schema.h's maps
};

void name_set_add(struct name_set *, const char *name);
bool name_set_has(const struct name_set *, const char *name);
// Answers with a list of the names that begin with ?prefix=, or with a page of it; put writes each. The next page's
// token is its first name. False with a reply when a parameter is malformed.
bool name_set_answer(const struct name_set *, struct request *, struct reply *,
	void (*put)(struct json_writer *, const struct request *, const char *name));
void name_set_free(struct name_set *);
