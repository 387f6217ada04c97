// When a node that rejects plans is set aside.
#include "state/base/time_units.h"
#include "state/decide/rejections.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static bool add(struct rejections *r, uint8_t number, int64_t now_ns)
{
	struct uuid id = {.bytes = {1, number}};
	return rejections_add(r, &id, now_ns);
}

static void nobody_counts_by_default(void **unused)
{
	struct rejections *r = rejections_create(&(struct rejection_settings){0});

	for (int i = 0; i < 1000; i++)
		assert_false(add(r, 1, i));
	rejections_free(r);
}

static void so_many_within_the_window(void **unused)
{
	struct rejection_settings settings = {3, NS_PER_MIN};
	struct rejections *r = rejections_create(&settings);
	int64_t now = 100 * NS_PER_MIN;

	assert_false(add(r, 1, now));
	assert_false(add(r, 1, now + 1));
	assert_false(add(r, 2, now + 1));              // each for itself
	assert_false(add(r, 1, now + NS_PER_MIN + 1)); // the first is over
	assert_true(add(r, 1, now + NS_PER_MIN + 1));
	rejections_free(r);
}

static void not_too_many_nodes_at_once(void **unused)
{
	struct rejection_settings settings = {1, NS_PER_MIN};
	struct rejections *r = rejections_create(&settings);
	int64_t now = 120 * NS_PER_MIN;

	for (uint8_t i = 0; i < 10; i++)
		assert_true(add(r, i, now));
	assert_false(add(r, 10, now));
	assert_false(add(r, 10, now + 5 * NS_PER_MIN));
	assert_true(add(r, 10, now + 7 * NS_PER_MIN));
	assert_false(add(r, 11, now + 7 * NS_PER_MIN));
	rejections_free(r);
}

static void the_one_that_rejected_longest_ago_makes_room(void **unused)
{
	struct rejection_settings settings = {2, NS_PER_MIN};
	struct rejections *r = rejections_create(&settings);
	int64_t now = 100 * NS_PER_MIN;

	assert_false(add(r, 200, now));
	for (uint8_t i = 0; i < 50; i++)
		assert_false(add(r, i, now + 1));
	assert_false(add(r, 200, now + 2)); // counted from the beginning
	assert_true(add(r, 48, now + 2));
	rejections_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_counts_by_default),
		cmocka_unit_test(so_many_within_the_window),
		cmocka_unit_test(not_too_many_nodes_at_once),
		cmocka_unit_test(the_one_that_rejected_longest_ago_makes_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
