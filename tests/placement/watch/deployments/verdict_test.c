#include "placement/watch/deployments/verdict.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct deployment *running(uint32_t groups)
{
	static const char *const names[] = {"a", "b", "c"};
	struct deployment *d = deployment_create();

	d->status = DEPLOYMENT_RUNNING;
	for (uint32_t i = 0; i < groups; i++) {
		struct deployment_group *g = map_item(&d->groups, sizeof *g, names[i]);
		g->desired_total = 3;
		g->progress_deadline_ns = 600 * NS_PER_S;
	}
	return d;
}

static struct deployment_group *group(struct deployment *d, uint32_t i)
{
	return ARRAY_AT(&d->groups, struct deployment_group, i);
}

static void the_next_deadline_is_that_of_a_group_that_is_not_done(void **state)
{
	struct deployment *d = running(3);
	struct group_health health[3] = {{0}};

	// No instance was placed.
	assert_int_equal(deployment_deadline(d, health, 0), 0);
	group(d, 0)->require_progress_by_ns = 50;
	group(d, 1)->require_progress_by_ns = 40;
	assert_int_equal(deployment_deadline(d, health, 0), 40);
	assert_int_equal(deployment_deadline(d, health, 40), 50);
	assert_int_equal(deployment_deadline(d, health, 50), 0);
	health[1].healthy = 3;
	assert_int_equal(deployment_deadline(d, health, 0), 50);
	// Nobody promoted the canaries: the group never finishes.
	group(d, 1)->desired_canaries = 1;
	assert_int_equal(deployment_deadline(d, health, 0), 40);
	group(d, 1)->promoted = true;
	assert_int_equal(deployment_deadline(d, health, 0), 50);
	// A paused deployment has no deadline (nor has one that waits for others).
	d->status = DEPLOYMENT_PAUSED;
	assert_int_equal(deployment_deadline(d, health, 0), 0);
	d->status = DEPLOYMENT_BLOCKED;
	assert_int_equal(deployment_deadline(d, health, 0), 0);
	deployment_free(d);
}

static void too_few_at_the_deadline(void **state)
{
	struct deployment *d = running(2);
	bool revert = true;

	assert_true(deployment_lags(d, &revert));
	assert_false(revert);
	group(d, 0)->healthy_allocs = group(d, 1)->healthy_allocs = 3;
	group(d, 0)->auto_revert = true;
	assert_false(deployment_lags(d, &revert));
	// Only a lagging group counts.
	group(d, 1)->healthy_allocs = 2;
	assert_true(deployment_lags(d, &revert));
	assert_false(revert);
	group(d, 0)->healthy_allocs = 2;
	assert_true(deployment_lags(d, &revert));
	assert_true(revert);
	// Until its promotion a group needs its canaries.
	group(d, 0)->desired_canaries = group(d, 1)->desired_canaries = 2;
	assert_false(deployment_lags(d, &revert));
	group(d, 1)->promoted = true;
	assert_true(deployment_lags(d, &revert));
	deployment_free(d);
}

static void place_canary(struct deployment_group *g)
{
	struct uuid *id = array_append(&g->placed_canaries, sizeof *id);
	id->bytes[0] = 1;
}

static void ripe_when_all_canaries_are(void **state)
{
	struct deployment *d = running(2);
	struct group_health health[2] = {{0}};

	assert_false(deployment_is_ripe(d, health));
	group(d, 0)->desired_canaries = 1;
	group(d, 0)->auto_promote = true;
	assert_false(deployment_is_ripe(d, health));
	place_canary(group(d, 0));
	assert_false(deployment_is_ripe(d, health));
	health[0].healthy = 3;
	assert_false(deployment_is_ripe(d, health));
	health[0].healthy_canaries = 1;
	assert_true(deployment_is_ripe(d, health));
	d->status = DEPLOYMENT_PAUSED;
	assert_false(deployment_is_ripe(d, health));
	d->status = DEPLOYMENT_RUNNING;
	// A group that needs a manual promotion holds the others back.
	group(d, 1)->desired_canaries = 1;
	place_canary(group(d, 1));
	health[1].healthy_canaries = 1;
	assert_false(deployment_is_ripe(d, health));
	group(d, 1)->auto_promote = true;
	assert_true(deployment_is_ripe(d, health));
	health[1].healthy_canaries = 0;
	assert_false(deployment_is_ripe(d, health));
	deployment_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_deadline_is_that_of_a_group_that_is_not_done),
		cmocka_unit_test(too_few_at_the_deadline),
		cmocka_unit_test(ripe_when_all_canaries_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
