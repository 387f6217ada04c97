#include "state/base/backoff.h"

int64_t backoff_next_ns(struct backoff *b, int64_t base_ns, int64_t cap_ns)
{
	int64_t wait_ns = base_ns;

	for (uint32_t i = 0; i < b->failures; i++) {
		if (wait_ns > cap_ns / 4)
			return cap_ns;
		wait_ns *= 4;
	}
	if (wait_ns > cap_ns)
		return cap_ns;
	b->failures++;
	return wait_ns;
}

uint64_t backoff_jittered_ms(
	struct backoff *b, uint32_t base_ms, uint32_t cap_ms, struct prng *prng)
{
	uint64_t limit = cap_ms;

	if (b->failures < 32 && ((uint64_t)base_ms << b->failures) < limit)
		limit = (uint64_t)base_ms << b->failures;
	b->failures++;
	return prng_below(prng, limit + 1);
}
