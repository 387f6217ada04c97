// Nodes as paths name them.
#pragma once
#include "tools/api/server/request.h"

// By the path, or NULL. Under read lock.
const void *node_named(const struct request *);
// Answers with those of a pool, or all when it is NULL.
void nodes_of_pool(struct request *, const char *pool, struct reply *);
// Whether the pool that the path names is there; if not, the reply says so.
bool node_pool_is_known(struct request *, struct reply *);
