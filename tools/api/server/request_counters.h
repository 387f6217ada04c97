// Counts requests by route and class of status; the set of series is closed.
#pragma once
#include "tools/api/server/server.h"

struct request_counters;

struct request_counters *request_counters_create(const struct route_table *);
void request_counters_destroy(struct request_counters *);
// route NULL: no route matched. status 0: the client left before the answer.
void request_counters_add(struct request_counters *, const struct route *, unsigned status);
void request_counters_visit(const struct request_counters *, const struct metric_sink *);
