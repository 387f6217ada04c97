// How long to wait before a failed try is repeated. Success anywhere resets the counter (row B8).
#pragma once
#include "state/base/prng.h"
#include <stdint.h>

struct backoff {
	uint32_t failures; // since the last success; one counter for all waits of its owner
};

// min(cap, base·4^failures), row B22. Counts the failure unless the wait, uncapped, is beyond the cap.
int64_t backoff_next_ns(struct backoff *, int64_t base_ns, int64_t cap_ns);
// With full jitter: uniform in [0, min(cap, base·2^failures)], so that a fleet that lost its controller at one moment
// does not come back at one moment.
uint64_t backoff_jittered_ms(struct backoff *, uint32_t base_ms, uint32_t cap_ms, struct prng *);

static inline void backoff_reset(struct backoff *b)
{
	b->failures = 0;
}
