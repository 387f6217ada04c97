// How long to wait after a failure (row B22): min(cap, base·4^failures). One counter is shared by all call sites
// of its owner, whatever their base and cap, and success anywhere resets it (row B8).
#pragma once
#include <stdint.h>

struct backoff {
	uint32_t failures;
};

// The wait before the next try. Counts the failure unless the wait, uncapped, is beyond the cap.
int64_t backoff_next_ns(struct backoff *, int64_t base_ns, int64_t cap_ns);
static inline void backoff_reset(struct backoff *b)
{
	b->failures = 0;
}
