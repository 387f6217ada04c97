// The web page of the controller, and the files that it is made of.
#pragma once
#include "tools/api/server/route.h"

// The page asks for no right; what it then asks of the API does.
#define PAGE_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE) \
	READ("/", OPEN, page_lead)                                   \
	READ("/ui", OPEN, page_lead)                                 \
	READ("/ui/", OPEN, page_read)                                \
	READ("/ui/:id", OPEN, page_read)                             \
	READ("/ui/jobs/:path", OPEN, page_lead_below)                \
	READ("/ui/allocations/:path", OPEN, page_lead_below)         \
	READ("/ui/clients/:path", OPEN, page_lead_below)             \
	READ("/ui/settings/:path", OPEN, page_lead_below)

ROUTES_DECLARE(PAGE_ROUTES)
