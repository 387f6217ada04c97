// Which nodes have a value, against a look at every node, while nodes come, change and go.
#include "placement/direct/classes/node_values.h"
#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SLOTS_MOST 600u
#define HASHES 40u // 0: no value

struct world {
	struct prng prng;
	struct fit_index *index;
	struct node_values_kept *kept;
	uint32_t slots; // that may hold nodes
	bool is_there[SLOTS_MOST];
	uint32_t hash[SLOTS_MOST];
	uint32_t asked; // nodes that were read
};

static uint32_t below(struct world *w, uint32_t bound)
{
	return (uint32_t)prng_below(&w->prng, bound);
}

static uint32_t hash_of_node(void *context, uint32_t slot)
{
	struct world *w = context;
	w->asked++;
	return w->hash[slot];
}

static void set_node(struct world *w, uint32_t slot)
{
	struct fit_input in = {.capacity = {1000, 1000, 1000},
		.node_class = 1,
		.class_hash = 1,
		.stamp = w->hash[slot] + 1,
		.ready = below(w, 4) > 0};
	in.used.cpu_mhz = below(w, 1000);
	fit_index_set(w->index, slot, w->is_there[slot] ? &in : NULL);
}

// Another use, another value, or it comes or goes.
static void change_node(struct world *w)
{
	uint32_t slot = below(w, w->slots), what = below(w, 4);

	if (what == 0 || !w->is_there[slot])
		w->is_there[slot] = below(w, 3) > 0;
	if (what < 3)
		w->hash[slot] = below(w, HASHES) << below(w, 3);
	set_node(w, slot);
}

static void check_hash(const struct world *w, const struct node_values *v, uint32_t hash)
{
	bool is_found[SLOTS_MOST] = {false};
	uint32_t slot = node_values_first(v, hash);

	for (; slot != NODE_VALUES_END; slot = node_values_next(v, slot)) {
		assert_false(is_found[slot]);
		is_found[slot] = true;
	}
	for (uint32_t i = 0; i < w->slots; i++)
		assert_int_equal(is_found[i], w->is_there[i] && w->hash[i] == hash);
}

static void check(struct world *w)
{
	struct node_values *v = node_values_take(w->kept, "${node.unique.name}", hash_of_node, w);

	for (uint32_t hash = 0; hash < 4 * HASHES; hash++)
		check_hash(w, v, hash);
	node_values_give(v);
}

static void begin(struct world *w)
{
	*w = (struct world){.slots = 3};
	prng_seed(&w->prng, 1);
	w->index = fit_index_create(PLACEMENT_BINPACK);
	w->kept = node_values_kept_create(w->index);
}

static void end(struct world *w)
{
	node_values_kept_destroy(w->kept);
	fit_index_destroy(w->index);
}

// Now and then more changes than the log holds.
static void nodes_are_found_by_their_values(void **state)
{
	struct world w;

	begin(&w);
	for (uint32_t turn = 0; turn < 400; turn++) {
		uint32_t changes = turn % 50 == 49 ? 2 * FIT_LOG_CHANGES : below(&w, 30);
		for (uint32_t i = 0; i < changes; i++)
			change_node(&w);
		if (w.slots < SLOTS_MOST - 40 && below(&w, 4) == 0)
			w.slots += below(&w, 40);
		check(&w);
	}
	end(&w);
}

static void only_nodes_that_are_described_anew_are_read(void **state)
{
	struct world w;

	begin(&w);
	w.slots = 200;
	for (uint32_t i = 0; i < w.slots; i++) {
		w.is_there[i] = true;
		set_node(&w, i);
	}
	check(&w);
	assert_int_equal(w.asked, 200);
	for (uint32_t i = 0; i < 2 * FIT_LOG_CHANGES; i++)
		set_node(&w, i % 100); // its use alone
	w.hash[7] = 5;
	set_node(&w, 7);
	check(&w);
	assert_int_equal(w.asked, 201);
	end(&w);
}

static void what_is_taken_stays(void **state)
{
	struct world w;
	struct node_values *first, *again;
	char property[16];

	begin(&w);
	w.is_there[0] = true;
	set_node(&w, 0);
	first = node_values_take(w.kept, "first", hash_of_node, &w);
	for (uint32_t i = 0; i < 20; i++) {
		snprintf(property, sizeof property, "%u", i);
		node_values_give(node_values_take(w.kept, property, hash_of_node, &w));
	}
	again = node_values_take(w.kept, "first", hash_of_node, &w);
	assert_ptr_equal(first, again);
	assert_int_equal(w.asked, 21);
	node_values_give(node_values_take(w.kept, "19", hash_of_node, &w)); // the newest
	assert_int_equal(w.asked, 21);
	node_values_give(node_values_take(w.kept, "0", hash_of_node, &w)); // was dropped
	assert_int_equal(w.asked, 22);
	node_values_give(first);
	node_values_give(again);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_found_by_their_values),
		cmocka_unit_test(only_nodes_that_are_described_anew_are_read),
		cmocka_unit_test(what_is_taken_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
