#include "state/cluster/own_store.h"
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STORE_AGAIN_NS NS_PER_S
// Nobody waits for this store, but somebody may for what it would keep the disk and a processor from: who waits for the
// answer to the batch, and an etcd beside it.
#define CALM_NS (10 * NS_PER_MS)

struct waiting {
	struct waiting *next;
	uint64_t put_ns;
	uint64_t first_index;
	uint32_t indexes, size;
	uint8_t batch[];
};

struct own_store {
	struct command_log log;
	void (*failed)(void *context, int error);
	void *context;
	pthread_t thread;
	bool is_running;
	pthread_mutex_t lock; // guards the rest down to the blank line
	pthread_cond_t changed, stops;
	struct waiting *first; // by index
	bool has_no_room, is_in_hurry, is_stopping;

	_Atomic uint64_t behind_bytes;
	_Atomic uint64_t index;
};

struct own_store *own_store_create(
	struct command_log log, void (*failed)(void *context, int error), void *context)
{
	struct own_store *s = memory_take(sizeof *s);
	pthread_condattr_t attributes;

	s->log = log;
	s->failed = failed;
	s->context = context;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &attributes);
	pthread_cond_init(&s->stops, &attributes);
	pthread_condattr_destroy(&attributes);
	return s;
}

void own_store_destroy(struct own_store *s)
{
	if (!s)
		return;
	CHECK(!s->is_running);
	for (struct waiting *w = s->first, *next; w; w = next) {
		next = w->next;
		free(w);
	}
	pthread_cond_destroy(&s->changed);
	pthread_cond_destroy(&s->stops);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

// Under the lock.
static bool has_next(const struct own_store *s)
{
	return s->first && s->first->first_index == atomic_load(&s->index) + 1;
}

static void wait_until(struct own_store *s, uint64_t monotonic_ns)
{
	struct timespec until = {
		(time_t)(monotonic_ns / NS_PER_S), (long)(monotonic_ns % NS_PER_S)};

	while (!s->is_stopping && pthread_cond_timedwait(&s->stops, &s->lock, &until) != ETIMEDOUT)
		;
}

// Blocks until the next one is there and was for a moment; NULL: the end.
static struct waiting *take_next(struct own_store *s)
{
	pthread_mutex_lock(&s->lock);
	while (!has_next(s) && !s->is_stopping)
		pthread_cond_wait(&s->changed, &s->lock);
	struct waiting *w = has_next(s) ? s->first : NULL;
	if (w) {
		s->first = w->next;
		wait_until(s, w->put_ns + CALM_NS);
	}
	pthread_mutex_unlock(&s->lock);
	return w;
}

// Returns whether it is to be tried again: not at the end.
static bool wait_for_room(struct own_store *s, const struct waiting *w)
{
	log_warn("log-full",
		"index=%" PRIu64 " action=\"free disk space; it is tried again every second\"",
		w->first_index);
	pthread_mutex_lock(&s->lock);
	s->has_no_room = true;
	wait_until(s, time_monotonic_ns(&time_source_real) + STORE_AGAIN_NS);
	bool is_stopping = s->is_stopping;
	pthread_mutex_unlock(&s->lock);
	return !is_stopping;
}

static int append_patiently(struct own_store *s, const struct waiting *w)
{
	int error;

	do
		error = s->log.append(
			s->log.context, w->first_index, w->indexes, w->batch, w->size);
	while (error == -ENOSPC && wait_for_room(s, w));
	return error;
}

static void note_written(struct own_store *s, const struct waiting *w)
{
	pthread_mutex_lock(&s->lock);
	atomic_store(&s->index, w->first_index + w->indexes - 1);
	atomic_fetch_sub(&s->behind_bytes, w->size);
	s->has_no_room = false;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static void *write_behind(void *context)
{
	struct own_store *s = context;
	struct waiting *w;
	int error = 0;

	while (error == 0 && (w = take_next(s))) {
		error = append_patiently(s, w);
		if (error == 0)
			note_written(s, w);
		free(w);
	}
	if (error != 0 && error != -ENOSPC)
		s->failed(s->context, error);
	return NULL;
}

int own_store_start(struct own_store *s, uint64_t index)
{
	atomic_store(&s->index, index);
	int error = pthread_create(&s->thread, NULL, write_behind, s);

	if (error != 0)
		return -error;
	s->is_running = true;
	(void)pthread_setname_np(s->thread, "cluster-store");
	return 0;
}

void own_store_hurry(struct own_store *s)
{
	pthread_mutex_lock(&s->lock);
	s->is_in_hurry = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

void own_store_stop(struct own_store *s)
{
	pthread_mutex_lock(&s->lock);
	s->is_in_hurry = s->is_stopping = true;
	pthread_cond_broadcast(&s->changed);
	pthread_cond_broadcast(&s->stops);
	pthread_mutex_unlock(&s->lock);
	if (s->is_running)
		CHECK(pthread_join(s->thread, NULL) == 0);
	s->is_running = false;
}

int own_store_await_room(struct own_store *s, bool is_patient)
{
	int error = 0;

	pthread_mutex_lock(&s->lock);
	while (error == 0 &&
		(s->has_no_room || atomic_load(&s->behind_bytes) > OWN_STORE_BEHIND_BYTES)) {
		if (s->is_in_hurry)
			error = -ECANCELED;
		else if (s->has_no_room && !is_patient)
			error = -ENOSPC;
		else
			pthread_cond_wait(&s->changed, &s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return error;
}

void own_store_put(struct own_store *s, uint64_t first_index, uint32_t indexes, const void *batch,
	uint32_t size)
{
	struct waiting *w = memory_take(sizeof *w + size);

	*w = (struct waiting){.put_ns = time_monotonic_ns(&time_source_real),
		.first_index = first_index,
		.indexes = indexes,
		.size = size};
	memcpy(w->batch, batch, size);
	atomic_fetch_add(&s->behind_bytes, size);
	pthread_mutex_lock(&s->lock);
	struct waiting **at = &s->first;
	while (*at && (*at)->first_index < first_index)
		at = &(*at)->next;
	CHECK(!*at || (*at)->first_index >= first_index + indexes);
	w->next = *at;
	*at = w;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

uint64_t own_store_index(const struct own_store *s)
{
	return atomic_load(&s->index);
}

int64_t own_store_room_bytes(const struct own_store *s)
{
	return s->log.room_bytes(s->log.context) - (int64_t)atomic_load(&s->behind_bytes);
}
