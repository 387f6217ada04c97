#include "placement/scheduler/common/reasons.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/shared_strings.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_FIRST 16u
// Longer texts are cut: a constraint's sides are bounded, but two of them make a long line.
#define REASON_BYTES_MAX 2400u

void reasons_release(struct reasons *r)
{
	for (uint32_t i = 0; r->buckets && i <= r->mask; i++)
		free(r->buckets[i]);
	free(r->buckets);
	*r = (struct reasons){0};
}

static char **find_reason(const struct reasons *r, const char *text)
{
	CHECK(r->buckets);
	uint32_t at = (uint32_t)hash_bytes(0, text, (uint32_t)strlen(text)) & r->mask;
	while (r->buckets[at] && strcmp(r->buckets[at], text) != 0)
		at = (at + 1) & r->mask;
	return &r->buckets[at];
}

static void grow_buckets(struct reasons *r)
{
	struct reasons wider = {.mask = r->buckets ? r->mask * 2 + 1 : BUCKETS_FIRST - 1};
	wider.buckets = memory_take_array(wider.mask + 1, sizeof *wider.buckets);
	wider.count = r->count;
	for (uint32_t i = 0; r->buckets && i <= r->mask; i++)
		if (r->buckets[i])
			*find_reason(&wider, r->buckets[i]) = r->buckets[i];
	free(r->buckets);
	*r = wider;
	CHECK(r->count <= r->mask);
}

const char *reasons_keep(struct reasons *r, const char *text)
{
	CHECK(text);
	if (!r->buckets || r->count > r->mask / 2)
		grow_buckets(r);
	char **at = find_reason(r, text);
	if (!*at) {
		*at = text_copy(text_of(text));
		r->count++;
	}
	CHECK(*at && r->count <= r->mask);
	return *at;
}

const char *reasons_format(struct reasons *r, const char *format, ...)
{
	char text[REASON_BYTES_MAX];
	va_list values;
	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	return reasons_keep(r, text);
}
