#include "placement/pipeline/reschedules.h"
#include "placement/scheduler/common/allocation_facts.h"
#include "state/base/memory.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct reschedules {
	pthread_mutex_t mutex; // held to copy one gauge or all
	struct reschedule_gauge gauges[RESCHEDULES_MAX];
	uint32_t count;
};

struct reschedules *reschedules_create(void)
{
	struct reschedules *r = memory_take(sizeof *r);
	pthread_mutex_init(&r->mutex, NULL);
	return r;
}

void reschedules_destroy(struct reschedules *r)
{
	if (!r)
		return;
	pthread_mutex_destroy(&r->mutex);
	free(r);
}

static void copy_name(char to[static NAME_BYTES_MAX + 1], const char *from)
{
	snprintf(to, NAME_BYTES_MAX + 1, "%s", from ? from : "");
}

static void fill_gauge(
	struct reschedule_gauge *g, const struct reschedule_note *note, uint64_t now_ns)
{
	const struct allocation *a = note->allocation;
	*g = (struct reschedule_gauge){.allocation = a->id,
		.attempted = note->attempted,
		.limit = note->limit,
		.noted_ns = now_ns};
	if (note->follow_up) {
		g->follow_up = note->follow_up->id;
		g->wait_until_ns = note->follow_up->wait_until_ns;
	}
	copy_name(g->job, a->job->id);
	copy_name(g->namespace_name, a->job->namespace_name);
	copy_name(g->group, allocation_group(a)->name);
}

// The gauge of the allocation, else the next free one, else the oldest.
static struct reschedule_gauge *place_of(struct reschedules *r, const struct uuid *allocation)
{
	struct reschedule_gauge *oldest = &r->gauges[0];
	for (uint32_t i = 0; i < r->count; i++) {
		if (uuid_equal(&r->gauges[i].allocation, allocation))
			return &r->gauges[i];
		if (r->gauges[i].noted_ns < oldest->noted_ns)
			oldest = &r->gauges[i];
	}
	return r->count < RESCHEDULES_MAX ? &r->gauges[r->count++] : oldest;
}

void reschedules_note(struct reschedules *r, const struct reschedule_note *note, uint64_t now_ns)
{
	struct reschedule_gauge gauge;
	fill_gauge(&gauge, note, now_ns);
	pthread_mutex_lock(&r->mutex);
	*place_of(r, &gauge.allocation) = gauge;
	pthread_mutex_unlock(&r->mutex);
}

uint32_t reschedules_read(
	struct reschedules *r, uint64_t now_ns, struct reschedule_gauge gauges[RESCHEDULES_MAX])
{
	uint32_t count = 0;
	pthread_mutex_lock(&r->mutex);
	for (uint32_t i = 0; i < r->count; i++)
		if (now_ns - r->gauges[i].noted_ns < RESCHEDULES_KEPT_NS)
			gauges[count++] = r->gauges[i];
	pthread_mutex_unlock(&r->mutex);
	return count;
}
