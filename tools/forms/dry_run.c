#include "tools/forms/dry_run.h"
#include "placement/scheduler/scheduler.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

struct planner_context {
	// Of the state, while one is open. First, because the view over it has it as context.
	struct scheduler_view below;
	struct state *state;
	const struct job *job;
	struct dry_run *out;
};

static const struct job *planned_job(void *context, const char *namespace_name, const char *id)
{
	const struct planner_context *c = context;
	if (strcmp(c->job->namespace_name, namespace_name) == 0 && strcmp(c->job->id, id) == 0)
		return c->job;
	return c->below.job(c->below.context, namespace_name, id);
}

static int begin_view(void *context, uint64_t index, struct scheduler_view *view)
{
	struct planner_context *c = context;
	c->below = state_view_begin(c->state);
	*view = view_over(&c->below);
	view->job = planned_job;
	return 0;
}

static void end_view(void *context)
{
	state_view_end();
}

static void free_updates(struct array *updates)
{
	for (uint32_t i = 0; i < updates->count; i++)
		record_release(
			&desired_updates_description, ARRAY_AT(updates, struct desired_updates, i));
	free(updates->items);
	*updates = (struct array){0};
}

static void keep_plan(struct dry_run *out, const struct plan *plan)
{
	free_updates(&out->updates);
	for (uint32_t i = 0; i < plan->annotations.count; i++)
		record_copy(&desired_updates_description,
			array_append(&out->updates, sizeof(struct desired_updates)),
			ARRAY_AT(&plan->annotations, struct desired_updates, i));
	for (uint32_t i = 0; i < plan->preemptions.count; i++)
		*(struct uuid *)array_append(&out->preempted, sizeof(struct uuid)) =
			ARRAY_AT(&plan->preemptions, struct plan_stop, i)->id;
}

static int submit_plan(void *context, struct plan *plan, struct plan_result *result)
{
	struct planner_context *c = context;
	keep_plan(c->out, plan);
	*result = (struct plan_result){
		.alloc_index = plan->snapshot_index + 1,
		.placements_committed = plan->placements.count,
		.placements_planned = plan->placements.count,
		.stops_committed = plan->stops.count + plan->preemptions.count,
		.updates_committed = plan->updates.count,
	};
	for (uint32_t i = 0; i < plan->placements.count; i++) {
		const struct plan_placement *p =
			ARRAY_AT(&plan->placements, struct plan_placement, i);
		// An older version numbers its groups differently; its waiting placements are not shown.
		if (p->job_version != c->job->record.modify_index)
			continue;
		const struct task_group *group =
			ARRAY_AT(&c->job->task_groups, struct task_group, p->group);
		count_add(&result->placed_by_group, group->name, 1);
	}
	return 0;
}

// The scheduler's last update of the evaluation: what it could not place.
static int update_eval(void *context, const struct evaluation *e)
{
	struct planner_context *c = context;
	struct evaluation *copy = evaluation_copy(e);
	struct array before = c->out->failed_groups;
	c->out->failed_groups = copy->failed_groups;
	copy->failed_groups = before;
	evaluation_free(copy);
	return 0;
}

static int create_eval(void *context, const struct evaluation *e)
{
	struct planner_context *c = context;
	*(struct evaluation **)array_append(&c->out->created, sizeof e) = evaluation_copy(e);
	return 0;
}

static int reblock_eval(void *context, const struct evaluation *e)
{
	return update_eval(context, e);
}

static struct evaluation *evaluation_for(const struct job *job, struct prng *prng, int64_t now_ns)
{
	struct evaluation *e = evaluation_create();
	e->id = prng_uuid(prng);
	e->namespace_name = text_copy(text_of(job->namespace_name));
	e->job_id = text_copy(text_of(job->id));
	e->priority = job->priority;
	e->type = job->type;
	e->triggered_by = TRIGGER_JOB_REGISTER;
	e->job_modify_index = job->job_modify_index;
	e->status = EVAL_PENDING;
	e->annotate_plan = true;
	e->create_time_ns = e->modify_time_ns = now_ns;
	return e;
}

void dry_run(struct state *state, const struct job *job, struct prng *prng, int64_t now_ns,
	struct dry_run *out)
{
	*out = (struct dry_run){0};
	struct planner_context context = {.state = state, .job = job, .out = out};
	struct scheduler_settings settings = {
		.planner = {&context, begin_view, end_view, submit_plan, update_eval, create_eval,
			reblock_eval},
		.prng = prng,
		.now_ns = now_ns,
		.time = &time_source_real,
	};
	struct evaluation *evaluation = evaluation_for(job, prng, now_ns);
	CHECK(scheduler_process(&settings, evaluation) == 0); // this planner refuses nothing
	evaluation_free(evaluation);
}

void dry_run_release(struct dry_run *run)
{
	free_updates(&run->updates);
	free(run->preempted.items);
	for (uint32_t i = 0; i < run->created.count; i++)
		evaluation_free(*ARRAY_AT(&run->created, struct evaluation *, i));
	free(run->created.items);
	// Frees the groups as part of an evaluation.
	struct evaluation *rest = evaluation_create();
	rest->failed_groups = run->failed_groups;
	evaluation_free(rest);
	*run = (struct dry_run){0};
}
