#include "tools/api/routes.h"
#include "tools/api/accounts/routes.h"
#include "tools/api/berth/routes.h"
#include "tools/api/events/routes.h"
#include "tools/api/metrics/routes.h"
#include "tools/api/nomad/acl/routes.h"
#include "tools/api/nomad/jobs/routes.h"
#include "tools/api/nomad/namespaces/routes.h"
#include "tools/api/nomad/nodes/routes.h"
#include "tools/api/nomad/placements/routes.h"
#include "tools/api/nomad/routes.h"
#include "tools/api/nomad/variables/routes.h"
#include "tools/api/openapi/routes.h"
#include "tools/api/orchard/routes.h"
#include "tools/api/ui/routes.h"
#include <string.h>

static const struct route routes[] = {
	// clang-format off
	ROUTES_ROWS(NODE_ROUTES)
	ROUTES_ROWS(JOB_ROUTES)
	ROUTES_ROWS(PLACEMENT_ROUTES)
	ROUTES_ROWS(NOMAD_ROUTES)
	ROUTES_ROWS(NAMESPACE_ROUTES)
	ROUTES_ROWS(ACL_ROUTES)
	ROUTES_ROWS(VARIABLE_ROUTES)
	ROUTES_ROWS(ABSENT_ROUTES)
	ROUTES_ROWS(EVENT_ROUTES)
	ROUTES_ROWS(METRICS_ROUTES)
	ROUTES_ROWS(OPENAPI_ROUTES)
	ROUTES_ROWS(ORCHARD_ROUTES)
	ROUTES_ROWS(ACCOUNT_ROUTES)
	ROUTES_ROWS(BERTH_ROUTES)
	ROUTES_ROWS(PAGE_ROUTES)
	// clang-format on
};

static bool is_of_orchard(const struct route *route)
{
	static const char *const prefixes[] = {"/v1/vms", "/v1/workers", "/v1/cluster-settings",
		"/v1/service-accounts", "/v1/controller/"};
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (strncmp(route->pattern, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return strcmp(route->pattern, "/v1/") == 0;
}

static bool is_of_itself(const struct route *route)
{
	static const char *const patterns[] = {"/v1/metrics", "/metrics", "/healthz", "/livez",
		"/v1/openapi.json", "/readyz", "/v1/agent/self", "/v1/agent/health",
		"/v1/agent/monitor", "/v1/agent/members", "/v1/status/leader", "/v1/status/peers",
		"/v1/berth/cluster", "/", "/ui"};
	for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
		if (strcmp(route->pattern, patterns[i]) == 0)
			return true;
	return strncmp(route->pattern, "/ui/", 4) == 0;
}

static bool takes_file(const struct route *route)
{
	return route->submit == snapshot_restored;
}

const struct route_table api_routes = {
	routes, sizeof routes / sizeof routes[0], is_of_orchard, is_of_itself, takes_file};
