#include "placement/broker/plan_queue.h"
#include "placement/broker/heap.h"
#include "placement/broker/lookup.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/records/plan.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct waiting_plan {
	struct heap_node order;
	struct command *command;
	uint64_t number;
};

struct plan_queue {
	pthread_mutex_t mutex;
	struct command_queue *applier;
	bool is_enabled;
	uint64_t pushed;
	struct heap plans;
	_Atomic uint32_t depth; // lets the applier look without the mutex
};

static bool plan_before(const struct heap_node *x, const struct heap_node *y)
{
	const struct waiting_plan *a = CONTAINER_OF(x, const struct waiting_plan, order);
	const struct waiting_plan *b = CONTAINER_OF(y, const struct waiting_plan, order);
	int64_t first = a->command->plan.plan->priority, second = b->command->plan.plan->priority;

	return first != second ? first > second : a->number < b->number;
}

struct plan_queue *plan_queue_create(struct command_queue *applier)
{
	struct plan_queue *q = memory_take(sizeof *q);

	pthread_mutex_init(&q->mutex, NULL);
	q->applier = applier;
	heap_init(&q->plans, plan_before);
	return q;
}

void plan_queue_destroy(struct plan_queue *q)
{
	if (!q)
		return;
	plan_queue_set_enabled(q, false);
	heap_free(&q->plans);
	pthread_mutex_destroy(&q->mutex);
	free(q);
}

int plan_queue_push(struct plan_queue *q, struct command *command)
{
	struct waiting_plan *w = NULL;

	pthread_mutex_lock(&q->mutex);
	if (q->is_enabled) {
		w = memory_take(sizeof *w);
		w->command = command;
		w->number = q->pushed++;
		heap_push(&q->plans, &w->order);
		atomic_store(&q->depth, q->plans.count);
	}
	pthread_mutex_unlock(&q->mutex);
	if (w)
		command_queue_kick(q->applier);
	return w ? 0 : -ERROR_PLANS_OFF;
}

static struct command *take_first(struct plan_queue *q)
{
	struct heap_node *top = heap_pop(&q->plans);
	struct waiting_plan *w = top ? CONTAINER_OF(top, struct waiting_plan, order) : NULL;
	struct command *command = w ? w->command : NULL;

	free(w);
	atomic_store(&q->depth, q->plans.count);
	return command;
}

struct command *plan_queue_take(struct plan_queue *q)
{
	if (plan_queue_depth(q) == 0)
		return NULL;
	pthread_mutex_lock(&q->mutex);
	struct command *command = take_first(q);
	pthread_mutex_unlock(&q->mutex);
	return command;
}

uint32_t plan_queue_depth(struct plan_queue *q)
{
	return atomic_load(&q->depth);
}

void plan_queue_set_enabled(struct plan_queue *q, bool enabled)
{
	struct command *command;

	pthread_mutex_lock(&q->mutex);
	q->is_enabled = enabled;
	while (!enabled && (command = take_first(q))) {
		command->outcome = OUTCOME_STOPPING;
		command->done(command);
	}
	pthread_mutex_unlock(&q->mutex);
}
