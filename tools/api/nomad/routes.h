// Routes about the controller itself, and routes that only Nomad's clients need.
#pragma once
#include "tools/api/server/route.h"

#define NOMAD_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE)                              \
	ASK("PUT", "/v1/search", FILTERED, search)                                                 \
	ASK("PUT", "/v1/search/fuzzy", FILTERED, search_fuzzy)                                     \
	TABLE("/v1/operator/scheduler/configuration", OPERATOR_READ, scheduler_config_read,        \
		STATE_SCHEDULER_CONFIG)                                                            \
	WRITE("PUT", "/v1/operator/scheduler/configuration", OPERATOR_WRITE, scheduler_config_set, \
		scheduler_config_was_set)                                                          \
	READ("/v1/operator/raft/configuration", MANAGEMENT, raft_configuration)                    \
	READ("/v1/operator/autopilot/configuration", OPERATOR_READ, autopilot_configuration)       \
	READ("/v1/operator/autopilot/health", OPERATOR_READ, autopilot_health)                     \
	READ("/v1/operator/snapshot", MANAGEMENT, snapshot_sent)                                   \
	ASK("PUT", "/v1/operator/snapshot", MANAGEMENT, snapshot_restored)                         \
	ASK("PUT", "/v1/operator/autopilot/configuration", OPERATOR_WRITE, autopilot_not_set)      \
	ASK("DELETE", "/v1/operator/raft/peer", MANAGEMENT, raft_peer_remove)                      \
	WRITE("PUT", "/v1/system/gc", MANAGEMENT, system_collect, system_collected)                \
	ASK("PUT", "/v1/system/reconcile/summaries", MANAGEMENT, system_reconcile)                 \
	NODE(GET, "/v1/client/stats", NODE_READ, client_of_node)                                   \
	NODE(GET, "/v1/client/gc", NODE_WRITE, client_of_node)                                     \
	NODE(PUT, "/v1/client/gc", NODE_WRITE, client_of_node)                                     \
	NODE(GET, "/v1/client/allocation/:id/stats", ALLOCATION_READ, client_of_allocation)        \
	NODE(GET, "/v1/client/allocation/:id/exec", ALLOCATION_EXEC, client_exec)                  \
	NODE(GET, "/v1/client/allocation/:id/restart", ALLOCATION_STOP, client_of_allocation)      \
	NODE(PUT, "/v1/client/allocation/:id/restart", ALLOCATION_STOP, client_of_allocation)      \
	NODE(GET, "/v1/client/allocation/:id/signal", ALLOCATION_STOP, client_of_allocation)       \
	NODE(PUT, "/v1/client/allocation/:id/signal", ALLOCATION_STOP, client_of_allocation)       \
	NODE(GET, "/v1/client/allocation/:id/gc", ALLOCATION_COLLECT, client_of_allocation)        \
	NODE(PUT, "/v1/client/allocation/:id/gc", ALLOCATION_COLLECT, client_of_allocation)        \
	NODE(GET, "/v1/client/fs/ls/:path", ALLOCATION_FILES, client_of_allocation)                \
	NODE(GET, "/v1/client/fs/stat/:path", ALLOCATION_FILES, client_of_allocation)              \
	NODE(GET, "/v1/client/fs/cat/:path", ALLOCATION_FILES, client_of_allocation)               \
	NODE(GET, "/v1/client/fs/readat/:path", ALLOCATION_FILES, client_of_allocation)            \
	NODE(GET, "/v1/client/fs/stream/:path", ALLOCATION_FILES, client_of_allocation)            \
	NODE(GET, "/v1/client/fs/logs/:path", ALLOCATION_LOGS, client_of_allocation)               \
	READ("/v1/agent/self", AGENT_READ, agent_self)                                             \
	READ("/v1/agent/health", OPEN, agent_health)                                               \
	READ("/v1/agent/members", NODE_READ, agent_members)                                        \
	READ("/v1/agent/servers", AGENT_READ, status_peers)                                        \
	ASK("PUT", "/v1/agent/servers", AGENT_WRITE, agent_servers_set)                            \
	ASK("PUT", "/v1/agent/join", AGENT_WRITE, agent_join)                                      \
	ASK("PUT", "/v1/agent/force-leave", AGENT_WRITE, agent_force_leave)                        \
	READ("/v1/agent/schedulers", AGENT_READ, agent_schedulers)                                 \
	READ("/v1/agent/schedulers/config", AGENT_READ, agent_schedulers_config)                   \
	ASK("PUT", "/v1/agent/schedulers/config", AGENT_WRITE, agent_schedulers_set)               \
	READ("/v1/agent/host", AGENT_READ, agent_not_shown)                                        \
	READ("/v1/agent/pprof/:id", AGENT_WRITE, agent_no_profiles)                                \
	READ("/v1/berth/cluster", OPERATOR_READ, cluster_read)                                     \
	READ("/v1/status/leader", OPEN, status_leader)                                             \
	READ("/v1/status/peers", OPEN, status_peers)                                               \
	READ("/v1/regions", OPEN, regions_list)                                                    \
	READ("/healthz", OPEN, healthz)

// What Berth has none of: lists are empty, what one would name is not found, and changes are refused.
#define ABSENT_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE)                       \
	READ("/v1/volumes", LIST_VOLUMES, nothing_listed)                                    \
	READ("/v1/plugins", PLUGIN_LIST, nothing_listed)                                     \
	READ("/v1/services", LIST_OF_JOBS, nothing_listed)                                   \
	READ("/v1/service/:id", JOB_READ, nothing_listed)                                    \
	READ("/v1/job/:id/services", JOB_READ, nothing_listed)                               \
	READ("/v1/allocation/:id/services", ALLOCATION_READ, nothing_listed)                 \
	NODE(GET, "/v1/allocation/:id/checks", ALLOCATION_READ, client_of_allocation)        \
	NODE(GET, "/v1/client/allocation/:id/checks", ALLOCATION_READ, client_of_allocation) \
	READ("/v1/job/:id/submission", JOB_READ, submission_absent)                          \
	READ("/v1/volume/csi/:id", VOLUME_READ, volume_absent)                               \
	READ("/v1/plugin/csi/:id", PLUGIN_READ, plugin_absent)                               \
	READ("/v1/volumes/external", LIST_VOLUMES, no_such_plugin)                           \
	READ("/v1/volumes/snapshot", LIST_VOLUMES, no_such_plugin)                           \
	ASK("PUT", "/v1/volume/csi/:rest", VOLUME_WRITE, not_kept)                           \
	ASK("DELETE", "/v1/volume/csi/:rest", VOLUME_DELETE, not_kept)                       \
	ASK("PUT", "/v1/volumes", VOLUME_WRITE, not_kept)                                    \
	ASK("PUT", "/v1/volumes/snapshot", VOLUME_WRITE, not_kept)                           \
	ASK("DELETE", "/v1/volumes/snapshot", VOLUME_DELETE, not_kept)                       \
	ASK("PUT", "/v1/service/:rest", JOB_SUBMIT, not_kept)                                \
	ASK("DELETE", "/v1/service/:rest", JOB_SUBMIT, not_kept)                             \
	READ("/v1/sentinel/:rest", MANAGEMENT, enterprise_only)                              \
	READ("/v1/recommendations", MANAGEMENT, enterprise_only)                             \
	READ("/v1/recommendation", MANAGEMENT, enterprise_only)                              \
	READ("/v1/recommendation/:id", MANAGEMENT, enterprise_only)                          \
	ASK("PUT", "/v1/sentinel/:rest", MANAGEMENT, enterprise_only)                        \
	ASK("DELETE", "/v1/sentinel/:rest", MANAGEMENT, enterprise_only)                     \
	ASK("PUT", "/v1/recommendation", MANAGEMENT, enterprise_only)                        \
	ASK("PUT", "/v1/recommendations/apply", MANAGEMENT, enterprise_only)                 \
	ASK("DELETE", "/v1/recommendation/:id", MANAGEMENT, enterprise_only)                 \
	ASK("PUT", "/v1/operator/license", MANAGEMENT, enterprise_only)                      \
	READ("/v1/operator/license", OPEN, license_absent)                                   \
	READ("/v1/acl/auth-methods", OPEN, acl_absent)                                       \
	READ("/v1/acl/auth-method/:id", MANAGEMENT, acl_absent)                              \
	READ("/v1/acl/binding-rules", MANAGEMENT, acl_absent)                                \
	READ("/v1/acl/binding-rule/:id", MANAGEMENT, acl_absent)                             \
	ASK("PUT", "/v1/acl/auth-method", MANAGEMENT, acl_absent)                            \
	ASK("PUT", "/v1/acl/auth-method/:id", MANAGEMENT, acl_absent)                        \
	ASK("DELETE", "/v1/acl/auth-method/:id", MANAGEMENT, acl_absent)                     \
	ASK("PUT", "/v1/acl/binding-rule", MANAGEMENT, acl_absent)                           \
	ASK("PUT", "/v1/acl/binding-rule/:id", MANAGEMENT, acl_absent)                       \
	ASK("DELETE", "/v1/acl/binding-rule/:id", MANAGEMENT, acl_absent)                    \
	ASK("PUT", "/v1/acl/token/onetime/exchange", OPEN, acl_absent)                       \
	ASK("PUT", "/v1/acl/login", OPEN, acl_absent)                                        \
	ASK("PUT", "/v1/acl/oidc/:rest", OPEN, acl_absent)

ROUTES_DECLARE(NOMAD_ROUTES)
ROUTES_DECLARE(ABSENT_ROUTES)
