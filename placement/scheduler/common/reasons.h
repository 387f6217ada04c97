// Texts of refusals, each kept once: a fleet refuses for a handful of reasons, a hundred thousand times.
#pragma once
#include <stdint.h>

struct reasons {
	char **buckets; // open addressing; NULL: free
	uint32_t mask, count;
};

void reasons_release(struct reasons *);
// A text that lives as long as the table; equal texts are one pointer.
const char *reasons_keep(struct reasons *, const char *text);
const char *reasons_format(struct reasons *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
