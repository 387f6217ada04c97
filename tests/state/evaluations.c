#include "tests/state/evaluations.h"
#include "state/base/memory.h"
#include "state/records/plan.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct job *build_scheduled_job(const char *id, enum job_type type)
{
	static const struct resources ask = {100, 100, 10};
	struct job *job = build_job(id, &ask, 1);

	job->type = type;
	job->node_pool = text_copy(TEXT("default"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("*"));
	return job;
}

enum command_outcome register_job(
	struct controller *c, struct job *job, struct command_job_register *result)
{
	struct command command = {.type = COMMAND_JOB_REGISTER, .job_register = {.job = job}};
	if (result) {
		command.job_register = *result;
		command.job_register.job = job;
	}
	enum command_outcome outcome = controller_run(c, &command);

	job_free(command.job_register.job);
	command.job_register.job = NULL;
	if (result)
		*result = command.job_register;
	return outcome;
}

enum command_outcome store_evaluation(struct controller *c, struct evaluation *e)
{
	struct command command = {
		.type = COMMAND_EVALUATIONS, .evaluations = {.items = &e, .count = 1}};
	enum command_outcome outcome = controller_run(c, &command);

	assert_int_equal(e == NULL, outcome == OUTCOME_DONE);
	evaluation_free(e);
	return outcome;
}

struct evaluation *build_evaluation(uint32_t number, const char *job, enum eval_status status)
{
	struct evaluation *e = evaluation_create();

	e->id = number_uuid(1000000 + number);
	e->namespace_name = text_copy(TEXT("default"));
	e->job_id = text_copy(text_of(job));
	e->priority = 50;
	e->type = EVAL_SYSTEM;
	e->status = (int)status;
	return e;
}

enum command_outcome change_evaluation(
	struct controller *c, const struct uuid *id, enum eval_status status)
{
	struct evaluation *e = published_evaluation(c, id);

	assert_non_null(e);
	e->status = (int)status;
	return store_evaluation(c, e);
}

struct evaluation *published_evaluation(const struct controller *c, const struct uuid *id)
{
	state_read_begin();
	const struct evaluation *e = state_evaluation(c->state, id);
	struct evaluation *copy = e ? evaluation_copy(e) : NULL;
	state_read_end();
	return copy;
}

struct uuid placed_id(uint32_t number)
{
	return number_uuid(2000000 + number);
}

static struct plan *begin_plan(const struct controller *c, const struct uuid *eval, const char *job)
{
	struct plan *plan = plan_create();

	plan->eval_id = *eval;
	plan->namespace_name = text_copy(TEXT("default"));
	plan->job_id = text_copy(text_of(job));
	state_read_begin();
	const struct job *newest = state_job(c->state, TEXT("default"), text_of(job));
	plan->job_version = newest ? newest->record.modify_index : 0;
	state_read_end();
	return plan;
}

// Everything that was planned has to be committed.
static enum command_outcome submit(struct controller *c, struct plan *plan)
{
	struct plan_result result;
	struct command command = {.type = COMMAND_PLAN, .plan = {.plan = plan, .result = &result}};
	enum command_outcome outcome = controller_run(c, &command);

	assert_int_equal(result.rejections.count, 0);
	assert_int_equal(result.placements_committed, plan->placements.count);
	plan_result_release(&result);
	plan_free(plan);
	return outcome;
}

enum command_outcome place_one(struct controller *c, const struct uuid *eval, const char *job,
	const struct node_registration *node, uint32_t number)
{
	struct plan *plan = begin_plan(c, eval, job);
	struct plan_placement *p = array_append(&plan->placements, sizeof *p);

	*p = (struct plan_placement){
		.id = placed_id(number),
		.node_id = node->node,
		.slot = node->slot,
		.generation = node->generation,
		.job_version = plan->job_version,
		.name_index = number,
		.resources = {100, 100, 10},
		.metrics = PLAN_NO_METRICS,
	};
	return submit(c, plan);
}

enum command_outcome stop_one(struct controller *c, const struct uuid *eval, const char *job,
	uint32_t number, enum stop_cause cause)
{
	struct plan *plan = begin_plan(c, eval, job);
	struct plan_stop *stop = array_append(&plan->stops, sizeof *stop);
	struct uuid id = placed_id(number);

	state_read_begin();
	const struct allocation *a = state_allocation(c->state, &id);
	assert_non_null(a);
	*stop = (struct plan_stop){
		.id = id, .node_id = a->node_id, .slot = a->node_slot, .cause = cause};
	state_read_end();
	return submit(c, plan);
}

enum command_outcome report_one(struct controller *c, const struct node_registration *node,
	uint32_t number, enum alloc_client status)
{
	static uint64_t sequence;
	struct alloc_update_item item = {
		.allocation = placed_id(number), .client_status = (uint8_t)status};
	struct command_alloc_update update = {.slot = node->slot,
		.generation = node->generation,
		.sequence = ++sequence,
		.count = 1,
		.items = &item};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};

	return controller_run(c, &command);
}

int job_status(const struct controller *c, const char *job)
{
	state_read_begin();
	const struct job *found = state_job(c->state, TEXT("default"), text_of(job));
	int status = found ? found->status : -1;
	state_read_end();
	return status;
}

struct counting {
	enum eval_trigger trigger;
	uint32_t count;
};

static bool count_one(const struct evaluation *e, void *context)
{
	struct counting *counting = context;
	counting->count += e->triggered_by == (int)counting->trigger;
	return true;
}

uint32_t count_evaluations(const struct controller *c, const char *job, enum eval_trigger trigger)
{
	struct counting counting = {trigger, 0};

	state_read_begin();
	state_job_evaluations(c->state, TEXT("default"), text_of(job), count_one, &counting);
	state_read_end();
	return counting.count;
}

void advance_ms(struct controller *c, uint64_t ms)
{
	c->time.wall_ns += ms * 1000000;
	c->time.monotonic_ns += ms * 1000000;
}

static void expect_image(const struct controller *c, const struct bytes_writer *image)
{
	struct bytes_writer again = controller_image(c);

	assert_int_equal(again.size, image->size);
	assert_memory_equal(again.data, image->data, image->size);
	bytes_writer_free(&again);
}

void expect_restores(const struct controller *c)
{
	struct bytes_writer image = controller_image(c);
	struct controller again;

	controller_verify(c);
	controller_init(&again, (struct state_limits){0});
	assert_int_equal(controller_replay(&again, &c->log, c->log.count), 0);
	controller_verify(&again);
	expect_image(&again, &image);
	controller_free(&again);

	controller_init(&again, (struct state_limits){0});
	assert_int_equal(controller_load(&again, &image), 0);
	controller_verify(&again);
	expect_image(&again, &image);
	controller_free(&again);
	bytes_writer_free(&image);
}
