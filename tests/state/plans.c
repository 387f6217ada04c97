#include "tests/state/plans.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct resources quarter = {1000, 2048, 100};

struct planned_job plan_job(struct controller *c, const char *id, enum job_type type)
{
	struct command_job_register result = {0};
	struct job *job = build_scheduled_job(id, type);

	assert_int_equal(register_job(c, job, &result), OUTCOME_DONE);
	state_read_begin();
	const struct job *found = state_job(c->state, TEXT("default"), text_of(id));
	struct planned_job planned = {id, found->record.modify_index, result.made.id};
	state_read_end();
	return planned;
}

struct plan *build_plan(const struct planned_job *job)
{
	struct plan *plan = plan_create();

	plan->eval_id = job->eval;
	plan->namespace_name = text_copy(TEXT("default"));
	plan->job_id = text_copy(text_of(job->id));
	plan->job_version = job->version;
	return plan;
}

struct plan_placement *plan_place(struct plan *plan, uint32_t id, uint32_t node, uint32_t slot)
{
	struct plan_placement *p = array_append(&plan->placements, sizeof *p);

	*p = (struct plan_placement){.id = number_uuid(id),
		.node_id = number_uuid(node),
		.slot = slot,
		.job_version = plan->job_version,
		.resources = quarter,
		.score = 0.5,
		.metrics = PLAN_NO_METRICS};
	return p;
}

struct plan_stop *plan_stop(struct plan *plan, uint32_t id, enum stop_cause cause)
{
	struct plan_stop *stop = array_append(&plan->stops, sizeof *stop);

	*stop = (struct plan_stop){.id = number_uuid(id), .cause = (uint8_t)cause};
	stop->lost = cause == STOP_LOST;
	return stop;
}

struct plan_stop *plan_preempt(struct plan *plan, uint32_t id, uint32_t by)
{
	struct plan_stop *stop = array_append(&plan->preemptions, sizeof *stop);

	*stop = (struct plan_stop){.id = number_uuid(id), .cause = STOP_PREEMPTED};
	stop->preempted_by = number_uuid(by);
	return stop;
}

struct plan_update *plan_update(struct plan *plan, uint32_t id)
{
	struct plan_update *u = array_append(&plan->updates, sizeof *u);

	*u = (struct plan_update){.id = number_uuid(id),
		.job_version = plan->job_version,
		.resources = quarter,
		.client_status = PLAN_KEEP,
		.metrics = PLAN_NO_METRICS};
	return u;
}

struct alloc_details *port_details(const char *address, int64_t value)
{
	struct alloc_details *d = alloc_details_create();
	struct allocated_port *port = array_append(&d->ports, sizeof *port);

	*port = (struct allocated_port){
		text_copy(TEXT("http")), value, value, text_copy(text_of(address))};
	return d;
}

struct alloc_details *core_details(int64_t core)
{
	struct alloc_details *d = alloc_details_create();
	struct allocated_task *task = array_append(&d->tasks, sizeof *task);

	task->task = text_copy(TEXT("t"));
	*(int64_t *)array_append(&task->reserved_cores, sizeof core) = core;
	return d;
}

struct alloc_report *report_with_handle(const char *task, const char *driver_state)
{
	struct alloc_report *report = alloc_report_create();
	struct task_state *state = map_item(&report->task_states, sizeof(struct task_state), task);

	state->handle = memory_take(sizeof *state->handle);
	state->handle->version = 7;
	state->handle->driver_state = text_copy(text_of(driver_state));
	return report;
}

enum command_outcome run_plan(struct controller *c, struct plan *plan, struct plan_result *result)
{
	struct plan_result unused = {0};
	struct command command = {
		.type = COMMAND_PLAN, .plan = {.plan = plan, .result = result ? result : &unused}};
	enum command_outcome outcome = controller_run(c, &command);

	plan_result_release(&unused);
	plan_free(plan);
	return outcome;
}

void commit_plan(struct controller *c, struct plan *plan)
{
	uint32_t placements = plan->placements.count, updates = plan->updates.count;
	uint32_t stops = plan->stops.count + plan->preemptions.count;
	struct plan_result result;

	assert_int_equal(run_plan(c, plan, &result), OUTCOME_DONE);
	assert_int_equal(result.rejections.count, 0);
	assert_int_equal(result.refresh_index, 0);
	assert_int_equal(result.placements_committed, placements);
	assert_int_equal(result.stops_committed, stops);
	assert_int_equal(result.updates_committed, updates);
	assert_int_equal(result.alloc_index, state_index(c->state));
	plan_result_release(&result);
}

const char *rejection_of(const struct plan_result *result, uint32_t node)
{
	struct uuid id = number_uuid(node);

	for (uint32_t i = 0; i < result->rejections.count; i++) {
		const struct plan_rejection *r =
			ARRAY_AT(&result->rejections, struct plan_rejection, i);
		if (uuid_equal(&r->node_id, &id))
			return r->reason;
	}
	return NULL;
}

const struct allocation *published_allocation(const struct controller *c, uint32_t id)
{
	struct uuid uuid = number_uuid(id);
	return state_allocation(c->state, &uuid);
}

enum command_outcome report_status(struct controller *c, uint32_t slot, uint32_t generation,
	uint64_t sequence, uint32_t id, enum alloc_client status, bool *known)
{
	struct alloc_update_item item = {
		.allocation = number_uuid(id), .client_status = (uint8_t)status};
	struct command_alloc_update update = {slot, generation, sequence, 1, &item};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};

	item.report = alloc_report_create();
	item.report->client_description = text_copy(TEXT("said by its node"));
	enum command_outcome outcome = controller_run(c, &command);
	alloc_report_release(item.report);
	if (known)
		*known = item.known;
	return outcome;
}

struct controller *controller_with_nodes(struct state_limits limits, uint32_t nodes)
{
	struct controller *c = memory_take(sizeof *c);

	controller_init(c, limits);
	controller_open(c);
	for (uint32_t i = 0; i < nodes; i++)
		assert_int_equal(controller_register(c, i, NULL), OUTCOME_DONE);
	return c;
}

void controller_end(struct controller *c)
{
	expect_restores(c);
	controller_free(c);
	free(c);
}

struct node_use use_of(const struct controller *c, uint32_t slot)
{
	state_read_begin();
	struct node_use use = state_node_use(c->state, slot);
	state_read_end();
	return use;
}

uint64_t alloc_index_of(const struct controller *c, uint32_t slot)
{
	return node_table_line(state_node_table(c->state), slot)->alloc_index;
}
