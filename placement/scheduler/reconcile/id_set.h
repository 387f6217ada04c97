// A set of ids that is filled first, then sorted once, then searched.
#pragma once
#include "state/base/schema.h"
#include "state/base/uuid.h"

struct id_set {
	struct uuid *ids; // in order after id_set_sort()
	uint32_t count;
};

void id_set_add_all(struct id_set *, const struct array *ids);
void id_set_sort(struct id_set *);
bool id_set_has(const struct id_set *, const struct uuid *);
void id_set_release(struct id_set *);
