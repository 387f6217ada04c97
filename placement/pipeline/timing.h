// Durations as histograms; any thread adds and reads.
#pragma once
#include "state/base/time_source.h"
#include <stdatomic.h>
#include <stdint.h>

// Powers of two of microseconds, as in applier.h (B23).
struct pipeline_timing {
	uint64_t us[32], us_sum;
};
static inline uint32_t timing_bucket(uint64_t us)
{
	uint32_t bucket = us ? 64 - (uint32_t)__builtin_clzll(us) : 0;
	return bucket < 32 ? bucket : 31;
}

struct timing {
	_Atomic uint64_t us[32], us_sum;
};
// Adds the time since began_ns (monotonic).
void timing_add(struct timing *, const struct time_source *, uint64_t began_ns);
void timing_read(struct timing *, struct pipeline_timing *);
