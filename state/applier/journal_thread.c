#include "state/applier/journal_thread.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
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
// An append that takes longer is said: every write waits for it.
#define SLOW_US US_PER_S

struct journal_thread {
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
	const struct batch *batch; // under the lock, while BUSY
	bool is_stopping;          // under the lock
	// Written under the lock, or by the applier when it is not BUSY.
	_Atomic enum journal_thread_status status;
	_Atomic bool has_no_room;
	_Atomic uint64_t deadline_ns; // 0: none
	_Atomic uint64_t began_ns;    // of the append that is going on; 0: none is
};

struct journal_thread *journal_thread_create(struct command_log log, const struct time_source *time,
	struct command_queue *queue, struct applier_counters *counters,
	void (*log_failed)(void *context, int error), void *context)
{
	struct journal_thread *w = memory_take(sizeof *w);

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

void journal_thread_destroy(struct journal_thread *w)
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

// Reads, heartbeats and answers from the published state go on meanwhile, so that a slow disk looks like a controller
// that takes no writes.
static void note_slow(struct journal_thread *w, const struct batch *batch, uint64_t us)
{
	if (us < (uint64_t)SLOW_US)
		return;
	atomic_fetch_add(&w->counters->log_slow, 1);
	log_warn("log-slow", "index=%lu bytes=%zu ms=%lu consequence=\"writes wait\" action=\"%s\"",
		(unsigned long)batch->header.first_index, batch->bytes.size,
		(unsigned long)(us / 1000),
		w->log.is_remote ? "see how the machines are that keep the log"
				 : "see what else writes to the disk of data_dir");
}

int journal_thread_append(struct journal_thread *w, const struct batch *batch)
{
	uint64_t start = time_monotonic_ns(w->time);
	atomic_store(&w->began_ns, start);
	int error = w->log.append(w->log.context, batch->header.first_index, batch->header.indexes,
		batch->bytes.data, (uint32_t)batch->bytes.size);
	atomic_store(&w->began_ns, 0);
	uint64_t us = (time_monotonic_ns(w->time) - start) / 1000;

	note_slow(w, batch, us);
	atomic_store(&w->has_no_room, error == -ENOSPC);
	if (error == -ENOSPC) {
		atomic_fetch_add(&w->counters->log_waits, 1);
		log_warn("log-full",
			"index=%lu bytes=%zu action=\"free disk space; it is tried again every "
			"second\"",
			(unsigned long)batch->header.first_index, batch->bytes.size);
		return error;
	}
	if (error == -ECANCELED)
		log_warn("log-left", "index=%lu meaning=\"whether it is durable is not known\"",
			(unsigned long)batch->header.first_index);
	else if (error)
		log_error("log-failed", "index=%lu error=\"%s\"",
			(unsigned long)batch->header.first_index, error_text(error));
	if (error)
		return error;
	atomic_fetch_add(&w->counters->batches, 1);
	atomic_fetch_add(&w->counters->entries, batch->header.entries);
	atomic_fetch_add(&w->counters->batch_bytes, batch->bytes.size);
	atomic_fetch_add(&w->counters->journal_us[bucket_of(us)], 1);
	atomic_fetch_add(&w->counters->journal_us_sum, us);
	return 0;
}

static bool is_late(const struct journal_thread *w)
{
	uint64_t deadline = atomic_load(&w->deadline_ns);
	return deadline && time_monotonic_ns(w->time) >= deadline;
}

static int retry_in_ms(const struct journal_thread *w)
{
	uint64_t deadline = atomic_load(&w->deadline_ns);
	uint64_t now = time_monotonic_ns(w->time);

	if (!deadline)
		return RETRY_MS;
	uint64_t left_ms = deadline > now ? (deadline - now) / NS_PER_MS + 1 : 0;
	return left_ms < RETRY_MS ? (int)left_ms : RETRY_MS;
}

static enum journal_thread_status write_batch(struct journal_thread *w, const struct batch *batch)
{
	for (;;) {
		int error = journal_thread_append(w, batch);
		if (error == 0)
			return JOURNAL_DONE;
		if (error == -ECANCELED)
			return JOURNAL_GAVE_UP;
		if (error != -ENOSPC) {
			w->log_failed(w->context, error);
			return JOURNAL_FAILED;
		}
		if (is_late(w))
			return JOURNAL_GAVE_UP;
		struct pollfd hurry = {.fd = w->hurry_fd, .events = POLLIN};
		uint64_t unused;
		if (poll(&hurry, 1, retry_in_ms(w)) == 1 &&
			read(w->hurry_fd, &unused, sizeof unused) < 0)
			continue;
	}
}

static void set_status(struct journal_thread *w, enum journal_thread_status status)
{
	pthread_mutex_lock(&w->lock);
	atomic_store(&w->status, status);
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

static void *journal_run(void *argument)
{
	struct journal_thread *w = argument;

	for (;;) {
		pthread_mutex_lock(&w->lock);
		while (w->status != JOURNAL_BUSY && !w->is_stopping)
			pthread_cond_wait(&w->changed, &w->lock);
		const struct batch *batch = w->status == JOURNAL_BUSY ? w->batch : NULL;
		pthread_mutex_unlock(&w->lock);
		if (!batch)
			return NULL;
		set_status(w, write_batch(w, batch));
		command_queue_kick(w->queue);
	}
}

int journal_thread_start(struct journal_thread *w)
{
	w->is_stopping = false;
	int error = CAN_REFUSE(APPLIER_JOURNAL, pthread_create(&w->thread, NULL, journal_run, w));
	if (error)
		return -error;
	w->is_running = true;
	(void)pthread_setname_np(w->thread, "journal");
	return 0;
}

void journal_thread_stop(struct journal_thread *w)
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

void journal_thread_deadline(struct journal_thread *w, uint64_t monotonic_ns)
{
	uint64_t one = 1;

	atomic_store(&w->deadline_ns, monotonic_ns);
	CHECK(write(w->hurry_fd, &one, sizeof one) == sizeof one);
}

void journal_thread_hand_over(struct journal_thread *w, const struct batch *batch)
{
	CHECK(w->status == JOURNAL_IDLE);
	w->batch = batch;
	set_status(w, JOURNAL_BUSY);
}

// The thread of the journal sleeps meanwhile, so nobody is to be told of the status.
void journal_thread_write(struct journal_thread *w, const struct batch *batch)
{
	CHECK(w->status == JOURNAL_IDLE);
	int error = journal_thread_append(w, batch);
	if (error == -ENOSPC || error == -ECANCELED) {
		journal_thread_hand_over(w, batch);
		return;
	}
	if (error)
		w->log_failed(w->context, error);
	atomic_store(&w->status, error ? JOURNAL_FAILED : JOURNAL_DONE);
}

enum journal_thread_status journal_thread_status(const struct journal_thread *w)
{
	return atomic_load(&w->status);
}

void journal_thread_take_back(struct journal_thread *w)
{
	CHECK(w->status == JOURNAL_DONE || w->status == JOURNAL_GAVE_UP);
	atomic_store(&w->status, JOURNAL_IDLE);
}

void journal_thread_wait(struct journal_thread *w)
{
	pthread_mutex_lock(&w->lock);
	while (w->status == JOURNAL_BUSY)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

bool journal_thread_has_no_room(const struct journal_thread *w)
{
	return atomic_load(&w->has_no_room);
}

uint64_t journal_thread_began_ns(const struct journal_thread *w)
{
	return atomic_load(&w->began_ns);
}
