#include "placement/broker/broker_places.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

static const struct entry *of_order(const struct heap_node *n)
{
	return CONTAINER_OF(n, const struct entry, order);
}

static bool is_older(const struct evaluation *a, const struct evaluation *b)
{
	if (a->record.create_index != b->record.create_index)
		return a->record.create_index < b->record.create_index;
	return uuid_compare(&a->id, &b->id) < 0;
}

static uint64_t waits_since(const struct entry *e)
{
	uint64_t created = e->eval->record.create_index;

	return e->yielded_index > created ? e->yielded_index : created;
}

// B26. An evaluation that yielded counts as created when it did.
static bool ready_before(const struct heap_node *x, const struct heap_node *y)
{
	const struct entry *a = of_order(x), *b = of_order(y);

	if (a->eval->priority != b->eval->priority)
		return a->eval->priority > b->eval->priority;
	if (waits_since(a) != waits_since(b))
		return waits_since(a) < waits_since(b);
	return is_older(a->eval, b->eval);
}

// B31: the newest state of affairs first.
static bool pending_before(const struct heap_node *x, const struct heap_node *y)
{
	const struct evaluation *a = of_order(x)->eval, *b = of_order(y)->eval;

	if (a->priority != b->priority)
		return a->priority > b->priority;
	if (a->record.modify_index != b->record.modify_index)
		return a->record.modify_index > b->record.modify_index;
	return is_older(b, a);
}

static bool due_before(const struct heap_node *x, const struct heap_node *y)
{
	const struct entry *a = CONTAINER_OF(x, const struct entry, due);
	const struct entry *b = CONTAINER_OF(y, const struct entry, due);

	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : is_older(a->eval, b->eval);
}

struct entry *entry_find(struct broker *b, const struct uuid *id)
{
	struct lookup_node *n = lookup_first(&b->evals, uuid_hash(id));

	while (n && !uuid_equal(&CONTAINER_OF(n, struct entry, by_id)->eval->id, id))
		n = lookup_next(n);
	return n ? CONTAINER_OF(n, struct entry, by_id) : NULL;
}

void entry_free(struct entry *e)
{
	evaluation_free(e->eval);
	evaluation_free(e->requeue);
	free(e);
}

void entry_drop(struct broker *b, struct entry *e)
{
	lookup_remove(&b->evals, &e->by_id);
	entry_free(e);
}

static bool same_job(const struct evaluation *a, const struct evaluation *b)
{
	return text_equal(text_of(a->job_id), text_of(b->job_id)) &&
	       text_equal(text_of(a->namespace_name), text_of(b->namespace_name));
}

// Any evaluation of a turn names the turn's job.
static const struct evaluation *turn_sample(const struct job_turn *turn)
{
	return turn->holder ? turn->holder->eval : of_order(heap_top(&turn->pending))->eval;
}

static struct job_turn *turn_of(struct broker *b, const struct evaluation *eval)
{
	uint64_t hash = hash_names(eval->namespace_name, eval->job_id);

	for (struct lookup_node *n = lookup_first(&b->turns, hash); n; n = lookup_next(n)) {
		struct job_turn *turn = CONTAINER_OF(n, struct job_turn, by_name);
		if (same_job(turn_sample(turn), eval))
			return turn;
	}
	struct job_turn *turn = memory_take(sizeof *turn);
	heap_init(&turn->pending, pending_before);
	lookup_add(&b->turns, &turn->by_name, hash);
	return turn;
}

void job_turn_drop(struct broker *b, struct job_turn *turn)
{
	lookup_remove(&b->turns, &turn->by_name);
	heap_free(&turn->pending);
	free(turn);
}

static void wake_sleeper(struct broker *b, struct sleeper *s)
{
	s->is_woken = true;
	cds_list_move(&s->link, &b->woken);
}

void broker_wake_all(struct broker *b)
{
	struct sleeper *s, *next;

	cds_list_for_each_entry_safe (s, next, &b->sleepers, link)
		wake_sleeper(b, s);
}

bool broker_may_deliver(const struct broker *b)
{
	return b->settings.deciding_max == 0 || b->deciding < b->settings.deciding_max;
}

static void wake_one(struct broker *b, uint32_t queue)
{
	struct sleeper *s;

	if (!broker_may_deliver(b))
		return;
	cds_list_for_each_entry (s, &b->sleepers, link) {
		if (s->types & (1u << queue)) {
			wake_sleeper(b, s);
			return;
		}
	}
}

void broker_wake_for_ready(struct broker *b)
{
	for (uint32_t t = 0; t < EVAL_TYPES && !cds_list_empty(&b->sleepers); t++)
		if (heap_top(&b->queues[t]))
			wake_one(b, t);
}

void entry_wait_until(struct broker *b, struct entry *e, enum place place, uint64_t due_ns)
{
	e->place = place;
	e->due_ns = due_ns;
	struct heap *heap = place == PLACE_DELAYED ? &b->delays : &b->timers;
	heap_push(heap, &e->due);
	if (place == PLACE_UNACKED)
		return;
	b->stats.waiting++;
	if (heap_top(heap) == &e->due) // sleepers must wake earlier
		broker_wake_all(b);
}

void entry_queue_or_pend(struct broker *b, struct entry *e, uint32_t queue)
{
	struct job_turn *turn = e->turn ? e->turn : turn_of(b, e->eval);

	e->turn = turn;
	if (turn->holder && turn->holder != e) {
		e->place = PLACE_PENDING;
		heap_push(&turn->pending, &e->order);
		b->stats.pending++;
		return;
	}
	turn->holder = e;
	e->place = PLACE_READY;
	e->queue = queue;
	heap_push(&b->queues[queue], &e->order);
	b->stats.ready++;
	wake_one(b, queue);
}

// Gives the turn to the best evaluation that waited for the job.
void job_turn_promote(struct broker *b, struct job_turn *turn)
{
	turn->holder = NULL;
	struct heap_node *best = heap_pop(&turn->pending);
	if (!best) {
		job_turn_drop(b, turn);
		return;
	}
	b->stats.pending--;
	struct entry *e = CONTAINER_OF(best, struct entry, order);
	turn->holder = e;
	entry_queue_or_pend(b, e, (uint32_t)e->eval->type);
}

static void make_cancelable(struct broker *b, struct entry *e)
{
	b->stats.pending--;
	b->stats.cancelable++;
	e->place = PLACE_CANCELABLE;
	e->turn = NULL;
	e->next = NULL;
	*b->cancelable_end = e;
	b->cancelable_end = &e->next;
}

// B31: the newest pending evaluation sees what the delivered one saw; the others are needless.
void job_turn_release(struct broker *b, struct job_turn *turn)
{
	struct heap_node *n;
	struct heap_node *best = heap_pop(&turn->pending);
	while ((n = heap_pop(&turn->pending)))
		make_cancelable(b, CONTAINER_OF(n, struct entry, order));
	if (best)
		heap_push(&turn->pending, best);
	job_turn_promote(b, turn);
}

void entry_end_delivery(struct broker *b, struct entry *e)
{
	if (heap_holds(&e->due))
		heap_remove(&b->timers, &e->due);
	e->token = 0;
	b->stats.unacked--;
	if (e->queue < EVAL_TYPES)
		b->stats.unacked_by_type[e->queue]--;
}

// B32.
void entry_nack(struct broker *b, struct entry *e)
{
	const struct broker_settings *s = &b->settings;

	entry_end_delivery(b, e);
	evaluation_free(e->requeue);
	e->requeue = NULL;
	if (e->deliveries >= s->delivery_limit) {
		entry_queue_or_pend(b, e, QUEUE_FAILED);
		return;
	}
	int64_t delay_ns = e->deliveries <= 1 ? s->first_nack_delay_ns
					      : (e->deliveries - 1) * s->nack_delay_ns;
	entry_wait_until(b, e, PLACE_TIMED, time_monotonic_ns(s->time) + (uint64_t)delay_ns);
}

static void run_timers(struct broker *b)
{
	uint64_t now_ns = time_monotonic_ns(b->settings.time);
	struct heap_node *n;

	while ((n = heap_top(&b->timers))) {
		struct entry *e = CONTAINER_OF(n, struct entry, due);
		if (e->due_ns > now_ns)
			break;
		heap_pop(&b->timers);
		if (e->place == PLACE_UNACKED) {
			entry_nack(b, e);
			continue;
		}
		b->stats.waiting--;
		entry_queue_or_pend(b, e, (uint32_t)e->eval->type);
	}
}

static void run_delays(struct broker *b)
{
	uint64_t now_ns = time_wall_ns(b->settings.time);
	struct heap_node *n;

	while ((n = heap_top(&b->delays))) {
		struct entry *e = CONTAINER_OF(n, struct entry, due);
		if (e->due_ns > now_ns)
			break;
		heap_pop(&b->delays);
		b->stats.waiting--;
		entry_queue_or_pend(b, e, (uint32_t)e->eval->type);
	}
}

void broker_run_due(struct broker *b)
{
	run_timers(b);
	run_delays(b);
}

// Monotonic time of the next due entry. The wall clock may be set meanwhile, so a long sleeper asks again.
uint64_t broker_next_due(struct broker *b)
{
	uint64_t due_ns = NEVER;

	if (heap_top(&b->timers))
		due_ns = CONTAINER_OF(heap_top(&b->timers), struct entry, due)->due_ns;
	if (heap_top(&b->delays)) {
		uint64_t at = CONTAINER_OF(heap_top(&b->delays), struct entry, due)->due_ns;
		uint64_t now_ns = time_wall_ns(b->settings.time);
		uint64_t then_ns =
			time_monotonic_ns(b->settings.time) + (at > now_ns ? at - now_ns : 0);
		due_ns = then_ns < due_ns ? then_ns : due_ns;
	}
	return due_ns;
}

// Only a cancelable entry is in no heap; its list is searched.
void entry_unlist(struct broker *b, struct entry *e)
{
	struct entry **at = &b->cancelable;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	if (b->cancelable_end == &e->next)
		b->cancelable_end = at;
	b->stats.cancelable--;
}

void entry_take_out(struct broker *b, struct entry *e)
{
	switch (e->place) {
	case PLACE_TIMED:
		heap_remove(&b->timers, &e->due);
		b->stats.waiting--;
		break;
	case PLACE_DELAYED:
		heap_remove(&b->delays, &e->due);
		b->stats.waiting--;
		break;
	case PLACE_PENDING:
		heap_remove(&e->turn->pending, &e->order);
		b->stats.pending--;
		e->turn = NULL; // its holder remains
		break;
	case PLACE_READY:
		heap_remove(&b->queues[e->queue], &e->order);
		b->stats.ready--;
		break;
	case PLACE_CANCELABLE: entry_unlist(b, e); break;
	case PLACE_UNACKED: CHECK(false);
	}
}

void broker_init_orders(struct broker *b)
{
	for (uint32_t q = 0; q < QUEUES; q++)
		heap_init(&b->queues[q], ready_before);
	heap_init(&b->timers, due_before);
	heap_init(&b->delays, due_before);
}
