// Texts of refusals, each kept once: a fleet refuses a hundred thousand times for a handful of reasons.
#pragma once
#include <stdint.h>

struct reasons {
	char **buckets; // open addressing; NULL: free
	uint32_t mask, count;
};

void reasons_release(struct reasons *);
// Returns a copy that lives as long as the table; equal texts are one pointer.
const char *reasons_keep(struct reasons *, const char *text);
const char *reasons_format(struct reasons *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
