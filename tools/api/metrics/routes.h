// The routes of those who watch: metrics, and probes.
#pragma once
#include "tools/api/server/route.h"

#define METRICS_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE) \
	READ("/v1/metrics", AGENT_READ, metrics_read)                   \
	READ("/metrics", AGENT_READ, metrics_scrape)                    \
	READ("/livez", OPEN, livez)                                     \
	READ("/readyz", OPEN, readyz)

ROUTES_DECLARE(METRICS_ROUTES)
