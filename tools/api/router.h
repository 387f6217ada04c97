// The table of routes and the way from a request line to a row of it.
#pragma once
#include "tools/api/server/http.h"

enum route_match { ROUTE_FOUND, ROUTE_UNKNOWN_PATH, ROUTE_WRONG_METHOD, ROUTE_BAD_ENCODING };

// url is the raw, still encoded path. On ROUTE_FOUND sets the request's route, path and ids; each
// segment is decoded once, after the path was split, so that an encoded slash belongs to its
// segment.
enum route_match router_match(struct request *, const char *method, const char *url);

uint32_t router_route_count(void);
const struct route *router_route(uint32_t number);
uint32_t router_route_number(const struct route *);

// Whether its refusals are {"message": "…"}, as Orchard has them, and not plain text.
bool route_complains_in_json(const struct route *);

// Percent-decodes once, in place. False when an escape is broken or decodes to NUL.
bool percent_decode(char *text);
