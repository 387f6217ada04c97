#include "tools/simulate/recorder.h"
#include "state/base/check.h"
#include "tools/api/json_record.h"
#include <stdio.h>
#include <stdlib.h>

struct recorder {
	struct scenario *scenario;
	struct json_writer plans, evals, created, reblocked; // lists of values
};

static int begin_view(void *context, uint64_t index, struct scheduler_view *view)
{
	struct recorder *r = context;
	*view = scenario_view(r->scenario);
	return 0;
}

static void end_view(void *context)
{
}

// Committed as it is: nobody else changes a scenario.
static int submit_plan(void *context, struct plan *plan, struct plan_result *result)
{
	struct recorder *r = context;
	plan_json(&r->plans, r->scenario, plan);
	result->alloc_index = r->scenario->index + 1;
	result->placements_planned = result->placements_committed = plan->placements.count;
	result->stops_committed = plan->stops.count;
	result->updates_committed = plan->updates.count;
	for (uint32_t i = 0; i < plan->placements.count; i++) {
		const struct plan_placement *p =
			ARRAY_AT(&plan->placements, struct plan_placement, i);
		const struct job *job = scenario_version(
			r->scenario, plan->namespace_name, plan->job_id, p->job_version);
		count_add(&result->placed_by_group,
			ARRAY_AT(&job->task_groups, struct task_group, p->group)->name, 1);
	}
	return 0;
}

static int update_eval(void *context, const struct evaluation *eval)
{
	struct recorder *r = context;
	json_record(&r->evals, &evaluation_description, eval);
	return 0;
}

static int create_eval(void *context, const struct evaluation *eval)
{
	struct recorder *r = context;
	json_record(&r->created, &evaluation_description, eval);
	return 0;
}

static int reblock_eval(void *context, const struct evaluation *eval)
{
	struct recorder *r = context;
	json_record(&r->reblocked, &evaluation_description, eval);
	return 0;
}

static struct planner planner_of(struct recorder *r)
{
	return (struct planner){.context = r,
		.begin_view = begin_view,
		.end_view = end_view,
		.submit_plan = submit_plan,
		.update_eval = update_eval,
		.create_eval = create_eval,
		.reblock_eval = reblock_eval};
}

static void print_list(struct json_writer *w, const char *key, const struct json_writer *values)
{
	char *list;
	int size = asprintf(&list, "[%.*s%s]", (int)values->size, values->data ? values->data : "",
		values->pretty && values->size ? "\n    " : "");
	CHECK(size >= 0);
	json_write_key(w, key);
	json_write_raw(w, (struct text){list, (uint32_t)size});
	free(list);
}

static void print(const struct recorder *r, struct json_writer *w)
{
	json_begin_object(w);
	print_list(w, "Plans", &r->plans);
	print_list(w, "Evals", &r->evals);
	print_list(w, "CreateEvals", &r->created);
	print_list(w, "ReblockEvals", &r->reblocked);
	json_end_object(w);
}

// Ids depend on the evaluation alone.
int scenario_work_off(struct scenario *scenario, struct json_writer *w)
{
	struct json_writer inside = {.depth = 2, .pretty = w->pretty}; // of a list, in an object
	struct recorder r = {scenario, inside, inside, inside, inside};
	struct prng prng;
	prng_seed(&prng, uuid_hash(&scenario->eval->id));
	struct scheduler_settings settings = {planner_of(&r), &prng, scenario->now_ns};
	int result = scheduler_process(&settings, scenario->eval);
	if (result >= 0)
		print(&r, w);
	json_writer_free(&r.plans);
	json_writer_free(&r.evals);
	json_writer_free(&r.created);
	json_writer_free(&r.reblocked);
	return result;
}
