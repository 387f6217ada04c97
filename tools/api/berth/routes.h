// Routes that Berth adds to those of Nomad and Orchard.
#pragma once
#include "tools/api/server/route.h"

#define BERTH_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE)                              \
	WRITE("PUT", "/v1/berth/release", FILTERED, allocations_release, allocations_released)     \
	READ("/v1/berth/explain/job/:id", JOB_READ, explain_job)                                   \
	READ("/v1/berth/explain/allocation/:id", ALLOCATION_READ, explain_allocation)              \
	READ("/v1/berth/explain/node/:id", NODE_READ, explain_node)                                \
	READ("/v1/berth/liveness", OPERATOR_READ, liveness_read)                                   \
	ASK("PUT", "/v1/berth/liveness/release", OPERATOR_WRITE, liveness_release)                 \
	READ("/v1/berth/senders", OPERATOR_READ, senders_read)                                     \
	WATCH("/v1/berth/fleet", NODE_READ, fleet_read, fleet_watched)                             \
	READ("/v1/berth/groups", NODE_READ, node_groups_read)                                      \
	ONE("/v1/berth/node/:id", NODE_READ, node_standing_by_id)                                  \
	WRITE("PUT", "/v1/berth/node/:id/offline", NODE_WRITE, node_offline, node_standing_set)    \
	WRITE("PUT", "/v1/berth/node/:id/online", NODE_WRITE, node_online, node_standing_set)      \
	ONE("/v1/berth/node/:id/drain", NODE_READ, node_drain_by_id)                               \
	READ("/v1/berth/node/:id/what-if", NODE_READ, node_what_if)                                \
	LIST("/v1/berth/revoked", NODE_READ, sender_list)                                          \
	WRITE("PUT", "/v1/berth/node/:id/revoke", NODE_WRITE, node_revoke, sender_was_changed)     \
	WRITE("PUT", "/v1/berth/node/:id/restore", NODE_WRITE, node_restore, sender_was_changed)   \
	WRITE("PUT", "/v1/berth/node/:id/rekey", NODE_WRITE, node_rekey, sender_was_changed)       \
	WRITE("PUT", "/v1/berth/client/:id/revoke", NODE_WRITE, client_revoke, sender_was_changed) \
	WRITE("PUT", "/v1/berth/client/:id/restore", NODE_WRITE, client_restore,                   \
		sender_was_changed)                                                                \
	WRITE("PUT", "/v1/berth/client/:id/rekey", NODE_WRITE, client_rekey, sender_was_changed)   \
	WRITE("DELETE", "/v1/berth/node/:id/quarantine", NODE_WRITE, quarantine_clear,             \
		outcome_answer)                                                                    \
	LIST("/v1/berth/admit/refused", NODE_READ, refused_node_list)                              \
	LIST("/v1/berth/admit", NODE_READ, admit_rule_list)                                        \
	WRITE("PUT", "/v1/berth/admit", NODE_WRITE, admit_rule_put, outcome_answer)                \
	WRITE("DELETE", "/v1/berth/admit/:id", NODE_WRITE, admit_rule_delete, outcome_answer)

ROUTES_DECLARE(BERTH_ROUTES)
