#include "placement/pipeline/scheduler_thread.h"
#include "placement/direct/claims.h"
#include "placement/pipeline/core.h"
#include "placement/pipeline/planning.h"
#include "placement/scheduler/common/eval_log.h"
#include "placement/scheduler/scheduler.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define DEQUEUE_TIMEOUT_MS 500u
#define ALL_TYPES ((1u << EVAL_TYPES) - 1)

struct scheduler_thread {
	struct pipeline *pipeline;
	uint32_t number;
	pthread_t thread;
	bool is_running;
	struct prng prng;
	struct backoff backoff;   // B8: one for all waits
	struct planning planning; // of the present evaluation
	struct claimant *claims;  // NULL: nobody claims anything
};

static uint64_t now_ns(const struct scheduler_thread *w)
{
	return time_monotonic_ns(w->pipeline->settings.time);
}

// The newest index of any evaluation of the job, so that the view includes what earlier ones did.
static uint64_t index_of_job(
	struct scheduler_thread *w, const struct evaluation *eval, uint64_t own)
{
	state_read_begin();
	uint64_t newest = state_job_index_of(w->pipeline->settings.state, STATE_EVALUATIONS,
		text_of(eval->namespace_name), text_of(eval->job_id));
	state_read_end();
	return newest > own ? newest : own;
}

static void note_reschedule(void *context, const struct reschedule_note *note)
{
	struct scheduler_thread *w = context;
	reschedules_note(w->pipeline->reschedules, note, now_ns(w));
}

// A mistake of ours in one evaluation: it failed, and the others go on.
static void count_broken(void *context, const struct evaluation *eval, const char *text)
{
	struct scheduler_thread *w = context;
	char id[UUID_TEXT_BYTES], quoted[2 * CHECK_TEXT_BYTES];

	atomic_fetch_add(&w->pipeline->counters.broken, 1);
	log_error("evaluation-broken", "eval=%s job=%s namespace=%s invariant=%s",
		uuid_format(&eval->id, id), eval->job_id, eval->namespace_name,
		log_quote(text, quoted, sizeof quoted));
}

static int run_scheduler(struct scheduler_thread *w, struct planning *planning)
{
	struct scheduler_settings settings = {
		.planner = planning_planner(planning),
		.prng = &w->prng,
		.now_ns = (int64_t)time_wall_ns(w->pipeline->settings.time),
		.time = w->pipeline->settings.time,
		.ties = uuid_hash(&planning->eval->id),
		.rescheduled = note_reschedule,
		.broken = count_broken,
		.notes_context = w,
	};
	int error = scheduler_process(&settings, planning->eval);
	int late = planning_flush(planning);
	return error != 0 ? error : late;
}

static int run_evaluation(
	struct scheduler_thread *w, struct planning *planning, uint64_t wait_index)
{
	const struct evaluation *eval = planning->eval;
	struct pipeline *p = w->pipeline;
	bool is_core = eval->type == EVAL_CORE;

	if (!is_core && !pipeline_has(p, &eval->id))
		return 0; // it ended and was collected meanwhile
	int error = planning_wait_for_index(planning, wait_index);
	if (error != 0)
		return error;
	uint64_t began_ns = now_ns(w);
	error = is_core ? core_process(p, eval) : run_scheduler(w, planning);
	timing_add(&p->counters.invoke[eval->type], p->settings.time, began_ns);
	return error;
}

static void work_off(struct scheduler_thread *w, const struct evaluation *eval, uint64_t token,
	uint64_t wait_index)
{
	struct pipeline *p = w->pipeline;
	struct planning *planning = &w->planning;

	planning_begin(planning, p, eval, token);
	planning->is_deciding = true;
	planning->backoff = &w->backoff;
	planning->claims = w->claims;
	// B9: an evaluation dequeued during the stop goes back.
	int error = submitter_is_stopping(p->submitter) ? -ERROR_STOPPING
							: run_evaluation(w, planning, wait_index);
	planning_end(planning, error);
}

bool scheduler_thread_turn(struct scheduler_thread *w, uint32_t timeout_ms)
{
	struct pipeline *p = w->pipeline;
	uint64_t began_ns = now_ns(w), token, wait_index;
	struct evaluation *eval =
		broker_dequeue(p->broker, ALL_TYPES, timeout_ms, &token, &wait_index);

	timing_add(&p->counters.dequeue, p->settings.time, began_ns);
	if (!eval)
		return false;
	if (eval->type != EVAL_CORE)
		wait_index = index_of_job(w, eval, wait_index);
	backoff_reset(&w->backoff);
	log_evaluation(eval, "evaluation-dequeued", "type=%s triggered_by=%s index=%lu",
		eval_type_names[eval->type], eval_trigger_names[eval->triggered_by],
		(unsigned long)wait_index);
	work_off(w, eval, token, wait_index);
	evaluation_free(eval);
	return true;
}

// B4. Where more threads wait than may decide at once, the others look up less often: each look costs an idle machine
// something, and whoever has to do something is woken.
static uint32_t dequeue_timeout_ms(const struct scheduler_thread *w)
{
	return DEQUEUE_TIMEOUT_MS * (1 + w->number / w->pipeline->desk_count);
}

static void *scheduler_thread_main(void *argument)
{
	struct scheduler_thread *w = argument;
	struct pipeline *p = w->pipeline;

	while (!submitter_is_stopping(p->submitter)) {
		pipeline_await_unpaused(p);
		(void)scheduler_thread_turn(w, dequeue_timeout_ms(w));
	}
	return NULL;
}

struct scheduler_thread *scheduler_thread_create(struct pipeline *p, uint32_t number)
{
	struct scheduler_thread *w = memory_take(sizeof *w);

	w->pipeline = p;
	w->number = number;
	w->planning.pipeline = p;
	w->claims = p->claims ? claimant_create(p->claims) : NULL;
	if (p->settings.seed)
		prng_seed(&w->prng, p->settings.seed + 1 + number);
	else
		prng_seed_from_system(&w->prng);
	return w;
}

static void pin_thread(struct scheduler_thread *w, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	int error = pthread_setaffinity_np(w->thread, sizeof set, &set);
	if (error)
		log_warn("scheduler-not-pinned", "cpu=%d error=\"%s\"", cpu, error_text(-error));
}

int scheduler_thread_start(struct scheduler_thread *w, int cpu)
{
	char name[16];
	int error = -pthread_create(&w->thread, NULL, scheduler_thread_main, w);

	if (error != 0)
		return error;
	w->is_running = true;
	snprintf(name, sizeof name, "scheduler-%u", w->number % 1000);
	(void)pthread_setname_np(w->thread, name);
	if (cpu >= 0)
		pin_thread(w, cpu);
	return 0;
}

void scheduler_thread_join(struct scheduler_thread *w)
{
	if (w && w->is_running) {
		CHECK(pthread_join(w->thread, NULL) == 0);
		w->is_running = false;
	}
}

void scheduler_thread_destroy(struct scheduler_thread *w)
{
	if (!w)
		return;
	CHECK(!w->is_running);
	claimant_destroy(w->claims);
	free(w);
}
