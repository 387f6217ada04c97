// Collects and sorts the metrics of one answer, and writes them in three forms.
#pragma once
#include "tools/json/json_writer.h"
#include "tools/metrics/sink.h"

struct metric {
	enum metric_family family;
	uint32_t order; // position in which it was added
	char *labels;
	double value;
	uint64_t buckets[METRIC_BUCKETS];
	double sum_us;
};

struct metric_set {
	struct metric *items;
	uint32_t count, capacity;
};

// A sink that adds to the set.
struct metric_sink metric_set_sink(struct metric_set *);
// Groups all series of a name, as both forms need it.
void metric_set_sort(struct metric_set *);
void metric_set_free(struct metric_set *);

// Text exposition format 0.0.4.
void metric_set_prometheus(const struct metric_set *, struct json_writer *);
// OpenMetrics 1.0.0.
void metric_set_openmetrics(const struct metric_set *, struct json_writer *);
// Nomad's JSON; rates are over uptime_s.
void metric_set_json(
	const struct metric_set *, struct json_writer *, double uptime_s, int64_t wall_s);
