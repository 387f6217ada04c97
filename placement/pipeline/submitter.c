#include "placement/pipeline/submitter.h"
#include "state/base/backoff.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

// While the applier's ring is full.
#define FULL_BASE_NS NS_PER_MS
#define FULL_CAP_NS (100 * NS_PER_MS)

struct submitter {
	struct submitter_settings settings;
	pthread_mutex_t mutex;
	pthread_cond_t stopping;
	bool is_stopping;
};

struct submitter *submitter_create(const struct submitter_settings *settings)
{
	struct submitter *s = memory_take(sizeof *s);
	pthread_condattr_t monotonic;

	s->settings = *settings;
	pthread_mutex_init(&s->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->stopping, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return s;
}

void submitter_destroy(struct submitter *s)
{
	if (!s)
		return;
	pthread_cond_destroy(&s->stopping);
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

void submitter_stop(struct submitter *s)
{
	pthread_mutex_lock(&s->mutex);
	s->is_stopping = true;
	pthread_cond_broadcast(&s->stopping);
	pthread_mutex_unlock(&s->mutex);
}

bool submitter_is_stopping(struct submitter *s)
{
	pthread_mutex_lock(&s->mutex);
	bool stopping = s->is_stopping;
	pthread_mutex_unlock(&s->mutex);
	return stopping;
}

bool submitter_sleep(struct submitter *s, int64_t ns)
{
	uint64_t until_ns = time_monotonic_ns(s->settings.time) + (uint64_t)ns;
	struct timespec at = {(time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S)};
	int waited = 0;

	pthread_mutex_lock(&s->mutex);
	while (!s->settings.step && !s->is_stopping && waited == 0)
		waited = pthread_cond_timedwait(&s->stopping, &s->mutex, &at);
	bool goes_on = !s->is_stopping;
	pthread_mutex_unlock(&s->mutex);
	return goes_on;
}

int outcome_error(enum command_outcome outcome)
{
	switch (outcome) {
	case OUTCOME_DONE: return 0;
	case OUTCOME_STOPPING: return -ERROR_STOPPING;
	case OUTCOME_STORE_FULL: return -ERROR_STORE_FULL;
	case OUTCOME_TABLE_FULL: return -ERROR_TABLE_FULL;
	case OUTCOME_CONFLICT: return -ERROR_CONFLICT;
	case OUTCOME_UNKNOWN_JOB: return -ERROR_NOT_FOUND;
	default: return -EINVAL;
	}
}

// Under the mutex, so that no push follows the stop.
static int push_command(struct submitter *s, struct command *c)
{
	int error = 0;

	pthread_mutex_lock(&s->mutex);
	if (s->is_stopping)
		error = -ERROR_STOPPING;
	else if (c->type == COMMAND_PLAN)
		error = plan_queue_push(s->settings.plans, c);
	else if (!command_queue_push(s->settings.queue, COMMAND_PRODUCER_SHARED, c))
		error = -ERROR_QUEUE_FULL;
	pthread_mutex_unlock(&s->mutex);
	return error;
}

int submitter_send(struct submitter *s, struct command *c)
{
	struct backoff full = {0};
	int error;

	c->submitted_ns = time_monotonic_ns(s->settings.time);
	while ((error = push_command(s, c)) == -ERROR_QUEUE_FULL) {
		if (s->settings.step)
			s->settings.step(s->settings.step_context);
		else // the push says that the submitter stops
			(void)submitter_sleep(s, backoff_next_ns(&full, FULL_BASE_NS, FULL_CAP_NS));
	}
	return error;
}

struct awaited {
	sem_t semaphore;
	bool is_done;
};

static void awaited_done(struct command *c)
{
	struct awaited *awaited = c->context;

	awaited->is_done = true;
	CHECK(sem_post(&awaited->semaphore) == 0);
}

static void await_command(struct submitter *s, struct awaited *awaited)
{
	while (s->settings.step && !awaited->is_done)
		s->settings.step(s->settings.step_context);
	while (sem_wait(&awaited->semaphore) != 0)
		CHECK(errno == EINTR);
}

int submitter_run(struct submitter *s, struct command *c)
{
	struct awaited awaited = {.is_done = false};

	CHECK(sem_init(&awaited.semaphore, 0, 0) == 0);
	c->done = awaited_done;
	c->context = &awaited;
	int error = submitter_send(s, c);
	if (error == 0) {
		await_command(s, &awaited);
		error = outcome_error(c->outcome);
	}
	sem_destroy(&awaited.semaphore);
	return error;
}

int submitter_run_plan(struct submitter *s, struct command *c)
{
	CHECK(c->type == COMMAND_PLAN);
	int error = submitter_run(s, c);
	return error == -ERROR_STOPPING && !submitter_is_stopping(s) ? -ERROR_PLANS_FLUSHED : error;
}
