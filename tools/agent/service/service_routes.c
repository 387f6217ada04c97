#include "tools/agent/service/service_routes.h"
#include <stdio.h>
#include <string.h>

const struct service_route service_routes[] = {
	{"GET", "/v1/agent/monitor", agent_monitor},
	{NULL, "/v1/allocation/:id/checks", alloc_checks},
	{NULL, "/v1/client/allocation/:id/checks", alloc_checks},
	{NULL, "/v1/client/allocation/:id/gc", alloc_gc},
	{NULL, "/v1/client/allocation/:id/restart", alloc_restart},
	{NULL, "/v1/client/allocation/:id/signal", alloc_signal},
	{NULL, "/v1/client/allocation/:id/stats", alloc_stats},
	{NULL, "/v1/client/fs/cat/:id", fs_cat},
	{NULL, "/v1/client/fs/logs/:id", fs_logs},
	{NULL, "/v1/client/fs/ls/:id", fs_ls},
	{NULL, "/v1/client/fs/readat/:id", fs_readat},
	{NULL, "/v1/client/fs/stat/:id", fs_stat},
	{NULL, "/v1/client/fs/stream/:id", fs_stream},
	{NULL, "/v1/client/gc", client_gc},
	{NULL, "/v1/client/allocation/:id/exec", alloc_exec},
	{NULL, "/v1/client/stats", node_stats},
	{NULL, "/v1/vms/:id/ip", vm_address},
	{NULL, "/v1/vms/:id/logs", vm_logs},
	{NULL, "/v1/vms/:id/port-forward", vm_port_forward},
	{NULL, "/v1/workers/:id/port-forward", worker_port_forward},
	{NULL, NULL, NULL},
};

// Whether the path has the pattern; then id has what stands for :id.
static bool path_matches(const char *pattern, const char *path, char id[static SERVICE_ID_BYTES])
{
	const char *hole = strstr(pattern, ":id");
	id[0] = '\0';
	if (!hole)
		return strcmp(pattern, path) == 0;
	size_t before = (size_t)(hole - pattern);
	if (strncmp(pattern, path, before) != 0)
		return false;
	path += before;
	size_t size = strcspn(path, "/");
	if (size >= SERVICE_ID_BYTES || strcmp(path + size, hole + 3) != 0)
		return false;
	snprintf(id, SERVICE_ID_BYTES, "%.*s", (int)size, path);
	return true;
}

const struct service_route *service_route_find(const struct service_route *table,
	const char *method, const char *path, char id[static SERVICE_ID_BYTES])
{
	for (const struct service_route *route = table; route->pattern; route++)
		if (path_matches(route->pattern, path, id) &&
			(!route->method || strcmp(route->method, method) == 0))
			return route;
	return NULL;
}
