#include "tools/api/server/request_counters.h"
#include "state/base/memory.h"
#include "tools/api/router.h"
#include <stdio.h>
#include <stdlib.h>

// Class 0 is "never answered".
#define CLASSES 6u

static const char *const class_names[CLASSES] = {"none", "1xx", "2xx", "3xx", "4xx", "5xx"};

struct request_counters {
	uint32_t routes; // the last row counts what matched no route
	_Atomic uint64_t counts[][CLASSES];
};

struct request_counters *request_counters_create(void)
{
	uint32_t routes = router_route_count() + 1;
	struct request_counters *c = memory_take(sizeof *c + routes * sizeof c->counts[0]);
	c->routes = routes;
	return c;
}

void request_counters_destroy(struct request_counters *c)
{
	free(c);
}

void request_counters_add(struct request_counters *c, const struct route *route, unsigned status)
{
	uint32_t row = route ? router_route_number(route) : c->routes - 1;
	uint32_t class = status / 100 < CLASSES ? status / 100 : 0;
	atomic_fetch_add_explicit(&c->counts[row][class], 1, memory_order_relaxed);
}

void request_counters_visit(const struct request_counters *c, const struct metric_sink *sink)
{
	for (uint32_t row = 0; row < c->routes; row++)
		for (uint32_t class = 0; class < CLASSES; class ++) {
			uint64_t count =
				atomic_load_explicit(&c->counts[row][class], memory_order_relaxed);
			if (!count)
				continue;
			bool known = row + 1 < c->routes;
			char labels[160];
			snprintf(labels, sizeof labels, "method=\"%s\",route=\"%s\",class=\"%s\"",
				known ? router_route(row)->method : "other",
				known ? router_route(row)->pattern : "other", class_names[class]);
			sink->value(sink->sink, 'c', "berth_http_requests_total", labels,
				(double)count);
		}
}
