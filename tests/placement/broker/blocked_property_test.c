// Blocked evaluations against a list that the test searches from end to end. No evaluation is lost: each is blocked, in
// the broker, or a duplicate.
#include "placement/broker/blocked.h"
#include "state/base/prng.h"
#include "tests/placement/broker/evals.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 8, STEPS = 4000, ITEMS = 4096, NODES = 4, CLASSES = 4 };
#define ALL 0xffu

struct item {
	bool blocked, escaped;
	struct eval_ask ask;
	int8_t eligible[CLASSES]; // -1: not seen
	bool has_quota;           // no quota ever gets room
};

struct model {
	struct manual_time time;
	struct time_source source;
	struct broker *broker;
	struct blocked *blocked;
	struct prng prng;
	struct item items[ITEMS];
	uint32_t count;
	uint64_t index;
	uint64_t classes[CLASSES], nodes[NODES + 1]; // index of the newest unblock
	uint32_t expected_ready, expected_duplicates;
};

static const char *const job_names[] = {"a", "b", "c"};
static const char *const class_names[CLASSES] = {"v1:1", "v1:2", "v1:3", "v1:4"};

static uint64_t draw(struct model *m, uint64_t bound)
{
	return prng_below(&m->prng, bound);
}

static bool by_node(const struct item *x)
{
	return x->ask.node != 0 && (x->ask.type == EVAL_SYSTEM || x->ask.type == EVAL_SYSBATCH);
}

static struct evaluation *build(const struct item *x)
{
	struct evaluation *e = make_eval(x->ask);

	for (uint32_t c = 0; c < CLASSES; c++)
		if (x->eligible[c] >= 0)
			set_class(e, class_names[c], x->eligible[c]);
	e->escaped_computed_class = x->escaped;
	if (x->has_quota)
		e->quota_limit_reached = strdup("small");
	return e;
}

static struct item random_item(struct model *m)
{
	struct item x = {0};

	x.ask = (struct eval_ask){
		.number = m->count + 1,
		.job = job_names[draw(m, 3)],
		.type = (int)draw(m, 4),
		.node = (uint32_t)draw(m, NODES + 1),
		.create_index = 1 + draw(m, m->index + 1),
		.snapshot_index = m->index - draw(m, m->index < 5 ? m->index + 1 : 5),
		.status = EVAL_BLOCKED,
		.triggered_by = draw(m, 4) ? TRIGGER_QUEUED_ALLOCS : TRIGGER_MAX_PLAN_ATTEMPTS,
	};
	for (uint32_t c = 0; c < CLASSES; c++)
		x.eligible[c] = (int8_t)draw(m, 3) - 1;
	x.escaped = draw(m, 5) == 0;
	x.has_quota = draw(m, 6) == 0;
	return x;
}

static struct item *rival(struct model *m, const struct item *x)
{
	for (uint32_t i = 0; i < m->count; i++) {
		struct item *y = &m->items[i];
		if (y->blocked && y != x && strcmp(y->ask.job, x->ask.job) == 0 &&
			by_node(y) == by_node(x) && (!by_node(x) || y->ask.node == x->ask.node))
			return y;
	}
	return NULL;
}

static uint64_t newest(const struct item *x)
{
	return x->ask.create_index > x->ask.snapshot_index ? x->ask.create_index
							   : x->ask.snapshot_index;
}

static bool missed(const struct model *m, const struct item *x)
{
	uint64_t seen = x->ask.snapshot_index;

	if (x->has_quota)
		return false;
	if (by_node(x))
		return m->nodes[x->ask.node] > seen;
	for (uint32_t c = 0; c < CLASSES; c++)
		if (m->classes[c] > seen && (x->escaped || x->eligible[c] != 0))
			return true;
	return false;
}

static void block(struct model *m)
{
	struct item x = random_item(m);
	struct evaluation *e = build(&x);

	assert_true(m->count < ITEMS);
	blocked_add(m->blocked, e, 0);
	evaluation_free(e);
	struct item *other = rival(m, &x);
	if (other && newest(other) > newest(&x)) {
		m->expected_duplicates++;
	} else {
		if (other) {
			other->blocked = false;
			m->expected_duplicates++;
		}
		x.blocked = !missed(m, &x);
		m->expected_ready += !x.blocked;
	}
	m->items[m->count++] = x;
}

static void run_again(struct model *m, struct item *x)
{
	x->blocked = false;
	m->expected_ready++;
}

static void unblock_class(struct model *m)
{
	uint32_t c = (uint32_t)draw(m, CLASSES);

	m->classes[c] = ++m->index;
	blocked_unblock_class(m->blocked, class_names[c], m->index);
	for (uint32_t i = 0; i < m->count; i++) {
		struct item *x = &m->items[i];
		if (x->blocked && !by_node(x) && (x->escaped || x->eligible[c] != 0))
			run_again(m, x);
	}
}

static void unblock_nodes(struct model *m)
{
	struct uuid nodes[NODES];
	uint32_t count = 0;

	m->index++;
	for (uint32_t n = 1; n <= NODES; n++) {
		if (draw(m, 2))
			continue;
		nodes[count++] = eval_node(n);
		m->nodes[n] = m->index;
		for (uint32_t i = 0; i < m->count; i++)
			if (m->items[i].blocked && by_node(&m->items[i]) &&
				m->items[i].ask.node == n)
				run_again(m, &m->items[i]);
	}
	blocked_unblock_nodes(m->blocked, nodes, count, m->index);
}

static void unblock_failed(struct model *m)
{
	blocked_unblock_failed(m->blocked);
	for (uint32_t i = 0; i < m->count; i++)
		if (m->items[i].blocked &&
			m->items[i].ask.triggered_by == TRIGGER_MAX_PLAN_ATTEMPTS)
			run_again(m, &m->items[i]);
}

static void untrack(struct model *m)
{
	const char *job = job_names[draw(m, 3)];

	blocked_untrack(m->blocked, "default", job);
	for (uint32_t i = 0; i < m->count; i++)
		if (strcmp(m->items[i].ask.job, job) == 0)
			m->items[i].blocked = false;
}

static void forget(struct model *m)
{
	uint32_t number = 1 + (uint32_t)draw(m, m->count + 1);
	struct uuid id = eval_id(number);

	blocked_forget(m->blocked, &id);
	if (number <= m->count)
		m->items[number - 1].blocked = false;
}

static void compare(struct model *m)
{
	struct blocked_stats s, t = {0};
	struct broker_stats b;
	struct evaluation *duplicate;

	blocked_stats(m->blocked, &s);
	for (uint32_t i = 0; i < m->count; i++) {
		const struct item *x = &m->items[i];
		t.blocked += x->blocked;
		t.escaped += x->blocked && x->escaped;
		t.quota_limited += x->blocked && x->has_quota;
	}
	assert_memory_equal(&s, &t, sizeof s);
	broker_stats(m->broker, &b);
	assert_int_equal(b.ready + b.pending, m->expected_ready);
	while (blocked_take_duplicates(m->blocked, &duplicate, 1) == 1) {
		m->expected_duplicates--;
		evaluation_free(duplicate);
	}
	assert_int_equal(m->expected_duplicates, 0);
}

static void step(struct model *m)
{
	switch (draw(m, 15)) {
	case 0: unblock_class(m); break;
	case 1: unblock_nodes(m); break;
	case 2: draw(m, 5) ? (void)m->index++ : unblock_failed(m); break;
	case 3: draw(m, 5) ? forget(m) : untrack(m); break;
	default: block(m);
	}
	compare(m);
}

static void no_blocked_evaluation_is_lost(void **unused)
{
	struct model *m = calloc(1, sizeof *m);

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		print_message("seed %lu\n", (unsigned long)seed);
		*m = (struct model){.index = 10};
		m->source = time_source_manual(&m->time);
		prng_seed(&m->prng, seed);
		m->broker = broker_create(&(struct broker_settings){.time = &m->source,
			.seed = seed,
			.nack_timeout_ns = 1,
			.delivery_limit = 3});
		m->blocked = blocked_create(m->broker, &m->source);
		broker_set_enabled(m->broker, true);
		blocked_set_enabled(m->blocked, true);
		for (uint32_t i = 0; i < STEPS && m->count < ITEMS; i++)
			step(m);
		blocked_destroy(m->blocked);
		broker_destroy(m->broker);
	}
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(no_blocked_evaluation_is_lost)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
