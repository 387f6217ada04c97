// The lists that the program knows: what each column says.
#pragma once
#include "tools/berth/views/list_column.h"
#include <jansson.h>
#include <stddef.h>

extern const struct list list_nodes, list_jobs, list_allocations, list_evaluations,
	list_deployments, list_machines, list_workers;
// Of who may do what, and where.
extern const struct list list_pools, list_namespaces, list_quotas, list_policies, list_tokens,
	list_roles, list_accounts, list_keys;

// Of the wire and the servers.
extern const struct list list_rules, list_refused_nodes, list_revoked, list_senders,
	list_own_allocations, list_servers, list_cluster_members, list_peers, list_server_health,
	list_groups, list_group_nodes;
// What else comes with a thing.
extern const struct list list_variables, list_scaling_events, list_machine_events;

// Names of links, or words, joined by ", "; "-" for none. Returns text.
const char *names_joined(json_t *names, char *text, size_t size);
