// Metrics in Prometheus' text exposition format.
#include "tools/api/metrics/metric_set.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *type_name(char kind)
{
	return kind == 'c' ? "counter" : kind == 'h' ? "histogram" : "gauge";
}

static void put_number(struct json_writer *w, double value)
{
	char text[40];
	if (value == floor(value) && fabs(value) < 1e15)
		snprintf(text, sizeof text, "%.0f", value);
	else
		snprintf(text, sizeof text, "%.15g", value);
	if (strtod(text, NULL) == value)
		json_write_plain(w, "%s", text);
	else
		json_write_plain(w, "%.17g", value);
}

// Names with dots, as the JSON form has them, get underscores here.
static void put_name(struct json_writer *w, const char *name)
{
	for (const char *dot; (dot = strchr(name, '.')); name = dot + 1)
		json_write_plain(w, "%.*s_", (int)(dot - name), name);
	json_write_plain(w, "%s", name);
}

static void put_series(struct json_writer *w, const char *name, const char *suffix,
	const char *labels, const char *more_labels, double value)
{
	bool both = *labels && *more_labels, any = *labels || *more_labels;
	put_name(w, name);
	json_write_plain(w, "%s%s%s%s%s%s ", suffix, any ? "{" : "", labels, both ? "," : "",
		more_labels, any ? "}" : "");
	put_number(w, value);
	json_write_plain(w, "\n");
}

// Buckets are cumulative and in seconds; the last bucket holds all values.
static void put_histogram(struct json_writer *w, const struct metric *m)
{
	uint64_t seen = 0;
	for (uint32_t i = 0; i < METRIC_BUCKETS; i++) {
		char limit[48];
		seen += m->buckets[i];
		if (i + 1 < METRIC_BUCKETS)
			snprintf(limit, sizeof limit, "le=\"%.15g\"", ldexp(1, (int)i) / 1e6);
		else
			snprintf(limit, sizeof limit, "le=\"+Inf\"");
		put_series(w, m->name, "_bucket", m->labels, limit, (double)seen);
	}
	put_series(w, m->name, "_sum", m->labels, "", m->sum_us / 1e6);
	put_series(w, m->name, "_count", m->labels, "", (double)seen);
}

void metric_set_prometheus(const struct metric_set *set, struct json_writer *w)
{
	const char *family = "";
	for (uint32_t i = 0; i < set->count; i++) {
		const struct metric *m = &set->items[i];
		if (strcmp(family, m->name) != 0) {
			// The name says what is counted.
			json_write_plain(w, "# HELP ");
			put_name(w, m->name);
			json_write_plain(w, " ");
			put_name(w, m->name);
			json_write_plain(w, "\n# TYPE ");
			put_name(w, m->name);
			json_write_plain(w, " %s\n", type_name(m->kind));
		}
		family = m->name;
		if (m->kind == 'h')
			put_histogram(w, m);
		else
			put_series(w, m->name, "", m->labels, "", m->value);
	}
}
