// Collects and sorts the metrics of one answer, and writes them in two forms.
#pragma once
#include "tools/api/server/settings.h"
#include "tools/json/json_writer.h"

#define METRIC_BUCKETS 32u

struct metric {
	char kind; // 'c' counter, 'g' gauge, 'h' histogram
	char *name, *labels;
	uint32_t order; // position in which it was added
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
// Nomad's JSON; rates are over uptime_s.
void metric_set_json(
	const struct metric_set *, struct json_writer *, double uptime_s, int64_t wall_s);
