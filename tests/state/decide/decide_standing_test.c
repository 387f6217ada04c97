// How nodes stand, command by command: what operators are told, which answers of probes are heard, and what tasks that
// are released make of it before their node tells of their end (row E24).
#include "state/apply/apply.h"
#include "state/base/error.h"
#include "state/log/entry_standing.h"
#include "state/tables/placer.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <urcu-qsbr.h>

#include <cmocka.h>

struct world {
	struct controller c;
	struct node_registration node;
};

static void open_world(struct world *w, bool readiness)
{
	controller_init(&w->c, (struct state_limits){0});
	w->c.standing = (struct standing_limits){
		STANDING_LOST_AFTER_NS, STANDING_FLAKY_AFTER_NS, readiness};
	controller_open(&w->c);
	controller_register(&w->c, 1, &w->node);
}

static void close_world(struct world *w)
{
	controller_verify(&w->c);
	expect_restores(&w->c);
	controller_free(&w->c);
}

static enum command_outcome submit_standing(struct world *w, struct command_node_standing *c)
{
	struct command command = {.type = COMMAND_NODE_STANDING, .standing = c};

	return controller_run(&w->c, &command);
}

static struct standing lifecycle_of(const struct world *w)
{
	state_read_begin();
	struct standing l = state_node_by_id(w->c.state, &w->node.node)->standing;
	state_read_end();
	return l;
}

static enum node_standing standing(const struct world *w)
{
	struct standing l = lifecycle_of(w);

	return standing_of(&l);
}

// What changed of it.
static uint32_t probed(struct world *w, uint64_t sequence, bool ready)
{
	struct command_node_standing c = {.action = STANDING_PROBED,
		.slot = w->node.slot,
		.generation = w->node.generation,
		.sequence = sequence,
		.ready = ready,
		.backoff_ns = 1};

	assert_int_equal(submit_standing(w, &c), OUTCOME_DONE);
	return c.changed;
}

static uint32_t sweep(struct world *w)
{
	struct command_node_standing c = {
		.action = STANDING_SWEEP, .nodes = &w->node.node, .count = 1};

	assert_int_equal(submit_standing(w, &c), OUTCOME_DONE);
	return c.changed;
}

static void become_ready(struct world *w)
{
	assert_int_equal(probed(w, 10, true), 1);
	assert_int_equal(standing(w), NODE_SUSPENDED);
	assert_int_equal(sweep(w), 1);
	assert_int_equal(standing(w), NODE_HEALTHY);
}

static void answers_are_of_a_node_that_is_there(void **unused)
{
	struct world w;
	struct command_node_standing c = {.action = STANDING_PROBED, .sequence = 10};

	(void)unused;
	open_world(&w, true);
	c.slot = w.node.slot;
	c.generation = w.node.generation + 1;
	assert_int_equal(submit_standing(&w, &c), OUTCOME_STALE_GENERATION);
	c.generation = w.node.generation;
	c.slot = 4000;
	assert_int_equal(submit_standing(&w, &c), OUTCOME_UNKNOWN_NODE);
	c.slot = 0xffffffff;
	assert_int_equal(submit_standing(&w, &c), OUTCOME_UNKNOWN_NODE);
	assert_int_equal(standing(&w), NODE_SUSPENDED);
	close_world(&w);
}

// How many entries a report about an allocation of nobody makes.
static uint64_t reported(
	struct controller *c, const struct node_registration *node, uint64_t sequence)
{
	struct alloc_update_item item = {
		.allocation = number_uuid(99), .client_status = ALLOC_RUNNING};
	struct command_alloc_update update = {.slot = node->slot,
		.generation = node->generation,
		.sequence = sequence,
		.count = 1,
		.items = &item};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};
	uint64_t before = c->log.count;

	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	assert_false(item.known);
	return c->log.count - before;
}

static void an_answer_is_heard_once(void **unused)
{
	struct world w;

	(void)unused;
	open_world(&w, true);
	assert_int_equal(probed(&w, 10, false), 1);
	assert_int_equal(probed(&w, 10, true), 0);
	assert_int_equal(probed(&w, 9, true), 0);
	assert_int_equal(probed(&w, 11, false), 0);
	assert_int_equal(probed(&w, 12, true), 1);
	assert_int_equal(probed(&w, 13, true), 0);
	// A registration begins a new count.
	build_node(&w.node, 1, w.node.sequence + 1);
	struct command again = {.type = COMMAND_NODE_REGISTER, .node_register = &w.node};
	assert_int_equal(controller_run(&w.c, &again), OUTCOME_DONE);
	assert_int_equal(probed(&w, 1, false), 1);
	close_world(&w);
}

// Answers and reports are numbered together: an older report that comes late, or again after a restart, is not news.
static void an_answer_makes_older_reports_old(void **unused)
{
	struct world w;
	struct controller again;

	(void)unused;
	open_world(&w, true);
	assert_int_equal(probed(&w, 10, false), 1);
	assert_int_equal(probed(&w, 20, false), 0); // changes nothing, and is the newest
	assert_int_equal(reported(&w.c, &w.node, 15), 0);
	assert_int_equal(reported(&w.c, &w.node, 20), 0);
	struct bytes_writer image = controller_image(&w.c);
	controller_init(&again, (struct state_limits){0});
	assert_int_equal(controller_load(&again, &image), 0);
	controller_open(&again);
	assert_int_equal(reported(&again, &w.node, 15), 0);
	assert_int_equal(reported(&again, &w.node, 21), 1);
	assert_int_equal(reported(&again, &w.node, 21), 0);
	controller_free(&again);
	bytes_writer_free(&image);
	close_world(&w);
}

static void one_that_is_not_to_be_asked_again_stays_suspended(void **unused)
{
	struct world w;
	struct command_node_standing c = {.action = STANDING_PROBED, .sequence = 10};

	(void)unused;
	open_world(&w, true);
	c.slot = w.node.slot;
	c.generation = w.node.generation;
	assert_int_equal(submit_standing(&w, &c), OUTCOME_DONE);
	assert_int_equal(c.changed, 1);
	assert_int_equal(lifecycle_of(&w).readiness, READINESS_GIVEN_UP);
	assert_int_equal(probed(&w, 11, true), 1);
	assert_int_equal(sweep(&w), 0);
	assert_int_equal(standing(&w), NODE_SUSPENDED);
	close_world(&w);
}

static void expect_refused(struct world *w, enum standing_action action, const struct uuid *id,
	enum command_outcome outcome, const char *why)
{
	struct command_node_standing c = {.action = action, .nodes = id, .count = 1};
	char uuid[UUID_TEXT_BYTES], message[160];

	uuid_format(id, uuid);
	snprintf(message, sizeof message, "node %s was not present in %s", uuid, why);
	assert_int_equal(submit_standing(w, &c), outcome);
	assert_string_equal(c.message, message);
	assert_int_equal(c.changed, 0);
}

static void operators_are_told_why_not(void **unused)
{
	const char *no_offline = "nodes. It can't be offlined";
	const char *no_online = "offlined nodes. It can't be reinstated";
	struct uuid other = number_uuid(7);
	struct world w;

	(void)unused;
	open_world(&w, true);
	expect_refused(&w, STANDING_OFFLINE, &w.node.node, OUTCOME_NOT_NOW, no_offline);
	expect_refused(&w, STANDING_ONLINE, &w.node.node, OUTCOME_NOT_NOW, no_online);
	expect_refused(&w, STANDING_OFFLINE, &other, OUTCOME_UNKNOWN_NODE, no_offline);
	expect_refused(&w, STANDING_ONLINE, &other, OUTCOME_UNKNOWN_NODE, no_online);
	become_ready(&w);
	struct command_node_standing c = {
		.action = STANDING_OFFLINE, .nodes = &w.node.node, .count = 1};
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(submit_standing(&w, &c), OUTCOME_DONE);
		assert_int_equal(c.changed, i == 0);
		assert_int_equal(standing(&w), NODE_OFFLINED);
	}
	c.action = STANDING_ONLINE;
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(submit_standing(&w, &c), OUTCOME_DONE);
		assert_int_equal(c.changed, i == 0);
		assert_int_equal(standing(&w), NODE_HEALTHY);
	}
	close_world(&w);
}

static void commands_that_say_nothing_are_refused(void **unused)
{
	struct uuid ids[NODE_SWEEP_MAX + 1] = {0};
	struct command_node_standing c = {
		.action = STANDING_OFFLINE, .nodes = ids, .count = 2, .changed = 5};
	struct world w;

	(void)unused;
	open_world(&w, false);
	assert_int_equal(submit_standing(&w, &c), OUTCOME_BAD_DESCRIPTION);
	assert_int_equal(c.changed, 0);
	c.count = 0;
	assert_int_equal(submit_standing(&w, &c), OUTCOME_BAD_DESCRIPTION);
	c.action = STANDING_ACTIONS;
	c.count = 1;
	assert_int_equal(submit_standing(&w, &c), OUTCOME_BAD_DESCRIPTION);
	c.count = 0;
	c.action = STANDING_SWEEP;
	assert_int_equal(submit_standing(&w, &c), OUTCOME_BAD_DESCRIPTION);
	c.count = NODE_SWEEP_MAX + 1;
	assert_int_equal(submit_standing(&w, &c), OUTCOME_BAD_DESCRIPTION);
	c.count = NODE_SWEEP_MAX;
	assert_int_equal(submit_standing(&w, &c), OUTCOME_DONE);
	assert_int_equal(c.changed, 0);
	close_world(&w);
}

// Nodes come in any order, some of them twice, some are not there, some are well.
static void a_sweep_takes_whatever_it_is_given(void **unused)
{
	struct node_registration others[3];
	struct world w;

	(void)unused;
	open_world(&w, false);
	for (uint32_t i = 0; i < 3; i++) {
		controller_register(&w.c, i + 2, &others[i]);
		if (i < 2)
			controller_node(
				&w.c, COMMAND_NODE_EXPIRED, others[i].slot, others[i].generation);
	}
	struct uuid ids[] = {others[1].node, others[2].node, number_uuid(9), others[0].node,
		others[1].node, w.node.node};
	struct command_node_standing c = {.action = STANDING_SWEEP, .nodes = ids, .count = 6};
	assert_int_equal(submit_standing(&w, &c), OUTCOME_DONE);
	assert_int_equal(c.changed, 0);
	advance_ms(&w.c, 60001);
	assert_int_equal(submit_standing(&w, &c), OUTCOME_DONE);
	assert_int_equal(c.changed, 2);
	assert_int_equal(submit_standing(&w, &c), OUTCOME_DONE);
	assert_int_equal(c.changed, 0);
	close_world(&w);
}

static uint32_t jobs_marked(const struct world *w)
{
	struct state_counts counts;

	state_counts(w->c.state, &counts);
	return counts.jobs_marked;
}

static void report_end(struct world *w, uint32_t number, uint64_t sequence, bool flaky)
{
	struct alloc_update_item item = {
		.allocation = placed_id(number), .client_status = ALLOC_FAILED, .flaky = flaky};
	struct command_alloc_update update = {.slot = w->node.slot,
		.generation = w->node.generation,
		.sequence = sequence,
		.count = 1,
		.items = &item};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};

	assert_int_equal(controller_run(&w->c, &command), OUTCOME_DONE);
}

// Two instances of "web", whose group names a snapshot, on the node.
static void run_web(struct world *w)
{
	struct command_job_register result = {0};
	struct job *job = build_scheduled_job("web", JOB_SERVICE);

	ARRAY_AT(&job->task_groups, struct task_group, 0)->snapshot = text_copy(TEXT("warm"));
	assert_int_equal(register_job(&w->c, job, &result), OUTCOME_DONE);
	for (uint32_t i = 1; i <= 2; i++)
		assert_int_equal(
			place_one(&w->c, &result.made.id, "web", &w->node, i), OUTCOME_DONE);
}

static void settle_marks(struct world *w)
{
	advance_ms(&w->c, 60000);
	while (applier_step(w->c.applier) > 0)
		continue;
	assert_int_equal(jobs_marked(w), 0);
}

// And what it ran last is kept nowhere when it stands in the group "" again.
static void jobs_are_looked_at_when_their_node_is_healthy_again(void **unused)
{
	struct world w;

	(void)unused;
	open_world(&w, false);
	uint32_t strings = w.c.state->strings.count;
	run_web(&w);
	assert_int_equal(w.c.state->strings.count, strings + 1);
	report_end(&w, 1, 20, true);
	assert_int_equal(standing(&w), NODE_SUSPENDED);
	settle_marks(&w);
	advance_ms(&w.c, 16 * 60000);
	settle_marks(&w);
	assert_int_equal(sweep(&w), 1);
	assert_int_equal(standing(&w), NODE_HEALTHY);
	assert_int_equal(jobs_marked(&w), 1);
	rcu_barrier();
	assert_int_equal(w.c.state->strings.count, strings);
	close_world(&w);
}

static const char *last_run(const struct world *w)
{
	return w->c.state->cells[w->node.slot].working->snapshot;
}

// What a node ran last is changed by tasks that have a snapshot, and by no others (row E22).
static void tasks_without_a_snapshot_leave_it(void **unused)
{
	struct command_job_register result = {0};
	struct world w;

	(void)unused;
	open_world(&w, false);
	run_web(&w);
	assert_string_equal(last_run(&w), "warm");
	assert_int_equal(register_job(&w.c, build_scheduled_job("plain", JOB_SYSTEM), &result),
		OUTCOME_DONE);
	assert_int_equal(place_one(&w.c, &result.made.id, "plain", &w.node, 3), OUTCOME_DONE);
	assert_string_equal(last_run(&w), "warm");
	close_world(&w);
}

static void entries_that_no_decider_makes_are_corrupt(void **unused)
{
	struct standing_change items[2];
	struct entry_node_standing e = {2, items};
	struct node_registration second;
	struct world w;

	(void)unused;
	open_world(&w, false);
	controller_register(&w.c, 2, &second);
	items[0] = (struct standing_change){w.node.slot, w.node.generation, STANDING_BY_TIME, {0}};
	items[1] = (struct standing_change){second.slot, second.generation, STANDING_BY_TIME, {0}};
	assert_true(items[0].slot < items[1].slot);
	assert_int_equal(node_standing_check(w.c.state, &e), 0);
	items[1].generation++;
	assert_int_equal(node_standing_check(w.c.state, &e), -ERROR_CORRUPT);
	items[1] = items[0];
	assert_int_equal(node_standing_check(w.c.state, &e), -ERROR_CORRUPT);
	items[1].slot = state_node_slots(w.c.state);
	assert_int_equal(node_standing_check(w.c.state, &e), -ERROR_CORRUPT);
	controller_node(&w.c, COMMAND_NODE_EXPIRED, second.slot, second.generation);
	advance_ms(&w.c, 61000);
	struct command_node_standing forget = {
		.action = STANDING_SWEEP, .nodes = &second.node, .count = 1};
	assert_int_equal(submit_standing(&w, &forget), OUTCOME_DONE);
	assert_int_equal(forget.changed, 1);
	items[1] = (struct standing_change){second.slot, second.generation, STANDING_BY_TIME, {0}};
	assert_int_equal(node_standing_check(w.c.state, &e), -ERROR_CORRUPT);
	close_world(&w);
}

static void run_direct(struct world *w, struct command_place *place)
{
	const struct resources asks = {.cpu_mhz = 100, .memory_mb = 100, .disk_mb = 10};

	assert_int_equal(controller_job(&w->c, build_job("direct", &asks, 1)), OUTCOME_DONE);
	assert_int_equal(controller_place(&w->c, "client", "direct", 1, 2, place), OUTCOME_DONE);
	assert_int_equal(place->placed, 2);
}

static void stop_direct(struct world *w, const struct uuid *id, bool by_operator)
{
	struct command stop = {.type = COMMAND_ALLOC_STOP, .alloc_stop = {.allocation = *id}};
	struct command_release release = {.client = TEXT("client"), .count = 1, .ids = {*id}};
	struct command let_go = {.type = COMMAND_RELEASE, .release = &release};

	assert_int_equal(controller_run(&w->c, by_operator ? &stop : &let_go), OUTCOME_DONE);
}

static void who_is_known_to_be_unready_is_lost_with_a_release(void **unused)
{
	for (int by_operator = 0; by_operator < 2; by_operator++) {
		struct command_place place;
		struct world w;

		(void)unused;
		open_world(&w, true);
		become_ready(&w);
		run_direct(&w, &place);
		assert_int_equal(probed(&w, 11, false), 1);
		assert_int_equal(standing(&w), NODE_HEALTHY);
		stop_direct(&w, &place.items[0].allocation, by_operator);
		assert_int_equal(standing(&w), NODE_SUSPENDED);
		int64_t lost_ns = lifecycle_of(&w).lost_ns;
		assert_true(lost_ns >= controller_now_ms(&w.c) * 1000000);
		// It is lost already: the next one changes nothing.
		advance_ms(&w.c, 1000);
		stop_direct(&w, &place.items[1].allocation, by_operator);
		assert_int_equal(lifecycle_of(&w).lost_ns, lost_ns);
		close_world(&w);
	}
}

static void who_is_ready_or_has_no_probe_is_healthy_after_a_release(void **unused)
{
	for (int readiness = 0; readiness < 2; readiness++) {
		struct command_place place;
		struct world w;

		(void)unused;
		open_world(&w, readiness);
		if (readiness)
			become_ready(&w);
		else
			probed(&w, 10, false);
		run_direct(&w, &place);
		stop_direct(&w, &place.items[0].allocation, false);
		stop_direct(&w, &place.items[0].allocation, true);
		assert_int_equal(standing(&w), NODE_HEALTHY);
		close_world(&w);
	}
}

static void expect_slot(void *context, uint32_t slot)
{
	const struct world *w = context;

	assert_true(slot < state_node_slots(w->c.state));
}

// Its node was purged while it lived, and its scheduler has not looked yet.
static void what_has_no_node_is_released(void **unused)
{
	struct command_job_register result = {0};
	struct command_release release = {.any_client = true, .count = 1};
	struct command let_go = {.type = COMMAND_RELEASE, .release = &release};
	struct world w;

	(void)unused;
	open_world(&w, true);
	become_ready(&w);
	struct placer placer = {.context = &w, .node_changed = expect_slot};
	w.c.state->placer = &placer;
	assert_int_equal(
		register_job(&w.c, build_scheduled_job("web", JOB_SERVICE), &result), OUTCOME_DONE);
	assert_int_equal(place_one(&w.c, &result.made.id, "web", &w.node, 1), OUTCOME_DONE);
	struct command purge = {.type = COMMAND_NODE_PURGE, .node_named = {.node = w.node.node}};
	assert_int_equal(controller_run(&w.c, &purge), OUTCOME_DONE);
	release.ids[0] = placed_id(1);
	assert_int_equal(controller_run(&w.c, &let_go), OUTCOME_DONE);
	assert_int_equal(release.results[0], RELEASE_DONE);
	w.c.state->placer = NULL;
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_of_a_node_that_is_there),
		cmocka_unit_test(an_answer_is_heard_once),
		cmocka_unit_test(an_answer_makes_older_reports_old),
		cmocka_unit_test(one_that_is_not_to_be_asked_again_stays_suspended),
		cmocka_unit_test(operators_are_told_why_not),
		cmocka_unit_test(commands_that_say_nothing_are_refused),
		cmocka_unit_test(a_sweep_takes_whatever_it_is_given),
		cmocka_unit_test(jobs_are_looked_at_when_their_node_is_healthy_again),
		cmocka_unit_test(tasks_without_a_snapshot_leave_it),
		cmocka_unit_test(entries_that_no_decider_makes_are_corrupt),
		cmocka_unit_test(who_is_known_to_be_unready_is_lost_with_a_release),
		cmocka_unit_test(who_is_ready_or_has_no_probe_is_healthy_after_a_release),
		cmocka_unit_test(what_has_no_node_is_released),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
