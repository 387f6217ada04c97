// A strict reader of Prometheus' text format and of OpenMetrics, for tests: what it accepts, a scraper accepts.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prometheus_series {
	char *name, *labels;
	double value;
};
struct prometheus_family {
	char *name, *help, *type, *unit; // help and unit NULL: not said
};
struct prometheus {
	struct prometheus_series *series;
	uint32_t count;
	struct prometheus_family *families; // in their order
	uint32_t family_count;
};

// False with a sentence when the text breaks a rule: every series belongs to the family whose TYPE
// line came last, no family and no series comes twice, histograms are cumulative, end in +Inf and
// agree with _count.
bool prometheus_read(const char *text, struct prometheus *, char *problem, size_t problem_size);
// The same for OpenMetrics: series of counters end in _total and of infos in _info, no family is named like another
// one, units end the name, # EOF ends the text.
bool openmetrics_read(const char *text, struct prometheus *, char *problem, size_t problem_size);
// Value of a series, or -1 when there is none.
double prometheus_value(const struct prometheus *, const char *name, const char *labels);
void prometheus_free(struct prometheus *);
