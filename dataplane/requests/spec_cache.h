// What is to run of allocations and machines, as it was last described: a worker keeps the newest of them.
#pragma once
#include "state/base/bytes.h"
#include "state/base/uuid.h"
#include <stdbool.h>
#include <stdint.h>

// Descriptions that were made lately: a node takes its own in pieces, one after the other.
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
	uint32_t now_ms, made; // so many since then
};
void spec_cache_free(struct spec_cache *);
// False: as many as may be were made in this millisecond.
bool spec_cache_may_make(struct spec_cache *, uint32_t now_ms);
