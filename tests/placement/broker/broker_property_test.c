// The broker against a list that the test searches from end to end, with random operations on a clock that moves now
// and then.
#include "placement/broker/broker.h"
#include "state/base/error.h"
#include "state/base/prng.h"
#include "state/base/time_units.h"
#include "tests/placement/broker/evals.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 8, STEPS = 6000, ITEMS = 512, JOBS = 5 };
enum place { NOWHERE, TIMED, DELAYED, PENDING, READY, UNACKED, FAILED, CANCELABLE };

#define LIMIT 3u
#define NACK_NS 60000000000ull

struct item {
	enum place place;
	struct eval_ask ask;
	bool holds; // the item holds its job
	bool paused, requeue;
	uint64_t requeue_index;
	uint32_t deliveries, order; // order: among the cancelable
	uint64_t token, due;
};

struct model {
	struct manual_time time;
	struct time_source source;
	struct broker *broker;
	struct prng prng;
	struct item items[ITEMS];
	uint32_t next_number, next_order;
};

static const char *const job_names[JOBS] = {"a", "b", "c", "d", "e"};

static uint64_t draw(struct model *m, uint64_t bound)
{
	return prng_below(&m->prng, bound);
}

static struct item *find(struct model *m, uint32_t number)
{
	for (uint32_t i = 0; i < ITEMS; i++)
		if (m->items[i].place != NOWHERE && m->items[i].ask.number == number)
			return &m->items[i];
	return NULL;
}

static struct item *room(struct model *m)
{
	for (uint32_t i = 0; i < ITEMS; i++)
		if (m->items[i].place == NOWHERE)
			return &m->items[i];
	return NULL;
}

static bool job_is_held(struct model *m, const char *job)
{
	for (uint32_t i = 0; i < ITEMS; i++)
		if (m->items[i].place != NOWHERE && m->items[i].holds &&
			strcmp(m->items[i].ask.job, job) == 0)
			return true;
	return false;
}

static void queue_or_pend(struct model *m, struct item *x, enum place queue)
{
	if (!x->holds && job_is_held(m, x->ask.job)) {
		x->place = PENDING;
		return;
	}
	x->holds = true;
	x->place = queue;
}

static void model_nack(struct model *m, struct item *x)
{
	x->token = 0;
	x->requeue = false;
	if (x->deliveries >= LIMIT) {
		x->place = FAILED;
		return;
	}
	x->place = TIMED;
	x->due = m->time.monotonic_ns +
		 (x->deliveries == 1 ? 1000 * NS_PER_MS : (x->deliveries - 1) * 20000 * NS_PER_MS);
}

static bool older(const struct item *a, const struct item *b)
{
	struct uuid x = eval_id(a->ask.number), y = eval_id(b->ask.number);
	if (a->ask.create_index != b->ask.create_index)
		return a->ask.create_index < b->ask.create_index;
	return uuid_compare(&x, &y) < 0;
}

static struct item *first_due(struct model *m, bool delays)
{
	uint64_t now = delays ? m->time.wall_ns : m->time.monotonic_ns;
	struct item *best = NULL;

	for (uint32_t i = 0; i < ITEMS; i++) {
		struct item *x = &m->items[i];
		bool is_timed = delays ? x->place == DELAYED
				       : x->place == TIMED || (x->place == UNACKED && !x->paused);
		if (!is_timed || x->due > now)
			continue;
		if (!best || x->due < best->due || (x->due == best->due && older(x, best)))
			best = x;
	}
	return best;
}

static void run_due(struct model *m)
{
	struct item *x;

	while ((x = first_due(m, false))) {
		if (x->place == UNACKED)
			model_nack(m, x);
		else
			queue_or_pend(m, x, READY);
	}
	while ((x = first_due(m, true)))
		queue_or_pend(m, x, READY);
}

static bool better_pending(const struct item *a, const struct item *b)
{
	if (a->ask.priority != b->ask.priority)
		return a->ask.priority > b->ask.priority;
	if (a->ask.modify_index != b->ask.modify_index)
		return a->ask.modify_index > b->ask.modify_index;
	return older(b, a);
}

static struct item *best_pending(struct model *m, const char *job)
{
	struct item *best = NULL;

	for (uint32_t i = 0; i < ITEMS; i++) {
		struct item *x = &m->items[i];
		if (x->place == PENDING && strcmp(x->ask.job, job) == 0 &&
			(!best || better_pending(x, best)))
			best = x;
	}
	return best;
}

static void add(struct model *m, struct eval_ask ask)
{
	struct item *x = room(m);

	assert_non_null(x);
	*x = (struct item){.ask = ask};
	if (ask.wait_ns > 0) {
		x->place = TIMED;
		x->due = m->time.monotonic_ns + (uint64_t)ask.wait_ns;
	} else if (ask.wait_until_ns > 0) {
		x->place = DELAYED;
		x->due = (uint64_t)ask.wait_until_ns;
	} else {
		queue_or_pend(m, x, READY);
	}
}

static struct eval_ask random_ask(struct model *m)
{
	struct eval_ask ask = {
		.number = ++m->next_number,
		.job = job_names[draw(m, JOBS)],
		.type = (int)draw(m, EVAL_TYPES),
		.priority = 1 + (int64_t)draw(m, 3),
		.create_index = 1 + draw(m, 20),
		.modify_index = 1 + draw(m, 20),
	};
	if (draw(m, 6) == 0)
		ask.wait_ns = (int64_t)(1 + draw(m, 30000)) * (int64_t)NS_PER_MS;
	else if (draw(m, 6) == 0)
		ask.wait_until_ns = (int64_t)(m->time.wall_ns + draw(m, 30000) * NS_PER_MS);
	return ask;
}

static void give(struct model *m, struct eval_ask ask, uint64_t token)
{
	struct evaluation *e = make_eval(ask);
	broker_enqueue(m->broker, e, token);
	evaluation_free(e);
}

static void enqueue(struct model *m)
{
	struct item *known = find(m, 1 + (uint32_t)draw(m, m->next_number + 1));

	if (known && draw(m, 2) == 0) { // again, with or without its token
		bool right = known->place == UNACKED && draw(m, 2) == 0;
		struct eval_ask ask = known->ask;
		ask.modify_index += 5;
		give(m, ask, right ? known->token : draw(m, 2));
		if (right) {
			known->requeue = true;
			known->requeue_index = ask.modify_index;
		}
	} else if (room(m)) {
		struct eval_ask ask = random_ask(m);
		give(m, ask, draw(m, 2)); // a token of no outstanding evaluation
		add(m, ask);
	}
	run_due(m);
}

static bool first_of_its_type(struct model *m, const struct item *x)
{
	for (uint32_t i = 0; i < ITEMS; i++) {
		const struct item *other = &m->items[i];
		if (other->place != READY || other->ask.type != x->ask.type || other == x)
			continue;
		if (other->ask.priority > x->ask.priority ||
			(other->ask.priority == x->ask.priority && older(other, x)))
			return false;
	}
	return true;
}

static int64_t best_priority(struct model *m, uint32_t types)
{
	int64_t best = -1;

	for (uint32_t i = 0; i < ITEMS; i++) {
		const struct item *x = &m->items[i];
		if (x->place == READY && (types & (1u << x->ask.type)) && x->ask.priority > best)
			best = x->ask.priority;
	}
	return best;
}

static void delivered(struct model *m, struct item *x, uint64_t token)
{
	x->place = UNACKED;
	x->paused = false;
	x->token = token;
	x->deliveries++;
	x->due = m->time.monotonic_ns + NACK_NS;
}

static void dequeue(struct model *m)
{
	uint32_t types = (uint32_t)draw(m, 1u << EVAL_TYPES);
	uint64_t token, wait_index;
	struct evaluation *e = broker_dequeue(m->broker, types, 0, &token, &wait_index);

	run_due(m);
	int64_t priority = best_priority(m, types);
	assert_int_equal(e != NULL, priority >= 0);
	if (!e)
		return;
	struct item *x = find(m, eval_number(e));
	assert_non_null(x);
	assert_int_equal(x->place, READY);
	assert_true(types & (1u << x->ask.type));
	assert_int_equal(x->ask.priority, priority);
	assert_true(first_of_its_type(m, x));
	assert_int_equal(wait_index, x->ask.modify_index);
	delivered(m, x, token);
	evaluation_free(e);
}

static void take_failed(struct model *m)
{
	uint64_t token;
	struct evaluation *e = broker_take_failed(m->broker, &token);
	struct item *best = NULL;

	run_due(m);
	for (uint32_t i = 0; i < ITEMS; i++) {
		struct item *x = &m->items[i];
		if (x->place == FAILED &&
			(!best || x->ask.priority > best->ask.priority ||
				(x->ask.priority == best->ask.priority && older(x, best))))
			best = x;
	}
	assert_int_equal(e != NULL, best != NULL);
	if (e) {
		assert_int_equal(eval_number(e), best->ask.number);
		delivered(m, best, token);
	}
	evaluation_free(e);
}

// A delivery now and then, or anything else.
static struct item *choose(struct model *m)
{
	uint32_t start = (uint32_t)draw(m, ITEMS);

	for (uint32_t i = 0; i < ITEMS && draw(m, 10) != 0; i++) {
		struct item *x = &m->items[(start + i) % ITEMS];
		if (x->place == UNACKED)
			return x;
	}
	return find(m, 1 + (uint32_t)draw(m, m->next_number + 1));
}

static int expected(struct model *m, const struct item *x, uint64_t token)
{
	if (!x || x->place != UNACKED)
		return -ERROR_NOT_FOUND;
	if (x->token != token)
		return -ERROR_TOKEN;
	return !x->paused && x->due <= m->time.monotonic_ns ? -ERROR_LATE : 0;
}

static void model_ack(struct model *m, struct item *x)
{
	struct item was = *x, *best;

	x->place = NOWHERE;
	if ((best = best_pending(m, was.ask.job))) {
		best->place = NOWHERE; // so that the search finds the rest
		for (struct item *other; (other = best_pending(m, was.ask.job));) {
			other->place = CANCELABLE;
			other->order = m->next_order++;
		}
		best->holds = true;
		best->place = READY;
	}
	if (was.requeue) {
		was.ask.modify_index = was.requeue_index;
		add(m, was.ask);
	}
}

static void answer(struct model *m)
{
	struct item *x = choose(m);
	struct uuid id = eval_id(x ? x->ask.number : m->next_number + 1);
	uint64_t token = x && draw(m, 8) ? x->token : 12345;
	int error = expected(m, x, token);
	uint32_t what = (uint32_t)draw(m, 5);

	if (what == 0) {
		assert_int_equal(broker_nack(m->broker, &id, token), error);
		if (error == 0)
			model_nack(m, x);
		run_due(m);
	} else if (what == 1) {
		assert_int_equal(broker_outstanding(m->broker, &id, token), error);
		if (error == 0 && !x->paused)
			x->due = m->time.monotonic_ns + NACK_NS;
		if (error == -ERROR_LATE)
			run_due(m);
	} else if (what == 2) {
		bool pause = draw(m, 2);
		if (pause)
			broker_pause_nack(m->broker, &id, token);
		else
			broker_resume_nack(m->broker, &id, token);
		if (error == 0) {
			x->paused = pause;
			x->due = m->time.monotonic_ns + NACK_NS;
		}
		if (error == -ERROR_LATE)
			run_due(m);
	} else {
		assert_int_equal(broker_ack(m->broker, &id, token), error);
		if (error == 0)
			model_ack(m, x);
		run_due(m);
	}
}

static void forget(struct model *m)
{
	struct item *x = find(m, 1 + (uint32_t)draw(m, m->next_number + 1));

	if (!x)
		return;
	struct uuid id = eval_id(x->ask.number);
	broker_forget(m->broker, &id);
	if (x->place == UNACKED)
		return;
	bool held = x->holds;
	x->place = NOWHERE;
	struct item *best = held ? best_pending(m, x->ask.job) : NULL;
	if (best) {
		best->holds = true;
		best->place = READY;
	}
}

static struct item *first_cancelable(struct model *m)
{
	struct item *first = NULL;

	for (uint32_t i = 0; i < ITEMS; i++) {
		struct item *x = &m->items[i];
		if (x->place == CANCELABLE && (!first || x->order < first->order))
			first = x;
	}
	return first;
}

static void cancel(struct model *m)
{
	struct evaluation *taken[4];
	uint32_t count = broker_take_cancelable(m->broker, taken, 1 + (uint32_t)draw(m, 4));

	for (uint32_t i = 0; i < count; i++) {
		struct item *x = first_cancelable(m);
		assert_non_null(x);
		assert_int_equal(eval_number(taken[i]), x->ask.number);
		x->place = NOWHERE;
		evaluation_free(taken[i]);
	}
	if (count == 0)
		assert_null(first_cancelable(m));
}

static void compare(struct model *m)
{
	struct broker_stats s, t = {0};

	broker_stats(m->broker, &s);
	for (uint32_t i = 0; i < ITEMS; i++) {
		const struct item *x = &m->items[i];
		t.ready += x->place == READY || x->place == FAILED;
		t.failed += x->place == FAILED;
		t.unacked += x->place == UNACKED;
		t.pending += x->place == PENDING;
		t.waiting += x->place == TIMED || x->place == DELAYED;
		t.cancelable += x->place == CANCELABLE;
		t.ready_by_type[x->ask.type] += x->place == READY;
	}
	memcpy(t.unacked_by_type, s.unacked_by_type, sizeof t.unacked_by_type);
	assert_memory_equal(&s, &t, sizeof s);
}

static void step(struct model *m)
{
	switch (draw(m, 12)) {
	case 0:
	case 1:
	case 2: enqueue(m); break;
	case 3:
	case 4:
	case 5: dequeue(m); break;
	case 6:
	case 7:
	case 8: answer(m); break;
	case 9: draw(m, 3) ? cancel(m) : forget(m); break;
	case 10: take_failed(m); break;
	default:
		manual_time_advance_ms(&m->time, draw(m, 3) ? draw(m, 500) : draw(m, 70000));
		(void)broker_tick(m->broker);
		run_due(m);
	}
	if (draw(m, 1000) == 0) {
		broker_set_enabled(m->broker, false);
		broker_set_enabled(m->broker, true);
		memset(m->items, 0, sizeof m->items);
	}
	compare(m);
}

static void a_broker_is_a_searched_list(void **unused)
{
	struct model *m = calloc(1, sizeof *m);

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		print_message("seed %lu\n", (unsigned long)seed);
		*m = (struct model){.time = {.monotonic_ns = 1, .wall_ns = 1700000000000000000}};
		m->source = time_source_manual(&m->time);
		prng_seed(&m->prng, seed);
		m->broker = broker_create(&(struct broker_settings){.time = &m->source,
			.seed = seed,
			.nack_timeout_ns = (int64_t)NACK_NS,
			.delivery_limit = LIMIT,
			.first_nack_delay_ns = 1000 * (int64_t)NS_PER_MS,
			.nack_delay_ns = 20000 * (int64_t)NS_PER_MS});
		broker_set_enabled(m->broker, true);
		for (uint32_t i = 0; i < STEPS; i++)
			step(m);
		broker_destroy(m->broker);
	}
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_broker_is_a_searched_list)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
