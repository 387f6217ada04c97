#include "tools/simulate/recorder.h"
#include "placement/scheduler/scheduler.h"
#include "placement/scheduler/stack/view_fleet.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tools/json/json_record.h"
#include "tools/simulate/plan_json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct recorder {
	struct scenario *scenario;
	struct view_fleet *fleet; // so that scenarios are decided as the daemon decides
	struct json_writer plans, evals, created, reblocked; // lists of values
};

static int begin_view(void *context, uint64_t index, struct scheduler_view *view)
{
	struct recorder *r = context;
	*view = scenario_view(r->scenario);
	view_fleet_begin(r->fleet, view);
	return 0;
}

static void end_view(void *context)
{
}

// Commits a plan whole: nothing else changes a scenario.
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

// Writes an evaluation with an unknown trigger with the scenario's text for it.
static void put_unknown(
	struct json_writer *w, const struct evaluation *eval, const char *unknown_trigger)
{
	const char *names[EVAL_TRIGGERS + 2] = {[EVAL_TRIGGERS] = unknown_trigger};
	uint32_t count = evaluation_description.field_count;
	struct record_type type = evaluation_description;
	struct field *fields = memory_take_array(count, sizeof *fields);
	memcpy(names, eval_trigger_names, EVAL_TRIGGERS * sizeof *names);
	memcpy(fields, evaluation_description.fields, count * sizeof *fields);
	for (uint32_t i = 0; i < count; i++)
		if (fields[i].names == eval_trigger_names)
			fields[i].names = names;
	type.fields = fields;
	json_record(w, &type, eval);
	free(fields);
}

static int put_eval(const struct recorder *r, struct json_writer *w, const struct evaluation *eval)
{
	if (eval->triggered_by == EVAL_TRIGGERS)
		put_unknown(w, eval, r->scenario->unknown_trigger);
	else
		json_record(w, &evaluation_description, eval);
	return 0;
}

static int update_eval(void *context, const struct evaluation *eval)
{
	struct recorder *r = context;
	return put_eval(r, &r->evals, eval);
}

static int create_eval(void *context, const struct evaluation *eval)
{
	struct recorder *r = context;
	return put_eval(r, &r->created, eval);
}

static int reblock_eval(void *context, const struct evaluation *eval)
{
	struct recorder *r = context;
	return put_eval(r, &r->reblocked, eval);
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

static void print_records(const struct recorder *r, struct json_writer *w)
{
	json_begin_object(w);
	print_list(w, "Plans", &r->plans);
	print_list(w, "Evals", &r->evals);
	print_list(w, "CreateEvals", &r->created);
	print_list(w, "ReblockEvals", &r->reblocked);
	json_end_object(w);
}

// Ids depend only on the evaluation.
int scenario_work_off(struct scenario *scenario, struct json_writer *w)
{
	struct json_writer inside = {.depth = 2, .pretty = w->pretty}; // in a list of an object
	struct recorder r = {scenario, view_fleet_create(), inside, inside, inside, inside};
	struct prng prng;
	prng_seed(&prng, uuid_hash(&scenario->eval->id));
	struct scheduler_settings settings = {.planner = planner_of(&r),
		.prng = &prng,
		.now_ns = scenario->now_ns,
		.unknown_trigger = scenario->unknown_trigger};
	int result = scheduler_process(&settings, scenario->eval);
	if (result >= 0)
		print_records(&r, w);
	view_fleet_destroy(r.fleet);
	json_writer_free(&r.plans);
	json_writer_free(&r.evals);
	json_writer_free(&r.created);
	json_writer_free(&r.reblocked);
	return result;
}
