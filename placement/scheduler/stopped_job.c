#include "placement/scheduler/stopped_job.h"
#include "placement/scheduler/allocation_facts.h"
#include "placement/scheduler/scheduler_run.h"
#include "placement/scheduler/stack.h"
#include "placement/scheduler/taint.h"
#include "state/base/error.h"
#include "state/base/text.h"

#define SERVICE_ATTEMPTS 5u
#define BATCH_ATTEMPTS 2u

struct stopping {
	const struct scheduler_run *run;
	const struct scheduler_view *view;
	struct plan *plan;
	struct stack *stack;
};

static void annotate(struct stopping *s, const struct allocation *a)
{
	if (!s->plan->annotate)
		return;
	struct desired_updates *desired =
		map_item(&s->plan->annotations, sizeof *desired, allocation_group(a)->name);
	desired->stop++;
}

static void stop_living(struct stopping *s, const struct allocation *a)
{
	bool lost = allocation_taint(s->view, a, s->run->settings->now_ns) == TAINT_LOST;
	stack_plan_stop(s->stack, a, lost ? STOP_LOST : STOP_NOT_NEEDED, lost, NULL);
	annotate(s, a);
}

// Stopped before, but its node was gone before it could say so (row A17).
static void lose_unheard(struct stopping *s, const struct allocation *a)
{
	bool waits = a->client_status == ALLOC_PENDING || a->client_status == ALLOC_RUNNING;
	if (waits && node_is_lost(allocation_node(s->view, a)))
		stack_plan_stop(s->stack, a, STOP_LOST, true, NULL);
}

static bool stop(const struct allocation *a, void *context)
{
	struct stopping *s = context;
	if (!allocation_is_terminal(a))
		stop_living(s, a);
	else if (a->desired != ALLOC_RUN)
		lose_unheard(s, a);
	return true;
}

static int attempt(struct scheduler_run *run, void *context)
{
	const struct evaluation *eval = run->eval;
	struct scheduler_view view;
	int result = scheduler_run_begin_view(run, &view);
	if (result < 0)
		return result;
	const struct job *job = view.job(view.context, eval->namespace_name, eval->job_id);
	if (job && !job->stop) {
		scheduler_run_end_view(run);
		return -ERROR_UNSUPPORTED;
	}
	struct plan *plan = scheduler_run_plan(run, &view, job);
	struct stopping stopping = {run, &view, plan, stack_create(STACK_GENERIC, &view, plan)};
	view.job_allocations(view.context, eval->namespace_name, eval->job_id, stop, &stopping);
	stack_destroy(stopping.stack);
	scheduler_run_end_view(run);
	result = plan_is_no_op(plan) && !plan->annotate ? ATTEMPT_DONE
							: scheduler_run_submit(run, plan);
	plan_free(plan);
	return result;
}

// Unlike the system scheduler's, an evaluation that conflicts too often is tried again later (row C44).
static int try_again_later(struct scheduler_run *run, uint32_t limit)
{
	const struct planner *planner = &run->settings->planner;
	struct evaluation *blocked =
		scheduler_run_follow_up(run, TRIGGER_MAX_PLAN_ATTEMPTS, EVAL_BLOCKED);
	blocked->status_description = text_copy(TEXT("created due to placement conflicts"));
	int error = planner->create_eval(planner->context, blocked);
	run->blocked_eval = blocked->id;
	evaluation_free(blocked);
	return error < 0 ? error : scheduler_run_exhausted(run, limit);
}

int stopped_job_process(const struct scheduler_settings *settings, const struct evaluation *eval)
{
	uint32_t limit = eval->type == EVAL_BATCH ? BATCH_ATTEMPTS : SERVICE_ATTEMPTS;
	struct scheduler_run run;
	scheduler_run_init(&run, settings, eval);
	if (eval->triggered_by == TRIGGER_SCHEDULED)
		return scheduler_run_refuse_trigger(&run);
	int result = scheduler_run_attempts(&run, limit, attempt, NULL);
	if (result == ATTEMPTS_EXHAUSTED)
		result = try_again_later(&run, limit);
	else if (result == ATTEMPT_DONE)
		result = scheduler_run_end(&run, EVAL_COMPLETE, "");
	scheduler_run_release(&run);
	return result;
}
