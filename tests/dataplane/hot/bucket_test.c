// Token buckets against a naive one that counts what is in it.
#include "dataplane/hot/bucket.h"
#include "state/base/prng.h"
#include "state/base/time_units.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

struct naive {
	uint64_t content_ns, seen_ns; // tokens times token_ns
};

static bool naive_take(
	struct naive *n, const struct bucket_rule *rule, uint32_t tokens, uint64_t now_ns)
{
	n->content_ns += now_ns - n->seen_ns;
	n->seen_ns = now_ns;
	if (n->content_ns > rule->full_ns)
		n->content_ns = rule->full_ns;
	if (n->content_ns < tokens * rule->token_ns)
		return false;
	n->content_ns -= tokens * rule->token_ns;
	return true;
}

static void it_is_the_naive_one(void **unused)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct prng prng;
		prng_seed(&prng, seed);
		uint32_t rate = 1 + (uint32_t)prng_below(&prng, 1u << prng_below(&prng, 20));
		uint32_t burst = 32 + (uint32_t)prng_below(&prng, 2000);
		struct bucket_rule rule = bucket_rule(rate, burst);
		uint64_t now_ns = prng_below(&prng, NS_PER_S), bucket = 0;
		struct naive naive = {.content_ns = rule.full_ns, .seen_ns = now_ns};
		for (uint32_t i = 0; i < 5000; i++) {
			uint32_t tokens = 1 + (uint32_t)prng_below(&prng, 32);
			now_ns += prng_below(&prng, 4) == 0 ? prng_below(&prng, 64 * rule.token_ns)
							    : 0;
			uint64_t wait_ns = bucket_take(&bucket, &rule, tokens, now_ns);
			if ((wait_ns == 0) != naive_take(&naive, &rule, tokens, now_ns))
				fail_msg("seed %ju, step %u", (uintmax_t)seed, i);
			if (wait_ns == 0)
				continue;
			// The wait is exact: nothing a nanosecond before, all of it then.
			uint64_t tried = bucket;
			assert_true(bucket_take(&tried, &rule, tokens, now_ns + wait_ns - 1) > 0);
			assert_int_equal(bucket_take(&tried, &rule, tokens, now_ns + wait_ns), 0);
		}
	}
}

static void a_rate_of_zero_is_no_limit(void **unused)
{
	struct bucket_rule rule = bucket_rule(0, 32);
	uint64_t bucket = 0;
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(bucket_take(&bucket, &rule, 32, NS_PER_S), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_naive_one),
		cmocka_unit_test(a_rate_of_zero_is_no_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
