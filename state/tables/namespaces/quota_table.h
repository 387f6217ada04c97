// Quotas by name, and what is used of them. For state/ only; readers use state_quota() and state_quota_lacks().
#pragma once
#include "state/records/namespaces/quota.h"
#include "state/tables/kind.h"
#include <pthread.h>

extern const struct kind quota_kind;

struct quota_cell {
	CELL_OF(struct quota, char *name);
	uint32_t namespaces; // applier; that name it
	// Of all living allocations of its namespaces. The applier writes it, under the lock; others read it so.
	pthread_mutex_t lock;
	struct quota_amount used;
};

// Applier thread only. NULL: there is none of the name.
struct quota_cell *quota_cell_find(const struct state *, struct text name);
void quota_use(struct quota_cell *, const struct quota_amount *, int64_t by);
void quota_use_one(struct quota_cell *, struct resources, const struct group_ask *ask, int64_t by);
