// The newest descriptions that a worker made of what allocations and virtual machines are to run.
#pragma once
#include "state/base/bytes.h"
#include "state/base/uuid.h"
#include <stdbool.h>
#include <stdint.h>

// Descriptions that a worker keeps: a node takes its own in pieces, one after the other.
#define SPECS_CACHED 64u
// Descriptions that a worker makes in one millisecond of its clock, so that heartbeats do not wait.
#define SPECS_PER_MS 4u

struct spec {
	struct uuid id;   // of an allocation, or of a machine's instance
	uint64_t version; // 0: nothing is here
	struct bytes_writer json;
};
struct spec_cache {
	struct spec items[SPECS_CACHED];
	uint32_t now_ms, made; // descriptions made in the millisecond now_ms
};
void spec_cache_free(struct spec_cache *);
// False: the worker has made SPECS_PER_MS descriptions in this millisecond.
bool spec_cache_may_make(struct spec_cache *, uint32_t now_ms);
