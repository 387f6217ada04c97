// Evaluations in the state, as schedulers store them; the schedulers' configuration; observers.
#include "state/records/alloc_details.h"
#include "state/records/scheduler_config.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void open_controller(struct controller *c)
{
	controller_init(c, (struct state_limits){0});
	controller_open(c);
}

static void what_is_stored_is_read_back(void **unused)
{
	struct controller c;
	struct evaluation *e = build_evaluation(1, "web", EVAL_PENDING), *read;
	struct uuid id = e->id;

	open_controller(&c);
	e->node_id = number_uuid(3);
	e->snapshot_index = 7;
	e->create_time_ns = 5; // of no account
	count_add(&e->queued, "g0", 4);
	assert_int_equal(store_evaluation(&c, e), OUTCOME_DONE);
	read = published_evaluation(&c, &id);
	assert_int_equal(read->snapshot_index, 7);
	assert_int_equal(read->create_time_ns, c.time.wall_ns);
	assert_int_equal(read->modify_time_ns, c.time.wall_ns);
	assert_int_equal(read->record.create_index, state_index(c.state));
	assert_int_equal(read->record.modify_index, state_index(c.state));
	assert_int_equal(count_get(&read->queued, "g0"), 4);
	assert_int_equal(state_table_index(c.state, STATE_EVALUATIONS), state_index(c.state));
	assert_int_equal(
		state_job_index_of(c.state, STATE_EVALUATIONS, TEXT("default"), TEXT("web")),
		state_index(c.state));
	evaluation_free(read);
	expect_restores(&c);
	controller_free(&c);
}

// Its time of change is after its creation, even on a clock that stands still (row B20).
static void a_change_keeps_when_it_was_made(void **unused)
{
	struct controller c;
	struct evaluation *e = build_evaluation(1, "web", EVAL_PENDING);
	struct uuid id = e->id;

	open_controller(&c);
	store_evaluation(&c, e);
	uint64_t made = state_index(c.state);
	assert_int_equal(change_evaluation(&c, &id, EVAL_COMPLETE), OUTCOME_DONE);
	e = published_evaluation(&c, &id);
	assert_int_equal(e->record.create_index, made);
	assert_int_equal(e->record.modify_index, made + 1);
	assert_int_equal(e->create_time_ns, c.time.wall_ns);
	assert_int_equal(e->modify_time_ns, c.time.wall_ns + 1);
	evaluation_free(e);
	advance_ms(&c, 10);
	assert_int_equal(change_evaluation(&c, &id, EVAL_FAILED), OUTCOME_DONE);
	e = published_evaluation(&c, &id);
	assert_int_equal(e->modify_time_ns, c.time.wall_ns);
	evaluation_free(e);
	expect_restores(&c);
	controller_free(&c);
}

static void several_in_one_batch_are_versions_of_one(void **unused)
{
	struct controller c;
	struct evaluation *items[3];
	uint32_t done = 0;
	struct command commands[3] = {0};

	open_controller(&c);
	for (uint32_t i = 0; i < 3; i++) {
		items[i] = build_evaluation(1, "web", i == 1 ? EVAL_BLOCKED : EVAL_PENDING);
		commands[i] = (struct command){.type = COMMAND_EVALUATIONS,
			.evaluations = {.items = &items[i], .count = 1}};
		controller_push(&c, &commands[i], &done);
	}
	applier_step(c.applier);
	assert_int_equal(done, 3);
	struct state_counts counts;
	state_counts(c.state, &counts);
	assert_int_equal(counts.evaluations, 1);
	assert_int_equal(counts.evaluations_pending, 1);
	assert_int_equal(counts.evaluations_blocked, 0);
	expect_restores(&c);
	controller_free(&c);
}

static enum command_outcome store_one(struct controller *c, struct evaluation *e, bool create_only)
{
	struct command command = {.type = COMMAND_EVALUATIONS,
		.evaluations = {.items = &e, .count = 1, .create_only = create_only}};
	enum command_outcome outcome = controller_run(c, &command);

	evaluation_free(e);
	return outcome;
}

static void what_makes_no_sense_is_refused(void **unused)
{
	struct controller c;

	controller_init(&c, (struct state_limits){.evaluations = 3});
	controller_open(&c);
	struct evaluation *e = build_evaluation(1, "web", EVAL_PENDING);
	e->id = (struct uuid){0};
	assert_int_equal(store_one(&c, e, false), OUTCOME_BAD_DESCRIPTION);
	e = build_evaluation(1, "web", EVAL_PENDING);
	e->type = EVAL_CORE;
	assert_int_equal(store_one(&c, e, false), OUTCOME_BAD_DESCRIPTION);
	e = build_evaluation(1, "", EVAL_PENDING);
	assert_int_equal(store_one(&c, e, false), OUTCOME_BAD_DESCRIPTION);
	e = build_evaluation(1, "web", EVAL_STATUSES);
	assert_int_equal(store_one(&c, e, false), OUTCOME_BAD_DESCRIPTION);
	e = build_evaluation(1, "web", EVAL_PENDING);
	for (uint32_t i = 0; i < 2; i++) { // a map out of order could not be read again
		struct named_count *item = array_append(&e->queued, sizeof *item);
		item->name = text_copy(i ? TEXT("a") : TEXT("b"));
	}
	assert_int_equal(store_one(&c, e, false), OUTCOME_BAD_DESCRIPTION);
	struct evaluation *two[2] = {build_evaluation(7, "web", EVAL_PENDING),
		build_evaluation(7, "another", EVAL_PENDING)};
	struct command command = {
		.type = COMMAND_EVALUATIONS, .evaluations = {.items = two, .count = 2}};
	assert_int_equal(controller_run(&c, &command), OUTCOME_CONFLICT);
	assert_null(two[0]);
	evaluation_free(two[1]);
	uint64_t index = state_index(c.state);

	e = build_evaluation(1, "web", EVAL_PENDING);
	assert_int_equal(store_one(&c, e, true), OUTCOME_DONE);
	assert_int_equal(state_index(c.state), index + 1);
	e = build_evaluation(1, "web", EVAL_PENDING);
	assert_int_equal(store_one(&c, e, true), OUTCOME_CONFLICT);
	e = build_evaluation(1, "another", EVAL_PENDING);
	assert_int_equal(store_one(&c, e, false), OUTCOME_CONFLICT);
	e = build_evaluation(2, "web", EVAL_PENDING);
	assert_int_equal(store_one(&c, e, false), OUTCOME_DONE);
	e = build_evaluation(3, "web", EVAL_PENDING);
	assert_int_equal(store_one(&c, e, false), OUTCOME_TABLE_FULL);
	e = build_evaluation(2, "web", EVAL_COMPLETE); // a known one needs no room
	assert_int_equal(store_one(&c, e, false), OUTCOME_DONE);
	controller_verify(&c);
	controller_free(&c);
}

static struct alloc_report *report_out_of_order(void)
{
	struct alloc_report *report = alloc_report_create();

	for (uint32_t i = 0; i < 2; i++) {
		struct task_state *state = array_append(&report->task_states, sizeof *state);
		state->task = text_copy(i ? TEXT("a") : TEXT("b"));
	}
	return report;
}

// Nor is what a node says of its tasks, or a plan: the log has to be read again.
static void what_could_not_be_read_again_is_refused(void **unused)
{
	struct controller c;
	struct node_registration node;
	struct command_job_register result = {0};

	open_controller(&c);
	controller_register(&c, 1, &node);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), &result);
	place_one(&c, &result.made.id, "sys", &node, 1);
	struct alloc_update_item item = {.allocation = placed_id(1),
		.client_status = ALLOC_RUNNING,
		.report = report_out_of_order()};
	struct command_alloc_update update = {.slot = node.slot,
		.generation = node.generation,
		.sequence = 1,
		.count = 1,
		.items = &item};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};
	assert_int_equal(controller_run(&c, &command), OUTCOME_BAD_DESCRIPTION);
	alloc_report_release(item.report);

	struct job *job = build_scheduled_job("web", JOB_SYSTEM);
	for (uint32_t i = 0; i < 2; i++) {
		struct string_pair *pair = array_append(&job->meta, sizeof *pair);
		*pair = (struct string_pair){
			text_copy(i ? TEXT("a") : TEXT("b")), text_copy(TEXT("1"))};
	}
	assert_int_equal(register_job(&c, job, NULL), OUTCOME_BAD_DESCRIPTION);
	expect_restores(&c);
	controller_free(&c);
}

// A full disk still takes what ends work, and nothing that begins some.
static void a_full_disk_takes_only_changes(void **unused)
{
	struct controller c;

	open_controller(&c);
	store_evaluation(&c, build_evaluation(1, "web", EVAL_PENDING));
	c.log.room_bytes = STORE_RESERVE_BYTES + 4000; // less than one might take
	assert_int_equal(
		store_evaluation(&c, build_evaluation(2, "web", EVAL_PENDING)), OUTCOME_STORE_FULL);
	c.log.room_bytes = 0;
	struct uuid id = number_uuid(1000001);
	assert_int_equal(
		store_evaluation(&c, build_evaluation(2, "web", EVAL_PENDING)), OUTCOME_STORE_FULL);
	assert_int_equal(change_evaluation(&c, &id, EVAL_COMPLETE), OUTCOME_DONE);
	assert_int_equal(
		register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL), OUTCOME_STORE_FULL);
	controller_verify(&c);
	controller_free(&c);
}

static void a_success_cancels_what_is_blocked(void **unused)
{
	struct controller c;
	char text[UUID_TEXT_BYTES], description[80];
	struct uuid success = number_uuid(1000009);

	open_controller(&c);
	for (uint32_t i = 1; i <= 3; i++)
		store_evaluation(&c, build_evaluation(i, "web", EVAL_BLOCKED));
	store_evaluation(&c, build_evaluation(4, "another", EVAL_BLOCKED));
	// One that leaves something waiting cancels nothing.
	struct evaluation *e = build_evaluation(8, "web", EVAL_COMPLETE);
	struct failed_group *failed = array_append(&e->failed_groups, sizeof *failed);
	failed->group = text_copy(TEXT("g0"));
	store_evaluation(&c, e);
	struct state_counts counts;
	state_counts(c.state, &counts);
	assert_int_equal(counts.evaluations_blocked, 4);

	uint64_t before = state_index(c.state);
	store_evaluation(&c, build_evaluation(9, "web", EVAL_COMPLETE));
	assert_int_equal(state_index(c.state), before + 4);
	snprintf(description, sizeof description, "evaluation \"%s\" successful",
		uuid_format(&success, text));
	for (uint32_t i = 1; i <= 3; i++) {
		struct uuid id = number_uuid(1000000 + i);
		e = published_evaluation(&c, &id);
		assert_int_equal(e->status, EVAL_CANCELED);
		assert_string_equal(e->status_description, description);
		assert_int_equal(e->record.modify_index, before + 1 + i);
		assert_true(e->modify_time_ns > e->create_time_ns);
		evaluation_free(e);
	}
	state_counts(c.state, &counts);
	assert_int_equal(counts.evaluations_blocked, 1);
	expect_restores(&c);
	controller_free(&c);
}

// However it came about that they are blocked, a restart cancels them in the same order.
static void cancelling_is_the_same_after_a_snapshot(void **unused)
{
	struct controller c, again;
	struct uuid first = number_uuid(1000001);

	open_controller(&c);
	store_evaluation(&c, build_evaluation(1, "web", EVAL_PENDING));
	store_evaluation(&c, build_evaluation(2, "web", EVAL_BLOCKED));
	change_evaluation(&c, &first, EVAL_BLOCKED); // the newer was blocked first
	struct bytes_writer image = controller_image(&c);
	uint32_t batches = c.log.count;
	store_evaluation(&c, build_evaluation(3, "web", EVAL_COMPLETE));
	struct bytes_writer after = controller_image(&c);

	controller_init(&again, (struct state_limits){0});
	assert_int_equal(controller_load(&again, &image), 0);
	const struct memory_batch *batch = &c.log.batches[batches];
	assert_int_equal(
		replay_stored(again.applier, batch->first_index, batch->data, batch->size), 0);
	struct bytes_writer replayed = controller_image(&again);
	assert_int_equal(replayed.size, after.size);
	assert_memory_equal(replayed.data, after.data, after.size);
	bytes_writer_free(&image);
	bytes_writer_free(&after);
	bytes_writer_free(&replayed);
	controller_free(&again);
	controller_free(&c);
}

static enum command_outcome configure(struct controller *c, struct scheduler_config *config,
	bool cas, uint64_t index, bool *updated)
{
	struct command command = {.type = COMMAND_SCHEDULER_CONFIG,
		.scheduler_config = {.config = config, .cas = cas, .modify_index = index}};
	enum command_outcome outcome = controller_run(c, &command);

	*updated = command.scheduler_config.updated;
	return outcome;
}

static void the_configuration_is_one_record(void **unused)
{
	struct controller c;
	struct scheduler_config config;
	bool updated;

	open_controller(&c);
	state_read_begin();
	assert_true(state_scheduler_config(c.state)->preemption.system);
	assert_int_equal(state_scheduler_config(c.state)->record.modify_index, 0);
	state_read_end();
	expect_restores(&c);
	record_init(&scheduler_config_description, &config);
	config.algorithm = ALGORITHM_SPREAD;
	assert_int_equal(configure(&c, &config, true, 3, &updated), OUTCOME_DONE);
	assert_false(updated);
	assert_int_equal(configure(&c, &config, true, 0, &updated), OUTCOME_DONE);
	assert_true(updated);
	uint64_t first = state_index(c.state);
	config.reject_job_registration = true;
	assert_int_equal(configure(&c, &config, true, first, &updated), OUTCOME_DONE);
	assert_true(updated);
	state_read_begin();
	const struct scheduler_config *stored = state_scheduler_config(c.state);
	assert_int_equal(stored->algorithm, ALGORITHM_SPREAD);
	assert_true(stored->reject_job_registration);
	assert_int_equal(stored->record.create_index, first);
	assert_int_equal(stored->record.modify_index, first + 1);
	state_read_end();
	assert_int_equal(
		register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL), OUTCOME_REJECTED);
	expect_restores(&c);
	controller_free(&c);
}

struct seen {
	uint32_t by_table[STATE_TABLES], created, deleted, calls;
	uint64_t index;
	int last_status; // of the newest change of an evaluation
};

static void see(void *context, const struct state_change *changes, uint32_t count, uint64_t index)
{
	struct seen *seen = context;

	seen->calls++;
	seen->index = index;
	for (uint32_t i = 0; i < count; i++) {
		const struct state_change *change = &changes[i];
		seen->by_table[change->table]++;
		seen->created += change->before == NULL;
		seen->deleted += change->after->deleted;
		assert_true(change->before == NULL || !change->before->deleted);
		if (change->table == STATE_EVALUATIONS)
			seen->last_status = ((const struct evaluation *)change->after)->status;
		if (change->table == STATE_JOBS)
			assert_string_equal(((const struct job *)change->after)->id, "sys");
	}
}

static void observers_see_every_change(void **unused)
{
	struct controller c;
	struct seen seen = {0}, second = {0};
	struct state_observer observer = {.changed = see, .context = &seen};
	struct state_observer another = {.changed = see, .context = &second};

	open_controller(&c);
	state_observe(c.state, &observer);
	state_observe(c.state, &another);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	assert_int_equal(seen.by_table[STATE_JOBS], 1);
	assert_int_equal(seen.by_table[STATE_EVALUATIONS], 1);
	assert_int_equal(seen.created, 2);
	assert_int_equal(seen.index, state_index(c.state));
	struct uuid id = number_uuid(1000001);
	store_evaluation(&c, build_evaluation(1, "sys", EVAL_BLOCKED));
	assert_int_equal(seen.last_status, EVAL_BLOCKED);
	change_evaluation(&c, &id, EVAL_COMPLETE);
	assert_int_equal(seen.last_status, EVAL_COMPLETE);
	assert_int_equal(seen.by_table[STATE_EVALUATIONS], 3);
	assert_int_equal(seen.created, 3);
	controller_stop_job(&c, "sys", true);
	assert_int_equal(seen.deleted, 1);
	controller_register(&c, 1, NULL);
	assert_int_equal(seen.by_table[STATE_NODES], 2); // it registers, and it beats
	assert_memory_equal(&seen, &second, sizeof seen);
	uint32_t calls = seen.calls;
	expect_restores(&c); // recovery tells nobody
	assert_int_equal(seen.calls, calls);
	controller_free(&c);
}

static void recovery_tells_nobody(void **unused)
{
	struct controller c, again;
	struct seen seen = {0};
	struct state_observer observer = {.changed = see, .context = &seen};

	open_controller(&c);
	register_job(&c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	controller_init(&again, (struct state_limits){0});
	state_observe(again.state, &observer);
	assert_int_equal(controller_replay(&again, &c.log, c.log.count), 0);
	controller_open(&again);
	assert_int_equal(seen.calls, 0);
	register_job(&again, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	assert_int_equal(seen.calls, 1);
	controller_free(&again);
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_stored_is_read_back),
		cmocka_unit_test(a_change_keeps_when_it_was_made),
		cmocka_unit_test(several_in_one_batch_are_versions_of_one),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(what_could_not_be_read_again_is_refused),
		cmocka_unit_test(a_full_disk_takes_only_changes),
		cmocka_unit_test(a_success_cancels_what_is_blocked),
		cmocka_unit_test(cancelling_is_the_same_after_a_snapshot),
		cmocka_unit_test(the_configuration_is_one_record),
		cmocka_unit_test(observers_see_every_change),
		cmocka_unit_test(recovery_tells_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
