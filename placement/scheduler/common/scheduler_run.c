#include "placement/scheduler/common/scheduler_run.h"
#include "placement/scheduler/common/eval_log.h"
#include "state/base/check.h"
#include "state/base/text.h"
#include <stdio.h>
#include <stdlib.h>

// Leads far from the place before in any fleet.
#define TIES_STEP 0x9e3779b97f4a7c15ull

void scheduler_run_init(struct scheduler_run *run, const struct scheduler_settings *settings,
	const struct evaluation *eval)
{
	CHECK(settings->prng);
	CHECK(settings->planner.begin_view && settings->planner.end_view);
	CHECK(settings->planner.submit_plan && settings->planner.update_eval);
	*run = (struct scheduler_run){.settings = settings, .eval = eval};
}

static void clear_failed(struct array *failed)
{
	for (uint32_t i = 0; i < failed->count; i++) {
		struct failed_group *group = ARRAY_AT(failed, struct failed_group, i);
		free(group->group);
		metrics_release(&group->metrics);
	}
	free(failed->items);
	*failed = (struct array){0};
}

void scheduler_run_reset(struct scheduler_run *run)
{
	map_free(&run->queued, sizeof(struct named_count));
	clear_failed(&run->failed_groups);
	free(run->quota);
	run->quota = NULL;
	CHECK(run->queued.count == 0 && run->failed_groups.count == 0);
}

void scheduler_run_note_quota(struct scheduler_run *run, const char *name)
{
	CHECK(name);
	free(run->quota);
	run->quota = text_copy(text_of(name));
}

void scheduler_run_tell_quota(const struct scheduler_run *run, struct evaluation *to)
{
	CHECK(to->status == EVAL_BLOCKED);
	free(to->quota_limit_reached);
	to->quota_limit_reached = run->quota ? text_copy(text_of(run->quota)) : NULL;
}

void scheduler_run_release(struct scheduler_run *run)
{
	CHECK(!run->in_view);
	scheduler_run_reset(run);
	free(run->rejected.items);
}

// Takes the guard off while the planner works: it may hold locks, so an invariant that breaks there ends the process.
static struct check_guard *leave_guard(void)
{
	return check_guard_set(NULL);
}

static void return_to_guard(struct check_guard *guard)
{
	CHECK(check_guard_set(guard) == NULL);
}

static int guarded_attempt(struct scheduler_run *run, const struct scheduler_attempts *attempts)
{
	if (setjmp(run->guard.back))
		return ATTEMPT_BROKEN;
	CHECK(check_guard_set(&run->guard) == NULL);
	int result = attempts->attempt(run, attempts->context);
	CHECK(check_guard_set(NULL) == &run->guard);
	return result;
}

// Frees a broken attempt. When another invariant breaks meanwhile, the rest of its memory is lost.
static void release_broken(struct scheduler_run *run, const struct scheduler_attempts *attempts)
{
	char text[CHECK_TEXT_BYTES];
	memcpy(text, run->guard.text, sizeof text);
	if (setjmp(run->guard.back) == 0) {
		check_guard_set(&run->guard);
		attempts->release(attempts->context);
		check_guard_set(NULL);
	}
	memcpy(run->guard.text, text, sizeof text);
	if (run->in_view)
		scheduler_run_end_view(run);
}

int scheduler_run_attempts(struct scheduler_run *run, const struct scheduler_attempts *attempts)
{
	CHECK(attempts->limit > 0);
	run->without_progress = 0;
	while (run->without_progress < attempts->limit) {
		run->progressed = false;
		run->is_last = run->without_progress + 1 == attempts->limit;
		run->is_cut = false;
		run->pass_error = 0;
		int result = guarded_attempt(run, attempts);
		if (result == ATTEMPT_BROKEN)
			release_broken(run, attempts);
		if (result != ATTEMPT_AGAIN)
			return result;
		CHECK(!run->in_view);
		run->without_progress = run->progressed ? 0 : run->without_progress + 1;
	}
	return ATTEMPTS_EXHAUSTED;
}

uint64_t scheduler_run_ties(const struct scheduler_run *run)
{
	uint64_t ties = run->settings->ties;
	return ties ? ties + run->without_progress * TIES_STEP : 0;
}

int scheduler_run_begin_view(struct scheduler_run *run, struct scheduler_view *view)
{
	const struct planner *planner = &run->settings->planner;
	CHECK(!run->in_view);
	struct check_guard *guard = leave_guard();
	int error = planner->begin_view(planner->context, run->refresh_index, view);
	return_to_guard(guard);
	run->in_view = error >= 0;
	return error;
}

void scheduler_run_end_view(struct scheduler_run *run)
{
	const struct planner *planner = &run->settings->planner;
	CHECK(run->in_view);
	struct check_guard *guard = leave_guard();
	planner->end_view(planner->context);
	return_to_guard(guard);
	run->in_view = false;
}

void scheduler_run_note(const struct scheduler_run *run, const struct reschedule_note *note)
{
	const struct scheduler_settings *settings = run->settings;
	CHECK(note->allocation);
	if (!settings->rescheduled)
		return;
	struct check_guard *guard = leave_guard();
	settings->rescheduled(settings->notes_context, note);
	return_to_guard(guard);
}

struct plan *scheduler_run_plan(
	const struct scheduler_run *run, const struct scheduler_view *view, const struct job *job)
{
	CHECK(run->in_view);
	struct plan *plan = plan_create();
	plan->eval_id = run->eval->id;
	plan->priority = run->eval->priority;
	plan->all_at_once = job && job->all_at_once;
	plan->namespace_name = text_copy(text_of(run->eval->namespace_name));
	plan->job_id = text_copy(text_of(run->eval->job_id));
	plan->job_version = job ? job->record.modify_index : 0;
	plan->snapshot_index = view->index(view->context);
	plan->annotate = run->eval->annotate_plan;
	CHECK(plan_is_no_op(plan));
	return plan;
}

static int ask_planner(struct scheduler_run *run)
{
	const struct planner *planner = &run->settings->planner;
	struct check_guard *guard = leave_guard();
	int answer = planner->go_on(planner->context);
	return_to_guard(guard);
	return answer;
}

bool scheduler_run_goes_on(struct scheduler_run *run, const struct plan *plan, bool may_be_cut)
{
	CHECK(run->in_view && !run->is_cut && run->pass_error == 0);
	if (!run->settings->planner.go_on)
		return true;
	int answer = ask_planner(run);
	if (answer < 0)
		run->pass_error = answer;
	else if (answer == PASS_FULL)
		run->is_cut = may_be_cut && plan->placements.count && !plan->all_at_once &&
			      !plan->annotate;
	return !run->is_cut && run->pass_error == 0;
}

// Takes placed allocations off the queued counts (row A12).
static void lower_queued(struct scheduler_run *run, const struct array *placed)
{
	for (uint32_t i = 0; i < placed->count; i++) {
		const struct named_count *group = ARRAY_AT(placed, struct named_count, i);
		uint32_t at;
		if (map_find(&run->queued, sizeof(struct named_count), group->name, &at))
			ARRAY_AT(&run->queued, struct named_count, at)->count -= group->count;
		else
			log_evaluation(run->eval, "group-not-queued", "task_group=%s placed=%lld",
				group->name, (long long)group->count);
	}
}

// What another attempt is for.
static void log_next_attempt(
	const struct scheduler_run *run, const struct plan *plan, const struct plan_result *result)
{
	if (run->refresh_index)
		log_evaluation(run->eval, "refresh-forced", "index=%lu",
			(unsigned long)run->refresh_index);
	if (result->placements_committed < plan->placements.count)
		log_evaluation(run->eval, "plan-not-fully-committed", "attempted=%u placed=%u",
			plan->placements.count, result->placements_committed);
}

static void note_rejected(struct scheduler_run *run, const struct array *rejections)
{
	for (uint32_t i = 0; i < rejections->count; i++)
		*(struct uuid *)array_append(&run->rejected, sizeof(struct uuid)) =
			ARRAY_AT(rejections, struct plan_rejection, i)->node_id;
	CHECK(run->rejected.count >= rejections->count);
}

int scheduler_run_submit(struct scheduler_run *run, struct plan *plan)
{
	const struct planner *planner = &run->settings->planner;
	struct plan_result result = {0};
	CHECK(!run->in_view);
	struct check_guard *guard = leave_guard();
	int error = planner->submit_plan(planner->context, plan, &result);
	return_to_guard(guard);
	if (error < 0)
		return error;
	CHECK(result.placements_committed <= plan->placements.count);
	CHECK(result.updates_committed <= plan->updates.count);
	bool whole = result.placements_committed == plan->placements.count &&
		     result.updates_committed == plan->updates.count;
	bool deployed = plan->deployment || plan->deployment_updates.count;
	run->progressed = result.stops_committed || result.placements_committed ||
			  result.updates_committed || (deployed && result.alloc_index);
	run->refresh_index = result.refresh_index;
	lower_queued(run, &result.placed_by_group);
	note_rejected(run, &result.rejections);
	log_next_attempt(run, plan, &result);
	if (run->is_cut && run->refresh_index < result.alloc_index)
		run->refresh_index = result.alloc_index;
	plan_result_release(&result);
	return run->refresh_index || !whole || run->is_cut ? ATTEMPT_AGAIN : ATTEMPT_DONE;
}

int scheduler_run_create(struct scheduler_run *run, const struct evaluation *eval)
{
	CHECK(!uuid_is_zero(&eval->id));
	const struct planner *planner = &run->settings->planner;
	CHECK(!run->in_view);
	struct check_guard *guard = leave_guard();
	int error = planner->create_eval(planner->context, eval);
	return_to_guard(guard);
	return error;
}

struct evaluation *scheduler_run_follow_up(
	struct scheduler_run *run, enum eval_trigger trigger, enum eval_status status)
{
	CHECK(status == EVAL_PENDING || status == EVAL_BLOCKED);
	const struct evaluation *eval = run->eval;
	struct evaluation *next = evaluation_create();
	next->id = prng_uuid(run->settings->prng);
	next->namespace_name = text_copy(text_of(eval->namespace_name));
	next->job_id = text_copy(text_of(eval->job_id));
	next->priority = eval->priority;
	next->type = eval->type;
	next->triggered_by = trigger;
	next->job_modify_index = eval->job_modify_index;
	next->status = status;
	next->previous_eval = eval->id;
	next->create_time_ns = next->modify_time_ns = run->settings->now_ns;
	CHECK(!uuid_is_zero(&next->id));
	return next;
}

void scheduler_run_tell_failed(const struct scheduler_run *run, struct evaluation *to)
{
	CHECK(to->failed_groups.count == 0);
	for (uint32_t i = 0; i < run->failed_groups.count; i++) {
		const struct failed_group *from =
			ARRAY_AT(&run->failed_groups, struct failed_group, i);
		struct failed_group *group =
			map_item(&to->failed_groups, sizeof *group, from->group);
		metrics_copy(&group->metrics, &from->metrics);
	}
}

// The evaluation to be changed and shown to the planner, which keeps nothing: texts and lists are those of others.
static struct evaluation evaluation_lent(const struct scheduler_run *run)
{
	struct evaluation eval = *run->eval;
	eval.record.older = NULL;
	return eval;
}

// Sets the fields that every end sets.
static struct evaluation evaluation_ended(
	const struct scheduler_run *run, enum eval_status status, const char *description)
{
	CHECK(status != EVAL_PENDING);
	struct evaluation eval = evaluation_lent(run);
	eval.status = status;
	eval.status_description = (char *)description;
	eval.blocked_eval = run->blocked_eval;
	eval.deployment_id = run->deployment;
	if (!uuid_is_zero(&run->next_eval))
		eval.next_eval = run->next_eval;
	eval.failed_groups = (struct array){0};
	eval.modify_time_ns = run->settings->now_ns;
	return eval;
}

static int store_evaluation(const struct scheduler_run *run, const struct evaluation *eval)
{
	const struct planner *planner = &run->settings->planner;
	CHECK(!run->in_view);
	struct check_guard *guard = leave_guard();
	int error = planner->update_eval(planner->context, eval);
	return_to_guard(guard);
	return error;
}

// Tells what the last attempt found.
static void tell_findings(const struct scheduler_run *run, struct evaluation *eval)
{
	eval->failed_groups = run->failed_groups;
	eval->queued = run->queued;
}

int scheduler_run_reblock(struct scheduler_run *run, const struct evaluation *eligibility)
{
	CHECK(run->eval->status == EVAL_BLOCKED);
	CHECK(eligibility);
	const struct planner *planner = &run->settings->planner;
	struct evaluation eval = evaluation_lent(run);
	eval.escaped_computed_class = eligibility->escaped_computed_class;
	eval.class_eligibility = eligibility->class_eligibility;
	eval.quota_limit_reached = run->quota;
	tell_findings(run, &eval);
	CHECK(!run->in_view);
	struct check_guard *guard = leave_guard();
	int error = planner->reblock_eval(planner->context, &eval);
	return_to_guard(guard);
	return error;
}

int scheduler_run_end(struct scheduler_run *run, enum eval_status status, const char *description)
{
	CHECK(status == EVAL_COMPLETE || status == EVAL_FAILED);
	struct evaluation eval = evaluation_ended(run, status, description);
	tell_findings(run, &eval);
	return store_evaluation(run, &eval);
}

int scheduler_run_exhausted(struct scheduler_run *run, uint32_t limit)
{
	CHECK(limit > 0);
	char text[64];
	snprintf(text, sizeof text, "maximum attempts reached (%u)", limit);
	return scheduler_run_end(run, EVAL_FAILED, text);
}

int scheduler_run_broken(struct scheduler_run *run)
{
	const struct scheduler_settings *settings = run->settings;
	CHECK(run->guard.text[0]);
	if (settings->broken)
		settings->broken(settings->notes_context, run->eval, run->guard.text);
	struct evaluation eval = evaluation_ended(run, EVAL_FAILED, run->guard.text);
	return store_evaluation(run, &eval);
}

int scheduler_run_refuse_trigger(struct scheduler_run *run)
{
	CHECK(run->queued.count == 0);
	char text[128];
	const char *unknown = run->settings->unknown_trigger;
	snprintf(text, sizeof text, "scheduler cannot handle '%s' evaluation reason",
		unknown ? unknown : eval_trigger_names[run->eval->triggered_by]);
	struct evaluation eval = evaluation_ended(run, EVAL_FAILED, text);
	return store_evaluation(run, &eval);
}
