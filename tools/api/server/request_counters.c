#include "tools/api/server/request_counters.h"
#include "state/base/memory.h"
#include <stdio.h>
#include <stdlib.h>

// Class 0: never answered.
#define CLASSES 6u

static const char *const class_names[CLASSES] = {"none", "1xx", "2xx", "3xx", "4xx", "5xx"};

struct request_counters {
	const struct route_table *table;
	uint32_t rows; // of the counts; the last row counts requests without a route
	_Atomic uint64_t counts[][CLASSES];
};

struct request_counters *request_counters_create(const struct route_table *table)
{
	uint32_t rows = table->count + 1;
	struct request_counters *c = memory_take(sizeof *c + rows * sizeof c->counts[0]);
	c->table = table;
	c->rows = rows;
	return c;
}

void request_counters_destroy(struct request_counters *c)
{
	free(c);
}

void request_counters_add(struct request_counters *c, const struct route *route, unsigned status)
{
	uint32_t row = route ? (uint32_t)(route - c->table->routes) : c->table->count;
	uint32_t class = status / 100 < CLASSES ? status / 100 : 0;
	atomic_fetch_add_explicit(&c->counts[row][class], 1, memory_order_relaxed);
}

void request_counters_visit(const struct request_counters *c, const struct metric_sink *sink)
{
	for (uint32_t row = 0; row < c->rows; row++)
		for (uint32_t class = 0; class < CLASSES; class ++) {
			uint64_t count =
				atomic_load_explicit(&c->counts[row][class], memory_order_relaxed);
			if (!count)
				continue;
			const struct route *route =
				row < c->table->count ? &c->table->routes[row] : NULL;
			char labels[160];
			snprintf(labels, sizeof labels, "method=\"%s\",route=\"%s\",class=\"%s\"",
				route ? route->method : "other", route ? route->pattern : "other",
				class_names[class]);
			metric_put_of(sink, METRIC_HTTP_REQUESTS_TOTAL, labels, (double)count);
		}
}
