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

// A hash of bytes that is the same in every program: node classes show it. Not for names that people choose.
uint64_t hash_bytes(uint64_t seed, const void *, uint32_t size);
// A table's hash of a name, under a key that this process drew when it began: whoever chooses names cannot choose those
// that meet in a table. Nothing of it leaves the process, and nothing is decided by its order.
uint64_t hash_keyed(uint64_t seed, const void *, uint32_t size);
