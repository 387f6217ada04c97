// Buckets of keys: each key has its own while there are few, and no crowd of keys gets more than all buckets hold.
#include "dataplane/requests/key_buckets.h"
#include "state/base/prng.h"
#include "state/base/time_units.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SETS (KEY_BUCKETS / KEY_BUCKETS_IN_SET)

// The key with that number, in the set that all of them share.
static struct wire_key key_of(uint64_t number)
{
	return (struct wire_key){{(number + 1) * SETS, 0}};
}

static uint64_t take(
	struct key_buckets *b, uint64_t number, const struct bucket_rule *rule, uint64_t now_ns)
{
	struct wire_key key = key_of(number);
	return key_buckets_take(b, &key, rule, 1, now_ns);
}

static void each_key_has_its_own(void **unused)
{
	struct key_buckets b;
	struct bucket_rule rule = bucket_rule(100, 50);
	uint64_t alone[KEY_BUCKETS_IN_SET] = {0};
	struct prng prng;
	key_buckets_open(&b);
	prng_seed(&prng, 7);
	uint64_t now_ns = NS_PER_S;
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t number = (uint32_t)prng_below(&prng, KEY_BUCKETS_IN_SET);
		now_ns += prng_below(&prng, 2 * NS_PER_MS);
		assert_int_equal(take(&b, number, &rule, now_ns),
			bucket_take(&alone[number], &rule, 1, now_ns));
	}
	key_buckets_close(&b);
}

// Whoever has many keys puts one after the other out of its place: together they get what the buckets of their set
// hold, and not a full one each.
static void a_crowd_of_keys_gains_nothing(void **unused)
{
	struct key_buckets b;
	struct bucket_rule rule = bucket_rule(100, 50);
	uint64_t began_ns = NS_PER_S, taken = 0;
	struct prng prng;
	key_buckets_open(&b);
	prng_seed(&prng, 8);
	for (uint64_t now_ns = began_ns; now_ns < began_ns + 10 * NS_PER_S;
		now_ns += NS_PER_MS / 10)
		taken += take(&b, prng_below(&prng, 1000), &rule, now_ns) == 0;
	assert_in_range(taken, 1, KEY_BUCKETS_IN_SET * (50 + 10 * 100));
	key_buckets_close(&b);
}

// One that asks all the time keeps its bucket, whoever comes.
static void who_is_busy_keeps_its_bucket(void **unused)
{
	struct key_buckets b;
	struct bucket_rule rule = bucket_rule(100, 50);
	uint64_t alone = 0, others = 1;
	key_buckets_open(&b);
	for (uint64_t now_ns = NS_PER_S; now_ns < 5 * NS_PER_S; now_ns += NS_PER_MS) {
		assert_int_equal(take(&b, 0, &rule, now_ns), bucket_take(&alone, &rule, 1, now_ns));
		if (now_ns % (20 * NS_PER_MS) == 0)
			take(&b, others++, &rule, now_ns);
	}
	key_buckets_close(&b);
}

static void without_memory_nobody_is_limited(void **unused)
{
	struct key_buckets none = {NULL};
	struct bucket_rule rule = bucket_rule(1, 32);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(take(&none, 0, &rule, NS_PER_S), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_has_its_own),
		cmocka_unit_test(a_crowd_of_keys_gains_nothing),
		cmocka_unit_test(who_is_busy_keeps_its_bucket),
		cmocka_unit_test(without_memory_nobody_is_limited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
