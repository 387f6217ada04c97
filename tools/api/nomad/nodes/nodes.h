// The nodes that paths name.
#pragma once
#include "tools/api/server/request.h"

// The node that the path names, or NULL. Under read lock.
const void *node_named(const struct request *);
// Answers with the nodes of a pool, or with all nodes when it is NULL.
void nodes_of_pool(struct request *, const char *pool, struct reply *);
