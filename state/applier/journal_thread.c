#include "state/applier/journal_thread.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define RETRY_MS 1000

struct writer {
	struct command_log log;
	const struct time_source *time;
	struct command_queue *queue;
	struct applier_counters *counters;
	void (*log_failed)(void *context, int error);
	void *context;

	pthread_t thread;
	bool is_running;
	int hurry_fd; // readable once a deadline is set: ends a wait for room early
	pthread_mutex_t lock;
	pthread_cond_t changed;
	const struct batch *batch;         // under the lock, while BUSY
	bool is_stopping;                  // under the lock
	_Atomic enum writer_status status; // written under the lock
	_Atomic bool has_no_room;
	_Atomic uint64_t deadline_ns; // 0: none
};

struct writer *writer_create(struct command_log log, const struct time_source *time,
	struct command_queue *queue, struct applier_counters *counters,
	void (*log_failed)(void *context, int error), void *context)
{
	struct writer *w = memory_take(sizeof *w);

	w->log = log;
	w->time = time;
	w->queue = queue;
	w->counters = counters;
	w->log_failed = log_failed;
	w->context = context;
	w->hurry_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	CHECK(w->hurry_fd >= 0);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	return w;
}

void writer_destroy(struct writer *w)
{
	CHECK(!w->is_running);
	close(w->hurry_fd);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	free(w);
}

static uint32_t bucket_of(uint64_t us)
{
	uint32_t bucket = us ? 64 - (uint32_t)__builtin_clzll(us) : 0;
	return bucket < 32 ? bucket : 31;
}

int writer_append(struct writer *w, const struct batch *batch)
{
	uint64_t start = time_monotonic_ns(w->time);
	int error = w->log.append(w->log.context, batch->header.first_index, batch->header.indexes,
		batch->bytes.data, (uint32_t)batch->bytes.size);
	uint64_t us = (time_monotonic_ns(w->time) - start) / 1000;

	atomic_store(&w->has_no_room, error == -ENOSPC);
	if (error == -ENOSPC) {
		atomic_fetch_add(&w->counters->log_waits, 1);
		log_warn("log-full",
			"index=%lu bytes=%zu action=\"free disk space; it is tried again every "
			"second\"",
			(unsigned long)batch->header.first_index, batch->bytes.size);
		return error;
	}
	if (error) {
		log_error("log-failed", "index=%lu error=\"%s\"",
			(unsigned long)batch->header.first_index, error_text(error));
		return error;
	}
	atomic_fetch_add(&w->counters->batches, 1);
	atomic_fetch_add(&w->counters->entries, batch->header.entries);
	atomic_fetch_add(&w->counters->batch_bytes, batch->bytes.size);
	atomic_fetch_add(&w->counters->journal_us[bucket_of(us)], 1);
	atomic_fetch_add(&w->counters->journal_us_sum, us);
	return 0;
}

// --- The thread ----------------------------------------------------------------------------------

static bool is_late(const struct writer *w)
{
	uint64_t deadline = atomic_load(&w->deadline_ns);
	return deadline && time_monotonic_ns(w->time) >= deadline;
}

static int retry_in_ms(const struct writer *w)
{
	uint64_t deadline = atomic_load(&w->deadline_ns);
	uint64_t now = time_monotonic_ns(w->time);

	if (!deadline)
		return RETRY_MS;
	uint64_t left_ms = deadline > now ? (deadline - now) / NS_PER_MS + 1 : 0;
	return left_ms < RETRY_MS ? (int)left_ms : RETRY_MS;
}

static enum writer_status write_batch(struct writer *w, const struct batch *batch)
{
	for (;;) {
		int error = writer_append(w, batch);
		if (error == 0)
			return WRITER_DONE;
		if (error != -ENOSPC) {
			w->log_failed(w->context, error);
			return WRITER_FAILED;
		}
		if (is_late(w))
			return WRITER_GAVE_UP;
		struct pollfd hurry = {.fd = w->hurry_fd, .events = POLLIN};
		uint64_t unused;
		if (poll(&hurry, 1, retry_in_ms(w)) == 1 &&
			read(w->hurry_fd, &unused, sizeof unused) < 0)
			continue;
	}
}

static void set_status(struct writer *w, enum writer_status status)
{
	pthread_mutex_lock(&w->lock);
	atomic_store(&w->status, status);
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

static void *run(void *argument)
{
	struct writer *w = argument;

	for (;;) {
		pthread_mutex_lock(&w->lock);
		while (w->status != WRITER_BUSY && !w->is_stopping)
			pthread_cond_wait(&w->changed, &w->lock);
		const struct batch *batch = w->status == WRITER_BUSY ? w->batch : NULL;
		pthread_mutex_unlock(&w->lock);
		if (!batch)
			return NULL;
		set_status(w, write_batch(w, batch));
		command_queue_kick(w->queue);
	}
}

int writer_start(struct writer *w)
{
	w->is_stopping = false;
	int error = pthread_create(&w->thread, NULL, run, w);
	if (error)
		return -error;
	w->is_running = true;
	(void)pthread_setname_np(w->thread, "journal");
	return 0;
}

void writer_stop(struct writer *w)
{
	if (!w->is_running)
		return;
	pthread_mutex_lock(&w->lock);
	w->is_stopping = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	CHECK(pthread_join(w->thread, NULL) == 0);
	w->is_running = false;
}

void writer_deadline(struct writer *w, uint64_t monotonic_ns)
{
	uint64_t one = 1;

	atomic_store(&w->deadline_ns, monotonic_ns);
	CHECK(write(w->hurry_fd, &one, sizeof one) == sizeof one);
}

// --- The applier's side --------------------------------------------------------------------------

void writer_hand_over(struct writer *w, const struct batch *batch)
{
	CHECK(w->status == WRITER_IDLE);
	w->batch = batch;
	set_status(w, WRITER_BUSY);
}

enum writer_status writer_status(const struct writer *w)
{
	return atomic_load(&w->status);
}

void writer_take_back(struct writer *w)
{
	CHECK(w->status == WRITER_DONE || w->status == WRITER_GAVE_UP);
	atomic_store(&w->status, WRITER_IDLE);
}

void writer_wait(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	while (w->status == WRITER_BUSY)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

bool writer_has_no_room(const struct writer *w)
{
	return atomic_load(&w->has_no_room);
}
