// Row B40.
#include "placement/broker/plan_queue.h"
#include "state/base/error.h"
#include "state/base/prng.h"
#include "state/records/plan.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PLANS = 200 };

struct fixture {
	struct command_queue *applier;
	struct plan_queue *queue;
	struct plan plans[PLANS];
	struct command commands[PLANS];
	uint32_t finished;
};

static void finished(struct command *c)
{
	struct fixture *f = c->context;
	f->finished++;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	f->applier = command_queue_create(0);
	f->queue = plan_queue_create(f->applier);
	plan_queue_set_enabled(f->queue, true);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	plan_queue_destroy(f->queue);
	command_queue_destroy(f->applier);
	free(f);
	return 0;
}

static int push(struct fixture *f, uint32_t i, int64_t priority)
{
	f->plans[i].priority = priority;
	f->commands[i] = (struct command){
		.type = COMMAND_PLAN, .plan.plan = &f->plans[i], .done = finished, .context = f};
	return plan_queue_push(f->queue, &f->commands[i]);
}

static void higher_priority_then_older_first(void **state)
{
	struct fixture *f = *state;
	struct prng prng;

	prng_seed(&prng, 3);
	for (uint32_t i = 0; i < PLANS; i++)
		assert_int_equal(push(f, i, (int64_t)prng_below(&prng, 5)), 0);
	assert_int_equal(plan_queue_depth(f->queue), PLANS);
	const struct command *before = NULL;
	for (uint32_t i = 0; i < PLANS; i++) {
		struct command *c = plan_queue_take(f->queue);
		assert_non_null(c);
		if (before) {
			int64_t last = before->plan.plan->priority, own = c->plan.plan->priority;
			assert_true(last > own || (last == own && before < c));
		}
		before = c;
	}
	assert_null(plan_queue_take(f->queue));
	assert_int_equal(f->finished, 0);
}

static void what_waits_is_flushed_when_it_is_disabled(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(push(f, i, 50), 0);
	struct command *taken = plan_queue_take(f->queue);
	plan_queue_set_enabled(f->queue, false);
	assert_int_equal(f->finished, 2);
	assert_int_equal(taken->outcome, OUTCOME_DONE); // the applier owns it: unchanged
	assert_int_equal(f->commands[1].outcome, OUTCOME_STOPPING);
	assert_int_equal(f->commands[2].outcome, OUTCOME_STOPPING);
	assert_null(plan_queue_take(f->queue));
}

static void a_disabled_queue_refuses(void **state)
{
	struct fixture *f = *state;

	plan_queue_set_enabled(f->queue, false);
	assert_int_equal(push(f, 0, 50), -ERROR_PLANS_OFF);
	assert_int_equal(f->finished, 0);
	plan_queue_set_enabled(f->queue, true);
	assert_int_equal(push(f, 0, 50), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(higher_priority_then_older_first, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_waits_is_flushed_when_it_is_disabled, setup, teardown),
		cmocka_unit_test_setup_teardown(a_disabled_queue_refuses, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
