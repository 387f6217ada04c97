#include "bench/harness/census.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/allocation.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PATIENCE_MS 300000u

static bool is_healthy(const struct allocation *a)
{
	const struct alloc_deployment_status *health = a ? allocation_health(a) : NULL;
	return health && health->healthy.set && health->healthy.value;
}

static void note(struct census *c, const struct allocation *a, bool stops)
{
	if (!c->notes)
		return;
	if (c->noted_count == c->noted_room) {
		c->noted_room = c->noted_room ? 2 * c->noted_room : 1024;
		c->noted = memory_resize(c->noted, c->noted_room * sizeof *c->noted);
	}
	c->noted[c->noted_count++] = (struct census_note){a->id, a->node_slot, stops};
}

static void count_life(struct census *c, const struct allocation *a, bool began, bool ended)
{
	bool is_doomed = c->dead && a->node_slot != NODE_SLOT_NONE && c->dead[a->node_slot];

	c->placed += began;
	c->ended += ended;
	c->doomed += is_doomed && began;
	c->doomed -= is_doomed && ended;
}

static void count_allocation(
	struct census *c, const struct allocation *before, const struct allocation *after)
{
	count_life(c, after, before == NULL,
		allocation_is_terminal(after) && !(before && allocation_is_terminal(before)));
	c->healthy += is_healthy(after) && !is_healthy(before);
	c->lost += after->client_status == ALLOC_LOST &&
		   !(before && before->client_status == ALLOC_LOST);
	if (!before)
		note(c, after, false);
	else if (before->desired == ALLOC_RUN && after->desired != ALLOC_RUN &&
		 after->client_status <= ALLOC_RUNNING)
		note(c, after, true);
}

static void observe(
	void *context, const struct state_change *changes, uint32_t count, uint64_t index)
{
	struct census *c = context;

	pthread_mutex_lock(&c->mutex);
	for (uint32_t i = 0; i < count; i++)
		if (changes[i].table == STATE_ALLOCATIONS && !changes[i].after->deleted)
			count_allocation(c, (const struct allocation *)changes[i].before,
				(const struct allocation *)changes[i].after);
	if (c->placed - c->ended > c->living_most)
		c->living_most = c->placed - c->ended;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->mutex);
}

void census_init(struct census *c, bool notes)
{
	*c = (struct census){.observer = {.changed = observe, .context = c}, .notes = notes};
	pthread_mutex_init(&c->mutex, NULL);
	pthread_cond_init(&c->changed, NULL);
}

void census_free(struct census *c)
{
	free(c->noted);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->mutex);
}

uint64_t census_read(struct census *c, const uint64_t *counter)
{
	pthread_mutex_lock(&c->mutex);
	uint64_t value = *counter;
	pthread_mutex_unlock(&c->mutex);
	return value;
}

static struct timespec from_now(uint64_t ms)
{
	struct timespec at;

	CHECK(clock_gettime(CLOCK_REALTIME, &at) == 0);
	uint64_t ns = (uint64_t)at.tv_nsec + ms * 1000000;
	return (struct timespec){at.tv_sec + (time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

static void wait_until(struct census *c, const struct timespec *until)
{
	if (pthread_cond_timedwait(&c->changed, &c->mutex, until) != ETIMEDOUT)
		return;
	fprintf(stderr,
		"bench: nothing comes on: %llu allocations placed, %llu ended, %llu lost, %llu on "
		"dead nodes\n",
		(unsigned long long)c->placed, (unsigned long long)c->ended,
		(unsigned long long)c->lost, (unsigned long long)c->doomed);
	exit(1);
}

void census_await(struct census *c, const uint64_t *counter, uint64_t target)
{
	struct timespec until = from_now(PATIENCE_MS);

	pthread_mutex_lock(&c->mutex);
	while (*counter < target)
		wait_until(c, &until);
	pthread_mutex_unlock(&c->mutex);
}

void census_await_moved(struct census *c, uint64_t living)
{
	struct timespec until = from_now(PATIENCE_MS);

	pthread_mutex_lock(&c->mutex);
	while (c->doomed > 0 || c->placed - c->ended != living)
		wait_until(c, &until);
	pthread_mutex_unlock(&c->mutex);
}

void census_doze(struct census *c)
{
	struct timespec until = from_now(1);

	pthread_mutex_lock(&c->mutex);
	(void)pthread_cond_timedwait(&c->changed, &c->mutex, &until);
	pthread_mutex_unlock(&c->mutex);
}

void census_mark(struct census *c, const bool *dead, uint64_t doomed)
{
	pthread_mutex_lock(&c->mutex);
	c->dead = dead;
	c->doomed = doomed;
	pthread_mutex_unlock(&c->mutex);
}

static int by_slot(const void *a, const void *b)
{
	const struct census_note *one = a, *other = b;
	return (one->slot > other->slot) - (one->slot < other->slot);
}

struct census_note *census_take(struct census *c, uint32_t *count)
{
	pthread_mutex_lock(&c->mutex);
	struct census_note *noted = c->noted;
	*count = c->noted_count;
	c->noted = NULL;
	c->noted_count = c->noted_room = 0;
	pthread_mutex_unlock(&c->mutex);
	if (*count > 0)
		qsort(noted, *count, sizeof *noted, by_slot);
	return noted;
}
