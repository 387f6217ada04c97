// Metrics in the shape of Nomad's /v1/metrics.
#include "tools/api/metrics/metric_set.h"
#include <math.h>
#include <time.h>

// Labels are name="value" pairs; values are Berth's own names and hold no quotes.
static void put_labels(struct json_writer *w, const char *labels)
{
	json_open_object(w, "Labels");
	while (*labels) {
		const char *equals = strchr(labels, '=');
		const char *open = equals ? equals + 1 : NULL;
		const char *close = open && *open == '"' ? strchr(open + 1, '"') : NULL;
		if (!close)
			break;
		char name[64];
		size_t size = (size_t)(equals - labels);
		size = size < sizeof name - 1 ? size : sizeof name - 1;
		memcpy(name, labels, size);
		name[size] = '\0';
		json_write_key(w, name);
		json_write_text(w, (struct text){open + 1, (uint32_t)(close - open - 1)});
		labels = close[1] == ',' ? close + 2 : close + 1;
	}
	json_end_object(w);
}

static void put_gauge(struct json_writer *w, const struct metric *m)
{
	json_begin_object(w);
	json_put_string(w, "Name", metric_descriptions[m->family].name);
	put_labels(w, m->labels);
	json_put_f64(w, "Value", m->value);
	json_end_object(w);
}

struct sample {
	double count, sum, min, max, mean, deviation, rate;
};

static void put_sample(struct json_writer *w, const struct metric *m, const struct sample *s)
{
	json_begin_object(w);
	json_put_string(w, "Name", metric_descriptions[m->family].name);
	put_labels(w, m->labels);
	json_put_f64(w, "Count", s->count);
	json_put_f64(w, "Sum", s->sum);
	json_put_f64(w, "Min", s->min);
	json_put_f64(w, "Max", s->max);
	json_put_f64(w, "Mean", s->mean);
	json_put_f64(w, "Stddev", s->deviation);
	json_put_f64(w, "Rate", s->rate);
	json_end_object(w);
}

static void put_counter(struct json_writer *w, const struct metric *m, double uptime_s)
{
	double count = m->value;
	// Clients read the count as a whole number.
	struct sample s = {.count = floor(count),
		.sum = count,
		.min = count > 0,
		.max = count > 0,
		.mean = count > 0,
		.rate = uptime_s > 0 ? count / uptime_s : 0};
	put_sample(w, m, &s);
}

// In seconds. Smallest, largest and deviation come from the buckets' bounds.
static void put_histogram(struct json_writer *w, const struct metric *m, double uptime_s)
{
	struct sample s = {0};
	double squares = 0;
	for (uint32_t i = 0; i < METRIC_BUCKETS; i++) {
		double count = (double)m->buckets[i], limit = ldexp(1e-6, (int)i);
		if (count > 0 && s.count == 0)
			s.min = i ? limit / 2 : 0;
		if (count > 0)
			s.max = limit;
		s.count += count;
		squares += count * (limit * 0.75) * (limit * 0.75);
	}
	s.sum = m->sum_us / 1e6;
	s.mean = s.count > 0 ? s.sum / s.count : 0;
	double variance = s.count > 0 ? squares / s.count - s.mean * s.mean : 0;
	s.deviation = variance > 0 ? sqrt(variance) : 0;
	s.rate = uptime_s > 0 ? s.sum / uptime_s : 0;
	put_sample(w, m, &s);
}

// Which of Nomad's three arrays it stands in.
enum part { PART_GAUGES, PART_COUNTERS, PART_SAMPLES };
static enum part part_of(enum metric_type type)
{
	if (type == METRIC_TYPE_HISTOGRAM)
		return PART_SAMPLES;
	bool counts = type == METRIC_TYPE_COUNTER || type == METRIC_TYPE_COUNTER_AS_IS;
	return counts ? PART_COUNTERS : PART_GAUGES;
}

static void put_part(
	struct json_writer *w, const struct metric_set *set, enum part part, double uptime_s)
{
	json_begin_array(w);
	for (uint32_t i = 0; i < set->count; i++) {
		const struct metric *m = &set->items[i];
		if (part_of(metric_descriptions[m->family].type) != part)
			continue;
		if (part == PART_GAUGES)
			put_gauge(w, m);
		else if (part == PART_COUNTERS)
			put_counter(w, m, uptime_s);
		else
			put_histogram(w, m, uptime_s);
	}
	json_end_array(w);
}

void metric_set_json(
	const struct metric_set *set, struct json_writer *w, double uptime_s, int64_t wall_s)
{
	char when[64] = "";
	time_t seconds = (time_t)wall_s;
	struct tm utc;
	if (gmtime_r(&seconds, &utc))
		strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S +0000 UTC", &utc);
	json_begin_object(w);
	json_put_string(w, "Timestamp", when);
	json_write_key(w, "Gauges");
	put_part(w, set, PART_GAUGES, uptime_s);
	json_open_array(w, "Points");
	json_end_array(w);
	json_write_key(w, "Counters");
	put_part(w, set, PART_COUNTERS, uptime_s);
	json_write_key(w, "Samples");
	put_part(w, set, PART_SAMPLES, uptime_s);
	json_end_object(w);
}
