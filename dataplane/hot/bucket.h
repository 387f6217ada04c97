// A token bucket in one word: the time at which it is full again. Workers that meet at one take from it by
// compare-and-swap, so what a key may take holds over all of them.
#pragma once
#include <stdint.h>

// What is full never waits: a word of 0 is a full bucket.
struct bucket_rule {
	uint64_t token_ns; // until one token is back; 0: there is no limit
	uint64_t full_ns;  // until an empty bucket is full
};

// So many tokens a second, at most burst of them at once. A rate of 0 is no limit.
static inline struct bucket_rule bucket_rule(uint32_t rate, uint32_t burst)
{
	uint64_t token_ns = rate == 0 ? 0 : 1000000000u / rate;
	return (struct bucket_rule){token_ns, burst * token_ns};
}

// Takes tokens. Returns 0, or how long it is until there are enough, which then are all still there.
static inline uint64_t bucket_take(
	uint64_t *full_at_ns, const struct bucket_rule *rule, uint32_t tokens, uint64_t now_ns)
{
	uint64_t price_ns = tokens * rule->token_ns;
	uint64_t seen_ns = __atomic_load_n(full_at_ns, __ATOMIC_RELAXED), next_ns;
	do {
		next_ns = (seen_ns > now_ns ? seen_ns : now_ns) + price_ns;
		if (next_ns - now_ns > rule->full_ns)
			return next_ns - now_ns - rule->full_ns;
	} while (!__atomic_compare_exchange_n(
		full_at_ns, &seen_ns, next_ns, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return 0;
}
