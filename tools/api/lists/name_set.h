// A sorted set of names.
#pragma once
#include "state/base/schema.h"
#include "tools/json/json_writer.h"

struct name_set {
	struct array names; // char *, with the layout of schema.h's maps
};

void name_set_add(struct name_set *, const char *name);
bool name_set_has(const struct name_set *, const char *name);
// Writes a list of the names that begin with prefix (NULL: all); put writes each.
void name_set_json(const struct name_set *, const char *prefix, struct json_writer *,
	void (*put)(struct json_writer *, const char *name));
void name_set_free(struct name_set *);
