// Waiting for a newer state: sleepers on a futex, event loops on eventfds.
#include "state/tables/index_wait.h"
#include "state/base/check.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct index_wait {
	_Atomic uint32_t publications; // the futex
	_Atomic uint32_t sleepers;
	pthread_mutex_t lock; // of the eventfds
	_Atomic uint32_t fd_count;
	uint32_t fd_capacity;
	int *fds;
};

struct index_wait *index_wait_create(void)
{
	struct index_wait *w = memory_take(sizeof *w);
	pthread_mutex_init(&w->lock, NULL);
	return w;
}

void index_wait_destroy(struct index_wait *w)
{
	CHECK(w->sleepers == 0);
	pthread_mutex_destroy(&w->lock);
	free(w->fds);
	free(w);
}

static void wake_loops(struct index_wait *w)
{
	pthread_mutex_lock(&w->lock);
	for (uint32_t i = 0; i < w->fd_count; i++) {
		uint64_t one = 1;
		// The write fails only when the counter is full; the eventfd is readable then anyway.
		ssize_t written = write(w->fds[i], &one, sizeof one);
		(void)written;
	}
	pthread_mutex_unlock(&w->lock);
}

void index_wait_wake(struct index_wait *w)
{
	atomic_fetch_add(&w->publications, 1);
	if (atomic_load(&w->sleepers) > 0)
		(void)syscall(
			SYS_futex, &w->publications, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	if (atomic_load(&w->fd_count) > 0)
		wake_loops(w);
}

uint64_t state_index(const struct state *state)
{
	return atomic_load_explicit(&state->published_index, memory_order_acquire);
}

uint64_t state_table_index(const struct state *state, enum state_table table)
{
	CHECK(table < STATE_TABLES);
	return atomic_load_explicit(&state->table_index[table], memory_order_relaxed);
}

static void sleep_until_woken(struct index_wait *w, uint32_t seen, uint64_t left_ns)
{
	struct timespec timeout = {
		.tv_sec = (time_t)(left_ns / NS_PER_S),
		.tv_nsec = (long)(left_ns % NS_PER_S),
	};
	(void)syscall(SYS_futex, &w->publications, FUTEX_WAIT_PRIVATE, seen, &timeout, NULL, 0);
}

// The wake-up comes from this process, so the deadline is on the machine's own clock.
uint64_t state_wait(struct state *state, uint64_t index, uint32_t timeout_ms)
{
	CHECK(!state_is_reading());
	struct index_wait *w = state->index_wait;
	uint64_t deadline = time_monotonic_ns(&time_source_real) + timeout_ms * NS_PER_MS;

	atomic_fetch_add(&w->sleepers, 1);
	for (;;) {
		uint32_t seen = atomic_load(&w->publications);
		uint64_t now = time_monotonic_ns(&time_source_real);
		if (state_index(state) > index || now >= deadline)
			break;
		sleep_until_woken(w, seen, deadline - now);
	}
	atomic_fetch_sub(&w->sleepers, 1);
	return state_index(state);
}

int state_watch_fd(struct state *state)
{
	struct index_wait *w = state->index_wait;
	int fd = CAN_FAIL(HTTP_CHANGES, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));

	if (fd < 0)
		return -errno;
	pthread_mutex_lock(&w->lock);
	w->fds = memory_one_more(w->fds, w->fd_count, &w->fd_capacity, sizeof w->fds[0]);
	CHECK(w->fd_count < w->fd_capacity);
	w->fds[w->fd_count++] = fd;
	pthread_mutex_unlock(&w->lock);
	return fd;
}

void state_unwatch_fd(struct state *state, int fd)
{
	struct index_wait *w = state->index_wait;

	pthread_mutex_lock(&w->lock);
	for (uint32_t i = 0; i < w->fd_count; i++) {
		if (w->fds[i] != fd)
			continue;
		CHECK(w->fd_count > 0);
		w->fds[i] = w->fds[w->fd_count - 1];
		w->fd_count--;
		break;
	}
	pthread_mutex_unlock(&w->lock);
}
