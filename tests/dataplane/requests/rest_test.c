#include "dataplane/requests/rest.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LONGEST_US 900u

static uint32_t turns_until_nap(struct rest *r)
{
	uint32_t turns = 1;
	while (!rest_turn(r))
		turns++;
	return turns;
}

static void naps_grow_and_grow_further_when_nothing_comes(void **unused)
{
	struct rest r = {.longest_us = LONGEST_US};
	assert_int_equal(turns_until_nap(&r), REST_TURNS_AWAKE);
	assert_int_equal(rest_nap(&r), REST_NAP_US_FIRST);
	assert_int_equal(turns_until_nap(&r), 1);
	assert_int_equal(rest_nap(&r), 2 * REST_NAP_US_FIRST);
	for (uint32_t naps = 2; naps < REST_NAPS_QUIET; naps++)
		assert_in_range(rest_nap(&r), REST_NAP_US_FIRST, LONGEST_US);
	for (uint32_t naps = 0; naps < 10; naps++)
		assert_in_range(rest_nap(&r), LONGEST_US + 1, REST_QUIET_TIMES * LONGEST_US);
	assert_int_equal(rest_nap(&r), REST_QUIET_TIMES * LONGEST_US);
}

static void a_packet_keeps_it_awake(void **unused)
{
	struct rest r = {.longest_us = LONGEST_US};
	turns_until_nap(&r);
	for (uint32_t naps = 0; naps < 2 * REST_NAPS_QUIET; naps++)
		rest_nap(&r);
	rest_ends(&r);
	assert_int_equal(turns_until_nap(&r), REST_TURNS_AWAKE);
	assert_int_equal(rest_nap(&r), REST_NAP_US_FIRST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(naps_grow_and_grow_further_when_nothing_comes),
		cmocka_unit_test(a_packet_keeps_it_awake),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
