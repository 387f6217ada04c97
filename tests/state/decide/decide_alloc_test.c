// What nodes say of their allocations, and what operators ask about single ones.
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/allocation_end.h"
#include "tests/state/plans.h"
#include "tests/support/log_capture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NODES = 4 }; // numbers and slots 0 …, generation 1

static int setup(void **test)
{
	*test = controller_with_nodes((struct state_limits){0}, NODES);
	return 0;
}

static int teardown(void **test)
{
	controller_end(*test);
	return 0;
}

static void down(struct controller *c, uint32_t slot)
{
	assert_int_equal(controller_node(c, COMMAND_NODE_EXPIRED, slot, 1), OUTCOME_DONE);
}

static void place_planned(
	struct controller *c, const struct planned_job *job, uint32_t id, uint32_t node)
{
	struct plan *plan = build_plan(job);

	plan_place(plan, id, node, node);
	commit_plan(c, plan);
}

static void reports_change_the_status_once(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_SYSBATCH);
	bool known;

	place_planned(c, &job, 100, 0);
	uint64_t announced = alloc_index_of(c, 0);
	assert_int_equal(report_status(c, 0, 1, 7, 100, ALLOC_RUNNING, &known), OUTCOME_DONE);
	assert_true(known);
	uint32_t batches = c->log.count;
	assert_int_equal(report_status(c, 0, 1, 7, 100, ALLOC_FAILED, NULL), OUTCOME_DONE);
	assert_int_equal(report_status(c, 0, 1, 6, 100, ALLOC_FAILED, NULL), OUTCOME_DONE);
	assert_int_equal(c->log.count, batches); // seen before
	state_read_begin();
	const struct allocation *a = published_allocation(c, 100);
	assert_int_equal(a->client_status, ALLOC_RUNNING);
	assert_string_equal(allocation_client_description(a), "said by its node");
	assert_true(a->record.modify_index > a->alloc_modify_index);
	state_read_end();
	assert_int_equal(alloc_index_of(c, 0), announced); // nothing that it did not know
	assert_int_equal(report_status(c, 0, 1, 8, 100, ALLOC_COMPLETE, NULL), OUTCOME_DONE);
	assert_int_equal(use_of(c, 0).used.cpu_mhz, 0);
	assert_int_equal(report_status(c, 0, 1, 9, 100, ALLOC_RUNNING, NULL), OUTCOME_DONE);
	state_read_begin(); // its place may be taken: it stays complete
	a = published_allocation(c, 100);
	assert_int_equal(a->client_status, ALLOC_COMPLETE);
	assert_int_equal(a->desired, ALLOC_RUN);
	assert_string_equal(end_cause_text(a->end_cause), "");
	state_read_end();
}

static struct log_capture capture;

static void reports_of_nodes_that_are_away_are_refused(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_SYSTEM);
	char id[UUID_TEXT_BYTES], wanted[160];
	bool known = true;

	place_planned(c, &job, 100, 0);
	assert_int_equal(
		report_status(c, 99999, 1, 1, 100, ALLOC_RUNNING, NULL), OUTCOME_UNKNOWN_NODE);
	assert_int_equal(
		report_status(c, 0, 2, 1, 100, ALLOC_RUNNING, NULL), OUTCOME_STALE_GENERATION);
	assert_int_equal(report_status(c, 0, 1, 1, 100, ALLOC_LOST, NULL), OUTCOME_BAD_DESCRIPTION);
	assert_int_equal(report_status(c, 1, 1, 1, 100, ALLOC_RUNNING, &known), OUTCOME_DONE);
	assert_false(known); // another node's
	down(c, 0);
	log_capture_begin(&capture);
	assert_int_equal(
		report_status(c, 0, 1, 1, 100, ALLOC_RUNNING, NULL), OUTCOME_NODE_NOT_ALLOWED);
	log_capture_end(&capture);
	state_read_begin();
	uuid_format(&state_node_at(c->state, 0)->id, id);
	state_read_end();
	snprintf(wanted, sizeof wanted,
		" error=\"node %s is not allowed to update allocs while in status down\"", id);
	assert_int_equal(
		log_capture_count(&capture, " level=warn event=report-refused ", wanted), 1);
	assert_int_equal(controller_node(c, COMMAND_NODE_RETURNED, 0, 1), OUTCOME_DONE);
	assert_int_equal(report_status(c, 0, 1, 1, 100, ALLOC_RUNNING, NULL), OUTCOME_DONE);
	state_read_begin();
	assert_int_equal(published_allocation(c, 100)->client_status, ALLOC_RUNNING);
	state_read_end();
}

// A report of nothing that the controller knows is the node's newest all the same.
static void a_report_about_nobody_is_the_newest(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_SYSTEM);
	bool known = true;

	place_planned(c, &job, 100, 0);
	assert_int_equal(report_status(c, 0, 1, 9, 777, ALLOC_RUNNING, &known), OUTCOME_DONE);
	assert_false(known);
	assert_int_equal(report_status(c, 0, 1, 8, 100, ALLOC_RUNNING, NULL), OUTCOME_DONE);
	state_read_begin();
	assert_int_equal(published_allocation(c, 100)->client_status, ALLOC_PENDING);
	state_read_end();
	assert_int_equal(report_status(c, 0, 1, 10, 100, ALLOC_RUNNING, NULL), OUTCOME_DONE);
	state_read_begin();
	assert_int_equal(published_allocation(c, 100)->client_status, ALLOC_RUNNING);
	state_read_end();
}

static void reports_are_known_after_a_restart(void **test)
{
	struct controller *c = *test, again;
	struct planned_job job = plan_job(c, "web", JOB_SYSTEM);

	place_planned(c, &job, 100, 0);
	assert_int_equal(report_status(c, 0, 1, 7, 100, ALLOC_RUNNING, NULL), OUTCOME_DONE);
	struct bytes_writer image = controller_image(c);
	controller_init(&again, (struct state_limits){0});
	assert_int_equal(controller_load(&again, &image), 0);
	controller_open(&again);
	uint64_t index = state_index(again.state);
	assert_int_equal(report_status(&again, 0, 1, 7, 100, ALLOC_FAILED, NULL), OUTCOME_DONE);
	assert_int_equal(state_index(again.state), index);
	assert_int_equal(report_status(&again, 0, 1, 8, 100, ALLOC_FAILED, NULL), OUTCOME_DONE);
	assert_true(state_index(again.state) > index);
	controller_free(&again);
	bytes_writer_free(&image);
}

// Registers a job whose groups are placed anew when they fail.
static struct planned_job reschedule_job(struct controller *c, const char *id, enum job_type type)
{
	struct planned_job planned = plan_job(c, id, type);
	struct job *job = build_scheduled_job(id, type);
	struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, 0);

	group->reschedule = memory_take(sizeof *group->reschedule);
	group->reschedule->unlimited = (struct optional_bool){true, true};
	assert_int_equal(register_job(c, job, NULL), OUTCOME_DONE);
	state_read_begin();
	planned.version = state_job(c->state, TEXT("default"), text_of(id))->record.modify_index;
	state_read_end();
	return planned;
}

static void failures_bring_the_scheduler_back(void **test)
{
	struct controller *c = *test;
	struct planned_job with = reschedule_job(c, "with", JOB_BATCH);
	struct planned_job without = plan_job(c, "without", JOB_BATCH);

	place_planned(c, &with, 100, 0);
	place_planned(c, &without, 101, 1);
	assert_int_equal(report_status(c, 0, 1, 1, 100, ALLOC_FAILED, NULL), OUTCOME_DONE);
	assert_int_equal(report_status(c, 1, 1, 1, 101, ALLOC_FAILED, NULL), OUTCOME_DONE);
	advance_ms(c, 2000);
	applier_step(c->applier);
	assert_int_equal(count_evaluations(c, "with", TRIGGER_ALLOC_FAILURE), 1);
	assert_int_equal(count_evaluations(c, "without", TRIGGER_ALLOC_FAILURE), 0);
}

static enum command_outcome stop_allocation(
	struct controller *c, uint32_t id, struct eval_made *made)
{
	struct command command = {
		.type = COMMAND_ALLOC_STOP, .alloc_stop = {.allocation = number_uuid(id)}};
	enum command_outcome outcome = controller_run(c, &command);

	*made = command.alloc_stop.made;
	return outcome;
}

static void stopping_one_asks_its_scheduler(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_SYSTEM);
	struct eval_made made;

	place_planned(c, &job, 100, 0);
	assert_int_equal(stop_allocation(c, 999, &made), OUTCOME_UNKNOWN_ALLOCATION);
	assert_int_equal(stop_allocation(c, 100, &made), OUTCOME_DONE);
	assert_int_equal(made.count, 1);
	assert_int_equal(count_evaluations(c, "web", TRIGGER_ALLOC_STOP), 1);
	state_read_begin();
	const struct allocation *a = published_allocation(c, 100);
	assert_int_equal(a->desired, ALLOC_RUN);
	assert_true(a->details->transition.migrate.set && a->details->transition.migrate.value);
	assert_int_equal(alloc_index_of(c, 0), a->record.modify_index);
	state_read_end();
}

static const struct task_handle *handle_of(const struct allocation *a)
{
	assert_non_null(a->report);
	assert_int_equal(a->report->task_states.count, 1);
	return ARRAY_AT(&a->report->task_states, struct task_state, 0)->handle;
}

static void a_placement_begins_with_the_handles_it_takes_over(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_SERVICE);
	struct plan *plan = build_plan(&job);

	plan_place(plan, 100, 0, 0)->report = report_with_handle("t0", "c3RhdGU=");
	plan_place(plan, 101, 1, 1);
	commit_plan(c, plan);
	state_read_begin();
	const struct allocation *a = published_allocation(c, 100);
	assert_int_equal(a->client_status, ALLOC_PENDING);
	assert_int_equal(handle_of(a)->version, 7);
	assert_string_equal(handle_of(a)->driver_state, "c3RhdGU=");
	assert_string_equal(allocation_client_description(a), "");
	assert_null(published_allocation(c, 101)->report);
	state_read_end();
	// What its node says stands from then on.
	assert_int_equal(report_status(c, 0, 1, 7, 100, ALLOC_RUNNING, NULL), OUTCOME_DONE);
	state_read_begin();
	assert_int_equal(published_allocation(c, 100)->report->task_states.count, 0);
	state_read_end();
}

static void handles_that_cannot_be_stored_are_refused(void **test)
{
	struct controller *c = *test;
	struct planned_job job = plan_job(c, "web", JOB_SERVICE);
	struct plan *plan = build_plan(&job);
	struct alloc_report *report = report_with_handle("t0", "c3RhdGU=");
	struct plan_result result;

	struct task_state *again = array_append(&report->task_states, sizeof *again);
	again->task = text_copy(TEXT("t0"));
	plan_place(plan, 100, 0, 0)->report = report;
	assert_int_equal(run_plan(c, plan, &result), OUTCOME_BAD_DESCRIPTION);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(reports_change_the_status_once),
		TEST(reports_of_nodes_that_are_away_are_refused),
		TEST(a_report_about_nobody_is_the_newest),
		TEST(reports_are_known_after_a_restart),
		TEST(failures_bring_the_scheduler_back),
		TEST(stopping_one_asks_its_scheduler),
		TEST(a_placement_begins_with_the_handles_it_takes_over),
		TEST(handles_that_cannot_be_stored_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
