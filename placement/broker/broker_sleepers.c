#include "placement/broker/broker_places.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

// More are told within the section.
#define TOLD_LATER_MAX 16u

static struct sleeper *take_sleeper(struct broker *b)
{
	struct sleeper *s;

	if (cds_list_empty(&b->spare_sleepers)) {
		s = memory_take(sizeof *s);
		CHECK(pthread_cond_init(&s->woken, &b->monotonic) == 0);
		return s;
	}
	s = cds_list_first_entry(&b->spare_sleepers, struct sleeper, link);
	cds_list_del(&s->link);
	return s;
}

static struct sleeper *first_woken(struct broker *b)
{
	if (cds_list_empty(&b->woken))
		return NULL;
	struct sleeper *s = cds_list_first_entry(&b->woken, struct sleeper, link);
	cds_list_del_init(&s->link);
	return s;
}

void broker_sleep(struct broker *b, uint32_t types, const struct timespec *until)
{
	struct sleeper *s = take_sleeper(b), *other;
	int waited = 0;

	s->types = types;
	s->is_woken = false;
	cds_list_add(&s->link, &b->sleepers);
	while ((other = first_woken(b)))
		pthread_cond_signal(&other->woken);
	while (!s->is_woken && waited == 0)
		waited = pthread_cond_timedwait(&s->woken, &b->mutex, until);
	cds_list_del(&s->link);
	cds_list_add(&s->link, &b->spare_sleepers);
}

// A sleeper that woke by itself meanwhile may be another thread's by now, which then wakes for nothing.
void broker_unlock(struct broker *b)
{
	struct sleeper *told[TOLD_LATER_MAX], *s;
	uint32_t count = 0;

	while ((s = first_woken(b))) {
		if (count < TOLD_LATER_MAX)
			told[count++] = s;
		else
			pthread_cond_signal(&s->woken);
	}
	pthread_mutex_unlock(&b->mutex);
	for (uint32_t i = 0; i < count; i++)
		pthread_cond_signal(&told[i]->woken);
}

void broker_release_sleepers(struct broker *b)
{
	struct sleeper *s, *next;

	CHECK(cds_list_empty(&b->sleepers) && cds_list_empty(&b->woken));
	cds_list_for_each_entry_safe (s, next, &b->spare_sleepers, link) {
		pthread_cond_destroy(&s->woken);
		free(s);
	}
}
