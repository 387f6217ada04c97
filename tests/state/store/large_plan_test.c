// One plan is one batch, and whole or not there, also when it is larger than what batches are closed at.
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/job.h"
#include "state/records/plan.h"
#include "state/store/store.h"
#include "tests/state/store/store_dir.h"
#include "tests/state/store/world.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NODES = 40, PER_NODE = 1500, LARGE_BYTES = 10000000 };

static struct uuid id_of(uint8_t kind, uint32_t number)
{
	struct uuid id = {.bytes = {kind}};

	memcpy(id.bytes + 12, &number, sizeof number);
	return id;
}

static struct job *build_job(void)
{
	struct job *job = job_create();

	job->namespace_name = text_copy(TEXT("default"));
	job->id = text_copy(TEXT("large"));
	job->name = text_copy(TEXT("large"));
	job->type = JOB_BATCH;
	job->node_pool = text_copy(TEXT("default"));
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	record_init(&task_group_description, group);
	group->name = text_copy(TEXT("group"));
	struct task *task = array_append(&group->tasks, sizeof *task);
	record_init(&task_description, task);
	task->name = text_copy(TEXT("task"));
	task->resources.cpu = task->resources.memory_mb = 1;
	assert_true(job_derive(job));
	return job;
}

static struct alloc_details *port_details(uint32_t port)
{
	struct alloc_details *d = alloc_details_create();
	struct allocated_port *p = array_append(&d->ports, sizeof *p);

	*p = (struct allocated_port){
		text_copy(TEXT("http")), 20000 + port, 80, text_copy(TEXT("192.0.2.1"))};
	return d;
}

static struct plan *build_plan(struct world *w, const struct uuid *eval)
{
	struct plan *plan = plan_create();
	struct plan_placement *p = memory_take_array(NODES * PER_NODE, sizeof *p);

	plan->eval_id = *eval;
	plan->placements = (struct array){p, NODES * PER_NODE};
	state_read_begin();
	for (uint32_t i = 0; i < NODES * PER_NODE; i++) {
		uint32_t slot = i % NODES;
		p[i] = (struct plan_placement){.id = id_of(9, i),
			.node_id = state_node_at(w->state, slot)->id,
			.slot = slot,
			.name_index = i,
			.job_version = state_job(w->state, TEXT("default"), TEXT("large"))
					       ->record.modify_index,
			.resources = {1, 1, 1},
			.details = port_details(i / NODES),
			.metrics = PLAN_NO_METRICS};
	}
	state_read_end();
	return plan;
}

static struct uuid open_with_nodes(struct world *w)
{
	struct command command = {
		.type = COMMAND_JOB_REGISTER, .job_register = {.job = build_job()}};

	world_init(w);
	assert_int_equal(world_open(w), 0);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(world_register(w, i), OUTCOME_DONE);
	assert_int_equal(world_run(w, &command), OUTCOME_DONE);
	return command.job_register.made.id;
}

static void a_large_plan_is_one_batch(void **unused)
{
	struct world w;
	struct uuid eval = open_with_nodes(&w);
	struct plan *plan = build_plan(&w, &eval);
	struct plan_result result;
	struct command command = {.type = COMMAND_PLAN, .plan = {plan, &result}};
	uint64_t appends = store_counters(w.store)->appends;
	uint64_t bytes = store_counters(w.store)->append_bytes;

	assert_int_equal(world_run(&w, &command), OUTCOME_DONE);
	assert_int_equal(result.placements_committed, NODES * PER_NODE);
	assert_int_equal(store_counters(w.store)->appends, appends + 1);
	assert_true(store_counters(w.store)->append_bytes - bytes > LARGE_BYTES);
	plan_result_release(&result);
	plan_free(plan);

	struct bytes_writer before = world_image(&w);
	world_close(&w);
	assert_int_equal(world_recover(&w), 0); // from the log alone
	struct bytes_writer after = world_image(&w);
	assert_int_equal(before.size, after.size);
	assert_memory_equal(before.data, after.data, before.size);
	assert_int_equal(state_verify(w.state, NULL, NULL), 0);
	bytes_writer_free(&after);
	assert_int_equal(store_snapshot(w.store, w.state), 0);
	world_close(&w);
	assert_int_equal(world_recover(&w), 0); // from the snapshot
	assert_true(w.recovery.snapshot_index > 0);
	after = world_image(&w);
	assert_int_equal(before.size, after.size);
	assert_memory_equal(before.data, after.data, before.size);
	world_close(&w);
	world_remove(&w);
	bytes_writer_free(&before);
	bytes_writer_free(&after);
}

// It would wait for room that no snapshot can make.
static void a_plan_that_no_log_could_hold_is_refused(void **unused)
{
	struct world w;
	struct uuid eval = open_with_nodes(&w);
	world_close(&w);
	w.settings.map_bytes = 128ll << 20;
	assert_int_equal(world_open(&w), 0);
	struct plan *plan = build_plan(&w, &eval);
	struct plan_result result;
	struct command command = {.type = COMMAND_PLAN, .plan = {plan, &result}};

	assert_int_equal(world_run(&w, &command), OUTCOME_STORE_FULL);
	plan_result_release(&result);
	plan->placements.count = 100; // what is left belongs to it all the same
	assert_int_equal(world_run(&w, &command), OUTCOME_DONE);
	assert_int_equal(result.placements_committed, 100);
	plan_result_release(&result);
	plan->placements.count = NODES * PER_NODE;
	plan_free(plan);
	world_close(&w);
	world_remove(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_plan_is_one_batch),
		cmocka_unit_test(a_plan_that_no_log_could_hold_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
