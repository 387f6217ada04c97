// Routes about nodes and their pools. Pools come first, because "pool" could be a node's id.
#pragma once
#include "tools/api/server/route.h"

#define NODE_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE)                               \
	LIST("/v1/nodes", NODE_READ, node_list)                                                    \
	WATCH("/v1/node/pools", FILTERED, node_pools_list, node_pools_watched)                     \
	WRITE("PUT", "/v1/node/pools", FILTERED, node_pool_put, node_pool_was_put)                 \
	WATCH("/v1/node/pool/:id", POOL_READ, node_pool_read, node_pool_watched)                   \
	WRITE("PUT", "/v1/node/pool/:id", FILTERED, node_pool_put, node_pool_was_put)              \
	WRITE("DELETE", "/v1/node/pool/:id", POOL_DELETE, node_pool_delete, node_pool_was_deleted) \
	LIST("/v1/node/pool/:id/nodes", POOL_NODES, nodes_of_pool)                                 \
	READ("/v1/client/metadata", NODE_READ, node_meta_read)                                     \
	WRITE("POST", "/v1/client/metadata", NODE_WRITE, node_meta_set, node_meta_was_set)         \
	ONE("/v1/node/:id", NODE_READ, node_by_id)                                                 \
	WRITE("PUT", "/v1/node/:id/eligibility", NODE_WRITE, node_set_eligibility,                 \
		node_eligibility_set)                                                              \
	WRITE("PUT", "/v1/node/:id/drain", NODE_WRITE, node_set_drain, node_drain_set)             \
	WRITE("PUT", "/v1/node/:id/evaluate", NODE_WRITE, node_evaluate, node_evaluated)           \
	WRITE("PUT", "/v1/node/:id/purge", NODE_WRITE, node_purge, node_evaluated)

ROUTES_DECLARE(NODE_ROUTES)
