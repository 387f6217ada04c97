// The route of event streams.
#pragma once
#include "tools/api/server/route.h"

#define EVENT_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK) \
	READ("/v1/event/stream", FILTERED, event_stream)

ROUTES_DECLARE(EVENT_ROUTES)
