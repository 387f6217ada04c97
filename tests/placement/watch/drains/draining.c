#include "tests/placement/watch/drains/draining.h"
#include "placement/watch/drains/drain_survey.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t sequence; // of reports

void scene_nodes(struct scene *s, uint32_t count)
{
	sequence = 0;
	for (uint32_t i = 1; i <= count; i++)
		assert_int_equal(controller_register(&s->controller, i, NULL), OUTCOME_DONE);
	scene_settle(s);
}

void scene_job(
	struct scene *s, const char *id, enum job_type type, int64_t count, int64_t max_parallel)
{
	struct job *job = build_scheduled_job(id, type);
	struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, 0);

	group->count = count;
	if (type == JOB_SERVICE) {
		group->migrate = memory_take(sizeof *group->migrate);
		record_init(&migrate_description, group->migrate);
		group->migrate->max_parallel = max_parallel;
	}
	assert_int_equal(register_job(&s->controller, job, NULL), OUTCOME_DONE);
	scene_settle(s);
}

const struct node *scene_node(struct scene *s, uint32_t number)
{
	struct uuid id = number_uuid(number);
	const struct node *node = state_node_by_id(s->controller.state, &id);
	assert_non_null(node);
	return node;
}

static bool take_evaluation(const struct evaluation *e, void *context)
{
	*(struct uuid *)context = e->id;
	return false;
}

static struct plan *plan_for(struct scene *s, const char *id)
{
	struct plan *plan = plan_create();

	plan->namespace_name = text_copy(TEXT("default"));
	plan->job_id = text_copy(text_of(id));
	state_read_begin();
	const struct job *job = state_job(s->controller.state, TEXT("default"), text_of(id));
	plan->job_version = job->record.modify_index;
	state_job_evaluations(
		s->controller.state, TEXT("default"), text_of(id), take_evaluation, &plan->eval_id);
	state_read_end();
	return plan;
}

static void plan_on(struct scene *s, struct plan *plan, uint32_t id, uint32_t number)
{
	state_read_begin();
	const struct node *node = scene_node(s, number);
	struct plan_placement *p = plan_place(plan, id, number, node->slot);
	p->generation = node->generation;
	p->resources = (struct resources){10, 10, 1};
	p->name_index = id;
	state_read_end();
}

void scene_place(struct scene *s, const char *job, uint32_t id, uint32_t number)
{
	struct plan *plan = plan_for(s, job);
	plan_on(s, plan, id, number);
	commit_plan(&s->controller, plan);
	scene_settle(s);
}

// Stops `from`, and places `to` on the node.
void scene_migrate(struct scene *s, const char *job, uint32_t from, uint32_t to, uint32_t number)
{
	struct plan *plan = plan_for(s, job);
	plan_stop(plan, from, STOP_MIGRATING);
	plan_on(s, plan, to, number);
	commit_plan(&s->controller, plan);
	scene_settle(s);
}

void scene_stop(struct scene *s, const char *job, uint32_t id)
{
	struct plan *plan = plan_for(s, job);
	plan_stop(plan, id, STOP_NODE_TAINTED);
	commit_plan(&s->controller, plan);
	scene_settle(s);
}

void scene_report(
	struct scene *s, uint32_t number, uint32_t id, enum alloc_client status, bool healthy)
{
	state_read_begin();
	const struct node *node = scene_node(s, number);
	struct alloc_update_item item = {.allocation = number_uuid(id),
		.client_status = (uint8_t)status,
		.healthy = {healthy, healthy}};
	struct command_alloc_update update = {node->slot, node->generation, ++sequence, 1, &item};
	state_read_end();
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};
	assert_int_equal(scene_run(s, &command), OUTCOME_DONE);
}

void scene_healthy(struct scene *s, uint32_t number, uint32_t id)
{
	scene_report(s, number, id, ALLOC_RUNNING, true);
}

void scene_ended(struct scene *s, uint32_t number, uint32_t id)
{
	scene_report(s, number, id, ALLOC_COMPLETE, false);
}

enum command_outcome scene_drain_with(
	struct scene *s, uint32_t number, struct command_node_drain ask)
{
	ask.node = number_uuid(number);
	struct command command = {.type = COMMAND_NODE_DRAIN, .node_drain = &ask};
	return scene_run(s, &command);
}

void scene_drain(struct scene *s, uint32_t number, int64_t deadline_s)
{
	assert_int_equal(scene_drain_with(s, number,
				 (struct command_node_drain){.deadline_ns = deadline_s * NS_PER_S}),
		OUTCOME_DONE);
}

bool scene_is_flagged(struct scene *s, uint32_t id)
{
	state_read_begin();
	bool is = allocation_is_flagged(published_allocation(&s->controller, id));
	state_read_end();
	return is;
}
