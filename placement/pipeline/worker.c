#include "placement/pipeline/worker.h"
#include "placement/pipeline/backoff.h"
#include "placement/pipeline/core.h"
#include "placement/pipeline/delivery.h"
#include "placement/pipeline/pipeline_private.h"
#include "placement/scheduler/scheduler.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEQUEUE_TIMEOUT_MS 500u
#define ALL_TYPES ((1u << EVAL_TYPES) - 1)

#define INDEX_WAIT_NS 5000000000ull
#define INDEX_BASE_NS 20000000ll
#define INDEX_CAP_NS 1000000000ll
#define RESUBMIT_BASE_NS 500000000ll
#define RESUBMIT_CAP_NS 10000000000ll

// Evaluations that a scheduler creates are stored together.
#define CREATED_MAX 256u

struct worker {
	struct pipeline *pipeline;
	uint32_t number;
	pthread_t thread;
	bool is_running;
	struct prng prng;
	struct backoff backoff; // B8: one for all waits
	// The evaluation that is worked off.
	const struct evaluation *eval;
	uint64_t token;
	struct delivery *delivery;
	uint64_t snapshot_index; // of the first view (B12)
	uint64_t view_index;     // of the newest one
	struct evaluation *created[CREATED_MAX + 1];
	uint32_t created_count;
};

static uint64_t now_ns(const struct worker *w)
{
	return time_monotonic_ns(w->pipeline->settings.time);
}

// --- Waiting for the state -----------------------------------------------------------------------

static uint64_t look(struct worker *w, uint64_t index)
{
	const struct pipeline_settings *s = &w->pipeline->settings;
	int64_t wait_ns = backoff_next_ns(&w->backoff, INDEX_BASE_NS, INDEX_CAP_NS);

	if (s->step)
		s->step(s->step_context);
	else
		(void)state_wait(s->state, index - 1, (uint32_t)(wait_ns / 1000000));
	return state_index(s->state);
}

// B10, B11. The index is looked at before the time.
static int wait_for_index(struct worker *w, uint64_t index)
{
	struct pipeline *p = w->pipeline;
	uint64_t began_ns = now_ns(w);
	bool was_there = state_index(p->settings.state) >= index, is_there = was_there;

	while (!is_there && !submitter_is_stopping(p->submitter)) {
		is_there = look(w, index) >= index;
		if (!is_there && (p->settings.step || now_ns(w) - began_ns >= INDEX_WAIT_NS))
			return -ERROR_TIMEOUT;
	}
	timing_add(&p->counters.wait_for_index, p->settings.time, began_ns);
	if (!is_there)
		return -ERROR_STOPPING;
	backoff_reset(&w->backoff);
	return 0;
}

// The newest index of any evaluation of its job, so that what an earlier one did is seen.
static uint64_t index_of_job(struct worker *w, uint64_t own)
{
	state_read_begin();
	uint64_t newest = state_job_evaluations_index(w->pipeline->settings.state,
		text_of(w->eval->namespace_name), text_of(w->eval->job_id));
	state_read_end();
	return newest > own ? newest : own;
}

// --- What the scheduler asks for -----------------------------------------------------------------

static int begin_view(void *context, uint64_t index, struct scheduler_view *view)
{
	struct worker *w = context;
	int error = wait_for_index(w, index);

	if (error != 0)
		return error;
	*view = state_view_begin(w->pipeline->settings.state);
	w->view_index = view->index(view->context);
	if (w->snapshot_index == 0)
		w->snapshot_index = w->view_index;
	return 0;
}

static void end_view(void *context)
{
	state_view_end();
}

// B15 and B36: nobody else has this evaluation by now, and we are not stopping.
static int may_go_on(struct worker *w, const struct uuid *id, const char *what)
{
	struct pipeline *p = w->pipeline;
	char text[UUID_TEXT_BYTES];

	if (submitter_is_stopping(p->submitter))
		return -ERROR_STOPPING; // "shutdown while planning"
	int error = broker_outstanding(p->broker, id, w->token);
	if (error != 0)
		log_warn("evaluation-lost", "eval=%s request=%s error=\"%s\"",
			uuid_format(id, text), what, broker_outstanding_text(error));
	return error;
}

// B12 and B20.
static struct evaluation *stamped(struct worker *w, const struct evaluation *eval, bool is_new)
{
	struct evaluation *e = evaluation_copy(eval);
	int64_t now = (int64_t)time_wall_ns(w->pipeline->settings.time);

	e->snapshot_index = w->snapshot_index;
	if (is_new)
		e->create_time_ns = now;
	e->modify_time_ns = now > e->create_time_ns || is_new ? now : e->create_time_ns + 1;
	return e;
}

static int flush_created(struct worker *w)
{
	uint32_t count = w->created_count;

	w->created_count = 0;
	return count ? delivery_store(w->delivery, w->created, count) : 0;
}

static void count_result(struct pipeline *p, const struct plan *plan, const struct plan_result *r)
{
	atomic_fetch_add(&p->counters.plans_submitted, 1);
	if (r->placements_committed < r->placements_planned || r->rejections.count > 0)
		atomic_fetch_add(&p->counters.plans_partial, 1);
	atomic_fetch_add(&p->counters.nodes_rejected, r->rejections.count);
}

// B17: only what passes is tried again.
static int submit_again(struct worker *w, struct command *command)
{
	struct submitter *s = w->pipeline->submitter;
	int error;

	while ((error = submitter_run_plan(s, command)) == -ERROR_STOPPING) {
		if (w->pipeline->settings.step ||
			!submitter_sleep(
				s, backoff_next_ns(&w->backoff, RESUBMIT_BASE_NS, RESUBMIT_CAP_NS)))
			return error;
	}
	if (error == 0)
		backoff_reset(&w->backoff);
	return error;
}

static int submit_plan(void *context, struct plan *plan, struct plan_result *result)
{
	struct worker *w = context;
	struct pipeline *p = w->pipeline;
	struct command command = {.type = COMMAND_PLAN, .plan = {plan, result}};
	uint64_t began_ns = now_ns(w);
	int error = may_go_on(w, &w->eval->id, "plan");

	if (error == 0)
		error = flush_created(w);
	if (error != 0)
		return error;
	plan->eval_token = w->token;
	plan->snapshot_index = w->view_index;
	broker_pause_nack(p->broker, &w->eval->id, w->token);
	error = submit_again(w, &command);
	broker_resume_nack(p->broker, &w->eval->id, w->token);
	timing_add(&p->counters.submit_plan, p->settings.time, began_ns);
	if (error == 0)
		count_result(p, plan, result);
	return error;
}

static int update_eval(void *context, const struct evaluation *eval)
{
	struct worker *w = context;
	int error = may_go_on(w, &eval->id, "update");

	if (error != 0)
		return error;
	w->created[w->created_count++] = stamped(w, eval, false);
	return flush_created(w);
}

static int create_eval(void *context, const struct evaluation *eval)
{
	struct worker *w = context;
	struct pipeline *p = w->pipeline;
	uint64_t began_ns = now_ns(w);
	int error = may_go_on(w, &eval->previous_eval, "create");

	if (error != 0)
		return error;
	w->created[w->created_count++] = stamped(w, eval, true);
	if (w->created_count == CREATED_MAX)
		error = flush_created(w);
	timing_add(&p->counters.create_eval, p->settings.time, began_ns);
	return error;
}

// B21: what waits according to the job's summary differs from what the evaluation says.
static bool summary_differs(struct worker *w, const struct evaluation *eval)
{
	struct task_group_summary groups[JOB_GROUPS_MAX];
	uint32_t count = JOB_GROUPS_MAX;
	bool differs = false;

	state_read_begin();
	if (!state_job_summary(w->pipeline->settings.state, text_of(eval->namespace_name),
		    text_of(eval->job_id), groups, &count))
		count = 0;
	for (uint32_t g = 0; g < count; g++)
		for (uint32_t i = 0; i < eval->queued.count; i++) {
			const struct named_count *q =
				ARRAY_AT(&eval->queued, struct named_count, i);
			if (strcmp(q->name, groups[g].group) == 0 && q->count != groups[g].queued)
				differs = true;
		}
	state_read_end();
	return differs;
}

static bool is_stored(struct worker *w, const struct uuid *id)
{
	state_read_begin();
	bool stored = state_evaluation(w->pipeline->settings.state, id) != NULL;
	state_read_end();
	return stored;
}

static int reblock(struct worker *w, const struct evaluation *eval)
{
	struct pipeline *p = w->pipeline;
	struct evaluation *e = stamped(w, eval, false);
	int error = 0;

	if (summary_differs(w, eval)) {
		struct evaluation *update = evaluation_copy(e);
		error = pipeline_store(p, &update, 1, false);
	}
	if (error == 0)
		blocked_add(p->blocked, e, w->token);
	evaluation_free(e);
	return error;
}

static int reblock_eval(void *context, const struct evaluation *eval)
{
	struct worker *w = context;
	struct pipeline *p = w->pipeline;
	uint64_t began_ns = now_ns(w);
	int error = may_go_on(w, &eval->id, "reblock");

	if (error == 0)
		error = flush_created(w);
	if (error == 0 && (eval->status != EVAL_BLOCKED || !is_stored(w, &eval->id))) {
		log_warn("evaluation-not-reblocked", "reason=\"%s\"",
			eval->status != EVAL_BLOCKED ? "evaluation not blocked"
						     : "evaluation does not exist");
		error = -EINVAL;
	}
	if (error == 0)
		error = reblock(w, eval);
	timing_add(&p->counters.reblock_eval, p->settings.time, began_ns);
	return error;
}

// --- One evaluation ------------------------------------------------------------------------------

static int schedule(struct worker *w)
{
	struct scheduler_settings settings = {
		.planner = {w, begin_view, end_view, submit_plan, update_eval, create_eval,
			reblock_eval},
		.prng = &w->prng,
		.now_ns = (int64_t)time_wall_ns(w->pipeline->settings.time),
	};
	int error = scheduler_process(&settings, w->eval);

	if (error == -ERROR_UNSUPPORTED)
		log_warn("no-scheduler", "error=\"unknown scheduler '%s'\"",
			eval_type_names[w->eval->type]);
	int late = flush_created(w);
	return error != 0 ? error : late;
}

static int invoke(struct worker *w, uint64_t wait_index)
{
	struct pipeline *p = w->pipeline;
	bool is_core = w->eval->type == EVAL_CORE;
	uint64_t began_ns;

	if (!is_core && !is_stored(w, &w->eval->id))
		return 0; // collected meanwhile: it had ended
	int error = wait_for_index(w, is_core ? wait_index : index_of_job(w, wait_index));
	if (error != 0)
		return error;
	began_ns = now_ns(w);
	error = is_core ? core_process(p, w->eval) : schedule(w);
	timing_add(&p->counters.invoke[w->eval->type], p->settings.time, began_ns);
	return error;
}

static void work_off(struct worker *w, struct evaluation *eval, uint64_t wait_index)
{
	struct pipeline *p = w->pipeline;

	w->eval = eval;
	w->snapshot_index = w->view_index = 0;
	w->delivery = delivery_begin(p, &eval->id, w->token);
	// B9: what was dequeued while we stop goes back.
	int error = submitter_is_stopping(p->submitter) ? -ERROR_STOPPING : invoke(w, wait_index);
	for (uint32_t i = 0; i < w->created_count; i++)
		evaluation_free(w->created[i]);
	w->created_count = 0;
	delivery_end(w->delivery, error);
	evaluation_free(eval);
	w->eval = NULL;
}

bool worker_turn(struct worker *w, uint32_t timeout_ms)
{
	struct pipeline *p = w->pipeline;
	uint64_t began_ns = now_ns(w), wait_index;
	struct evaluation *eval =
		broker_dequeue(p->broker, ALL_TYPES, timeout_ms, &w->token, &wait_index);

	if (!eval)
		return false;
	timing_add(&p->counters.dequeue, p->settings.time, began_ns);
	backoff_reset(&w->backoff);
	work_off(w, eval, wait_index);
	return true;
}

// --- The thread ----------------------------------------------------------------------------------

static void *run(void *argument)
{
	struct worker *w = argument;
	struct pipeline *p = w->pipeline;

	while (!submitter_is_stopping(p->submitter)) {
		pipeline_await_unpaused(p);
		(void)worker_turn(w, DEQUEUE_TIMEOUT_MS);
	}
	return NULL;
}

struct worker *worker_create(struct pipeline *p, uint32_t number)
{
	struct worker *w = memory_take(sizeof *w);

	w->pipeline = p;
	w->number = number;
	if (p->settings.seed)
		prng_seed(&w->prng, p->settings.seed + 1 + number);
	else
		prng_seed_from_system(&w->prng);
	return w;
}

static void pin(struct worker *w, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	int error = pthread_setaffinity_np(w->thread, sizeof set, &set);
	if (error)
		log_warn("scheduler-not-pinned", "cpu=%d error=\"%s\"", cpu, error_text(-error));
}

int worker_start(struct worker *w, int cpu)
{
	char name[16];
	int error = -pthread_create(&w->thread, NULL, run, w);

	if (error != 0)
		return error;
	w->is_running = true;
	snprintf(name, sizeof name, "scheduler-%u", w->number % 1000);
	(void)pthread_setname_np(w->thread, name);
	if (cpu >= 0)
		pin(w, cpu);
	return 0;
}

void worker_join(struct worker *w)
{
	if (w && w->is_running) {
		CHECK(pthread_join(w->thread, NULL) == 0);
		w->is_running = false;
	}
}

void worker_destroy(struct worker *w)
{
	if (!w)
		return;
	CHECK(!w->is_running);
	free(w);
}
