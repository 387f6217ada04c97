// The nodes that paths name, and their pools.
#pragma once
#include "tools/api/lists/name_set.h"
#include "tools/api/server/request.h"

// The node that the path names, or NULL. Under read lock.
const struct node *node_named(const struct request *);
// Adds the names of all node pools.
void node_pools_collect(const struct state *, struct name_set *);
