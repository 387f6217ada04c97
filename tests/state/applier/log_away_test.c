// A log that other machines keep. While it does not answer, who can come again is sent away at once, and everything
// else waits in its order; what becomes of a batch whose end nobody waits for; and what waits for something to go with.
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tests/state/plans.h"
#include "tests/support/controller.h"
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { NODES = 8, ANSWER_WITHIN_S = 20, PATIENCE_MS = 1000 };

// A clock that stands still for all threads until the test moves it.
static _Atomic uint64_t clock_ns;

static uint64_t test_monotonic_ns(void *context)
{
	return atomic_load(&clock_ns);
}

static uint64_t test_wall_ns(void *context)
{
	return CONTROLLER_WALL_MS * NS_PER_MS + atomic_load(&clock_ns);
}

static void pass_ms(uint64_t ms)
{
	atomic_fetch_add(&clock_ns, ms * NS_PER_MS);
}

struct away {
	struct controller c;
	struct planned_job job;
	struct command stuck; // in the append that does not return
	uint32_t stuck_done;
};

static bool is_done(const uint32_t *done)
{
	return __atomic_load_n(done, __ATOMIC_ACQUIRE) > 0;
}

static void await_or_fail(const uint32_t *done, uint32_t count)
{
	uint64_t until_ns = time_monotonic_ns(&time_source_real) + ANSWER_WITHIN_S * NS_PER_S;

	while (__atomic_load_n(done, __ATOMIC_ACQUIRE) < count) {
		if (time_monotonic_ns(&time_source_real) > until_ns)
			fail_msg("no answer while the log is away");
		sched_yield();
	}
}

static struct command node_command(enum command_type type, uint32_t slot)
{
	return (struct command){.type = type, .node = {slot, 1}};
}

static void start(struct away *a, bool is_remote, bool is_calm)
{
	struct controller *c = &a->c;

	*a = (struct away){.stuck = node_command(COMMAND_NODE_EXPIRED, 0)};
	controller_init(c, (struct state_limits){0});
	c->log.is_remote = is_remote;
	controller_seed(c, 7);
	controller_open(c);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(controller_register(c, i, NULL), OUTCOME_DONE);
	a->job = plan_job(c, "web", JOB_SERVICE);
	atomic_store(&clock_ns, c->time.monotonic_ns);
	c->source =
		(struct time_source){.monotonic_ns = test_monotonic_ns, .wall_ns = test_wall_ns};
	controller_start(c, -1);
	// After a command that was alone the applier's own thread would write the next one.
	struct command first = node_command(COMMAND_NODE_EXPIRED, NODES - 1);
	if (is_calm)
		assert_int_equal(controller_run(c, &first), OUTCOME_DONE);
}

static void block_the_log(struct away *a)
{
	uint32_t appends = a->c.log.appends;

	a->c.log.block = 1;
	controller_push(&a->c, &a->stuck, &a->stuck_done);
	while (a->c.log.appends == appends)
		sched_yield();
}

static void end(struct away *a)
{
	a->c.log.block = 0;
	await_or_fail(&a->stuck_done, 1);
	assert_int_equal(a->stuck.outcome, OUTCOME_DONE);
	applier_stop(a->c.applier, 1000);
	controller_verify(&a->c);
	controller_free(&a->c);
}

// What schedulers, watchers and the sweep say. Everything else is asked by somebody who asks again.
static bool waits(uint32_t type)
{
	static const enum command_type types[] = {COMMAND_NODE_EXPIRED, COMMAND_NODE_RETURNED,
		COMMAND_NODE_GOODBYE, COMMAND_COLLECT, COMMAND_EVALUATIONS, COMMAND_PLAN,
		COMMAND_NODE_EVALUATE, COMMAND_GC, COMMAND_DEPLOYMENT, COMMAND_ALLOC_TRANSITIONS,
		COMMAND_JOB_CHILD, COMMAND_NODE_STANDING, COMMAND_VM_HEALTH, COMMAND_VM_ASSIGN};

	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (types[i] == type)
			return true;
	return false;
}

// Nobody decides them, so they need be nothing but of their types.
static void send_away_all(bool is_calm)
{
	struct away a;

	start(&a, true, is_calm);
	block_the_log(&a);
	pass_ms(PATIENCE_MS + 1);
	for (uint32_t type = 0; type < COMMAND_TYPES; type++) {
		struct command c = {.type = (enum command_type)type};
		uint32_t done = 0;
		if (waits(type))
			continue;
		controller_push(&a.c, &c, &done);
		await_or_fail(&done, 1);
		assert_int_equal(c.outcome, OUTCOME_LOG_AWAY);
	}
	assert_false(is_done(&a.stuck_done));
	end(&a);
}

static void who_can_come_again_is_sent_away(void **unused)
{
	send_away_all(false);
	send_away_all(true);
}

static void the_rest_waits_in_order(void **unused)
{
	static const enum command_type types[] = {COMMAND_NODE_EXPIRED, COMMAND_NODE_RETURNED,
		COMMAND_NODE_EXPIRED, COMMAND_NODE_GOODBYE, COMMAND_NODE_RETURNED};
	enum { COUNT = sizeof types / sizeof types[0] };
	struct command commands[COUNT], visitor = {.type = COMMAND_PLACE};
	struct plan_result result = {0};
	struct away a;
	uint32_t done = 0, visited = 0;

	start(&a, true, false);
	struct plan *plan = build_plan(&a.job);
	plan_place(plan, 1, 2, 2);
	struct command planned = {.type = COMMAND_PLAN, .plan = {.plan = plan, .result = &result}};
	block_the_log(&a);
	pass_ms(PATIENCE_MS + 1);
	for (uint32_t i = 0; i < COUNT; i++) {
		commands[i] = node_command(types[i], 1);
		controller_push(&a.c, &commands[i], &done);
	}
	controller_push(&a.c, &planned, &done);
	controller_push(&a.c, &visitor, &visited);
	await_or_fail(&visited, 1); // it came after them, so that they have been looked at
	assert_int_equal(visitor.outcome, OUTCOME_LOG_AWAY);
	assert_false(is_done(&done));
	a.c.log.block = 0;
	await_or_fail(&done, COUNT + 1);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(commands[i].outcome, OUTCOME_DONE);
	assert_int_equal(planned.outcome, OUTCOME_DONE);
	assert_int_equal(result.placements_committed, 1);
	state_read_begin();
	assert_int_equal(state_node_at(a.c.state, 1)->status, NODE_READY);
	state_read_end();
	plan_result_release(&result);
	plan_free(plan);
	end(&a);
}

// A second is not long, and once the log answers again nobody is sent away any more.
static void a_short_wait_is_waited_for(void **unused)
{
	struct command early = {.type = COMMAND_NODE_ELIGIBILITY,
			       .node_eligibility = {.node = number_uuid(1), .eligible = false}},
		       late = early;
	uint32_t done = 0;
	struct away a;

	late.node_eligibility.node = number_uuid(2);
	start(&a, true, false);
	block_the_log(&a);
	pass_ms(PATIENCE_MS);
	controller_push(&a.c, &early, &done);
	while (command_queue_depth(a.c.queue) > 0)
		sched_yield();
	assert_false(is_done(&done));
	a.c.log.block = 0;
	await_or_fail(&done, 1);
	assert_int_equal(early.outcome, OUTCOME_DONE);
	pass_ms(10 * PATIENCE_MS);
	assert_int_equal(controller_run(&a.c, &late), OUTCOME_DONE);
	end(&a);
}

static void a_local_log_sends_nobody_away(void **unused)
{
	struct command c = {.type = COMMAND_NODE_ELIGIBILITY,
		.node_eligibility = {.node = number_uuid(1), .eligible = false}};
	struct command later = node_command(COMMAND_NODE_EXPIRED, 2);
	uint32_t done = 0;
	struct away a;

	start(&a, false, false);
	block_the_log(&a);
	pass_ms(100 * PATIENCE_MS);
	controller_push(&a.c, &c, &done);
	controller_push(&a.c, &later, &done);
	while (command_queue_depth(a.c.queue) > 0)
		sched_yield();
	a.c.log.block = 0;
	await_or_fail(&done, 2);
	assert_int_equal(c.outcome, OUTCOME_DONE);
	assert_int_equal(later.outcome, OUTCOME_DONE);
	end(&a);
}

// The process ends, and whether the batch was written is not known: nobody is told that it was, and nothing failed.
static void leave_a_batch(bool is_calm)
{
	struct command change = node_command(COMMAND_NODE_EXPIRED, 1);
	struct command later = node_command(COMMAND_NODE_EXPIRED, 2);
	uint32_t done = 0, refused = 0;
	struct away a;

	start(&a, true, is_calm);
	uint32_t appends = a.c.log.appends;
	a.c.log.error = -ECANCELED;
	controller_push(&a.c, &change, &done);
	while (a.c.log.appends == appends)
		sched_yield();
	controller_push(&a.c, &later, &refused);
	await_or_fail(&refused, 1);
	assert_int_equal(later.outcome, OUTCOME_STOPPING);
	applier_stop(a.c.applier, 1000);
	assert_int_equal(done, 1);
	assert_int_equal(change.outcome, OUTCOME_STOPPING);
	assert_int_equal(a.c.log_error, 0);
	controller_free(&a.c);
}

static void a_batch_that_was_left_is_no_failure(void **unused)
{
	leave_a_batch(false);
	leave_a_batch(true);
}

struct report {
	struct alloc_update_item item;
	struct command_alloc_update update;
	struct command command;
	uint32_t done;
};

static void push_report(struct away *a, struct report *r)
{
	*r = (struct report){.update = {.slot = 1, .generation = 1, .sequence = 1, .count = 1}};
	r->update.items = &r->item;
	r->command = (struct command){.type = COMMAND_ALLOC_UPDATE, .alloc_update = &r->update};
	controller_push(&a->c, &r->command, &r->done);
	while (command_queue_depth(a->c.queue) > 0)
		sched_yield();
}

static void what_nodes_tell_waits_for_something_to_go_with(void **unused)
{
	struct command other = node_command(COMMAND_NODE_EXPIRED, 2);
	struct report report;
	struct away a;

	start(&a, true, false);
	// A clock that stands still: it would wait for ever, but for what comes.
	push_report(&a, &report);
	assert_int_equal(controller_run(&a.c, &other), OUTCOME_DONE);
	await_or_fail(&report.done, 1);
	// Nor longer than its time; who waits looks at the real clock as well.
	push_report(&a, &report);
	struct timespec moment = {.tv_nsec = 25 * NS_PER_MS};
	nanosleep(&moment, NULL);
	assert_false(is_done(&report.done));
	pass_ms(99);
	nanosleep(&moment, NULL);
	assert_false(is_done(&report.done));
	pass_ms(2);
	await_or_fail(&report.done, 1);
	// The end is not waited for.
	push_report(&a, &report);
	applier_stop(a.c.applier, 10000);
	assert_true(is_done(&report.done));
	assert_true(report.command.outcome != OUTCOME_STOPPING);
	controller_free(&a.c);
}

static void on_an_own_disk_nothing_waits(void **unused)
{
	struct report report;
	struct away a;

	start(&a, false, false);
	push_report(&a, &report);
	await_or_fail(&report.done, 1);
	applier_stop(a.c.applier, 1000);
	controller_free(&a.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_can_come_again_is_sent_away),
		cmocka_unit_test(the_rest_waits_in_order),
		cmocka_unit_test(a_short_wait_is_waited_for),
		cmocka_unit_test(a_local_log_sends_nobody_away),
		cmocka_unit_test(a_batch_that_was_left_is_no_failure),
		cmocka_unit_test(what_nodes_tell_waits_for_something_to_go_with),
		cmocka_unit_test(on_an_own_disk_nothing_waits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
