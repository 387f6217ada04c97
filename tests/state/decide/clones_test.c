// Two agents with one id and key against a naive model, and one agent alone, whatever becomes of it.
#include "state/base/prng.h"
#include "state/base/time_units.h"
#include "state/decide/clones.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEEDS 1000u
#define WINDOW_NS (10 * NS_PER_MIN)
#define TTL_NS (5 * NS_PER_S)
#define STEPS 40u
#define AGENTS 3u

static const struct clone_limits limits = {.window_ns = WINDOW_NS, .soon_ns = 2 * TTL_NS};

static struct agent_mark agent_of(uint32_t number, bool says_boot)
{
	return (struct agent_mark){.boot = says_boot ? 1000 + number : 0,
		.address = {10, 0, 0, (uint8_t)number},
		.port = (uint16_t)(40000 + number)};
}

// Who had the node and when it came, all of it; a return is looked for from the start each time.
struct naive {
	uint32_t agents[STEPS + 1];
	int64_t came_ns[STEPS + 1];
	uint32_t count;
};

static bool naive_refuses(const struct naive *n, uint32_t comer, int64_t now_ns, bool says_boot)
{
	uint32_t returns = 0;
	bool is_known = false;
	for (uint32_t i = 1; i <= n->count; i++) {
		uint32_t agent = i < n->count ? n->agents[i] : comer;
		int64_t at_ns = i < n->count ? n->came_ns[i] : now_ns;
		bool was_here = false;
		for (uint32_t before = 0; before < i; before++)
			was_here |= n->agents[before] == agent;
		bool soon = at_ns - n->came_ns[i - 1] <= limits.soon_ns || i == 1;
		returns += was_here && (soon || says_boot);
		is_known = was_here; // in the end that of the comer
	}
	return comer != n->agents[0] && is_known && returns >= 2;
}

static void alternate(uint64_t seed)
{
	struct prng prng;
	struct clones *c = clones_create(&limits, 1);
	struct uuid node = {{1}};
	prng_seed(&prng, seed);
	bool says_boot = prng_below(&prng, 2);
	int64_t now_ns = NS_PER_HOUR;
	struct naive naive = {.agents = {0}, .came_ns = {now_ns}, .count = 1};
	uint32_t refused = 0;
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t holder = naive.agents[naive.count - 1];
		uint32_t comer = (holder + 1 + (uint32_t)prng_below(&prng, AGENTS - 1)) % AGENTS;
		struct agent_mark had = agent_of(holder, says_boot);
		struct agent_mark comes = agent_of(comer, says_boot);
		// Mostly as fast as fenced agents come back; now and then much later.
		now_ns += (int64_t)prng_below(&prng, 8) == 0 ? 3 * TTL_NS : TTL_NS / 2;
		bool is_clone = clones_register(c, &node, agent_print_of(&had), &comes, now_ns);
		assert_int_equal(is_clone, naive_refuses(&naive, comer, now_ns, says_boot));
		if (is_clone) {
			refused++;
			// Its try is seen, though the holder stays.
			naive.agents[naive.count] = comer;
			naive.came_ns[naive.count++] = now_ns;
			naive.agents[naive.count - 1] = holder;
			continue;
		}
		naive.agents[naive.count] = comer;
		naive.came_ns[naive.count++] = now_ns;
	}
	assert_true(refused > 0);
	// In the end the first one has the node.
	assert_int_equal(naive.agents[naive.count - 1], 0);
	clones_free(c);
}

static void agents_that_alternate_are_found(void **unused)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		alternate(seed);
}

// One agent at a time, with restarts, other addresses, links that take turns, ports that a router gives anew.
static void live_alone(uint64_t seed)
{
	struct prng prng;
	struct clones *c = clones_create(&limits, 1);
	struct uuid node = {{1}};
	prng_seed(&prng, seed);
	bool says_boot = prng_below(&prng, 2);
	struct agent_mark held = agent_of(1, says_boot), now = held;
	int64_t now_ns = NS_PER_HOUR;
	for (uint32_t step = 0; step < 1000; step++) {
		switch (prng_below(&prng, 4)) {
		case 0: now.boot += says_boot; break;
		case 1: now.address[3] = (uint8_t)prng_below(&prng, 3); break;
		case 2: now.port = (uint16_t)(40000 + prng_below(&prng, 4)); break;
		default: break;
		}
		// Told to register again, it does so at once; without being told only after six heartbeats.
		now_ns += says_boot ? (int64_t)prng_below(&prng, TTL_NS)
				    : limits.soon_ns + 1 + (int64_t)prng_below(&prng, TTL_NS);
		assert_false(clones_register(c, &node, agent_print_of(&held), &now, now_ns));
		held = now;
	}
	clones_free(c);
}

static void one_agent_alone_is_no_clone(void **unused)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		live_alone(seed);
}

static void nobody_is_a_clone_of_long_ago(void **unused)
{
	struct clones *c = clones_create(&limits, 1);
	struct uuid node = {{1}};
	struct agent_mark a = agent_of(1, true), b = agent_of(2, true);
	for (int64_t i = 1; i < 20; i++)
		assert_false(clones_register(c, &node, agent_print_of(i % 2 ? &a : &b),
			i % 2 ? &b : &a, i * (WINDOW_NS + NS_PER_S)));
	clones_free(c);
}

static void an_operator_begins_anew(void **unused)
{
	struct clones *c = clones_create(&limits, 1);
	struct uuid node = {{1}};
	struct agent_mark a = agent_of(1, true), b = agent_of(2, true);
	assert_false(clones_register(c, &node, agent_print_of(&a), &b, NS_PER_S));
	assert_false(clones_register(c, &node, agent_print_of(&b), &a, 2 * NS_PER_S));
	assert_true(clones_register(c, &node, agent_print_of(&a), &b, 3 * NS_PER_S));
	assert_memory_equal(clones_seen(c, &node, agent_print_of(&a)), &a, sizeof a);
	assert_null(clones_seen(c, &node, (struct agent_print){3, 4}));
	clones_forget(c, &node);
	assert_null(clones_seen(c, &node, agent_print_of(&a)));
	assert_false(clones_register(c, &node, agent_print_of(&a), &b, 4 * NS_PER_S));
	assert_false(clones_register(c, &node, agent_print_of(&b), &a, 5 * NS_PER_S));
	assert_true(clones_register(c, &node, agent_print_of(&a), &b, 6 * NS_PER_S));
	clones_free(c);
}

// One that has another boot each time takes the node over no more often than agents are remembered.
static void ever_new_boots_come_to_an_end(void **unused)
{
	struct clones *c = clones_create(&limits, 1);
	struct uuid node = {{1}};
	struct agent_mark a = agent_of(0, true);
	uint32_t takeovers = 0;
	for (uint32_t i = 1; i < 100; i++) {
		struct agent_mark thief = agent_of(i, true);
		if (clones_register(c, &node, agent_print_of(&a), &thief, i * NS_PER_S))
			continue;
		takeovers++;
		assert_false(
			clones_register(c, &node, agent_print_of(&thief), &a, i * NS_PER_S + 1));
	}
	assert_int_equal(takeovers, 7);
	clones_free(c);
}

// What is kept of each holder tells agents apart as their marks do.
static void prints_are_told_apart(void **unused)
{
	struct clones *c = clones_create(&limits, 2);
	struct agent_mark a = agent_of(1, true), b = a, none = agent_of(1, false), other = none;
	struct uuid node = {{1}};
	assert_int_equal(clones_holder(c, 1).place, 0);
	clones_hold(c, 1, &a);
	assert_int_not_equal(clones_holder(c, 1).place, 0);
	b.port++;
	assert_false(clones_register(c, &node, clones_holder(c, 1), &b, NS_PER_S));
	assert_null(clones_seen(c, &node, agent_print_of(&a))); // the same agent: nothing to watch
	other.address[3]++;
	assert_int_equal(agent_print_of(&none).place, agent_print_of(&a).place);
	assert_int_not_equal(agent_print_of(&other).place, agent_print_of(&none).place);
	assert_int_not_equal(agent_print_of(&b).place, agent_print_of(&a).place);
	assert_int_equal(agent_print_of(&none).boot, 0);
	clones_free(c);
}

static int print_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

// Neighbours in a network, the ports of a host, boots that are counted.
static void neighbours_have_other_prints(void **unused)
{
	enum { PRINTS = 768 };
	static uint32_t prints[PRINTS];
	for (uint32_t i = 0; i < PRINTS; i++) {
		struct agent_mark mark = {
			.boot = 1 + i, .address = {[10] = 0xff, 0xff, 10, 0, 0, 1}, .port = 40000};
		if (i < 256)
			mark.address[15] = (uint8_t)i;
		else if (i < 511)
			mark.address[14] = (uint8_t)(i - 255);
		else
			mark.port = (uint16_t)(i - 510);
		prints[i] = agent_print_of(&mark).place;
		assert_int_not_equal(agent_print_of(&mark).boot, 0);
		mark.boot++;
		assert_int_not_equal(agent_print_of(&mark).boot,
			agent_print_of(&(struct agent_mark){.boot = 1 + i}).boot);
	}
	qsort(prints, PRINTS, sizeof prints[0], print_order);
	for (uint32_t i = 1; i < PRINTS; i++)
		assert_int_not_equal(prints[i], prints[i - 1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agents_that_alternate_are_found),
		cmocka_unit_test(one_agent_alone_is_no_clone),
		cmocka_unit_test(nobody_is_a_clone_of_long_ago),
		cmocka_unit_test(ever_new_boots_come_to_an_end),
		cmocka_unit_test(an_operator_begins_anew),
		cmocka_unit_test(prints_are_told_apart),
		cmocka_unit_test(neighbours_have_other_prints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
