// Routes about the controller itself, and routes that only Nomad's clients need.
#pragma once
#include "tools/api/server/route.h"

#define NOMAD_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK)                    \
	ASK("PUT", "/v1/jobs/parse", jobs_parse)                                   \
	ASK("PUT", "/v1/search", search)                                           \
	ASK("PUT", "/v1/search/fuzzy", search_fuzzy)                               \
	TABLE("/v1/operator/scheduler/configuration", scheduler_config_read,       \
		STATE_SCHEDULER_CONFIG)                                            \
	WRITE("PUT", "/v1/operator/scheduler/configuration", scheduler_config_set, \
		scheduler_config_was_set)                                          \
	READ("/v1/operator/raft/configuration", raft_configuration)                \
	READ("/v1/operator/autopilot/configuration", autopilot_configuration)      \
	READ("/v1/operator/autopilot/health", autopilot_health)                    \
	READ("/v1/operator/snapshot", snapshot_not_sent)                           \
	ASK("PUT", "/v1/operator/snapshot", snapshot_not_sent)                     \
	ASK("PUT", "/v1/operator/autopilot/configuration", autopilot_not_set)      \
	ASK("DELETE", "/v1/operator/raft/peer", raft_peer_remove)                  \
	WRITE("PUT", "/v1/system/gc", system_collect, system_collected)            \
	ASK("PUT", "/v1/system/reconcile/summaries", system_reconcile)             \
	READ("/v1/client/stats", client_stats)                                     \
	READ("/v1/client/allocation/:id/stats", client_stats)                      \
	READ("/v1/client/allocation/:id/exec", exec_refused)                       \
	ASK("PUT", "/v1/client/allocation/:id/restart", client_not_reached)        \
	ASK("PUT", "/v1/client/allocation/:id/signal", client_not_reached)         \
	READ("/v1/client/allocation/:id/gc", client_not_reached)                   \
	READ("/v1/client/gc", client_not_reached)                                  \
	READ("/v1/client/fs/ls/:id", client_not_reached)                           \
	READ("/v1/client/fs/stat/:id", client_not_reached)                         \
	READ("/v1/client/fs/cat/:id", client_not_reached)                          \
	READ("/v1/client/fs/readat/:id", client_not_reached)                       \
	READ("/v1/client/fs/stream/:id", client_not_reached)                       \
	READ("/v1/client/fs/logs/:id", client_not_reached)                         \
	READ("/v1/agent/self", agent_self)                                         \
	READ("/v1/agent/health", agent_health)                                     \
	READ("/v1/agent/members", agent_members)                                   \
	READ("/v1/agent/servers", status_peers)                                    \
	ASK("PUT", "/v1/agent/servers", agent_servers_set)                         \
	ASK("PUT", "/v1/agent/join", agent_join)                                   \
	ASK("PUT", "/v1/agent/force-leave", agent_force_leave)                     \
	READ("/v1/agent/schedulers", agent_schedulers)                             \
	READ("/v1/agent/schedulers/config", agent_schedulers_config)               \
	ASK("PUT", "/v1/agent/schedulers/config", agent_schedulers_set)            \
	READ("/v1/agent/monitor", agent_not_shown)                                 \
	READ("/v1/agent/host", agent_not_shown)                                    \
	READ("/v1/status/leader", status_leader)                                   \
	READ("/v1/status/peers", status_peers)                                     \
	READ("/v1/regions", regions_list)                                          \
	WATCH("/v1/namespaces", namespaces_list, jobs_watched)                     \
	WATCH("/v1/namespace/:id", namespace_read, jobs_watched)                   \
	READ("/healthz", healthz)

// What Berth has none of: lists are empty, what one would name is not found, and changes are refused.
#define ABSENT_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK) \
	READ("/v1/volumes", nothing_listed)                      \
	READ("/v1/plugins", nothing_listed)                      \
	READ("/v1/services", nothing_listed)                     \
	READ("/v1/service/:id", nothing_listed)                  \
	READ("/v1/vars", nothing_listed)                         \
	READ("/v1/job/:id/services", nothing_listed)             \
	READ("/v1/allocation/:id/services", nothing_listed)      \
	READ("/v1/operator/keyring/keys", nothing_listed)        \
	READ("/v1/allocation/:id/checks", no_checks)             \
	READ("/v1/client/allocation/:id/checks", no_checks)      \
	READ("/v1/job/:id/submission", submission_absent)        \
	READ("/v1/var/:rest", variable_absent)                   \
	READ("/v1/volume/csi/:id", volume_absent)                \
	READ("/v1/plugin/csi/:id", plugin_absent)                \
	READ("/v1/volumes/external", no_such_plugin)             \
	READ("/v1/volumes/snapshot", no_such_plugin)             \
	ASK("PUT", "/v1/var/:rest", not_kept)                    \
	ASK("DELETE", "/v1/var/:rest", not_kept)                 \
	ASK("PUT", "/v1/volume/csi/:rest", not_kept)             \
	ASK("DELETE", "/v1/volume/csi/:rest", not_kept)          \
	ASK("PUT", "/v1/volumes", not_kept)                      \
	ASK("PUT", "/v1/volumes/snapshot", not_kept)             \
	ASK("DELETE", "/v1/volumes/snapshot", not_kept)          \
	ASK("PUT", "/v1/service/:rest", not_kept)                \
	ASK("DELETE", "/v1/service/:rest", not_kept)             \
	ASK("PUT", "/v1/operator/keyring/:rest", not_kept)       \
	ASK("DELETE", "/v1/operator/keyring/:rest", not_kept)    \
	ASK("PUT", "/v1/namespace", namespaces_not_made)         \
	ASK("PUT", "/v1/namespaces", namespaces_not_made)        \
	ASK("PUT", "/v1/namespace/:id", namespaces_not_made)     \
	ASK("DELETE", "/v1/namespace/:id", namespaces_not_made)  \
	READ("/v1/quotas", enterprise_only)                      \
	READ("/v1/quota-usages", enterprise_only)                \
	READ("/v1/quota/:rest", enterprise_only)                 \
	READ("/v1/sentinel/:rest", enterprise_only)              \
	READ("/v1/recommendations", enterprise_only)             \
	READ("/v1/recommendation", enterprise_only)              \
	READ("/v1/recommendation/:id", enterprise_only)          \
	ASK("PUT", "/v1/quota", enterprise_only)                 \
	ASK("PUT", "/v1/quota/:rest", enterprise_only)           \
	ASK("DELETE", "/v1/quota/:rest", enterprise_only)        \
	ASK("PUT", "/v1/sentinel/:rest", enterprise_only)        \
	ASK("DELETE", "/v1/sentinel/:rest", enterprise_only)     \
	ASK("PUT", "/v1/recommendation", enterprise_only)        \
	ASK("PUT", "/v1/recommendations/apply", enterprise_only) \
	ASK("DELETE", "/v1/recommendation/:id", enterprise_only) \
	ASK("PUT", "/v1/operator/license", enterprise_only)      \
	READ("/v1/operator/license", license_absent)             \
	READ("/v1/acl/auth-methods", acl_absent)                 \
	READ("/v1/acl/auth-method/:id", acl_absent)              \
	READ("/v1/acl/binding-rules", acl_absent)                \
	READ("/v1/acl/binding-rule/:id", acl_absent)             \
	ASK("PUT", "/v1/acl/auth-method", acl_absent)            \
	ASK("PUT", "/v1/acl/auth-method/:id", acl_absent)        \
	ASK("DELETE", "/v1/acl/auth-method/:id", acl_absent)     \
	ASK("PUT", "/v1/acl/binding-rule", acl_absent)           \
	ASK("PUT", "/v1/acl/binding-rule/:id", acl_absent)       \
	ASK("DELETE", "/v1/acl/binding-rule/:id", acl_absent)    \
	ASK("PUT", "/v1/acl/token/onetime/exchange", acl_absent) \
	ASK("PUT", "/v1/acl/login", acl_absent)                  \
	ASK("PUT", "/v1/acl/oidc/:rest", acl_absent)

ROUTES_DECLARE(NOMAD_ROUTES)
ROUTES_DECLARE(ABSENT_ROUTES)
