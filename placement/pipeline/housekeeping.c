#include "placement/pipeline/housekeeping.h"
#include "placement/pipeline/core.h"
#include "placement/pipeline/enabling.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/slab.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TURN_NS NS_PER_S
#define UNBLOCK_FAILED_NS (60 * NS_PER_S)
#define TRIM_NS NS_PER_S // of memory that nobody needed
#define HEAP_BYTES_KEPT (256 * 1024)
#define PRUNE_NS (5 * 60 * NS_PER_S)
#define FOLLOW_UP_BASE_NS (60 * NS_PER_S)
#define FOLLOW_UP_RANGE_NS (300 * NS_PER_S)
#define CANCEL_MAX 728u // evaluations per command

#define CANCELED_BY_NEWER "canceled after more recent eval was processed"

struct housekeeping {
	struct pipeline *pipeline;
	pthread_t thread;
	bool is_running;
	pthread_mutex_t mutex;
	pthread_cond_t kicked;
	bool has_kick;
	struct prng prng;
	uint64_t next_unblock_ns, next_prune_ns, next_gc_ns, next_trim_ns; // 0: not begun
};

// The stored evaluation with another status; NULL when it has ended.
static struct evaluation *ended_version(struct housekeeping *w, const struct uuid *id,
	enum eval_status status, const char *description)
{
	struct pipeline *p = w->pipeline;
	struct evaluation *e = NULL;

	state_read_begin();
	const struct evaluation *stored = state_evaluation(p->settings.state, id);
	if (stored && !evaluation_is_terminal(stored))
		e = evaluation_copy(stored);
	state_read_end();
	if (!e)
		return NULL;
	free(e->status_description);
	e->status = status;
	e->status_description = text_copy(text_of(description));
	int64_t now_ns = (int64_t)time_wall_ns(p->settings.time);
	e->modify_time_ns = now_ns > e->create_time_ns ? now_ns : e->create_time_ns + 1;
	return e;
}

static void free_all(struct evaluation **evals, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		evaluation_free(evals[i]);
}

static bool cancel_needless(struct housekeeping *w)
{
	struct evaluation *taken[CANCEL_MAX], *canceled[CANCEL_MAX];
	struct pipeline *p = w->pipeline;
	uint32_t count = broker_take_cancelable(p->broker, taken, CANCEL_MAX), ended = 0;

	for (uint32_t i = 0; i < count; i++) {
		canceled[ended] = ended_version(w, &taken[i]->id, EVAL_CANCELED, CANCELED_BY_NEWER);
		ended += canceled[ended] != NULL;
	}
	int error = ended > 0 ? pipeline_store(p, canceled, ended, false) : 0;
	// Refused: they go back to the broker, which will find them needless again.
	for (uint32_t i = 0; error != 0 && i < count; i++)
		broker_enqueue(p->broker, taken[i], 0);
	free_all(taken, count);
	return count > 0 && error == 0;
}

static bool cancel_duplicates(struct housekeeping *w)
{
	struct evaluation *taken[CANCEL_MAX], *canceled[CANCEL_MAX];
	struct pipeline *p = w->pipeline;
	uint32_t count = blocked_take_duplicates(p->blocked, taken, CANCEL_MAX), ended = 0;

	for (uint32_t i = 0; i < count; i++) {
		char text[512];
		snprintf(text, sizeof text, "existing blocked evaluation exists for job \"%s\"",
			taken[i]->job_id ? taken[i]->job_id : "");
		canceled[ended] = ended_version(w, &taken[i]->id, EVAL_CANCELED, text);
		ended += canceled[ended] != NULL;
	}
	int error = ended > 0 ? pipeline_store(p, canceled, ended, false) : 0;
	for (uint32_t i = 0; error != 0 && i < count; i++)
		blocked_add(p->blocked, taken[i], 0);
	free_all(taken, count);
	return count > 0 && error == 0;
}

static struct evaluation *follow_up(struct housekeeping *w, const struct evaluation *failed)
{
	struct evaluation *e = evaluation_create();

	e->id = prng_uuid(&w->prng);
	e->namespace_name = text_copy(text_of(failed->namespace_name));
	e->job_id = text_copy(text_of(failed->job_id));
	e->priority = failed->priority;
	e->type = failed->type;
	e->triggered_by = TRIGGER_FAILED_FOLLOW_UP;
	e->job_modify_index = failed->job_modify_index;
	e->status = EVAL_PENDING;
	e->wait_ns = (int64_t)(FOLLOW_UP_BASE_NS + prng_below(&w->prng, FOLLOW_UP_RANGE_NS));
	e->previous_eval = failed->id;
	e->create_time_ns = e->modify_time_ns = failed->modify_time_ns;
	return e;
}

static int fail_evaluation(struct housekeeping *w, const struct evaluation *delivered)
{
	struct pipeline *p = w->pipeline;
	struct evaluation *pair[2];
	char text[64], id[UUID_TEXT_BYTES];

	snprintf(text, sizeof text, "evaluation reached delivery limit (%u)",
		PIPELINE_DELIVERY_LIMIT);
	pair[0] = ended_version(w, &delivered->id, EVAL_FAILED, text);
	if (!pair[0])
		return 0;
	pair[1] = follow_up(w, pair[0]);
	pair[0]->next_eval = pair[1]->id;
	log_warn("evaluation-failed", "eval=%s reason=\"%s\"", uuid_format(&delivered->id, id),
		text);
	return pipeline_store(p, pair, 2, false);
}

// B35. What cannot be stored stays failed until the next turn.
static bool reap_failed(struct housekeeping *w)
{
	struct pipeline *p = w->pipeline;
	struct evaluation *e;
	uint64_t token;
	bool reaped = false;
	int error = 0;

	while (error == 0 && (e = broker_take_failed(p->broker, &token))) {
		error = e->type == EVAL_CORE ? 0 : fail_evaluation(w, e);
		if (error == 0)
			(void)broker_ack(p->broker, &e->id, token);
		else
			(void)broker_nack(p->broker, &e->id, token);
		evaluation_free(e);
		reaped |= error == 0;
	}
	return reaped;
}

// True once per period, first one period after the first call.
static bool is_period_over(uint64_t *next_ns, uint64_t now_ns, uint64_t period_ns)
{
	bool due = *next_ns != 0 && now_ns >= *next_ns;

	if (due || *next_ns == 0)
		*next_ns = now_ns + period_ns;
	return due;
}

static void enqueue_core(struct housekeeping *w)
{
	for (uint32_t i = 0; core_jobs[i]; i++) {
		struct evaluation *e = core_evaluation(core_jobs[i], &w->prng);
		broker_enqueue(w->pipeline->broker, e, 0);
		evaluation_free(e);
	}
}

static bool run_schedule(struct housekeeping *w)
{
	struct pipeline *p = w->pipeline;
	uint64_t now_ns = time_monotonic_ns(p->settings.time);
	bool unblock = is_period_over(&w->next_unblock_ns, now_ns, UNBLOCK_FAILED_NS);
	bool prune = is_period_over(&w->next_prune_ns, now_ns, PRUNE_NS);
	bool gc = is_period_over(&w->next_gc_ns, now_ns, (uint64_t)p->settings.gc_interval_ns);

	if (is_period_over(&w->next_trim_ns, now_ns, TRIM_NS))
		slab_trim();
	if (unblock)
		blocked_unblock_failed(p->blocked);
	if (prune)
		blocked_prune(p->blocked);
	if (gc)
		enqueue_core(w);
	return unblock || prune || gc;
}

bool housekeeping_turn(struct housekeeping *w)
{
	struct pipeline *p = w->pipeline;
	bool did = pipeline_follow_config(p);

	(void)broker_tick(p->broker);
	did |= reap_failed(w);
	while (cancel_needless(w))
		did = true;
	while (cancel_duplicates(w))
		did = true;
	return run_schedule(w) || did;
}

static void housekeeping_rest(struct housekeeping *w)
{
	struct pipeline *p = w->pipeline;
	uint64_t until_ns = time_monotonic_ns(p->settings.time) + TURN_NS;
	uint64_t due_ns = broker_tick(p->broker);

	until_ns = due_ns < until_ns ? due_ns : until_ns;
	struct timespec at = {(time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S)};
	pthread_mutex_lock(&w->mutex);
	if (!w->has_kick)
		(void)pthread_cond_timedwait(&w->kicked, &w->mutex, &at);
	w->has_kick = false;
	pthread_mutex_unlock(&w->mutex);
}

static void *housekeeping_main(void *argument)
{
	struct housekeeping *w = argument;

	while (!submitter_is_stopping(w->pipeline->submitter)) {
		(void)housekeeping_turn(w);
		housekeeping_rest(w);
	}
	return NULL;
}

void housekeeping_kick(struct housekeeping *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->mutex);
	w->has_kick = true;
	pthread_cond_signal(&w->kicked);
	pthread_mutex_unlock(&w->mutex);
}

void housekeeping_look(struct housekeeping *w)
{
	if (w && (broker_has_chores(w->pipeline->broker) ||
			 blocked_has_duplicates(w->pipeline->blocked)))
		housekeeping_kick(w);
}

struct housekeeping *housekeeping_create(struct pipeline *p)
{
	struct housekeeping *w = memory_take(sizeof *w);
	pthread_condattr_t monotonic;

	w->pipeline = p;
	if (p->settings.seed)
		prng_seed(&w->prng, ~p->settings.seed);
	else
		prng_seed_from_system(&w->prng);
	pthread_mutex_init(&w->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->kicked, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return w;
}

// What is larger goes back to the system as soon as it is free, and so does what is free at the heap's end. By itself
// the heap raises both to what the largest piece took, and a burst's memory stays.
static void keep_little_heap(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, HEAP_BYTES_KEPT);
	(void)mallopt(M_TRIM_THRESHOLD, HEAP_BYTES_KEPT);
}

int housekeeping_start(struct housekeeping *w)
{
	keep_little_heap();
	int error = -pthread_create(&w->thread, NULL, housekeeping_main, w);

	if (error != 0)
		return error;
	w->is_running = true;
	(void)pthread_setname_np(w->thread, "housekeeping");
	return 0;
}

void housekeeping_join(struct housekeeping *w)
{
	if (w && w->is_running) {
		CHECK(pthread_join(w->thread, NULL) == 0);
		w->is_running = false;
	}
}

void housekeeping_destroy(struct housekeeping *w)
{
	if (!w)
		return;
	CHECK(!w->is_running);
	pthread_cond_destroy(&w->kicked);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}
