// Requests by route and class of status; the set of series is closed.
#pragma once
#include "tools/api/server/http.h"

struct request_counters;

struct request_counters *request_counters_create(void);
void request_counters_destroy(struct request_counters *);
// route NULL: none matched. status 0: the client went before it was answered.
void request_counters_add(struct request_counters *, const struct route *, unsigned status);
void request_counters_visit(const struct request_counters *, const struct metric_sink *);
