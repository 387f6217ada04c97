#include "tests/tools/api/prometheus_reader.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct reader {
	struct prometheus *out;
	char family[128], kind[16];
	char families[512][64];
	uint32_t family_count;
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

// Help for a family, a name of its own, comes before its type.
static bool take_help(struct reader *r, const char *line)
{
	char name[128], text[128];
	if (sscanf(line, "# HELP %127s %127s", name, text) != 2 || !is_name(name))
		return refuse(r, "bad help", line);
	return true;
}

static bool take_type(struct reader *r, const char *line)
{
	char rest;
	if (strncmp(line, "# HELP ", 7) == 0)
		return take_help(r, line);
	if (sscanf(line, "# TYPE %127s %15s%c", r->family, r->kind, &rest) != 2)
		return refuse(r, "neither a series nor a type", line);
	bool known = strcmp(r->kind, "counter") == 0 || strcmp(r->kind, "gauge") == 0 ||
		     strcmp(r->kind, "histogram") == 0;
	if (!known || !is_name(r->family) || r->family_count == 512)
		return refuse(r, "bad type", line);
	for (uint32_t i = 0; i < r->family_count; i++)
		if (strcmp(r->families[i], r->family) == 0)
			return refuse(r, "a family twice", line);
	snprintf(r->families[r->family_count++], 64, "%.63s", r->family);
	r->bucket = 0;
	r->bucket_limit = -1;
	return true;
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

static bool belongs(struct reader *r, const char *name, char *labels, double value)
{
	size_t size = strlen(r->family);
	if (!size || strncmp(name, r->family, size) != 0)
		return false;
	if (strcmp(r->kind, "histogram") == 0)
		return check_histogram(r, name + size, labels, value);
	return name[size] == '\0' && (strcmp(r->kind, "gauge") == 0 || value >= 0);
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
		if (!(*at == '#' ? take_type(r, at) : take_series(r, at)))
			return false;
		at = end + 1;
	}
	return true;
}

bool prometheus_read(const char *text, struct prometheus *p, char *problem, size_t problem_size)
{
	struct reader *r = memory_take(sizeof *r);
	*p = (struct prometheus){0};
	r->out = p;
	r->problem = problem;
	r->problem_size = problem_size;
	char *copy = text_copy(text_of(text));
	bool fine = read_lines(r, copy);
	if (fine && strcmp(r->kind, "histogram") == 0 && r->bucket_limit != INFINITY)
		fine = refuse(r, "a histogram without +Inf", r->family);
	if (!fine)
		prometheus_free(p);
	free(copy);
	free(r);
	return fine;
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
	*p = (struct prometheus){0};
}
