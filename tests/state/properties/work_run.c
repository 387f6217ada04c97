#include "tests/state/properties/work_run.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint32_t below(struct work_run *r, uint32_t bound)
{
	return (uint32_t)prng_below(r->prng, bound);
}

static void make_register(struct work_run *r, struct work_command *w, struct command *c)
{
	struct job *job = build_scheduled_job(work_jobs[w->job], work_types[w->job]);

	w->priority = 40 + below(r, 3);
	job->priority = w->priority;
	c->type = COMMAND_JOB_REGISTER;
	c->job_register.job = job;
}

static void make_stop(struct work_run *r, struct work_command *w, struct command *c)
{
	c->type = COMMAND_JOB_DEREGISTER;
	c->job_deregister.id = text_of(work_jobs[w->job]);
	c->job_deregister.purge = below(r, 3) == 0;
}

static void make_job_evaluate(struct work_run *r, struct work_command *w, struct command *c)
{
	c->type = COMMAND_JOB_EVALUATE;
	c->job_evaluate.id = text_of(work_jobs[w->job]);
}

static void make_node_evaluate(struct work_run *r, struct work_command *w, struct command *c)
{
	w->node = below(r, MODEL_NODES);
	c->type = COMMAND_NODE_EVALUATE;
	c->node_named.node = number_uuid(w->node);
}

static void make_config(struct work_run *r, struct work_command *w, struct command *c)
{
	record_init(&scheduler_config_description, &w->config);
	w->config.reject_job_registration = below(r, 4) == 0;
	c->type = COMMAND_SCHEDULER_CONFIG;
	c->scheduler_config.config = &w->config;
}

// One of the newest that are there, or evals.count.
static uint32_t some_eval(struct work_run *r)
{
	const struct work *work = r->work;
	uint32_t window = work->eval_count < 40 ? work->eval_count : 40;

	for (uint32_t i = 0; i < 10 && window; i++) {
		uint32_t eval = work->eval_count - 1 - below(r, window);
		if (!work->evals[eval].is_gone)
			return eval;
	}
	return work->eval_count;
}

static void make_store(struct work_run *r, struct work_command *w, struct command *c)
{
	const struct work *work = r->work;

	w->eval = below(r, 4) ? some_eval(r) : work->eval_count;
	// A new one may have company in its batch: its number is known when the model is told.
	bool is_new = w->eval == work->eval_count;
	w->id = is_new ? prng_uuid(r->prng) : work->evals[w->eval].id;
	w->eval = is_new ? UINT32_MAX : w->eval;
	w->job = is_new ? w->job : work->evals[w->eval].job;
	w->status = (int)below(r, EVAL_STATUSES);
	w->leaves_failed = below(r, 3) == 0;

	struct evaluation *e = build_evaluation(0, work_jobs[w->job], w->status);
	e->id = w->id;
	e->triggered_by = is_new ? TRIGGER_JOB_REGISTER : work->evals[w->eval].triggered_by;
	count_add(&e->queued, "g0", below(r, 5));
	if (w->leaves_failed) {
		struct failed_group *failed = array_append(&e->failed_groups, sizeof *failed);
		failed->group = text_copy(TEXT("g0"));
	}
	w->evaluation = e;
	c->type = COMMAND_EVALUATIONS;
	c->evaluations = (struct command_evaluations){.items = &w->evaluation, .count = 1};
}

static void begin_plan(struct work_run *r, struct work_command *w, struct command *c)
{
	w->plan = plan_create();
	w->plan->eval_id = r->work->evals[w->eval].id;
	w->plan->namespace_name = text_copy(TEXT("default"));
	w->plan->job_id = text_copy(text_of(work_jobs[w->job]));
	w->plan->job_version = r->work->jobs[w->job].modify_index;
	c->type = COMMAND_PLAN;
	c->plan = (struct command_plan){.plan = w->plan, .result = &w->result};
}

static void make_placement(struct work_run *r, struct work_command *w, struct command *c)
{
	w->eval = some_eval(r);
	w->node = below(r, MODEL_NODES);
	if (w->eval == r->work->eval_count || !r->work->jobs[w->job].modify_index ||
		!r->model->nodes[w->node].is_known) {
		make_register(r, w, c);
		return;
	}
	begin_plan(r, w, c);
	w->incarnation = r->work->jobs[w->job].incarnation;
	w->id = prng_uuid(r->prng);
	struct plan_placement *p = array_append(&w->plan->placements, sizeof *p);
	*p = (struct plan_placement){
		.id = w->id,
		.node_id = number_uuid(w->node),
		.slot = r->model->nodes[w->node].slot,
		.generation = r->model->nodes[w->node].generation,
		.name_index = r->name_index++,
		.job_version = w->plan->job_version,
		.resources = WORK_ASK,
		.metrics = PLAN_NO_METRICS,
	};
}

static bool pick_allocation(struct work_run *r, struct work_command *w)
{
	const struct work *work = r->work;
	uint32_t window = work->allocation_count < 40 ? work->allocation_count : 40;

	for (uint32_t i = 0; i < 10 && window; i++) {
		w->allocation = work->allocation_count - 1 - below(r, window);
		const struct work_allocation *a = &work->allocations[w->allocation];
		w->job = a->job;
		if (!a->is_gone && r->model->nodes[a->node].is_known)
			return true;
	}
	return false;
}

static void make_plan_stop(struct work_run *r, struct work_command *w, struct command *c)
{
	w->eval = some_eval(r);
	if (w->eval == r->work->eval_count || !pick_allocation(r, w)) {
		make_register(r, w, c);
		return;
	}
	begin_plan(r, w, c);
	const struct work_allocation *a = &r->work->allocations[w->allocation];
	struct plan_stop *stop = array_append(&w->plan->stops, sizeof *stop);
	*stop = (struct plan_stop){.id = a->id,
		.node_id = number_uuid(a->node),
		.slot = r->model->nodes[a->node].slot,
		.cause = STOP_NOT_NEEDED};
}

static void make_report(struct work_run *r, struct work_command *w, struct command *c)
{
	static const uint8_t statuses[] = {
		ALLOC_PENDING, ALLOC_RUNNING, ALLOC_RUNNING, ALLOC_COMPLETE, ALLOC_FAILED};

	if (!pick_allocation(r, w)) {
		make_register(r, w, c);
		return;
	}
	const struct work_allocation *a = &r->work->allocations[w->allocation];
	const struct model_node *n = &r->model->nodes[a->node];
	w->item = (struct alloc_update_item){
		.allocation = a->id, .client_status = statuses[below(r, 5)]};
	w->update = (struct command_alloc_update){.slot = n->slot,
		.generation = n->generation,
		.sequence = ++r->report_sequence,
		.count = 1,
		.items = &w->item};
	c->type = COMMAND_ALLOC_UPDATE;
	c->alloc_update = &w->update;
}

void work_make(struct work_run *r, struct work_command *w, struct command *c)
{
	static const struct {
		uint32_t weight;
		void (*make)(struct work_run *, struct work_command *, struct command *);
	} makers[] = {
		{30, make_placement},
		{22, make_report},
		{20, make_store},
		{10, make_plan_stop},
		{8, make_register},
		{4, make_stop},
		{2, make_job_evaluate},
		{2, make_node_evaluate},
		{2, make_config},
	};
	uint32_t pick = below(r, 100);

	*w = (struct work_command){.is_one = true, .job = below(r, WORK_JOBS)};
	for (uint32_t i = 0;; i++) {
		if (pick < makers[i].weight) {
			makers[i].make(r, w, c);
			return;
		}
		pick -= makers[i].weight;
	}
}

static void tell_plan(struct work_run *r, struct work_command *w, struct command *c)
{
	if (w->plan->placements.count > 0)
		work_placed(r->work, r->model, w->job, w->incarnation, w->node, w->eval, &w->id, c);
	else
		work_stopped(r->work, w->allocation, c);
	plan_result_release(&w->result);
	plan_free(w->plan);
}

void work_tell(struct work_run *r, struct work_command *w, struct command *c)
{
	switch (c->type) {
	case COMMAND_JOB_REGISTER:
		work_job_register(r->work, w->job, w->priority, c);
		job_free(c->job_register.job);
		break;
	case COMMAND_JOB_DEREGISTER: work_job_stop(r->work, w->job, c); break;
	case COMMAND_JOB_EVALUATE: work_job_evaluate(r->work, w->job, c); break;
	case COMMAND_NODE_EVALUATE: work_node_evaluate(r->work, r->model, w->node, c); break;
	case COMMAND_SCHEDULER_CONFIG:
		work_config(r->work, w->config.reject_job_registration, c);
		break;
	case COMMAND_EVALUATIONS:
		work_store(r->work, w->eval == UINT32_MAX ? r->work->eval_count : w->eval, w->job,
			&w->id, w->status, w->leaves_failed, c);
		break;
	case COMMAND_PLAN: tell_plan(r, w, c); break;
	case COMMAND_ALLOC_UPDATE: work_reported(r->work, r->model, w->allocation, c); break;
	default: fail();
	}
}
