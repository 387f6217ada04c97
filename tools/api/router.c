#include "tools/api/router.h"
#include "state/base/memory.h"
#include "tools/api/handlers.h"
#include <stdlib.h>

static const struct route routes[] = {
	{"GET", "/v1/nodes", nodes_list, nodes_watched, NULL},
	{"GET", "/v1/node/pools", node_pools_list, nodes_watched, NULL},
	{"PUT", "/v1/node/pools", NULL, NULL, pools_absent_write},
	{"GET", "/v1/node/pool/:id", node_pool_read, nodes_watched, NULL},
	{"PUT", "/v1/node/pool/:id", NULL, NULL, pools_absent_write},
	{"DELETE", "/v1/node/pool/:id", NULL, NULL, pools_absent_write},
	{"GET", "/v1/node/pool/:id/nodes", node_pool_nodes, nodes_watched, NULL},
	{"GET", "/v1/node/pool/:id/jobs", node_pool_jobs, jobs_watched, NULL},
	{"GET", "/v1/node/:id", node_read, node_watched, NULL},
	{"GET", "/v1/node/:id/allocations", node_allocations, node_allocations_watched, NULL},
	{"PUT", "/v1/node/:id/eligibility", node_eligibility_set, NULL, node_set_eligibility},
	{"PUT", "/v1/node/:id/drain", node_drain_set, NULL, node_set_drain},
	{"PUT", "/v1/node/:id/evaluate", node_evaluated, NULL, node_evaluate},
	{"PUT", "/v1/node/:id/purge", node_evaluated, NULL, node_purge},
	{"GET", "/v1/jobs", jobs_list, jobs_watched, NULL},
	{"PUT", "/v1/jobs", job_registered, NULL, job_register},
	{"PUT", "/v1/jobs/parse", NULL, NULL, jobs_parse},
	{"GET", "/v1/job/:id", job_read, job_watched, NULL},
	{"PUT", "/v1/job/:id", job_registered, NULL, job_register},
	{"DELETE", "/v1/job/:id", job_deregistered, NULL, job_deregister},
	{"GET", "/v1/job/:id/allocations", job_allocations, job_allocations_watched, NULL},
	{"GET", "/v1/job/:id/summary", job_summary, job_summary_watched, NULL},
	{"GET", "/v1/job/:id/versions", job_versions, job_watched, NULL},
	{"GET", "/v1/job/:id/evaluations", job_evaluations, job_evaluations_watched, NULL},
	{"GET", "/v1/job/:id/scale", job_scale, job_summary_watched, NULL},
	{"PUT", "/v1/job/:id/scale", job_scaled, NULL, job_set_scale},
	{"GET", "/v1/job/:id/deployment", job_deployment, job_deployments_watched, NULL},
	{"GET", "/v1/job/:id/deployments", job_deployments, job_deployments_watched, NULL},
	{"PUT", "/v1/job/:id/dispatch", job_dispatched, NULL, job_dispatch},
	{"PUT", "/v1/job/:id/periodic/force", job_periodic_forced, NULL, job_periodic_force},
	{"PUT", "/v1/job/:id/revert", job_reverted, NULL, job_revert},
	{"PUT", "/v1/job/:id/stable", job_stable_was_set, NULL, job_set_stable},
	{"PUT", "/v1/job/:id/evaluate", job_evaluated, NULL, job_evaluate},
	{"PUT", "/v1/job/:id/plan", NULL, NULL, job_plan},
	{"PUT", "/v1/validate/job", NULL, NULL, job_validate},
	{"GET", "/v1/evaluations", evaluations_list, evaluations_watched, NULL},
	{"GET", "/v1/evaluations/count", evaluations_count, evaluations_watched, NULL},
	{"GET", "/v1/evaluation/:id", evaluation_read, evaluation_watched, NULL},
	{"GET", "/v1/evaluation/:id/allocations", evaluation_allocations,
		evaluation_allocations_watched, NULL},
	{"GET", "/v1/allocations", allocations_list, allocations_watched, NULL},
	{"GET", "/v1/allocation/:id", allocation_read, allocation_watched, NULL},
	{"PUT", "/v1/allocation/:id/stop", allocation_stopped, NULL, allocation_stop},
	{"GET", "/v1/deployments", deployments_list, deployments_watched, NULL},
	{"GET", "/v1/deployment/:id", deployment_read, deployment_watched, NULL},
	{"GET", "/v1/deployment/allocations/:id", deployment_allocations,
		deployment_allocations_watched, NULL},
	{"PUT", "/v1/deployment/promote/:id", deployment_changed, NULL, deployment_promote},
	{"PUT", "/v1/deployment/fail/:id", deployment_changed, NULL, deployment_fail},
	{"PUT", "/v1/deployment/pause/:id", deployment_changed, NULL, deployment_pause},
	{"PUT", "/v1/deployment/unblock/:id", deployment_changed, NULL, deployment_unblock},
	{"PUT", "/v1/deployment/allocation-health/:id", deployment_changed, NULL,
		deployment_set_health},
	{"GET", "/v1/scaling/policies", scaling_policies_list, scaling_policies_watched, NULL},
	{"GET", "/v1/scaling/policy/:id", scaling_policy_read, scaling_policies_watched, NULL},
	{"PUT", "/v1/search", NULL, NULL, search},
	{"PUT", "/v1/search/fuzzy", NULL, NULL, search_fuzzy},
	{"GET", "/v1/event/stream", event_stream, NULL, NULL},
	{"PUT", "/v1/berth/release", allocations_released, NULL, allocations_release},
	{"GET", "/v1/berth/explain/job/:id", explain_job, NULL, NULL},
	{"GET", "/v1/berth/explain/allocation/:id", explain_allocation, NULL, NULL},
	{"GET", "/v1/berth/explain/node/:id", explain_node, NULL, NULL},
	{"GET", "/v1/berth/rollout/:id", rollout_read, NULL, NULL},
	{"GET", "/v1/berth/groups", node_groups_read, NULL, NULL},
	{"GET", "/v1/berth/node/:id", node_standing_read, node_watched, NULL},
	{"PUT", "/v1/berth/node/:id/offline", node_standing_set, NULL, node_offline},
	{"PUT", "/v1/berth/node/:id/online", node_standing_set, NULL, node_online},
	{"GET", "/v1/berth/node/:id/drain", node_drain_read, node_drain_watched, NULL},
	{"GET", "/v1/berth/node/:id/what-if", node_what_if, NULL, NULL},
	{"GET", "/v1/vms", vms_list, vms_watched, NULL},
	{"PUT", "/v1/vms", vm_added, NULL, vm_add},
	{"GET", "/v1/vms/:id", vm_read, vm_watched, NULL},
	{"PUT", "/v1/vms/:id", vm_changed, NULL, vm_change},
	{"DELETE", "/v1/vms/:id", vm_removed, NULL, vm_remove},
	{"GET", "/v1/vms/:id/events", vm_events_read, vm_watched, NULL},
	{"PUT", "/v1/vms/:id/state", vm_reported, NULL, vm_report},
	{"GET", "/v1/workers", vm_workers_list, vm_workers_watched, NULL},
	{"PUT", "/v1/workers", vm_worker_registered, NULL, vm_worker_register},
	{"GET", "/v1/workers/:id", vm_worker_read, vm_worker_watched, NULL},
	{"PUT", "/v1/workers/:id", vm_worker_changed, NULL, vm_worker_change},
	{"DELETE", "/v1/workers/:id", vm_worker_removed, NULL, vm_worker_remove},
	{"GET", "/v1/cluster-settings", cluster_settings_read, cluster_settings_watched, NULL},
	{"PUT", "/v1/cluster-settings", cluster_settings_were_set, NULL, cluster_settings_set},
	{"GET", "/v1/operator/scheduler/configuration", scheduler_config_read,
		scheduler_config_watched, NULL},
	{"PUT", "/v1/operator/scheduler/configuration", scheduler_config_was_set, NULL,
		scheduler_config_set},
	{"GET", "/v1/operator/raft/configuration", raft_configuration, NULL, NULL},
	{"GET", "/v1/operator/autopilot/configuration", autopilot_configuration, NULL, NULL},
	{"GET", "/v1/operator/autopilot/health", autopilot_health, NULL, NULL},
	{"GET", "/v1/operator/snapshot", snapshot_absent, NULL, NULL},
	{"PUT", "/v1/operator/snapshot", NULL, NULL, snapshot_absent_write},
	{"PUT", "/v1/system/gc", system_collected, NULL, system_collect},
	{"PUT", "/v1/system/reconcile/summaries", NULL, NULL, system_reconcile},
	{"GET", "/v1/client/stats", client_stats, NULL, NULL},
	{"GET", "/v1/client/allocation/:id/stats", client_stats, NULL, NULL},
	{"GET", "/v1/client/allocation/:id/exec", client_absent, NULL, NULL},
	{"PUT", "/v1/client/allocation/:id/restart", NULL, NULL, client_absent_write},
	{"PUT", "/v1/client/allocation/:id/signal", NULL, NULL, client_absent_write},
	{"GET", "/v1/client/allocation/:id/gc", client_absent, NULL, NULL},
	{"GET", "/v1/client/gc", client_absent, NULL, NULL},
	{"GET", "/v1/client/fs/ls/:id", client_absent, NULL, NULL},
	{"GET", "/v1/client/fs/stat/:id", client_absent, NULL, NULL},
	{"GET", "/v1/client/fs/cat/:id", client_absent, NULL, NULL},
	{"GET", "/v1/client/fs/readat/:id", client_absent, NULL, NULL},
	{"GET", "/v1/client/fs/stream/:id", client_absent, NULL, NULL},
	{"GET", "/v1/client/fs/logs/:id", client_absent, NULL, NULL},
	{"GET", "/v1/agent/self", agent_self, NULL, NULL},
	{"GET", "/v1/agent/health", agent_health, NULL, NULL},
	{"GET", "/v1/agent/members", agent_members, NULL, NULL},
	{"GET", "/v1/agent/monitor", agent_absent, NULL, NULL},
	{"GET", "/v1/agent/host", agent_absent, NULL, NULL},
	{"GET", "/v1/status/leader", status_leader, NULL, NULL},
	{"GET", "/v1/status/peers", status_peers, NULL, NULL},
	{"GET", "/v1/regions", regions_list, NULL, NULL},
	{"GET", "/v1/namespaces", namespaces_list, jobs_watched, NULL},
	{"GET", "/v1/namespace/:id", namespace_read, jobs_watched, NULL},
	{"GET", "/v1/metrics", metrics_read, NULL, NULL},
	{"GET", "/healthz", healthz, NULL, NULL},
};

#define ROUTE_COUNT (sizeof routes / sizeof routes[0])
#define SEGMENTS_MAX 16u

uint32_t router_route_count(void)
{
	return ROUTE_COUNT;
}

const struct route *router_route(uint32_t number)
{
	return &routes[number];
}

uint32_t router_route_number(const struct route *route)
{
	return (uint32_t)(route - routes);
}

bool route_complains_in_json(const struct route *route)
{
	static const char *const prefixes[] = {"/v1/vms", "/v1/workers", "/v1/cluster-settings"};
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (strncmp(route->pattern, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool percent_decode(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++, to++) {
		if (*from != '%') {
			*to = *from;
			continue;
		}
		int high = hex_digit(from[1]);
		int low = high < 0 ? -1 : hex_digit(from[2]);
		if (low < 0 || high * 16 + low == 0)
			return false;
		*to = (char)(high * 16 + low);
		from += 2;
	}
	*to = '\0';
	return true;
}

struct segments {
	uint32_t count;
	char *at[SEGMENTS_MAX];
};

// Splits "/a/b/c" in place. False when it is no absolute path or has too many parts.
static bool split(char *path, struct segments *segments)
{
	segments->count = 0;
	if (*path != '/')
		return false;
	while (path) {
		*path++ = '\0';
		if (segments->count == SEGMENTS_MAX)
			return false;
		segments->at[segments->count++] = path;
		path = strchr(path, '/');
	}
	return true;
}

// Jobs may have slashes in their ids, and not every client escapes them.
static bool is_of_job(const char *pattern)
{
	return strstr(pattern, "/job/:id") != NULL;
}

// True when the path fits the pattern, with a job's id made of that many parts more than one; notes where
// that begins which stands for ":id".
static bool pattern_fits(
	const char *pattern, const struct segments *segments, uint32_t more, const char **ids)
{
	uint32_t at = 0, id_count = 0;
	while (*pattern == '/') {
		pattern++;
		size_t size = strcspn(pattern, "/");
		if (at == segments->count)
			return false;
		const char *segment = segments->at[at++];
		if (*pattern == ':') {
			if (!*segment || more > segments->count - at)
				return false;
			ids[id_count++] = segment;
			at += more;
			if (!*segments->at[at - 1])
				return false;
		} else if (strlen(segment) != size || memcmp(segment, pattern, size) != 0) {
			return false;
		}
		pattern += size;
	}
	return at == segments->count;
}

// Puts the parts of an id together again. Decoding has only made them shorter, so they are moved down.
static void join(const struct segments *segments, const char *id, uint32_t more)
{
	uint32_t first = 0;
	while (segments->at[first] != id)
		first++;
	char *end = segments->at[first] + strlen(id);
	for (uint32_t i = first + 1; i <= first + more; i++) {
		size_t size = strlen(segments->at[i]);
		*end++ = '/';
		memmove(end, segments->at[i], size + 1);
		end += size;
	}
}

static bool method_fits(const struct route *route, const char *method)
{
	if (strcmp(route->method, method) == 0)
		return true;
	return strcmp(route->method, "PUT") == 0 && strcmp(method, "POST") == 0;
}

// The route that a path and method fit when a job's id has that many parts more than one.
static enum route_match match_with(
	struct request *request, const char *method, const struct segments *segments, uint32_t more)
{
	enum route_match match = ROUTE_UNKNOWN_PATH;
	for (uint32_t i = 0; i < ROUTE_COUNT; i++) {
		if (more && !is_of_job(routes[i].pattern))
			continue;
		if (!pattern_fits(routes[i].pattern, segments, more, request->ids))
			continue;
		if (method_fits(&routes[i], method)) {
			request->route = &routes[i];
			return ROUTE_FOUND;
		}
		match = ROUTE_WRONG_METHOD;
	}
	return match;
}

enum route_match router_match(struct request *request, const char *method, const char *url)
{
	struct segments segments;
	request->path = text_copy(text_of(url));
	if (!split(request->path, &segments))
		return ROUTE_UNKNOWN_PATH;
	for (uint32_t i = 0; i < segments.count; i++)
		if (!percent_decode(segments.at[i]))
			return ROUTE_BAD_ENCODING;
	// What has a name of its own at the end of the path comes before what could be part of an id.
	for (uint32_t more = 0; more < segments.count; more++) {
		enum route_match match = match_with(request, method, &segments, more);
		if (match == ROUTE_FOUND && more)
			join(&segments, request->ids[0], more);
		if (match != ROUTE_UNKNOWN_PATH)
			return match;
	}
	return ROUTE_UNKNOWN_PATH;
}
