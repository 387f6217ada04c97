// Strings that many records share, each stored once and counted. Applier thread only; the
// characters may be read by anybody until a grace period after the last release.
#pragma once
#include "state/base/text.h"
#include <stdint.h>

struct strings {
	struct shared_string **buckets;
	uint32_t bucket_count, count;
	uint64_t bytes; // of memory in all
};

void strings_init(struct strings *);
void strings_destroy(struct strings *); // whatever is left; no readers any more
// Returns a NUL-terminated string to be given back with strings_release.
const char *strings_share(struct strings *, struct text);
// One more reference to a shared string, to be given back likewise.
const char *strings_share_again(const char *shared);
void strings_release(struct strings *, const char *);
// Whether a shared string has these characters.
bool shared_string_is(const char *shared, struct text);

// A table hash of bytes; stable across programs (node classes show it). Not keyed: names come from
// authenticated parties.
uint64_t hash_bytes(uint64_t seed, const void *, uint32_t size);
