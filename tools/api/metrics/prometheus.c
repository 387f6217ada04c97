// Metrics in Prometheus' text exposition format, and in OpenMetrics, which grew out of it.
#include "tools/api/metrics/metric_set.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum form { FORM_CLASSIC, FORM_OPENMETRICS };

// What a form calls each type. In OpenMetrics a counter's family has no suffix and its series have _total, which the
// name of this one does not bear: what is of no known type keeps its name.
static const char *const type_names[][2] = {
	[METRIC_TYPE_COUNTER] = {"counter", "counter"},
	[METRIC_TYPE_COUNTER_AS_IS] = {"counter", "unknown"},
	[METRIC_TYPE_GAUGE] = {"gauge", "gauge"},
	[METRIC_TYPE_HISTOGRAM] = {"histogram", "histogram"},
	[METRIC_TYPE_INFO] = {"gauge", "info"},
};

// What OpenMetrics leaves out of the name of a family, and expects of the name of its series.
static size_t suffix_size_of(enum form form, enum metric_type type)
{
	if (form == FORM_CLASSIC)
		return 0;
	return type == METRIC_TYPE_COUNTER ? strlen("_total")
	       : type == METRIC_TYPE_INFO  ? strlen("_info")
					   : 0;
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
static void put_name(struct json_writer *w, const char *name, size_t size)
{
	for (const char *dot; (dot = memchr(name, '.', size)); name = dot + 1) {
		json_write_plain(w, "%.*s_", (int)(dot - name), name);
		size -= (size_t)(dot + 1 - name);
	}
	json_write_plain(w, "%.*s", (int)size, name);
}

static void put_series(struct json_writer *w, const struct metric *m, const char *suffix,
	const char *more_labels, double value)
{
	const char *name = metric_descriptions[m->family].name, *labels = m->labels;
	bool both = *labels && *more_labels, any = *labels || *more_labels;
	put_name(w, name, strlen(name));
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
		put_series(w, m, "_bucket", limit, (double)seen);
	}
	put_series(w, m, "_sum", "", m->sum_us / 1e6);
	put_series(w, m, "_count", "", (double)seen);
}

static void put_said(struct json_writer *w, const struct metric_description *d, enum form form,
	const char *keyword, const char *what)
{
	json_write_plain(w, "# %s ", keyword);
	put_name(w, d->name, strlen(d->name) - suffix_size_of(form, d->type));
	json_write_plain(w, " %s\n", what);
}

static void put_family(struct json_writer *w, const struct metric_description *d, enum form form)
{
	put_said(w, d, form, "HELP", d->help);
	put_said(w, d, form, "TYPE", type_names[d->type][form]);
	if (form == FORM_OPENMETRICS && *d->unit)
		put_said(w, d, form, "UNIT", d->unit);
}

static void put_set(const struct metric_set *set, struct json_writer *w, enum form form)
{
	for (uint32_t i = 0; i < set->count; i++) {
		const struct metric *m = &set->items[i];
		const struct metric_description *d = &metric_descriptions[m->family];
		if (i == 0 || m[-1].family != m->family)
			put_family(w, d, form);
		if (d->type == METRIC_TYPE_HISTOGRAM)
			put_histogram(w, m);
		else
			put_series(w, m, "", "", m->value);
	}
}

void metric_set_prometheus(const struct metric_set *set, struct json_writer *w)
{
	put_set(set, w, FORM_CLASSIC);
}

void metric_set_openmetrics(const struct metric_set *set, struct json_writer *w)
{
	put_set(set, w, FORM_OPENMETRICS);
	json_write_plain(w, "# EOF\n");
}
