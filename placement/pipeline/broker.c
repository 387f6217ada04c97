#include "placement/pipeline/broker.h"
#include "placement/pipeline/heap.h"
#include "placement/pipeline/lookup.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Beside the queue of each type: those that reached the delivery limit.
#define QUEUE_FAILED EVAL_TYPES
#define QUEUES (EVAL_TYPES + 1)
#define NEVER UINT64_MAX

enum place {
	PLACE_TIMED,      // until due_ns, then to its queue: a wait, or the pause after a nack
	PLACE_DELAYED,    // until the wall clock shows due_ns
	PLACE_PENDING,    // another evaluation of its job is ready or outstanding
	PLACE_READY,      // in a queue
	PLACE_UNACKED,    // delivered; nacked at due_ns
	PLACE_CANCELABLE, // a newer one of its job was delivered instead
};

// One job of one namespace, while evaluations of it are here.
struct job_turn {
	struct lookup_node by_name;
	struct entry *holder; // the one that is ready, outstanding or paused after a nack
	struct heap pending;
};

struct entry {
	struct evaluation *eval;
	enum place place;
	uint32_t queue;
	uint32_t deliveries;
	struct job_turn *turn; // while it holds or waits for its job
	struct lookup_node by_id;
	struct heap_node order; // in a queue, or among the pending of its job
	struct heap_node due;   // in timers or delays
	uint64_t due_ns;
	uint64_t token;             // of the delivery; 0: not outstanding
	struct evaluation *requeue; // to be enqueued after the ack (B33)
	struct entry *next;         // cancelable
};

struct broker {
	struct broker_settings settings;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool is_enabled, is_closed;
	struct prng prng;
	struct lookup evals, turns;
	struct heap queues[QUEUES];
	struct heap timers, delays; // by the monotonic and by the wall clock
	struct entry *cancelable, **cancelable_end;
	struct broker_stats stats;
};

// --- Orders --------------------------------------------------------------------------------------

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

// B26.
static bool ready_before(const struct heap_node *x, const struct heap_node *y)
{
	const struct evaluation *a = of_order(x)->eval, *b = of_order(y)->eval;

	return a->priority != b->priority ? a->priority > b->priority : is_older(a, b);
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

// --- Entries and turns ---------------------------------------------------------------------------

static struct entry *entry_find(struct broker *b, const struct uuid *id)
{
	struct lookup_node *n = lookup_first(&b->evals, uuid_hash(id));

	while (n && !uuid_equal(&CONTAINER_OF(n, struct entry, by_id)->eval->id, id))
		n = lookup_next(n);
	return n ? CONTAINER_OF(n, struct entry, by_id) : NULL;
}

static void entry_free(struct entry *e)
{
	evaluation_free(e->eval);
	evaluation_free(e->requeue);
	free(e);
}

static void entry_drop(struct broker *b, struct entry *e)
{
	lookup_remove(&b->evals, &e->by_id);
	entry_free(e);
}

static bool same_job(const struct evaluation *a, const struct evaluation *b)
{
	return text_equal(text_of(a->job_id), text_of(b->job_id)) &&
	       text_equal(text_of(a->namespace_name), text_of(b->namespace_name));
}

// Any of those that a turn knows tells whose turn it is.
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

static void turn_drop(struct broker *b, struct job_turn *turn)
{
	lookup_remove(&b->turns, &turn->by_name);
	heap_free(&turn->pending);
	free(turn);
}

// --- Between the places --------------------------------------------------------------------------

static void wait_until(struct broker *b, struct entry *e, enum place place, uint64_t due_ns)
{
	e->place = place;
	e->due_ns = due_ns;
	struct heap *heap = place == PLACE_DELAYED ? &b->delays : &b->timers;
	heap_push(heap, &e->due);
	if (place == PLACE_UNACKED)
		return;
	b->stats.waiting++;
	if (heap_top(heap) == &e->due) // whoever waits has to look up earlier
		pthread_cond_broadcast(&b->changed);
}

static void queue_or_pend(struct broker *b, struct entry *e, uint32_t queue)
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
	pthread_cond_broadcast(&b->changed);
}

// The best of those that waited for the job has its turn.
static void promote(struct broker *b, struct job_turn *turn)
{
	turn->holder = NULL;
	struct heap_node *best = heap_pop(&turn->pending);
	if (!best) {
		turn_drop(b, turn);
		return;
	}
	b->stats.pending--;
	struct entry *e = CONTAINER_OF(best, struct entry, order);
	turn->holder = e;
	queue_or_pend(b, e, (uint32_t)e->eval->type);
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

// B31: what the delivered one has seen, the newest of the others will see; the rest are needless.
static void release(struct broker *b, struct job_turn *turn)
{
	struct heap_node *n;
	struct heap_node *best = heap_pop(&turn->pending);
	while ((n = heap_pop(&turn->pending)))
		make_cancelable(b, CONTAINER_OF(n, struct entry, order));
	if (best)
		heap_push(&turn->pending, best);
	promote(b, turn);
}

static void end_delivery(struct broker *b, struct entry *e)
{
	if (heap_holds(&e->due))
		heap_remove(&b->timers, &e->due);
	e->token = 0;
	b->stats.unacked--;
	if (e->queue < EVAL_TYPES)
		b->stats.unacked_by_type[e->queue]--;
}

// B32.
static void nack(struct broker *b, struct entry *e)
{
	const struct broker_settings *s = &b->settings;

	end_delivery(b, e);
	evaluation_free(e->requeue);
	e->requeue = NULL;
	if (e->deliveries >= s->delivery_limit) {
		queue_or_pend(b, e, QUEUE_FAILED);
		return;
	}
	int64_t delay_ns = e->deliveries <= 1 ? s->first_nack_delay_ns
					      : (e->deliveries - 1) * s->nack_delay_ns;
	wait_until(b, e, PLACE_TIMED, time_monotonic_ns(s->time) + (uint64_t)delay_ns);
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
			nack(b, e);
			continue;
		}
		b->stats.waiting--;
		queue_or_pend(b, e, (uint32_t)e->eval->type);
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
		queue_or_pend(b, e, (uint32_t)e->eval->type);
	}
}

static void run_due(struct broker *b)
{
	run_timers(b);
	run_delays(b);
}

// On the monotonic clock; the wall clock may be set meanwhile, so who sleeps long asks again.
static uint64_t next_due(struct broker *b)
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

// --- Enqueue -------------------------------------------------------------------------------------

// A wait counts from the creation, so that one that is taken over does not begin anew.
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
		wait_until(b, e, PLACE_TIMED,
			time_monotonic_ns(b->settings.time) + remaining_ns(b, eval));
	else if (eval->wait_until_ns > 0)
		wait_until(b, e, PLACE_DELAYED, (uint64_t)eval->wait_until_ns);
	else
		queue_or_pend(b, e, (uint32_t)eval->type);
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
		run_due(b);
	pthread_mutex_unlock(&b->mutex);
}

// --- Dequeue -------------------------------------------------------------------------------------

// B27: the type whose first has the highest priority; chance decides between equals.
static struct heap *choose_queue(struct broker *b, uint32_t types)
{
	struct heap *chosen = NULL;
	int64_t priority = 0;
	uint32_t ties = 0;

	for (uint32_t t = 0; t < EVAL_TYPES; t++) {
		struct heap_node *top = heap_top(&b->queues[t]);
		if (!(types & (1u << t)) || !top)
			continue;
		int64_t own = of_order(top)->eval->priority;
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
	wait_until(b, e, PLACE_UNACKED,
		time_monotonic_ns(b->settings.time) + (uint64_t)b->settings.nack_timeout_ns);
	return e;
}

// Until something changes, something is due, or deadline_ns. False: the time is over. The real time source is the
// clock of the condition; with another one only a timeout of 0 makes sense.
static bool wait_for_change(struct broker *b, uint64_t deadline_ns)
{
	uint64_t now_ns = time_monotonic_ns(b->settings.time), until_ns = next_due(b);

	if (now_ns >= deadline_ns || b->is_closed)
		return false;
	until_ns = until_ns < deadline_ns ? until_ns : deadline_ns;
	struct timespec at = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
	(void)pthread_cond_timedwait(&b->changed, &b->mutex, &at);
	return true;
}

struct evaluation *broker_dequeue(struct broker *b, uint32_t types, uint32_t timeout_ms,
	uint64_t *token, uint64_t *wait_index)
{
	uint64_t deadline_ns = time_monotonic_ns(b->settings.time) + timeout_ms * 1000000ull;
	struct evaluation *eval = NULL;
	struct heap *queue;

	pthread_mutex_lock(&b->mutex);
	do {
		run_due(b);
		queue = choose_queue(b, types);
	} while (!queue && wait_for_change(b, deadline_ns));
	if (queue) {
		struct entry *e = deliver(b, queue);
		eval = evaluation_copy(e->eval);
		*token = e->token;
		*wait_index = e->eval->record.modify_index;
	}
	pthread_mutex_unlock(&b->mutex);
	return eval;
}

struct evaluation *broker_take_failed(struct broker *b, uint64_t *token)
{
	struct evaluation *eval = NULL;

	pthread_mutex_lock(&b->mutex);
	run_due(b);
	if (heap_top(&b->queues[QUEUE_FAILED])) {
		struct entry *e = deliver(b, &b->queues[QUEUE_FAILED]);
		eval = evaluation_copy(e->eval);
		*token = e->token;
	}
	pthread_mutex_unlock(&b->mutex);
	return eval;
}

// --- What became of a delivery -------------------------------------------------------------------

// What is late is nacked at once, and is a delivery no more.
static int find_delivery(
	struct broker *b, const struct uuid *id, uint64_t token, struct entry **found)
{
	struct entry *e = entry_find(b, id);

	if (!e || e->place != PLACE_UNACKED)
		return -ERROR_NOT_FOUND;
	if (e->token != token)
		return -ERROR_TOKEN;
	if (heap_holds(&e->due) && e->due_ns <= time_monotonic_ns(b->settings.time)) {
		run_due(b);
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
		end_delivery(b, e);
		entry_drop(b, e);
		release(b, turn);
		if (requeue)
			enqueue_new(b, requeue);
	}
	run_due(b);
	pthread_mutex_unlock(&b->mutex);
	return error;
}

int broker_nack(struct broker *b, const struct uuid *id, uint64_t token)
{
	struct entry *e;

	pthread_mutex_lock(&b->mutex);
	int error = find_delivery(b, id, token, &e);
	if (error == 0)
		nack(b, e);
	run_due(b);
	pthread_mutex_unlock(&b->mutex);
	return error;
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
	wait_until(b, e, PLACE_UNACKED,
		time_monotonic_ns(b->settings.time) + (uint64_t)b->settings.nack_timeout_ns);
}

// A timer that is stopped stays so: its plan waits.
int broker_outstanding(struct broker *b, const struct uuid *id, uint64_t token)
{
	struct entry *e;

	pthread_mutex_lock(&b->mutex);
	int error = find_delivery(b, id, token, &e);
	if (error == 0 && heap_holds(&e->due))
		restart_nack(b, e);
	pthread_mutex_unlock(&b->mutex);
	return error;
}

void broker_pause_nack(struct broker *b, const struct uuid *id, uint64_t token)
{
	struct entry *e;

	pthread_mutex_lock(&b->mutex);
	if (find_delivery(b, id, token, &e) == 0 && heap_holds(&e->due))
		heap_remove(&b->timers, &e->due);
	pthread_mutex_unlock(&b->mutex);
}

void broker_resume_nack(struct broker *b, const struct uuid *id, uint64_t token)
{
	struct entry *e;

	pthread_mutex_lock(&b->mutex);
	if (find_delivery(b, id, token, &e) == 0)
		restart_nack(b, e);
	pthread_mutex_unlock(&b->mutex);
}

// --- Care ----------------------------------------------------------------------------------------

// Only what is cancelable is in no heap; it is found on its list.
static void unlist(struct broker *b, struct entry *e)
{
	struct entry **at = &b->cancelable;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	if (b->cancelable_end == &e->next)
		b->cancelable_end = at;
	b->stats.cancelable--;
}

static void take_out(struct broker *b, struct entry *e)
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
		e->turn = NULL; // its holder is still there
		break;
	case PLACE_READY:
		heap_remove(&b->queues[e->queue], &e->order);
		b->stats.ready--;
		break;
	case PLACE_CANCELABLE: unlist(b, e); break;
	case PLACE_UNACKED: CHECK(false);
	}
}

void broker_forget(struct broker *b, const struct uuid *id)
{
	pthread_mutex_lock(&b->mutex);
	struct entry *e = entry_find(b, id);
	if (e && e->place != PLACE_UNACKED) {
		take_out(b, e);
		struct job_turn *turn = e->turn;
		if (turn)
			promote(b, turn);
		entry_drop(b, e);
	}
	pthread_mutex_unlock(&b->mutex);
}

uint64_t broker_tick(struct broker *b)
{
	pthread_mutex_lock(&b->mutex);
	run_due(b);
	uint64_t due_ns = next_due(b);
	pthread_mutex_unlock(&b->mutex);
	return due_ns;
}

uint32_t broker_take_cancelable(struct broker *b, struct evaluation **evals, uint32_t count)
{
	uint32_t taken = 0;

	pthread_mutex_lock(&b->mutex);
	for (; taken < count && b->cancelable; taken++) {
		struct entry *e = b->cancelable;
		unlist(b, e);
		evals[taken] = e->eval;
		lookup_remove(&b->evals, &e->by_id);
		e->eval = NULL;
		entry_free(e);
	}
	pthread_mutex_unlock(&b->mutex);
	return taken;
}

void broker_stats(struct broker *b, struct broker_stats *stats)
{
	pthread_mutex_lock(&b->mutex);
	*stats = b->stats;
	stats->failed = b->queues[QUEUE_FAILED].count;
	for (uint32_t t = 0; t < EVAL_TYPES; t++)
		stats->ready_by_type[t] = b->queues[t].count;
	pthread_mutex_unlock(&b->mutex);
}

uint32_t broker_delayed(struct broker *b, struct broker_delayed *items, uint32_t room)
{
	pthread_mutex_lock(&b->mutex);
	int64_t now_ns = (int64_t)time_wall_ns(b->settings.time);
	uint32_t count = b->delays.count < room ? b->delays.count : room;
	for (uint32_t i = 0; i < count; i++) {
		const struct entry *e = CONTAINER_OF(b->delays.items[i], struct entry, due);
		items[i] = (struct broker_delayed){
			.id = e->eval->id,
			.namespace_name = text_copy(text_of(e->eval->namespace_name)),
			.job_id = text_copy(text_of(e->eval->job_id)),
			.due_in_ns = (int64_t)e->due_ns - now_ns,
		};
	}
	pthread_mutex_unlock(&b->mutex);
	return count;
}

// --- Beginning and end ---------------------------------------------------------------------------

static void forget_all(struct broker *b)
{
	struct lookup_node *n, *next;
	uint32_t bucket;

	for (n = lookup_walk(&b->turns, &bucket, NULL); n; n = next) {
		next = lookup_walk(&b->turns, &bucket, n);
		turn_drop(b, CONTAINER_OF(n, struct job_turn, by_name));
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
	pthread_condattr_t monotonic;

	b->settings = *settings;
	if (settings->seed)
		prng_seed(&b->prng, settings->seed);
	else
		prng_seed_from_system(&b->prng);
	pthread_mutex_init(&b->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&b->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	for (uint32_t q = 0; q < QUEUES; q++)
		heap_init(&b->queues[q], ready_before);
	heap_init(&b->timers, due_before);
	heap_init(&b->delays, due_before);
	b->cancelable_end = &b->cancelable;
	return b;
}

void broker_destroy(struct broker *b)
{
	if (!b)
		return;
	forget_all(b);
	lookup_free(&b->evals);
	lookup_free(&b->turns);
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->mutex);
	free(b);
}

static void set_enabled(struct broker *b, bool enabled)
{
	if (b->is_enabled && !enabled)
		forget_all(b);
	b->is_enabled = enabled && !b->is_closed;
	pthread_cond_broadcast(&b->changed);
}

void broker_set_enabled(struct broker *b, bool enabled)
{
	pthread_mutex_lock(&b->mutex);
	set_enabled(b, enabled);
	pthread_mutex_unlock(&b->mutex);
}

void broker_close(struct broker *b)
{
	pthread_mutex_lock(&b->mutex);
	b->is_closed = true;
	set_enabled(b, false);
	pthread_mutex_unlock(&b->mutex);
}
