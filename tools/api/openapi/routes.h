// The route of the document that describes all others.
#pragma once
#include "tools/api/server/route.h"

#define OPENAPI_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE) \
	READ("/v1/openapi.json", OPEN, openapi_read)

ROUTES_DECLARE(OPENAPI_ROUTES)
