// Names that were seen, each once, in order.
#pragma once
#include "state/base/schema.h"
#include "tools/json/json_writer.h"

struct name_set {
	struct array names; // char *, as the maps of schema.h have them
};

void name_set_add(struct name_set *, const char *name);
bool name_set_has(const struct name_set *, const char *name);
// Writes a list of the names that begin with prefix (NULL: all), each by put.
void name_set_json(const struct name_set *, const char *prefix, struct json_writer *,
	void (*put)(struct json_writer *, const char *name));
void name_set_free(struct name_set *);
