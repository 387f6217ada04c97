#include "tests/tools/api/prometheus_reader.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct reader {
	struct prometheus *out;
	bool is_openmetrics, has_ended;
	char help_for[128], help[256];
	double bucket, bucket_limit; // of the histogram series at hand
	char *problem;
	size_t problem_size;
};

static bool refuse(struct reader *r, const char *why, const char *line)
{
	snprintf(r->problem, r->problem_size, "%s: %s", why, line);
	return false;
}

static bool is_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' && *name != ':')
			return false;
	return true;
}

static struct prometheus_family *newest(struct reader *r)
{
	return r->out->family_count ? &r->out->families[r->out->family_count - 1] : NULL;
}

// Help for a family comes before its type.
static bool take_help(struct reader *r, const char *line)
{
	if (sscanf(line, "# HELP %127s %255[^\n]", r->help_for, r->help) != 2 ||
		!is_name(r->help_for) || strchr(r->help, '\\'))
		return refuse(r, "bad help", line);
	return true;
}

// The unit of a family comes after its type, and ends its name.
static bool take_unit(struct reader *r, const char *line)
{
	char name[128], unit[32], end[40], rest;
	struct prometheus_family *f = newest(r);
	if (!r->is_openmetrics || sscanf(line, "# UNIT %127s %31s%c", name, unit, &rest) != 2 ||
		!f || strcmp(f->name, name) != 0 || f->unit)
		return refuse(r, "bad unit", line);
	size_t size = (size_t)snprintf(end, sizeof end, "_%s", unit);
	if (strlen(name) <= size || strcmp(name + strlen(name) - size, end) != 0)
		return refuse(r, "a unit that is not of the name", line);
	f->unit = text_copy(text_of(unit));
	return true;
}

static bool is_known_type(const struct reader *r, const char *type)
{
	static const char *const types[] = {
		"counter", "gauge", "histogram", "info", "unknown", NULL};
	uint32_t count = r->is_openmetrics ? 5 : 3;
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(types[i], type) == 0)
			return true;
	return false;
}

static bool take_type(struct reader *r, const char *line)
{
	char rest, name[128], type[16];
	struct prometheus *p = r->out;
	if (sscanf(line, "# TYPE %127s %15s%c", name, type, &rest) != 2)
		return refuse(r, "neither a series nor a type", line);
	if (!is_known_type(r, type) || !is_name(name))
		return refuse(r, "bad type", line);
	for (uint32_t i = 0; i < p->family_count; i++)
		if (strcmp(p->families[i].name, name) == 0)
			return refuse(r, "a family twice", line);
	p->families = memory_resize(p->families, (p->family_count + 1) * sizeof p->families[0]);
	struct prometheus_family *f = &p->families[p->family_count++];
	*f = (struct prometheus_family){text_copy(text_of(name)), .type = text_copy(text_of(type))};
	if (strcmp(r->help_for, name) == 0)
		f->help = text_copy(text_of(r->help));
	r->bucket = 0;
	r->bucket_limit = -1;
	return true;
}

static bool take_comment(struct reader *r, const char *line)
{
	if (r->is_openmetrics && strcmp(line, "# EOF") == 0)
		return r->has_ended = true;
	if (strncmp(line, "# HELP ", 7) == 0)
		return take_help(r, line);
	if (strncmp(line, "# UNIT ", 7) == 0)
		return take_unit(r, line);
	return take_type(r, line);
}

// name="value" pairs, separated by commas.
static bool are_labels(char *labels)
{
	while (*labels) {
		char *equals = strchr(labels, '=');
		if (!equals || equals[1] != '"')
			return false;
		char *close = equals + 2;
		while (*close && *close != '"')
			close += *close == '\\' && close[1] ? 2 : 1;
		*equals = '\0';
		bool named = is_name(labels);
		*equals = '=';
		if (!*close || !named || (close[1] && close[1] != ','))
			return false;
		labels = close[1] ? close + 2 : close + 1;
		if (close[1] && !*labels)
			return false;
	}
	return true;
}

static bool check_histogram(struct reader *r, const char *suffix, char *labels, double value)
{
	char *limit = strstr(labels, "le=\"");
	if (strcmp(suffix, "_bucket") == 0) {
		if (!limit)
			return false;
		double bound = strtod(limit + 4, NULL);
		if (r->bucket_limit == INFINITY)
			r->bucket = 0, r->bucket_limit = -1;
		bool grows = bound > r->bucket_limit && value >= r->bucket;
		r->bucket = value;
		r->bucket_limit = bound;
		return grows;
	}
	if (strcmp(suffix, "_count") == 0)
		return r->bucket_limit == INFINITY && value == r->bucket;
	return strcmp(suffix, "_sum") == 0;
}

static const char *suffix_of(const struct reader *r, const char *type)
{
	if (!r->is_openmetrics)
		return "";
	return strcmp(type, "counter") == 0 ? "_total" : strcmp(type, "info") == 0 ? "_info" : "";
}

static bool belongs(struct reader *r, const char *name, char *labels, double value)
{
	const struct prometheus_family *f = newest(r);
	size_t size = f ? strlen(f->name) : 0;
	if (!size || strncmp(name, f->name, size) != 0)
		return false;
	if (strcmp(f->type, "histogram") == 0)
		return check_histogram(r, name + size, labels, value);
	return strcmp(name + size, suffix_of(r, f->type)) == 0 &&
	       (strcmp(f->type, "counter") != 0 || value >= 0);
}

static bool take_series(struct reader *r, char *line)
{
	char *space = strrchr(line, ' ');
	if (!space)
		return refuse(r, "no value", line);
	char *end;
	double value = strtod(space + 1, &end);
	if (end == space + 1 || *end)
		return refuse(r, "no number", line);
	*space = '\0';
	char none[1] = "", *labels = none, *open = strchr(line, '{');
	if (open) {
		size_t size = strlen(open);
		if (open[size - 1] != '}')
			return refuse(r, "labels do not end", line);
		open[size - 1] = '\0';
		*open = '\0';
		labels = open + 1;
	}
	if (!is_name(line) || !are_labels(labels) || !belongs(r, line, labels, value))
		return refuse(r, "bad series", line);
	if (prometheus_value(r->out, line, labels) >= 0)
		return refuse(r, "a series twice", line);
	r->out->series =
		memory_resize(r->out->series, (r->out->count + 1) * sizeof r->out->series[0]);
	r->out->series[r->out->count++] = (struct prometheus_series){
		text_copy(text_of(line)), text_copy(text_of(labels)), value};
	return true;
}

static bool read_lines(struct reader *r, char *at)
{
	while (*at) {
		char *end = strchr(at, '\n');
		if (!end)
			return refuse(r, "the last line does not end", at);
		*end = '\0';
		if (r->has_ended)
			return refuse(r, "more after the end", at);
		if (!(*at == '#' ? take_comment(r, at) : take_series(r, at)))
			return false;
		at = end + 1;
	}
	return true;
}

static bool read_form(const char *text, bool is_openmetrics, struct prometheus *p, char *problem,
	size_t problem_size)
{
	struct reader *r = memory_take(sizeof *r);
	*p = (struct prometheus){0};
	r->out = p;
	r->is_openmetrics = is_openmetrics;
	r->problem = problem;
	r->problem_size = problem_size;
	char *copy = text_copy(text_of(text));
	bool fine = read_lines(r, copy);
	if (fine && newest(r) && strcmp(newest(r)->type, "histogram") == 0 &&
		r->bucket_limit != INFINITY)
		fine = refuse(r, "a histogram without +Inf", newest(r)->name);
	if (fine && is_openmetrics && !r->has_ended)
		fine = refuse(r, "no end", text);
	if (!fine)
		prometheus_free(p);
	free(copy);
	free(r);
	return fine;
}

bool prometheus_read(const char *text, struct prometheus *p, char *problem, size_t problem_size)
{
	return read_form(text, false, p, problem, problem_size);
}

bool openmetrics_read(const char *text, struct prometheus *p, char *problem, size_t problem_size)
{
	return read_form(text, true, p, problem, problem_size);
}

double prometheus_value(const struct prometheus *p, const char *name, const char *labels)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (strcmp(p->series[i].name, name) == 0 &&
			strcmp(p->series[i].labels, labels) == 0)
			return p->series[i].value;
	return -1;
}

void prometheus_free(struct prometheus *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		free(p->series[i].name);
		free(p->series[i].labels);
	}
	free(p->series);
	for (uint32_t i = 0; i < p->family_count; i++) {
		free(p->families[i].name);
		free(p->families[i].help);
		free(p->families[i].type);
		free(p->families[i].unit);
	}
	free(p->families);
	*p = (struct prometheus){0};
}
