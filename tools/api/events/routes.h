// The routes of what comes live: events, and the log.
#pragma once
#include "tools/api/server/route.h"

#define EVENT_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE) \
	READ("/v1/event/stream", FILTERED, event_stream)              \
	NODE(GET, "/v1/agent/monitor", AGENT_READ, agent_monitor)

ROUTES_DECLARE(EVENT_ROUTES)
