#include "placement/pipeline/desks.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <pthread.h>
#include <stdlib.h>
#include <urcu/list.h>

// Placements on their way, above which nothing is decided ahead: the applier has enough to do, and each takes memory.
#define PLACEMENTS_AHEAD 16384u

struct desk_wait {
	struct cds_list_head link;
	int64_t priority;
	struct fleet_mirror *desk; // NULL: waits
	pthread_cond_t given;
};

struct desks {
	pthread_mutex_t mutex;
	struct cds_list_head waiting; // struct desk_wait, in the order in which they are served
	uint32_t waiting_count, count, free_count;
	struct fleet_mirror *
		*free;       // the one that was used last, whose index is the newest, at the end
	uint32_t plans;      // on their way
	uint64_t placements; // of these plans
};

struct desks *desks_create(const struct state *state, struct claims *claims, uint32_t count)
{
	struct desks *d = memory_take(sizeof *d);

	pthread_mutex_init(&d->mutex, NULL);
	CDS_INIT_LIST_HEAD(&d->waiting);
	d->free = memory_take_array(count, sizeof *d->free);
	for (; d->count < count; d->count++)
		d->free[d->count] = fleet_mirror_create(state, claims);
	d->free_count = count;
	return d;
}

void desks_destroy(struct desks *d)
{
	if (!d)
		return;
	CHECK(d->free_count == d->count && d->plans == 0);
	for (uint32_t i = 0; i < d->count; i++)
		fleet_mirror_destroy(d->free[i]);
	free(d->free);
	pthread_mutex_destroy(&d->mutex);
	free(d);
}

static bool may_decide(const struct desks *d)
{
	uint32_t in_work = d->count - d->free_count + d->plans;

	return d->free_count > 0 && (in_work < d->count || d->placements < PLACEMENTS_AHEAD);
}

static void serve_waiting(struct desks *d)
{
	while (!cds_list_empty(&d->waiting) && may_decide(d)) {
		struct desk_wait *first = cds_list_first_entry(&d->waiting, struct desk_wait, link);
		cds_list_del(&first->link);
		d->waiting_count--;
		first->desk = d->free[--d->free_count];
		pthread_cond_signal(&first->given);
	}
}

static void wait_in_line(struct desks *d, struct desk_wait *w)
{
	struct desk_wait *last;

	cds_list_for_each_entry_reverse(
		last, &d->waiting, link) if (last->priority >= w->priority) break;
	cds_list_add(&w->link, &last->link);
	d->waiting_count++;
	serve_waiting(d);
	while (!w->desk)
		pthread_cond_wait(&w->given, &d->mutex);
}

struct fleet_mirror *desks_take(struct desks *d, int64_t priority)
{
	struct desk_wait w = {.priority = priority, .given = PTHREAD_COND_INITIALIZER};

	pthread_mutex_lock(&d->mutex);
	wait_in_line(d, &w);
	pthread_mutex_unlock(&d->mutex);
	return w.desk;
}

void desks_give(struct desks *d, struct fleet_mirror *desk)
{
	pthread_mutex_lock(&d->mutex);
	CHECK(d->free_count < d->count);
	d->free[d->free_count++] = desk;
	serve_waiting(d);
	pthread_mutex_unlock(&d->mutex);
}

void desks_plan_begins(struct desks *d, uint32_t placements)
{
	pthread_mutex_lock(&d->mutex);
	d->plans++;
	d->placements += placements;
	pthread_mutex_unlock(&d->mutex);
}

void desks_plan_ends(struct desks *d, uint32_t placements)
{
	pthread_mutex_lock(&d->mutex);
	CHECK(d->plans > 0 && d->placements >= placements);
	d->plans--;
	d->placements -= placements;
	serve_waiting(d);
	pthread_mutex_unlock(&d->mutex);
}

uint32_t desks_waiting(struct desks *d)
{
	pthread_mutex_lock(&d->mutex);
	uint32_t count = d->waiting_count;
	pthread_mutex_unlock(&d->mutex);
	return count;
}
