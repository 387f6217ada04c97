// The nodes that paths name, and their pools.
#pragma once
#include "tools/api/lists/name_set.h"
#include "tools/api/server/request.h"

// The node that the path names, or NULL. Under read lock.
const struct node *node_named(const struct request *);
// Adds the names of all node pools that the request may read.
void node_pools_collect_visible(const struct request *, struct name_set *);
