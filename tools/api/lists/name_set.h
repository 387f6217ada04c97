// A sorted set of names.
#pragma once
#include "state/base/schema.h"
#include "tools/api/server/request.h"

struct name_set {
	struct array names;  // char *, with the layout of schema.h's maps
	uint32_t capacity;   // of names; name_set_append() alone counts
	bool prefix_is_done; // whoever collected them looked at ?prefix=
};

void name_set_add(struct name_set *, const char *name);
// For many names: adds them in any order, each once, and then sorts the set.
void name_set_append(struct name_set *, const char *name);
void name_set_sort(struct name_set *);
bool name_set_has(const struct name_set *, const char *name);
// Drops the names that the request may not see.
typedef bool name_set_may(const struct request *, const char *name);
void name_set_keep(struct name_set *, const struct request *, name_set_may *);
// Writes the item of a name. Under read lock.
typedef void name_set_put(struct json_writer *, const struct request *, const char *name);
// Answers with a list of the names that begin with ?prefix= and whose items fit ?filter=, or with a page of it, with
// ?reverse=true from the last one on; put writes each. The next page's token is its first name. False with a reply when
// a parameter is malformed.
bool name_set_answer(const struct name_set *, struct request *, struct reply *, name_set_put *);
void name_set_free(struct name_set *);
