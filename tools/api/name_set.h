// Names that were seen, each once, in order.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct name_set {
	char **names;
	uint32_t count, capacity;
};

void name_set_add(struct name_set *, const char *name);
bool name_set_has(const struct name_set *, const char *name);
void name_set_free(struct name_set *);
