#include "tools/agent/service/ask_runner.h"
#include "state/base/check.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

// Lives on the stack of who waits.
struct question {
	ask_runner_function *function;
	void *context;
	enum { QUESTION_WAITS, QUESTION_RUNS, QUESTION_DONE, QUESTION_REFUSED } stage;
	struct question *next;
};

struct ask_runner {
	pthread_mutex_t lock;
	pthread_cond_t served; // broadcast: there are few who wait
	struct question *first, **end;
	bool is_closed;
	int fd;
};

struct ask_runner *ask_runner_create(void)
{
	int fd = CAN_FAIL(SERVICE_MAILBOX, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	pthread_condattr_t attributes;
	if (fd < 0)
		return NULL;
	struct ask_runner *a = memory_take(sizeof *a);
	a->fd = fd;
	a->end = &a->first;
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&a->served, &attributes);
	pthread_condattr_destroy(&attributes);
	return a;
}

void ask_runner_destroy(struct ask_runner *a)
{
	if (!a)
		return;
	CHECK(!a->first);
	pthread_cond_destroy(&a->served);
	pthread_mutex_destroy(&a->lock);
	close(a->fd);
	free(a);
}

int ask_runner_fd(const struct ask_runner *a)
{
	return a->fd;
}

static void wake_main(const struct ask_runner *a)
{
	CHECK(eventfd_write(a->fd, 1) == 0); // there are no 2^64 who ask
}

// With the lock held. NULL: nobody waits.
static struct question *take_first(struct ask_runner *a)
{
	struct question *q = a->first;
	if (!q)
		return NULL;
	a->first = q->next;
	if (!a->first)
		a->end = &a->first;
	return q;
}

void ask_runner_serve(struct ask_runner *a, struct runner *runner)
{
	struct question *q;
	eventfd_t count;
	pthread_mutex_lock(&a->lock);
	while ((q = take_first(a)) != NULL) {
		q->stage = QUESTION_RUNS;
		pthread_mutex_unlock(&a->lock);
		q->function(runner, q->context);
		pthread_mutex_lock(&a->lock);
		q->stage = QUESTION_DONE;
		pthread_cond_broadcast(&a->served);
	}
	// All who woke this thread are served, also those who came meanwhile.
	(void)eventfd_read(a->fd, &count); // nobody asked: it stays as it is
	pthread_mutex_unlock(&a->lock);
}

void ask_runner_close(struct ask_runner *a)
{
	struct question *q;
	pthread_mutex_lock(&a->lock);
	a->is_closed = true;
	while ((q = take_first(a)) != NULL)
		q->stage = QUESTION_REFUSED;
	pthread_cond_broadcast(&a->served);
	pthread_mutex_unlock(&a->lock);
}

// With the lock held: takes a question that was not begun back.
static void withdraw(struct ask_runner *a, const struct question *q)
{
	struct question **link = &a->first;
	while (*link && *link != q)
		link = &(*link)->next;
	CHECK(*link == q);
	*link = q->next;
	if (!*link)
		a->end = link;
}

static struct timespec in_ms(uint32_t ms)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += (long)(ms % 1000) * (long)NS_PER_MS;
	if (t.tv_nsec >= (long)NS_PER_S) {
		t.tv_sec++;
		t.tv_nsec -= (long)NS_PER_S;
	}
	return t;
}

int ask_runner(
	struct ask_runner *a, ask_runner_function *function, void *context, uint32_t timeout_ms)
{
	struct question q = {.function = function, .context = context, .stage = QUESTION_WAITS};
	struct timespec until = in_ms(timeout_ms);
	int result = 0;
	pthread_mutex_lock(&a->lock);
	if (a->is_closed) {
		pthread_mutex_unlock(&a->lock);
		return -ESHUTDOWN;
	}
	*a->end = &q;
	a->end = &q.next;
	wake_main(a);
	while (q.stage == QUESTION_WAITS && result == 0)
		result = -pthread_cond_timedwait(&a->served, &a->lock, &until);
	// What has begun ends soon, and uses what is on this stack until then.
	while (q.stage == QUESTION_RUNS)
		pthread_cond_wait(&a->served, &a->lock);
	if (q.stage == QUESTION_WAITS)
		withdraw(a, &q);
	else
		result = q.stage == QUESTION_DONE ? 0 : -ESHUTDOWN;
	pthread_mutex_unlock(&a->lock);
	return result;
}
