// Routes that Berth adds to those of Nomad and Orchard.
#pragma once
#include "tools/api/server/route.h"

#define BERTH_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK)                                 \
	WRITE("PUT", "/v1/berth/release", FILTERED, allocations_release, allocations_released)  \
	READ("/v1/berth/explain/job/:id", JOB_READ, explain_job)                                \
	READ("/v1/berth/explain/allocation/:id", ALLOCATION_READ, explain_allocation)           \
	READ("/v1/berth/explain/node/:id", NODE_READ, explain_node)                             \
	READ("/v1/berth/liveness", OPERATOR_READ, liveness_read)                                \
	ASK("PUT", "/v1/berth/liveness/release", OPERATOR_WRITE, liveness_release)              \
	READ("/v1/berth/groups", NODE_READ, node_groups_read)                                   \
	ONE("/v1/berth/node/:id", NODE_READ, node_standing_by_id)                               \
	WRITE("PUT", "/v1/berth/node/:id/offline", NODE_WRITE, node_offline, node_standing_set) \
	WRITE("PUT", "/v1/berth/node/:id/online", NODE_WRITE, node_online, node_standing_set)   \
	ONE("/v1/berth/node/:id/drain", NODE_READ, node_drain_by_id)                            \
	READ("/v1/berth/node/:id/what-if", NODE_READ, node_what_if)

ROUTES_DECLARE(BERTH_ROUTES)
