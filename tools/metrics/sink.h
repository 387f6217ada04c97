// Where metrics go: whoever counts emits them into a sink, which knows nothing of the counters.
#pragma once
#include "tools/metrics/families.h"
#include <stdint.h>

#define METRIC_BUCKETS 32u

// labels: "" or in Prometheus' form `type="place",outcome="done"`; the set is closed and bounded.
typedef void metric_value(void *sink, enum metric_family, const char *labels, double value);
// Powers of two: bucket i counts values < 2^i microseconds that no earlier bucket counted; the last bucket also counts
// all larger values.
typedef void metric_histogram(
	void *sink, enum metric_family, const uint64_t buckets[METRIC_BUCKETS], double sum_us);

struct metric_sink {
	void *sink;
	metric_value *value;
	metric_histogram *histogram;
};

static inline void metric_put_of(
	const struct metric_sink *m, enum metric_family family, const char *labels, double value)
{
	m->value(m->sink, family, labels, value);
}

static inline void metric_put(const struct metric_sink *m, enum metric_family family, double value)
{
	m->value(m->sink, family, "", value);
}

static inline void metric_put_histogram(const struct metric_sink *m, enum metric_family family,
	const uint64_t buckets[METRIC_BUCKETS], double sum_us)
{
	m->histogram(m->sink, family, buckets, sum_us);
}
