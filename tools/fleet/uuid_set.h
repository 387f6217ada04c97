// A growing set of ids: which allocations have been seen.
#pragma once
#include "state/base/uuid.h"
#include <stdbool.h>
#include <stdint.h>

struct uuid_set {
	struct uuid *ids; // open addressing; the zero id is never added
	uint32_t mask, count;
};

// False when it was there already.
bool uuid_set_add(struct uuid_set *, const struct uuid *);
void uuid_set_free(struct uuid_set *);
