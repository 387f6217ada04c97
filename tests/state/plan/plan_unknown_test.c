// Plans about allocations whose node is disconnected: they become unknown, something stands in for them, and one
// day they may be back.
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "tests/state/plans.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NODES = 3 }; // numbers and slots 0 …, generation 1

struct world {
	struct controller c;
	struct planned_job job; // "web"; 100 of it runs on node 0, with a port
	uint64_t sequence;
};

static void report(struct world *w, uint32_t slot, uint32_t id, enum alloc_client status)
{
	bool known = false;

	assert_int_equal(
		report_status(&w->c, slot, 1, ++w->sequence, id, status, &known), OUTCOME_DONE);
	assert_true(known);
}

static int setup(void **test)
{
	struct world *w = memory_take(sizeof *w);
	struct command_job_register result = {0};
	struct job *job = build_scheduled_job("web", JOB_SERVICE);

	controller_init(&w->c, (struct state_limits){0});
	controller_open(&w->c);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(controller_register(&w->c, i, NULL), OUTCOME_DONE);
	ARRAY_AT(&job->task_groups, struct task_group, 0)->max_client_disconnect_ns =
		(struct optional_i64){true, 3600ll * 1000000000};
	assert_int_equal(register_job(&w->c, job, &result), OUTCOME_DONE);
	state_read_begin();
	uint64_t version = state_job(w->c.state, TEXT("default"), TEXT("web"))->record.modify_index;
	state_read_end();
	w->job = (struct planned_job){"web", version, result.made.id};
	struct plan *plan = build_plan(&w->job);
	plan_place(plan, 100, 0, 0)->details = port_details("10.0.0.1", 8080);
	commit_plan(&w->c, plan);
	report(w, 0, 100, ALLOC_RUNNING);
	assert_int_equal(controller_node(&w->c, COMMAND_NODE_EXPIRED, 0, 1), OUTCOME_DONE);
	*test = w;
	return 0;
}

static int teardown(void **test)
{
	struct world *w = *test;

	expect_restores(&w->c);
	controller_free(&w->c);
	free(w);
	return 0;
}

static struct plan_update *update_details(struct plan *plan, uint32_t follow_up)
{
	struct plan_update *u = plan_update(plan, 100);

	u->job_version = 0;
	u->details = port_details("10.0.0.1", 8080);
	u->details->followup_eval = number_uuid(follow_up);
	struct alloc_state *state = array_append(&u->details->states, sizeof *state);
	*state = (struct alloc_state){
		text_copy(TEXT("ClientStatus")), text_copy(TEXT("unknown")), 5};
	return u;
}

static void becomes_unknown(struct world *w)
{
	struct plan *plan = build_plan(&w->job);

	update_details(plan, 7)->client_status = ALLOC_UNKNOWN;
	plan_place(plan, 200, 1, 1)->details = port_details("10.0.0.1", 8080);
	ARRAY_AT(&plan->placements, struct plan_placement, 0)->details->previous_allocation =
		number_uuid(100);
	commit_plan(&w->c, plan);
}

static void expect_client(
	struct world *w, uint32_t id, enum alloc_client status, uint32_t follow_up)
{
	struct uuid expected = number_uuid(follow_up);

	state_read_begin();
	const struct allocation *a = published_allocation(&w->c, id);
	assert_int_equal(a->client_status, status);
	assert_int_equal(a->desired, ALLOC_RUN);
	assert_true(uuid_equal(&a->details->followup_eval, &expected));
	state_read_end();
}

static void unknown_ones_hold_what_they_have(void **test)
{
	struct world *w = *test;
	struct uuid next = number_uuid(200);

	becomes_unknown(w);
	expect_client(w, 100, ALLOC_UNKNOWN, 7);
	state_read_begin();
	const struct allocation *a = published_allocation(&w->c, 100);
	assert_string_equal(allocation_client_description(a),
		"alloc is unknown since its node is disconnected");
	assert_true(uuid_equal(&a->details->next_allocation, &next));
	assert_int_equal(a->details->states.count, 1);
	state_read_end();
	state_read_begin();
	assert_int_equal(state_node_use(w->c.state, 0).used.cpu_mhz, 1000);
	state_read_end();
}

// What failed waits for its follow-up, and a newer version replaces it in the same plan.
static void a_note_goes_beside_its_stop(void **test)
{
	struct world *w = *test;
	struct uuid follow_up = number_uuid(7);
	struct plan *plan = build_plan(&w->job);

	plan_place(plan, 300, 1, 1);
	commit_plan(&w->c, plan);
	report(w, 1, 300, ALLOC_FAILED);
	plan = build_plan(&w->job);
	plan_stop(plan, 300, STOP_UPDATING);
	struct plan_update *note = plan_update(plan, 300);
	note->job_version = 0;
	note->details = alloc_details_create();
	note->details->followup_eval = follow_up;
	plan_place(plan, 301, 1, 1);
	commit_plan(&w->c, plan);
	state_read_begin();
	const struct allocation *a = published_allocation(&w->c, 300);
	assert_int_equal(a->desired, ALLOC_STOP);
	assert_int_equal(a->client_status, ALLOC_FAILED);
	assert_true(uuid_equal(&a->details->followup_eval, &follow_up));
	state_read_end();
}

static void more_is_noted_while_the_node_is_away(void **test)
{
	struct world *w = *test;
	struct plan_result result;

	becomes_unknown(w);
	struct plan *plan = build_plan(&w->job);
	update_details(plan, 8);
	commit_plan(&w->c, plan);
	expect_client(w, 100, ALLOC_UNKNOWN, 8);
	plan = build_plan(&w->job);
	plan_update(plan, 100); // another version is more than a note
	assert_int_equal(run_plan(&w->c, plan, &result), OUTCOME_DONE);
	assert_string_equal(
		rejection_of(&result, 0), "node is disconnected and contains invalid updates");
	plan_result_release(&result);
	plan = build_plan(&w->job);
	plan_place(plan, 300, 0, 0);
	assert_int_equal(run_plan(&w->c, plan, &result), OUTCOME_DONE);
	assert_non_null(rejection_of(&result, 0));
	plan_result_release(&result);
}

static void what_stood_in_is_stopped_when_it_is_back(void **test)
{
	struct world *w = *test;

	becomes_unknown(w);
	report(w, 1, 200, ALLOC_RUNNING);
	assert_int_equal(controller_node(&w->c, COMMAND_NODE_RETURNED, 0, 1), OUTCOME_DONE);
	report(w, 0, 100, ALLOC_RUNNING);
	advance_ms(&w->c, 2000);
	applier_step(w->c.applier);
	assert_int_equal(count_evaluations(&w->c, "web", TRIGGER_NODE_UPDATE) +
				 count_evaluations(&w->c, "web", TRIGGER_RECONNECT),
		1);
	struct plan *plan = build_plan(&w->job);
	struct plan_update *u = update_details(plan, 0);
	struct alloc_state *back = array_append(&u->details->states, sizeof *back);
	*back = (struct alloc_state){
		text_copy(TEXT("ClientStatus")), text_copy(TEXT("running")), 6};
	plan_stop(plan, 200, STOP_RECONNECTED);
	commit_plan(&w->c, plan);
	expect_client(w, 100, ALLOC_RUNNING, 0);
	state_read_begin();
	char text[DESIRED_DESCRIPTION_BYTES];
	assert_string_equal(allocation_desired_description(published_allocation(&w->c, 200), text),
		"alloc not needed due to disconnected client reconnect");
	assert_int_equal(published_allocation(&w->c, 100)->details->states.count, 2);
	state_read_end();
}

static void the_word_of_the_node_alone_brings_the_scheduler_back(void **test)
{
	struct world *w = *test;

	becomes_unknown(w);
	assert_int_equal(controller_node(&w->c, COMMAND_NODE_RETURNED, 0, 1), OUTCOME_DONE);
	advance_ms(&w->c, 2000);
	applier_step(w->c.applier);
	report(w, 0, 100, ALLOC_RUNNING);
	advance_ms(&w->c, 2000);
	applier_step(w->c.applier);
	assert_int_equal(count_evaluations(&w->c, "web", TRIGGER_RECONNECT), 1);
	report(w, 0, 100, ALLOC_RUNNING);
	advance_ms(&w->c, 2000);
	applier_step(w->c.applier);
	assert_int_equal(count_evaluations(&w->c, "web", TRIGGER_RECONNECT), 1);
}

static void away_for_too_long_it_is_lost(void **test)
{
	struct world *w = *test;

	becomes_unknown(w);
	struct plan *plan = build_plan(&w->job);
	plan_stop(plan, 100, STOP_LOST);
	commit_plan(&w->c, plan);
	state_read_begin();
	const struct allocation *a = published_allocation(&w->c, 100);
	assert_int_equal(a->client_status, ALLOC_LOST);
	// Noted, so that it is known since when, and that it does not come back.
	assert_int_equal(a->details->states.count, 2);
	const struct alloc_state *lost = ARRAY_AT(&a->details->states, struct alloc_state, 1);
	assert_string_equal(lost->value, "lost");
	assert_int_equal(lost->time_ns, a->modify_time_ns);
	assert_int_equal(state_node_use(w->c.state, 0).used.cpu_mhz, 0);
	state_read_end();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(unknown_ones_hold_what_they_have),
		TEST(a_note_goes_beside_its_stop),
		TEST(more_is_noted_while_the_node_is_away),
		TEST(what_stood_in_is_stopped_when_it_is_back),
		TEST(the_word_of_the_node_alone_brings_the_scheduler_back),
		TEST(away_for_too_long_it_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
