#include "tools/api/metrics/accepted.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OPENMETRICS "application/openmetrics-text"

struct range {
	const char *type;
	size_t type_size;
	double weight; // 0: it is not taken
	bool has_version, version_is_one;
};

static void read_parameter(struct range *r, const char *text)
{
	if (strncasecmp(text, "q=", 2) == 0)
		r->weight = strtod(text + 2, NULL);
	if (strncasecmp(text, "version=", 8) == 0) {
		text += 8;
		text += *text == '"';
		r->has_version = true;
		r->version_is_one = strncmp(text, "1.", 2) == 0;
	}
}

// Reads one range, "type; parameter=…", and returns its end: a comma or the end of the text.
static const char *read_range(const char *text, struct range *r)
{
	*r = (struct range){.type = text, .type_size = strcspn(text, " \t,;"), .weight = 1};
	const char *end = text + strcspn(text, ",");
	for (const char *at = text; (at = memchr(at, ';', (size_t)(end - at)));) {
		at++;
		at += strspn(at, " \t");
		read_parameter(r, at);
	}
	return end;
}

static bool range_is(const struct range *r, const char *type)
{
	return r->type_size == strlen(type) && strncasecmp(r->type, type, r->type_size) == 0;
}

static bool is_openmetrics(const struct range *r)
{
	return range_is(r, OPENMETRICS) && (r->version_is_one || !r->has_version);
}

static bool is_classic(const struct range *r)
{
	return range_is(r, "text/plain") || range_is(r, "text/*") || range_is(r, "*/*");
}

bool openmetrics_is_preferred(const char *accept)
{
	double best = 0;
	bool preferred = false;
	while (accept && *accept) {
		struct range r;
		accept += strspn(accept, " \t,");
		accept = read_range(accept, &r);
		if (r.weight > best && (is_openmetrics(&r) || is_classic(&r))) {
			best = r.weight;
			preferred = is_openmetrics(&r);
		}
	}
	return preferred;
}
