#include "placement/broker/broker.h"
#include "placement/broker/broker_places.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <stdlib.h>
#include <time.h>

// The wait counts from the evaluation's creation, so that taking it over does not restart the wait.
static uint64_t remaining_ns(const struct broker *b, const struct evaluation *eval)
{
	int64_t now_ns = (int64_t)time_wall_ns(b->settings.time);
	int64_t created_ns = eval->create_time_ns, waited_ns = now_ns - created_ns;

	if (created_ns == 0 || waited_ns <= 0)
		return (uint64_t)eval->wait_ns;
	return waited_ns < eval->wait_ns ? (uint64_t)(eval->wait_ns - waited_ns) : 0;
}

static void enqueue_new(struct broker *b, struct evaluation *eval)
{
	struct entry *e = memory_take(sizeof *e);

	e->eval = eval;
	lookup_add(&b->evals, &e->by_id, uuid_hash(&eval->id));
	if (eval->wait_ns > 0)
		entry_wait_until(b, e, PLACE_TIMED,
			time_monotonic_ns(b->settings.time) + remaining_ns(b, eval));
	else if (eval->wait_until_ns > 0)
		entry_wait_until(b, e, PLACE_DELAYED, (uint64_t)eval->wait_until_ns);
	else
		entry_queue_or_pend(b, e, (uint32_t)eval->type);
}

void broker_enqueue(struct broker *b, const struct evaluation *eval, uint64_t token)
{
	CHECK(eval->type >= 0 && eval->type < EVAL_TYPES);
	pthread_mutex_lock(&b->mutex);
	struct entry *known = b->is_enabled ? entry_find(b, &eval->id) : NULL;
	if (known && token != 0 && known->token == token) {
		evaluation_free(known->requeue);
		known->requeue = evaluation_copy(eval);
	} else if (b->is_enabled && !known) {
		enqueue_new(b, evaluation_copy(eval));
	}
	if (b->is_enabled)
		broker_run_due(b);
	broker_unlock(b);
}

// B27: the type whose first has the highest priority; chance decides between equals.
static struct heap *choose_queue(struct broker *b, uint32_t types)
{
	struct heap *chosen = NULL;
	int64_t priority = 0;
	uint32_t ties = 0;

	for (uint32_t t = 0; t < EVAL_TYPES && broker_may_deliver(b); t++) {
		struct heap_node *top = heap_top(&b->queues[t]);
		if (!(types & (1u << t)) || !top)
			continue;
		int64_t own = entry_of_order(top)->eval->priority;
		if (!chosen || own > priority)
			ties = 0;
		else if (own < priority)
			continue;
		if (prng_below(&b->prng, ++ties) == 0)
			chosen = &b->queues[t];
		priority = own;
	}
	return chosen;
}

static uint64_t new_token(struct broker *b)
{
	uint64_t token;

	do
		token = prng_u64(&b->prng);
	while (token == 0);
	return token;
}

static struct entry *deliver(struct broker *b, struct heap *queue)
{
	struct entry *e = CONTAINER_OF(heap_pop(queue), struct entry, order);

	b->stats.ready--;
	b->stats.unacked++;
	if (e->queue < EVAL_TYPES)
		b->stats.unacked_by_type[e->queue]++;
	e->token = new_token(b);
	e->deliveries++;
	entry_wait_until(b, e, PLACE_UNACKED,
		time_monotonic_ns(b->settings.time) + (uint64_t)b->settings.nack_timeout_ns);
	return e;
}

// Waits until something changes or is due, or deadline_ns. False: the deadline has passed. The condition uses the
// real clock; with another time source only a timeout of 0 makes sense.
static bool wait_for_change(struct broker *b, uint32_t types, uint64_t deadline_ns)
{
	uint64_t now_ns = time_monotonic_ns(b->settings.time), until_ns = broker_next_due(b);

	if (now_ns >= deadline_ns || b->is_closed)
		return false;
	until_ns = until_ns < deadline_ns ? until_ns : deadline_ns;
	struct timespec at = {(time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S)};
	broker_sleep(b, types, &at);
	return true;
}

struct evaluation *broker_dequeue(struct broker *b, uint32_t types, uint32_t timeout_ms,
	uint64_t *token, uint64_t *wait_index)
{
	uint64_t deadline_ns = time_monotonic_ns(b->settings.time) + timeout_ms * NS_PER_MS;
	struct evaluation *eval = NULL;
	struct heap *queue;

	pthread_mutex_lock(&b->mutex);
	do {
		broker_run_due(b);
		queue = choose_queue(b, types);
	} while (!queue && wait_for_change(b, types, deadline_ns));
	if (queue) {
		struct entry *e = deliver(b, queue);
		eval = evaluation_copy(e->eval);
		b->deciding++;
		*token = e->token;
		*wait_index = e->eval->record.modify_index;
		if (*wait_index < e->yielded_index)
			*wait_index = e->yielded_index;
		broker_wake_for_ready(b);
	}
	broker_unlock(b);
	return eval;
}

void broker_decided(struct broker *b)
{
	pthread_mutex_lock(&b->mutex);
	CHECK(b->deciding > 0);
	b->deciding--;
	broker_wake_for_ready(b);
	broker_unlock(b);
}

struct evaluation *broker_take_failed(struct broker *b, uint64_t *token)
{
	struct evaluation *eval = NULL;

	pthread_mutex_lock(&b->mutex);
	broker_run_due(b);
	if (heap_top(&b->queues[QUEUE_FAILED])) {
		struct entry *e = deliver(b, &b->queues[QUEUE_FAILED]);
		eval = evaluation_copy(e->eval);
		*token = e->token;
	}
	broker_unlock(b);
	return eval;
}

// A late delivery is nacked at once and ends.
static int find_delivery(
	struct broker *b, const struct uuid *id, uint64_t token, struct entry **found)
{
	struct entry *e = entry_find(b, id);

	if (!e || e->place != PLACE_UNACKED)
		return -ERROR_NOT_FOUND;
	if (e->token != token)
		return -ERROR_TOKEN;
	if (heap_holds(&e->due) && e->due_ns <= time_monotonic_ns(b->settings.time)) {
		broker_run_due(b);
		return -ERROR_LATE;
	}
	*found = e;
	return 0;
}

int broker_ack(struct broker *b, const struct uuid *id, uint64_t token)
{
	struct entry *e;

	pthread_mutex_lock(&b->mutex);
	int error = find_delivery(b, id, token, &e);
	if (error == 0) {
		struct evaluation *requeue = e->requeue;
		struct job_turn *turn = e->turn;
		e->requeue = NULL;
		entry_end_delivery(b, e);
		entry_drop(b, e);
		job_turn_release(b, turn);
		if (requeue)
			enqueue_new(b, requeue);
	}
	broker_run_due(b);
	broker_unlock(b);
	return error;
}

int broker_nack(struct broker *b, const struct uuid *id, uint64_t token)
{
	struct entry *e;

	pthread_mutex_lock(&b->mutex);
	int error = find_delivery(b, id, token, &e);
	if (error == 0)
		entry_nack(b, e);
	broker_run_due(b);
	broker_unlock(b);
	return error;
}

int broker_yield(struct broker *b, const struct uuid *id, uint64_t token, uint64_t index)
{
	struct entry *e;

	pthread_mutex_lock(&b->mutex);
	int error = find_delivery(b, id, token, &e);
	if (error == 0) {
		entry_end_delivery(b, e);
		evaluation_free(e->requeue);
		e->requeue = NULL;
		e->deliveries = 0;
		e->yielded_index = index;
		entry_queue_or_pend(b, e, (uint32_t)e->eval->type);
	}
	broker_run_due(b);
	broker_unlock(b);
	return error;
}

bool broker_has_rival(struct broker *b, int64_t priority)
{
	bool has = false;

	pthread_mutex_lock(&b->mutex);
	broker_run_due(b);
	for (uint32_t t = 0; t < EVAL_TYPES; t++) {
		struct heap_node *top = heap_top(&b->queues[t]);
		has |= top && entry_of_order(top)->eval->priority >= priority;
	}
	broker_unlock(b);
	return has;
}

const char *broker_error_text(int error)
{
	switch (error) {
	case -ERROR_NOT_FOUND: return "Evaluation ID not found";
	case -ERROR_TOKEN: return "Token does not match for Evaluation ID";
	case -ERROR_LATE: return "Evaluation ID Ack'd after Nack timer expiration";
	default: return error_text(error);
	}
}

const char *broker_outstanding_text(int error)
{
	switch (error) {
	case -ERROR_NOT_FOUND: return "evaluation is not outstanding";
	case -ERROR_TOKEN: return "evaluation token does not match";
	case -ERROR_LATE: return "evaluation nack timeout reached";
	default: return error_text(error);
	}
}

static void restart_nack(struct broker *b, struct entry *e)
{
	if (heap_holds(&e->due))
		heap_remove(&b->timers, &e->due);
	entry_wait_until(b, e, PLACE_UNACKED,
		time_monotonic_ns(b->settings.time) + (uint64_t)b->settings.nack_timeout_ns);
}

// A paused timer stays paused: the plan of its evaluation waits.
int broker_outstanding(struct broker *b, const struct uuid *id, uint64_t token)
{
	struct entry *e;

	pthread_mutex_lock(&b->mutex);
	int error = find_delivery(b, id, token, &e);
	if (error == 0 && heap_holds(&e->due))
		restart_nack(b, e);
	broker_unlock(b);
	return error;
}

void broker_pause_nack(struct broker *b, const struct uuid *id, uint64_t token)
{
	struct entry *e;

	pthread_mutex_lock(&b->mutex);
	if (find_delivery(b, id, token, &e) == 0 && heap_holds(&e->due))
		heap_remove(&b->timers, &e->due);
	broker_unlock(b);
}

void broker_resume_nack(struct broker *b, const struct uuid *id, uint64_t token)
{
	struct entry *e;

	pthread_mutex_lock(&b->mutex);
	if (find_delivery(b, id, token, &e) == 0)
		restart_nack(b, e);
	broker_unlock(b);
}

void broker_forget(struct broker *b, const struct uuid *id)
{
	pthread_mutex_lock(&b->mutex);
	struct entry *e = entry_find(b, id);
	if (e && e->place != PLACE_UNACKED) {
		entry_take_out(b, e);
		struct job_turn *turn = e->turn;
		if (turn)
			job_turn_promote(b, turn);
		entry_drop(b, e);
	}
	broker_unlock(b);
}

uint64_t broker_tick(struct broker *b)
{
	pthread_mutex_lock(&b->mutex);
	broker_run_due(b);
	uint64_t due_ns = broker_next_due(b);
	broker_unlock(b);
	return due_ns;
}

bool broker_has_chores(struct broker *b)
{
	pthread_mutex_lock(&b->mutex);
	bool has = b->cancelable || heap_top(&b->queues[QUEUE_FAILED]);
	broker_unlock(b);
	return has;
}

uint32_t broker_take_cancelable(struct broker *b, struct evaluation **evals, uint32_t count)
{
	uint32_t taken = 0;

	pthread_mutex_lock(&b->mutex);
	for (; taken < count && b->cancelable; taken++) {
		struct entry *e = b->cancelable;
		entry_unlist(b, e);
		evals[taken] = e->eval;
		lookup_remove(&b->evals, &e->by_id);
		e->eval = NULL;
		entry_free(e);
	}
	broker_unlock(b);
	return taken;
}

void broker_stats(struct broker *b, struct broker_stats *stats)
{
	pthread_mutex_lock(&b->mutex);
	*stats = b->stats;
	stats->failed = b->queues[QUEUE_FAILED].count;
	for (uint32_t t = 0; t < EVAL_TYPES; t++)
		stats->ready_by_type[t] = b->queues[t].count;
	broker_unlock(b);
}

uint32_t broker_delayed(struct broker *b, struct broker_delayed *items, uint32_t room)
{
	pthread_mutex_lock(&b->mutex);
	int64_t now_ns = (int64_t)time_wall_ns(b->settings.time);
	uint32_t count = b->delays.count;
	for (uint32_t i = 0; i < count && i < room; i++) {
		const struct entry *e = CONTAINER_OF(b->delays.items[i], struct entry, due);
		items[i] = (struct broker_delayed){
			.id = e->eval->id,
			.namespace_name = text_copy(text_of(e->eval->namespace_name)),
			.job_id = text_copy(text_of(e->eval->job_id)),
			.due_in_ns = (int64_t)e->due_ns - now_ns,
		};
	}
	broker_unlock(b);
	return count;
}

static void forget_all(struct broker *b)
{
	struct lookup_node *n, *next;
	uint32_t bucket;

	for (n = lookup_walk(&b->turns, &bucket, NULL); n; n = next) {
		next = lookup_walk(&b->turns, &bucket, n);
		job_turn_drop(b, CONTAINER_OF(n, struct job_turn, by_name));
	}
	for (n = lookup_walk(&b->evals, &bucket, NULL); n; n = next) {
		next = lookup_walk(&b->evals, &bucket, n);
		entry_drop(b, CONTAINER_OF(n, struct entry, by_id));
	}
	for (uint32_t q = 0; q < QUEUES; q++)
		heap_free(&b->queues[q]);
	heap_free(&b->timers);
	heap_free(&b->delays);
	b->cancelable = NULL;
	b->cancelable_end = &b->cancelable;
	b->stats = (struct broker_stats){0};
}

struct broker *broker_create(const struct broker_settings *settings)
{
	struct broker *b = memory_take(sizeof *b);

	b->settings = *settings;
	if (settings->seed)
		prng_seed(&b->prng, settings->seed);
	else
		prng_seed_from_system(&b->prng);
	pthread_mutex_init(&b->mutex, NULL);
	pthread_condattr_init(&b->monotonic);
	pthread_condattr_setclock(&b->monotonic, CLOCK_MONOTONIC);
	CDS_INIT_LIST_HEAD(&b->sleepers);
	CDS_INIT_LIST_HEAD(&b->woken);
	CDS_INIT_LIST_HEAD(&b->spare_sleepers);
	broker_init_orders(b);
	b->cancelable_end = &b->cancelable;
	return b;
}

void broker_destroy(struct broker *b)
{
	if (!b)
		return;
	forget_all(b);
	broker_release_sleepers(b);
	lookup_free(&b->evals);
	lookup_free(&b->turns);
	pthread_condattr_destroy(&b->monotonic);
	pthread_mutex_destroy(&b->mutex);
	free(b);
}

static void set_enabled(struct broker *b, bool enabled)
{
	if (b->is_enabled && !enabled)
		forget_all(b);
	b->is_enabled = enabled && !b->is_closed;
	broker_wake_all(b);
}

void broker_set_enabled(struct broker *b, bool enabled)
{
	pthread_mutex_lock(&b->mutex);
	set_enabled(b, enabled);
	broker_unlock(b);
}

void broker_close(struct broker *b)
{
	pthread_mutex_lock(&b->mutex);
	b->is_closed = true;
	set_enabled(b, false);
	broker_unlock(b);
}
