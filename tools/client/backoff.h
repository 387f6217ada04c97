// Exponential back-off with full jitter: the n-th wait is uniform in [0, min(cap, base × 2^n)], so that a
// fleet that lost its controller at one moment does not come back at one moment.
#pragma once
#include "state/base/prng.h"
#include <stdint.h>

struct backoff {
	uint32_t base_ms, cap_ms;
	uint32_t failures; // since the last success
};

static inline uint64_t backoff_next_ms(struct backoff *b, struct prng *prng)
{
	uint64_t limit = b->cap_ms;
	if (b->failures < 32 && ((uint64_t)b->base_ms << b->failures) < limit)
		limit = (uint64_t)b->base_ms << b->failures;
	b->failures++;
	return prng_below(prng, limit + 1);
}

static inline void backoff_reset(struct backoff *b)
{
	b->failures = 0;
}
