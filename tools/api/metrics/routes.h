// The route of metrics.
#pragma once
#include "tools/api/server/route.h"

#define METRICS_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK) \
	READ("/v1/metrics", AGENT_READ, metrics_read)

ROUTES_DECLARE(METRICS_ROUTES)
