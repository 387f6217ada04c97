// 16-byte identities in RFC 4122 text order.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define UUID_TEXT_BYTES 37 // with the closing NUL

struct uuid {
	uint8_t bytes[16];
};

// Accepts exactly 8-4-4-4-12 hexadecimal digits, either case.
bool uuid_parse(const char *text, struct uuid *out);
// Writes 36 characters and a NUL; returns text.
char *uuid_format(const struct uuid *, char text[static UUID_TEXT_BYTES]);

static inline bool uuid_equal(const struct uuid *a, const struct uuid *b)
{
	uint64_t x[2], y[2];
	memcpy(x, a->bytes, sizeof x);
	memcpy(y, b->bytes, sizeof y);
	return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
}

static inline int uuid_compare(const struct uuid *a, const struct uuid *b)
{
	return memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

// The same for qsort and bsearch, of ids and of structs that begin with one.
static inline int uuid_order(const void *a, const void *b)
{
	return uuid_compare(a, b);
}

static inline bool uuid_is_zero(const struct uuid *u)
{
	static const struct uuid zero;
	return uuid_equal(u, &zero);
}

// A table hash. Not keyed: ids are chosen by trusted, authenticated parties.
static inline uint64_t uuid_hash(const struct uuid *u)
{
	uint64_t a, b;
	memcpy(&a, u->bytes, 8);
	memcpy(&b, u->bytes + 8, 8);
	a = (a ^ (b * 0x9e3779b97f4a7c15ull)) * 0xff51afd7ed558ccdull;
	return a ^ (a >> 32);
}
