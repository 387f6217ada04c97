// The scheduler of service and batch jobs (rows C44, C18; docs/spec/reconciler.md). One attempt: see → reconcile → plan
// → follow-ups → submit.
#include "placement/scheduler/generic/generic.h"
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/common/eval_log.h"
#include "placement/scheduler/generic/generic_attempt.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/text.h"
#include "state/records/job_traits.h"
#include <stdlib.h>

#define SERVICE_ATTEMPTS 5u
#define BATCH_ATTEMPTS 2u

// Since the evaluation was made, the job was purged and registered again with another type; the new job has an
// evaluation of its own.
static bool is_of_another_scheduler(const struct job *job)
{
	return job && !job->stop && !job_is_counted(job);
}

static bool is_batch(const struct evaluation *eval, const struct job *job)
{
	return job && !job->stop ? job_traits_of(job)->runs_to_end
				 : job_traits[eval->type].runs_to_end;
}

static bool keep_allocation(const struct allocation *a, void *context)
{
	struct generic_attempt *attempt_generic = context;
	*(const struct allocation **)array_append(&attempt_generic->allocations, sizeof a) = a;
	return true;
}

// Plans the loss of allocations that were told to stop but whose node was lost before it reported their end (rows A17,
// C20).
static void lose_unheard(struct generic_attempt *a)
{
	CHECK(a->stack);
	for (uint32_t i = 0; i < a->allocations.count; i++) {
		const struct allocation *old =
			*ARRAY_AT(&a->allocations, const struct allocation *, i);
		bool waits =
			old->client_status == ALLOC_PENDING || old->client_status == ALLOC_RUNNING;
		if (old->desired != ALLOC_RUN && waits &&
			node_is_lost(allocation_node(&a->view, old)))
			stack_plan_stop(a->stack, old, STOP_LOST, true, NULL);
	}
}

static void look_at_job(struct generic_attempt *a)
{
	CHECK(!a->stack && a->run->in_view);
	const struct evaluation *eval = a->run->eval;
	const struct scheduler_view *view = &a->view;
	if (!a->batch)
		a->deployment =
			view->latest_deployment(view->context, eval->namespace_name, eval->job_id);
	a->stack = stack_create_in(a->memory, STACK_GENERIC, view, a->plan);
	stack_break_ties(a->stack, scheduler_run_ties(a->run));
	if (a->job && !a->job->stop)
		generic_use_version(a, a->job);
	stack_be_strict_on(a->stack, &a->run->rejected);
	view->job_allocations(
		view->context, eval->namespace_name, eval->job_id, keep_allocation, a);
	stack_know_allocations(a->stack, &a->allocations);
	CHECK(a->stack);
}

static int64_t count_instances(const struct array *places)
{
	int64_t count = places->count;
	for (uint32_t i = 0; i < places->count; i++)
		count += ARRAY_AT(places, struct reconcile_place, i)->more;
	return count;
}

static void log_found(const struct generic_attempt *a)
{
	const struct reconciliation *r = &a->found;

	log_evaluation(a->run->eval, "job-reconciled",
		"place=%lld destructive=%lld in_place=%u stop=%u disconnect=%u reconnect=%u "
		"attribute_updates=%u follow_ups=%u",
		(long long)count_instances(&r->place), (long long)count_instances(&r->destructive),
		r->in_place.count, r->stops.count, r->disconnects.count, r->reconnects.count,
		r->attribute_updates.count, r->follow_ups.count);
}

static void reconcile_job(struct generic_attempt *a)
{
	CHECK(a->stack && a->run->in_view);
	struct reconcile_ask ask = {.view = &a->view,
		.job = a->job,
		.eval = a->run->eval,
		.batch = a->batch,
		.allocations = a->allocations.items,
		.allocation_count = a->allocations.count,
		.deployment = a->deployment,
		.now_ns = a->run->settings->now_ns,
		.prng = a->run->settings->prng,
		.change_of = generic_change_of,
		.context = a};
	reconcile(&ask, &a->found);
	log_found(a);
}

static void count_queued(struct generic_attempt *a, const struct array *places)
{
	for (uint32_t i = 0; i < places->count; i++) {
		const struct reconcile_place *place = ARRAY_AT(places, struct reconcile_place, i);
		CHECK(place->group < a->job->task_groups.count);
		count_add(&a->run->queued,
			ARRAY_AT(&a->job->task_groups, struct task_group, place->group)->name,
			1 + (int64_t)place->more);
	}
}

static void begin_queued(struct generic_attempt *a)
{
	CHECK(a->run->queued.count == 0);
	for (uint32_t i = 0; a->job && i < a->job->task_groups.count; i++)
		count_add(&a->run->queued,
			ARRAY_AT(&a->job->task_groups, struct task_group, i)->name, 0);
	count_queued(a, &a->found.place);
	count_queued(a, &a->found.destructive);
}

// Takes the follow-ups, unless the evaluation was itself delayed (row C18).
static void take_follow_ups(struct generic_attempt *a)
{
	CHECK(a->follow_ups.count == 0);
	if (a->run->eval->wait_until_ns != 0)
		return;
	a->follow_ups = a->found.follow_ups;
	a->found.follow_ups = (struct array){0};
}

// Does everything that needs the view.
static void make_plan(struct generic_attempt *a)
{
	CHECK(!a->plan && a->run->in_view);
	const struct evaluation *eval = a->run->eval;
	scheduler_run_reset(a->run);
	a->job = a->view.job(a->view.context, eval->namespace_name, eval->job_id);
	a->plan = scheduler_run_plan(a->run, &a->view, a->job);
	if (is_of_another_scheduler(a->job))
		return;
	a->batch = is_batch(eval, a->job);
	look_at_job(a);
	lose_unheard(a);
	reconcile_job(a);
	generic_note_reschedules(a);
	generic_plan_changes(a);
	begin_queued(a);
	generic_place(a);
	take_follow_ups(a);
	if (a->run->failed_groups.count || a->run->is_last)
		generic_keep_eligibility(a);
	a->run->deployment = a->deployment ? a->deployment->id : (struct uuid){0};
}

static void free_array(struct array *a)
{
	free(a->items);
	*a = (struct array){0};
}

// Frees what needs the view. The stack is created before all of it.
static void release_view_part(struct generic_attempt *a)
{
	if (!a->stack)
		return;
	reconciliation_release(&a->found);
	version_changes_release(&a->changes);
	free_array(&a->in_place);
	stack_destroy(a->stack);
	free_array(&a->allocations);
	a->stack = NULL;
	a->stack_job = NULL;
}

static void release_follow_ups(struct generic_attempt *a)
{
	for (uint32_t i = 0; i < a->follow_ups.count; i++)
		evaluation_free(*ARRAY_AT(&a->follow_ups, struct evaluation *, i));
	free_array(&a->follow_ups);
}

// Creates an evaluation that waits for room, or for the end of a conflict. It takes over what `eligibility` knows of
// classes.
static int create_blocked(struct scheduler_run *run, enum eval_trigger trigger,
	const char *description, struct evaluation *eligibility)
{
	CHECK(!run->in_view);
	struct evaluation *blocked = scheduler_run_follow_up(run, trigger, EVAL_BLOCKED);
	blocked->status_description = text_copy(text_of(description));
	scheduler_run_tell_failed(run, blocked);
	scheduler_run_tell_quota(run, blocked);
	if (eligibility) {
		struct array classes = blocked->class_eligibility;
		blocked->escaped_computed_class = eligibility->escaped_computed_class;
		blocked->class_eligibility = eligibility->class_eligibility;
		eligibility->class_eligibility = classes;
	}
	int error = scheduler_run_create(run, blocked);
	if (error >= 0)
		run->blocked_eval = blocked->id;
	evaluation_free(blocked);
	CHECK(error < 0 || !uuid_is_zero(&run->blocked_eval));
	return error < 0 ? error : 0;
}

static bool is_submitted(const struct generic_attempt *a)
{
	return !plan_is_no_op(a->plan) || a->plan->annotate;
}

// Creates one blocked evaluation when instances found no room, unless a follow-up, which goes with a plan, will look
// at the job again anyway (rows C18, C23). Only the last pass knows all instances without room.
static int block_if_needed(struct generic_attempt *a)
{
	struct scheduler_run *run = a->run;
	bool waits = a->is_followed_up || (a->follow_ups.count && is_submitted(a));
	if (!run->failed_groups.count || run->eval->status == EVAL_BLOCKED || run->is_cut ||
		!uuid_is_zero(&run->blocked_eval) || waits)
		return 0;
	return create_blocked(run, TRIGGER_QUEUED_ALLOCS, "created to place remaining allocations",
		a->eligibility);
}

static int create_follow_ups(struct generic_attempt *a)
{
	CHECK(a->follow_ups.count == 0 || a->run->eval->wait_until_ns == 0);
	int error = 0;
	for (uint32_t i = 0; i < a->follow_ups.count && error >= 0; i++)
		error = scheduler_run_create(
			a->run, *ARRAY_AT(&a->follow_ups, struct evaluation *, i));
	return error < 0 ? error : 0;
}

static int submit_attempt(struct generic_attempt *a)
{
	CHECK(a->plan && !a->stack);
	int error = block_if_needed(a);
	if (error < 0)
		return error;
	if (!is_submitted(a))
		return ATTEMPT_DONE;
	error = create_follow_ups(a);
	if (error < 0)
		return error;
	int result = scheduler_run_submit(a->run, a->plan);
	// When a part was not committed and there is no newer state to look at, another attempt would not help.
	return result == ATTEMPT_AGAIN && !a->run->refresh_index ? -ERROR_NO_REFRESH : result;
}

// Holds the attempt, so that what it holds can be freed wherever it ended.
struct process {
	struct generic_attempt attempt;
	struct evaluation *eligibility; // the last attempt's knowledge of classes; NULL: not needed
	bool is_followed_up;            // a pass that was cut created follow-ups
	struct stack_memory *memory;    // of each attempt
};

static void release_attempt(void *context)
{
	struct process *process = context;
	struct generic_attempt *a = &process->attempt;
	struct plan *plan = a->plan;
	release_view_part(a);
	release_follow_ups(a);
	evaluation_free(a->eligibility);
	a->eligibility = NULL;
	a->plan = NULL;
	plan_free(plan);
	CHECK(!a->stack && !a->plan && !a->eligibility);
}

static int attempt_generic(struct scheduler_run *run, void *context)
{
	struct process *process = context;
	struct generic_attempt *a = &process->attempt;
	*a = (struct generic_attempt){
		.run = run, .memory = process->memory, .is_followed_up = process->is_followed_up};
	int result = scheduler_run_begin_view(run, &a->view);
	if (result < 0)
		return result;
	make_plan(a);
	release_view_part(a);
	scheduler_run_end_view(run);
	result = run->pass_error ? run->pass_error : submit_attempt(a);
	process->is_followed_up |= run->is_cut && a->follow_ups.count > 0;
	evaluation_free(process->eligibility);
	process->eligibility = a->eligibility;
	a->eligibility = NULL;
	release_attempt(process);
	CHECK(!run->in_view);
	return result;
}

// Unlike the system scheduler, tries an evaluation that conflicts too often again later.
static int try_again_later(struct scheduler_run *run, uint32_t limit, struct process *process)
{
	CHECK(limit > 0);
	int error = create_blocked(run, TRIGGER_MAX_PLAN_ATTEMPTS,
		"created due to placement conflicts", process->eligibility);
	return error < 0 ? error : scheduler_run_exhausted(run, limit);
}

static int end_evaluation(struct scheduler_run *run, struct process *process)
{
	CHECK(!run->in_view);
	if (run->eval->status == EVAL_BLOCKED && run->failed_groups.count)
		return scheduler_run_reblock(run, process->eligibility);
	return scheduler_run_end(run, EVAL_COMPLETE, "");
}

static bool is_accepted(const struct evaluation *eval)
{
	return eval->triggered_by != TRIGGER_SCHEDULED && eval->triggered_by >= 0 &&
	       eval->triggered_by < EVAL_TRIGGERS;
}

int generic_scheduler_process(
	const struct scheduler_settings *settings, const struct evaluation *eval)
{
	CHECK(eval->type == EVAL_SERVICE || eval->type == EVAL_BATCH);
	uint32_t limit = job_traits[eval->type].runs_to_end ? BATCH_ATTEMPTS : SERVICE_ATTEMPTS;
	struct stack_memory memory; // malloc() would take longer
	struct process process = {.memory = &memory};
	struct scheduler_run run;
	scheduler_run_init(&run, settings, eval);
	if (!is_accepted(eval))
		return scheduler_run_refuse_trigger(&run);
	struct scheduler_attempts attempts = {limit, &process, attempt_generic, release_attempt};
	int result = scheduler_run_attempts(&run, &attempts);
	if (result == ATTEMPTS_EXHAUSTED)
		result = try_again_later(&run, limit, &process);
	else if (result == ATTEMPT_BROKEN)
		result = scheduler_run_broken(&run);
	else if (result == ATTEMPT_DONE)
		result = end_evaluation(&run, &process);
	scheduler_run_release(&run);
	evaluation_free(process.eligibility);
	CHECK(!run.in_view);
	return result;
}
