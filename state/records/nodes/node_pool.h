// Node pools that an operator described (docs/spec/objects.md). A pool that only nodes or jobs name has no record, and
// neither have "all" and "default", which nobody changes.
#pragma once
#include "state/base/schema.h"
#include "state/base/text.h"
#include "state/records/record.h"
#include "state/records/scheduler_config.h"

#define NODE_POOL_ALL "all"
#define NODE_POOL_DEFAULT "default"

// What a pool sets for the schedulers instead of the configuration of all (row A55).
struct node_pool_scheduler {
	int algorithm; // 0: none; else 1 + enum scheduler_algorithm
	struct optional_bool memory_oversubscription;
};

struct node_pool {
	struct record record; // first
	char *name;
	char *description;
	struct array meta;                     // struct string_pair
	struct node_pool_scheduler *scheduler; // NULL: nothing is set
};

extern const struct record_type node_pool_description;

// Whether the name may be that of a pool: letters, digits, '-' and '_'.
bool node_pool_name_is_fit(struct text);
bool node_pool_is_built_in(struct text name);
// Whether there are no more values than NODE_POOL_META_MAX, none longer than those of a node's attributes.
bool node_pool_meta_is_fit(const struct array *meta);
// What holds for jobs of a pool, which may be NULL: what it sets, or else the configuration of all.
enum scheduler_algorithm node_pool_algorithm(
	const struct node_pool *, const struct scheduler_config *);
bool node_pool_oversubscribes(const struct node_pool *, const struct scheduler_config *);
