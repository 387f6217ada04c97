#include "placement/pipeline/turns.h"
#include "state/base/check.h"
#include <stdbool.h>

struct turn_wait {
	struct cds_list_head link;
	bool is_given;
	pthread_cond_t given;
};

void turns_init(struct turns *t, uint32_t count)
{
	pthread_mutex_init(&t->mutex, NULL);
	CDS_INIT_LIST_HEAD(&t->waiting);
	t->free_count = count;
	t->waiting_count = 0;
}

void turns_release(struct turns *t)
{
	CHECK(cds_list_empty(&t->waiting) && t->waiting_count == 0);
	pthread_mutex_destroy(&t->mutex);
}

static void wait_for_turn(struct turns *t)
{
	struct turn_wait w = {.given = PTHREAD_COND_INITIALIZER};

	cds_list_add(&w.link, &t->waiting);
	t->waiting_count++;
	while (!w.is_given)
		pthread_cond_wait(&w.given, &t->mutex);
}

void turns_begin(struct turns *t)
{
	pthread_mutex_lock(&t->mutex);
	if (t->free_count > 0)
		t->free_count--;
	else
		wait_for_turn(t);
	pthread_mutex_unlock(&t->mutex);
}

void turns_end(struct turns *t)
{
	pthread_mutex_lock(&t->mutex);
	if (cds_list_empty(&t->waiting)) {
		t->free_count++;
	} else {
		struct turn_wait *next = cds_list_first_entry(&t->waiting, struct turn_wait, link);
		cds_list_del(&next->link);
		t->waiting_count--;
		next->is_given = true;
		pthread_cond_signal(&next->given);
	}
	pthread_mutex_unlock(&t->mutex);
}

uint32_t turns_waiting(struct turns *t)
{
	pthread_mutex_lock(&t->mutex);
	uint32_t count = t->waiting_count;
	pthread_mutex_unlock(&t->mutex);
	return count;
}
