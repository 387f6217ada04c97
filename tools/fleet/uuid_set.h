// A growing set of ids: the allocations that were seen.
#pragma once
#include "state/base/uuid.h"
#include <stdbool.h>
#include <stdint.h>

struct uuid_set {
	struct uuid *ids; // open addressing; the zero id is never added
	uint32_t mask, count;
};

// False when the id is already in the set.
bool uuid_set_add(struct uuid_set *, const struct uuid *);
void uuid_set_free(struct uuid_set *);
