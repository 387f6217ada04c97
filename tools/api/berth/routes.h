// Routes that Berth adds to those of Nomad and Orchard.
#pragma once
#include "tools/api/server/route.h"

#define BERTH_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK)                      \
	WRITE("PUT", "/v1/berth/release", allocations_release, allocations_released) \
	READ("/v1/berth/explain/job/:id", explain_job)                               \
	READ("/v1/berth/explain/allocation/:id", explain_allocation)                 \
	READ("/v1/berth/explain/node/:id", explain_node)                             \
	READ("/v1/berth/liveness", liveness_read)                                    \
	ASK("PUT", "/v1/berth/liveness/release", liveness_release)                   \
	READ("/v1/berth/groups", node_groups_read)                                   \
	ONE("/v1/berth/node/:id", node_standing_by_id)                               \
	WRITE("PUT", "/v1/berth/node/:id/offline", node_offline, node_standing_set)  \
	WRITE("PUT", "/v1/berth/node/:id/online", node_online, node_standing_set)    \
	ONE("/v1/berth/node/:id/drain", node_drain_by_id)                            \
	READ("/v1/berth/node/:id/what-if", node_what_if)

ROUTES_DECLARE(BERTH_ROUTES)
