// Nodes that lose their connection while what runs on them may go on, and come back.
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/alloc_details.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct world {
	struct controller c;
	struct node_registration node;
	struct uuid eval;
};

// A node, and a job "web" whose instances may go on for so long without their controller; one of them
// runs on the node.
static void open_world(struct world *w, int64_t away_s)
{
	struct command_job_register result = {0};
	struct job *job = build_scheduled_job("web", JOB_SERVICE);

	if (away_s)
		ARRAY_AT(&job->task_groups, struct task_group, 0)->max_client_disconnect_ns =
			(struct optional_i64){true, away_s * NS_PER_S};
	controller_init(&w->c, (struct state_limits){0});
	controller_open(&w->c);
	controller_register(&w->c, 1, &w->node);
	assert_int_equal(register_job(&w->c, job, &result), OUTCOME_DONE);
	w->eval = result.made.id;
	assert_int_equal(place_one(&w->c, &w->eval, "web", &w->node, 1), OUTCOME_DONE);
	assert_int_equal(report_one(&w->c, &w->node, 1, ALLOC_RUNNING), OUTCOME_DONE);
}

static void close_world(struct world *w)
{
	expect_restores(&w->c);
	controller_free(&w->c);
}

static enum command_outcome tell(struct world *w, enum command_type type)
{
	return controller_node(&w->c, type, w->node.slot, w->node.generation);
}

static enum command_outcome look_again(struct world *w)
{
	struct command command = {
		.type = COMMAND_NODE_EXPIRED, .node = {w->node.slot, w->node.generation, true}};
	return controller_run(&w->c, &command);
}

static int status(const struct world *w)
{
	state_read_begin();
	int status = state_node_by_id(w->c.state, &w->node.node)->status;
	state_read_end();
	return status;
}

static uint32_t events(const struct world *w)
{
	state_read_begin();
	uint32_t count = state_node_by_id(w->c.state, &w->node.node)->event_count;
	state_read_end();
	return count;
}

static uint8_t newest_event(const struct world *w)
{
	state_read_begin();
	const struct node *n = state_node_by_id(w->c.state, &w->node.node);
	uint8_t message = node_events(n)[n->event_count - 1].message;
	state_read_end();
	return message;
}

static uint64_t missed_index(const struct world *w)
{
	state_read_begin();
	uint64_t index = state_node_by_id(w->c.state, &w->node.node)->missed_heartbeat_index;
	state_read_end();
	return index;
}

static uint32_t marked(const struct world *w)
{
	struct state_counts counts;

	state_counts(w->c.state, &counts);
	return counts.jobs_marked;
}

// What a scheduler says of an allocation whose node is disconnected.
static void make_unknown(struct world *w)
{
	struct plan *plan = plan_create();
	struct plan_result result;
	struct command command = {.type = COMMAND_PLAN, .plan = {.plan = plan, .result = &result}};

	plan->eval_id = w->eval;
	plan->namespace_name = text_copy(TEXT("default"));
	plan->job_id = text_copy(TEXT("web"));
	struct plan_update *u = array_append(&plan->updates, sizeof *u);
	*u = (struct plan_update){.id = placed_id(1),
		.node_id = w->node.node,
		.slot = w->node.slot,
		.resources = {100, 100, 10},
		.client_status = ALLOC_UNKNOWN,
		.metrics = PLAN_NO_METRICS,
		.details = alloc_details_create()};
	struct alloc_state *s = array_append(&u->details->states, sizeof *s);
	*s = (struct alloc_state){text_copy(TEXT("ClientStatus")), text_copy(TEXT("unknown")),
		controller_now_ms(&w->c) * 1000000};
	assert_int_equal(controller_run(&w->c, &command), OUTCOME_DONE);
	assert_int_equal(result.updates_committed, 1);
	plan_result_release(&result);
	plan_free(plan);
}

static void what_may_not_go_on_is_down(void **unused)
{
	struct world w;

	open_world(&w, 0);
	tell(&w, COMMAND_NODE_EXPIRED);
	assert_int_equal(status(&w), NODE_DOWN);
	assert_int_equal(newest_event(&w), NODE_HEARTBEAT_MISSED);
	tell(&w, COMMAND_NODE_RETURNED);
	assert_int_equal(status(&w), NODE_READY);
	assert_int_equal(newest_event(&w), NODE_REREGISTERED_BY_HEARTBEAT);
	close_world(&w);
}

static void what_may_go_on_is_disconnected(void **unused)
{
	struct world w;

	open_world(&w, 60);
	assert_int_equal(missed_index(&w), 0);
	tell(&w, COMMAND_NODE_EXPIRED);
	assert_int_equal(status(&w), NODE_DISCONNECTED);
	assert_int_equal(newest_event(&w), NODE_HEARTBEAT_MISSED);
	assert_int_equal(missed_index(&w), state_index(w.c.state));
	assert_int_equal(marked(&w), 1);
	close_world(&w);
}

static void what_ended_does_not_keep_its_node(void **unused)
{
	struct world w;

	open_world(&w, 60);
	report_one(&w.c, &w.node, 1, ALLOC_COMPLETE);
	tell(&w, COMMAND_NODE_EXPIRED);
	assert_int_equal(status(&w), NODE_DOWN);
	close_world(&w);
}

static void who_says_goodbye_is_down(void **unused)
{
	struct world w;

	open_world(&w, 60);
	tell(&w, COMMAND_NODE_GOODBYE);
	assert_int_equal(status(&w), NODE_DOWN);
	close_world(&w);
}

static void direct_jobs_lose_what_is_disconnected(void **unused)
{
	static const struct resources ask = {100, 100, 10};
	struct world w;
	struct command_place placed;

	open_world(&w, 60);
	controller_job(&w.c, build_job("direct", &ask, 1));
	assert_int_equal(controller_place(&w.c, "ann", "direct", 1, 1, &placed), OUTCOME_DONE);
	tell(&w, COMMAND_NODE_EXPIRED);
	assert_int_equal(status(&w), NODE_DISCONNECTED);
	state_read_begin();
	assert_int_equal(state_allocation(w.c.state, &placed.items[0].allocation)->client_status,
		ALLOC_LOST);
	state_read_end();
	close_world(&w);
}

static void a_disconnected_node_is_down_when_its_time_is_over(void **unused)
{
	struct world w;

	open_world(&w, 60);
	tell(&w, COMMAND_NODE_EXPIRED);
	uint64_t missed = missed_index(&w);
	// Until a scheduler noted it nothing runs out.
	advance_ms(&w.c, 100 * 1000);
	assert_int_equal(look_again(&w), OUTCOME_DONE);
	assert_int_equal(status(&w), NODE_DISCONNECTED);
	make_unknown(&w);
	advance_ms(&w.c, 59 * 1000);
	look_again(&w);
	assert_int_equal(status(&w), NODE_DISCONNECTED);
	advance_ms(&w.c, 1000);
	look_again(&w);
	assert_int_equal(status(&w), NODE_DOWN);
	assert_int_equal(missed_index(&w), missed);
	tell(&w, COMMAND_NODE_RETURNED);
	assert_int_equal(status(&w), NODE_READY);
	close_world(&w);
}

static void who_is_back_is_not_looked_at_again(void **unused)
{
	struct world w;

	open_world(&w, 60);
	uint64_t index = state_index(w.c.state);
	assert_int_equal(look_again(&w), OUTCOME_DONE);
	assert_int_equal(status(&w), NODE_READY);
	assert_int_equal(state_index(w.c.state), index);
	tell(&w, COMMAND_NODE_EXPIRED);
	tell(&w, COMMAND_NODE_RETURNED);
	assert_int_equal(look_again(&w), OUTCOME_DONE);
	assert_int_equal(status(&w), NODE_INITIALIZING);
	close_world(&w);
}

static void a_node_that_is_back_reports_before_it_is_ready(void **unused)
{
	struct world w;

	open_world(&w, 60);
	tell(&w, COMMAND_NODE_EXPIRED);
	make_unknown(&w);
	assert_int_equal(report_one(&w.c, &w.node, 1, ALLOC_RUNNING), OUTCOME_NODE_NOT_ALLOWED);
	assert_int_equal(status(&w), NODE_DISCONNECTED);
	uint32_t before = events(&w);
	uint64_t missed = missed_index(&w);
	assert_int_equal(tell(&w, COMMAND_NODE_RETURNED), OUTCOME_DONE);
	assert_int_equal(status(&w), NODE_INITIALIZING);
	assert_int_equal(missed_index(&w), missed);
	expect_restores(&w.c);
	assert_int_equal(tell(&w, COMMAND_NODE_RETURNED), OUTCOME_DONE);
	assert_int_equal(status(&w), NODE_INITIALIZING);
	assert_int_equal(report_one(&w.c, &w.node, 1, ALLOC_RUNNING), OUTCOME_DONE);
	assert_int_equal(status(&w), NODE_READY);
	assert_int_equal(missed_index(&w), 0);
	assert_int_equal(events(&w), before);
	close_world(&w);
}

static void a_node_without_work_is_ready_at_once(void **unused)
{
	struct world w;

	open_world(&w, 60);
	tell(&w, COMMAND_NODE_EXPIRED);
	stop_one(&w.c, &w.eval, "web", 1, STOP_LOST);
	tell(&w, COMMAND_NODE_RETURNED);
	assert_int_equal(status(&w), NODE_READY);
	close_world(&w);
}

static void a_node_whose_work_is_stopped_is_ready(void **unused)
{
	struct world w;

	open_world(&w, 60);
	place_one(&w.c, &w.eval, "web", &w.node, 2);
	tell(&w, COMMAND_NODE_EXPIRED);
	tell(&w, COMMAND_NODE_RETURNED);
	stop_one(&w.c, &w.eval, "web", 1, STOP_NOT_NEEDED);
	assert_int_equal(status(&w), NODE_INITIALIZING);
	stop_one(&w.c, &w.eval, "web", 2, STOP_NOT_NEEDED);
	assert_int_equal(status(&w), NODE_READY);
	close_world(&w);
}

static void an_initializing_node_that_is_silent_is_down(void **unused)
{
	struct world w;

	open_world(&w, 60);
	tell(&w, COMMAND_NODE_EXPIRED);
	tell(&w, COMMAND_NODE_RETURNED);
	assert_int_equal(status(&w), NODE_INITIALIZING);
	tell(&w, COMMAND_NODE_EXPIRED);
	assert_int_equal(status(&w), NODE_DOWN);
	close_world(&w);
}

static enum command_outcome register_again(struct world *w, uint64_t later)
{
	uint64_t sequence = w->node.sequence + later;
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = &w->node};

	build_node(&w->node, 1, sequence);
	return controller_run(&w->c, &command);
}

static void registering_is_no_way_around_a_report(void **unused)
{
	struct world w;

	open_world(&w, 60);
	tell(&w, COMMAND_NODE_EXPIRED);
	uint64_t missed = missed_index(&w);
	assert_int_equal(register_again(&w, 1), OUTCOME_DONE);
	assert_int_equal(status(&w), NODE_DISCONNECTED);
	assert_int_equal(missed_index(&w), missed);
	// A retransmission is answered as the first was.
	uint32_t generation = w.node.generation;
	assert_int_equal(register_again(&w, 0), OUTCOME_DONE);
	assert_int_equal(w.node.generation, generation);
	tell(&w, COMMAND_NODE_RETURNED);
	assert_int_equal(status(&w), NODE_INITIALIZING);
	assert_int_equal(register_again(&w, 1), OUTCOME_DONE);
	tell(&w, COMMAND_NODE_RETURNED);
	assert_int_equal(status(&w), NODE_INITIALIZING);
	assert_int_equal(missed_index(&w), missed);
	assert_int_equal(report_one(&w.c, &w.node, 1, ALLOC_RUNNING), OUTCOME_DONE);
	assert_int_equal(status(&w), NODE_READY);
	close_world(&w);
}

// Whichever comes first: both are needed.
static void a_report_does_not_replace_a_heartbeat(void **unused)
{
	struct world w;

	open_world(&w, 60);
	tell(&w, COMMAND_NODE_EXPIRED);
	tell(&w, COMMAND_NODE_RETURNED);
	assert_int_equal(register_again(&w, 1), OUTCOME_DONE);
	assert_int_equal(report_one(&w.c, &w.node, 1, ALLOC_RUNNING), OUTCOME_DONE);
	assert_int_equal(status(&w), NODE_INITIALIZING);
	expect_restores(&w.c);
	tell(&w, COMMAND_NODE_RETURNED);
	assert_int_equal(status(&w), NODE_READY);
	expect_restores(&w.c);
	close_world(&w);
}

// Rows B54, B56: a registration never changes the status of a node that is known.
static void a_registration_is_no_heartbeat(void **unused)
{
	static const enum command_type ends[] = {COMMAND_NODE_EXPIRED, COMMAND_NODE_GOODBYE};

	for (uint32_t i = 0; i < 2; i++) {
		struct world w;
		open_world(&w, 0);
		assert_int_equal(register_again(&w, 1), OUTCOME_DONE);
		assert_int_equal(status(&w), NODE_READY);
		tell(&w, ends[i]);
		assert_int_equal(register_again(&w, 1), OUTCOME_DONE);
		assert_int_equal(status(&w), NODE_DOWN);
		expect_restores(&w.c);
		tell(&w, COMMAND_NODE_EXPIRED); // the heartbeat did not come
		assert_int_equal(status(&w), NODE_DOWN);
		tell(&w, COMMAND_NODE_RETURNED);
		assert_int_equal(status(&w), NODE_READY);
		assert_int_equal(newest_event(&w), NODE_REREGISTERED_BY_HEARTBEAT);
		close_world(&w);
	}
}

// Rows B54, B56: whoever recorded a registration may send it again after the node was purged. That makes a node which
// gets no work, and is down in its time.
static void a_new_node_is_initializing_until_it_beats(void **unused)
{
	static const struct resources ask = {100, 100, 10};
	struct world w;

	open_world(&w, 0);
	struct node_registration recorded = w.node;
	struct command purge = {.type = COMMAND_NODE_PURGE, .node_named = {.node = w.node.node}};
	assert_int_equal(controller_run(&w.c, &purge), OUTCOME_DONE);
	controller_job(&w.c, build_job("direct", &ask, 1));
	build_node(&w.node, 1, recorded.sequence);
	struct command again = {.type = COMMAND_NODE_REGISTER, .node_register = &w.node};
	assert_int_equal(controller_run(&w.c, &again), OUTCOME_DONE);
	assert_int_equal(status(&w), NODE_INITIALIZING);
	assert_int_equal(controller_place(&w.c, "ann", "direct", 1, 1, NULL), OUTCOME_NO_NODE);
	expect_restores(&w.c);
	assert_int_equal(register_again(&w, 0), OUTCOME_DONE); // said again
	assert_int_equal(register_again(&w, 1), OUTCOME_DONE); // said anew
	assert_int_equal(status(&w), NODE_INITIALIZING);
	tell(&w, COMMAND_NODE_EXPIRED);
	assert_int_equal(status(&w), NODE_DOWN);
	tell(&w, COMMAND_NODE_RETURNED);
	assert_int_equal(status(&w), NODE_READY);
	assert_int_equal(controller_place(&w.c, "ann", "direct", 2, 1, NULL), OUTCOME_DONE);
	close_world(&w);
}

static void nothing_is_placed_on_a_node_that_is_not_ready(void **unused)
{
	static const struct resources ask = {100, 100, 10};
	struct world w;

	open_world(&w, 60);
	controller_job(&w.c, build_job("direct", &ask, 1));
	tell(&w, COMMAND_NODE_EXPIRED);
	assert_int_equal(controller_place(&w.c, "ann", "direct", 1, 1, NULL), OUTCOME_NO_NODE);
	tell(&w, COMMAND_NODE_RETURNED);
	assert_int_equal(controller_place(&w.c, "ann", "direct", 2, 1, NULL), OUTCOME_NO_NODE);
	report_one(&w.c, &w.node, 1, ALLOC_RUNNING);
	assert_int_equal(controller_place(&w.c, "ann", "direct", 3, 1, NULL), OUTCOME_DONE);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_may_not_go_on_is_down),
		cmocka_unit_test(what_may_go_on_is_disconnected),
		cmocka_unit_test(what_ended_does_not_keep_its_node),
		cmocka_unit_test(who_says_goodbye_is_down),
		cmocka_unit_test(direct_jobs_lose_what_is_disconnected),
		cmocka_unit_test(a_disconnected_node_is_down_when_its_time_is_over),
		cmocka_unit_test(who_is_back_is_not_looked_at_again),
		cmocka_unit_test(a_node_that_is_back_reports_before_it_is_ready),
		cmocka_unit_test(a_node_without_work_is_ready_at_once),
		cmocka_unit_test(a_node_whose_work_is_stopped_is_ready),
		cmocka_unit_test(an_initializing_node_that_is_silent_is_down),
		cmocka_unit_test(registering_is_no_way_around_a_report),
		cmocka_unit_test(a_report_does_not_replace_a_heartbeat),
		cmocka_unit_test(a_registration_is_no_heartbeat),
		cmocka_unit_test(a_new_node_is_initializing_until_it_beats),
		cmocka_unit_test(nothing_is_placed_on_a_node_that_is_not_ready),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
