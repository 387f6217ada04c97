#include "placement/direct/fit_tree.h"
#include "placement/direct/fit_tree_private.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "tests/support/core/slowness.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NODES 3000u

struct world {
	enum placement_algorithm algorithm;
	struct prng prng;
	struct fit_node *nodes;
	bool in[NODES];
	bool is_taken[NODES];
	uint64_t asked; // how often a search asked for one
	struct fit_tree *tree;
};

static uint32_t below(struct world *w, uint32_t bound)
{
	return (uint32_t)prng_below(&w->prng, bound);
}

// How a fleet's nodes are made; each fleet is degenerate in its own way.
typedef struct fit_node make_node(struct world *, uint32_t slot);

static struct fit_node identical(struct world *w, uint32_t slot)
{
	return (struct fit_node){1000, 2000, 500, 4000, 8000};
}
// Two kinds lie side by side on the curve, in every other slot: leaves would mix them without end.
static struct fit_node two_kinds(struct world *w, uint32_t slot)
{
	return (struct fit_node){128000, 128000 + slot % 2, 500, 128000 + slot % 2, 256000};
}
// Equal free amounts, of different capacities.
static struct fit_node one_use_many_capacities(struct world *w, uint32_t slot)
{
	return (struct fit_node){1000, 2000, 500, 4000 + below(w, 8), 8000 + below(w, 2)};
}
static struct fit_node all_distinct(struct world *w, uint32_t slot)
{
	return (struct fit_node){slot, NODES - slot, slot, NODES + slot, 2 * NODES + slot};
}
static struct fit_node empty_distinct(struct world *w, uint32_t slot)
{
	uint32_t memory = 200000 + below(w, 100000);
	return (struct fit_node){64000, memory, 500, 64000, memory};
}
static struct fit_node random_node(struct world *w, uint32_t slot)
{
	struct fit_node n = {.cpu_capacity = 1 + below(w, 20) * 1000,
		.memory_capacity = 1 + below(w, 20) * 1000,
		.disk_free = below(w, 100),
		.node_class = below(w, 200)};
	n.cpu_free = below(w, n.cpu_capacity + 1);
	n.memory_free = below(w, n.memory_capacity + 1);
	return n;
}
static struct fit_node no_disk(struct world *w, uint32_t slot)
{
	struct fit_node n = random_node(w, slot);
	n.disk_free = slot == 1234 ? 100 : 0;
	return n;
}
static struct fit_node huge(struct world *w, uint32_t slot)
{
	struct fit_node n = random_node(w, slot);
	return (struct fit_node){n.cpu_free * 200000, n.memory_free * 200000, 4000000000u,
		n.cpu_capacity * 200000, n.memory_capacity * 200000};
}

static void put(struct world *w, uint32_t slot, make_node *make)
{
	w->nodes[slot] = make(w, slot);
	fit_tree_insert(w->tree, slot);
	w->in[slot] = true;
}
static void change(struct world *w, uint32_t slot, make_node *make)
{
	struct fit_node after = make(w, slot);
	fit_tree_change(w->tree, slot, &after);
}
static void take(struct world *w, uint32_t slot)
{
	fit_tree_remove(w->tree, slot);
	w->in[slot] = false;
}

static void verify(const struct world *w)
{
	uint32_t count, should = 0;
	assert_null(fit_tree_verify(w->tree, &count));
	for (uint32_t i = 0; i < NODES; i++)
		should += w->in[i];
	assert_int_equal(count, should);
}

static bool fits(const struct fit_node *n, const struct fit_query *q)
{
	bool in_class = !q->classes || (q->classes[n->node_class / 64] >> n->node_class % 64 & 1);
	return in_class && n->cpu_free >= q->cpu && n->memory_free >= q->memory &&
	       n->disk_free >= q->disk;
}

static double score(const struct world *w, uint32_t slot, const struct fit_query *q)
{
	const struct fit_node *n = &w->nodes[slot];
	return placement_score(w->algorithm,
		(struct resources){n->cpu_capacity, n->memory_capacity, 0},
		(struct resources){n->cpu_capacity - n->cpu_free + q->cpu,
			n->memory_capacity - n->memory_free + q->memory, 0});
}

struct ranked {
	double score;
	uint32_t slot;
};

static uint32_t first_slot; // of the search

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if ((x->slot >= first_slot) != (y->slot >= first_slot))
		return x->slot >= first_slot ? -1 : 1;
	return x->slot < y->slot ? -1 : 1;
}

#define WANTED_MOST 32u

// Returns how many were found.
static uint32_t search(struct world *w, struct fit_query *q, uint32_t wanted,
	struct fit_candidate best[WANTED_MOST])
{
	static struct ranked all[NODES];
	uint32_t count = 0;
	first_slot = q->first_slot;
	for (uint32_t i = 0; i < NODES; i++)
		if (w->in[i] && !w->is_taken[i] && fits(&w->nodes[i], q))
			all[count++] = (struct ranked){score(w, i, q), i};
	qsort(all, count, sizeof all[0], by_rank);
	uint32_t found = fit_tree_search(w->tree, q, wanted, best);
	assert_int_equal(found, count < wanted ? count : wanted);
	for (uint32_t i = 0; i < found; i++) {
		assert_int_equal(best[i].slot, all[i].slot);
		assert_true(fit_candidate_score(w->algorithm, q, &best[i]) == all[i].score);
	}
	return found;
}

static bool is_open(void *context, uint32_t slot, const struct fit_node *n)
{
	struct world *w = context;
	w->asked++;
	return !w->is_taken[slot];
}

// Searches again and again, each time behind what was found; the last pieces are among ever fewer classes.
static void search_on(struct world *w, struct fit_query *q, uint32_t pieces)
{
	struct fit_candidate best[WANTED_MOST], last;
	uint64_t classes[] = {~0ull, ~0ull, ~0ull, ~0ull};
	uint32_t found = 1;
	q->classes = classes;
	q->accepts = is_open;
	q->context = w;
	for (uint32_t i = 0; i < pieces && found > 0; i++) {
		if (i > pieces / 2)
			classes[below(w, 4)] &= prng_u64(&w->prng) | prng_u64(&w->prng);
		found = search(w, q, 1 + below(w, WANTED_MOST), best);
		for (uint32_t k = 0; k < found; k++)
			w->is_taken[best[k].slot] = true;
		last = best[found ? found - 1 : 0];
		q->after = &last;
	}
	memset(w->is_taken, 0, sizeof w->is_taken);
}

static void random_search_on(struct world *w)
{
	uint32_t scale = below(w, 3) ? 1 : 1000;
	struct fit_query q = {below(w, 20) * scale, below(w, 20) * scale, .class_bits = ~0ull};
	q.first_slot = below(w, 2) ? below(w, NODES + 10) : 0;
	search_on(w, &q, 60);
}

static void random_search(struct world *w)
{
	uint64_t classes[4];
	uint32_t scale = below(w, 3) ? 1 : 1000;
	struct fit_query q = {
		below(w, 20) * scale, below(w, 20) * scale, below(w, 50), .class_bits = ~0ull};
	if (below(w, 2)) {
		q.class_bits = 0;
		for (uint32_t i = 0; i < 4; i++)
			q.class_bits |= classes[i] =
				prng_u64(&w->prng) & prng_u64(&w->prng) & prng_u64(&w->prng);
		q.classes = classes;
	}
	q.first_slot = below(w, 2) ? below(w, NODES + 10) : 0;
	struct fit_candidate best[WANTED_MOST];
	(void)search(w, &q, below(w, 2) ? 1 : 1 + below(w, WANTED_MOST), best);
}

// Where nodes are kept: in a tree from the first one on, without order, or without order until there are too many.
enum keeping { IN_TREE, FLAT, FLAT_AT_FIRST, KEEPINGS };

// How many nodes are kept so.
static uint32_t nodes_of(enum keeping keeping)
{
	return keeping == FLAT ? FIT_FLAT_MOST / 2 : NODES;
}

static struct world *world_open_kept(enum placement_algorithm algorithm, enum keeping keeping)
{
	struct world *w = memory_take(sizeof *w);
	w->algorithm = algorithm;
	prng_seed(&w->prng, 1);
	w->nodes = memory_take_array(NODES, sizeof *w->nodes);
	w->tree = fit_tree_create(algorithm, &w->nodes);
	if (keeping == IN_TREE)
		w->tree->flat_most = 0;
	return w;
}
static struct world *world_open(enum placement_algorithm algorithm)
{
	return world_open_kept(algorithm, IN_TREE);
}
static void world_close(struct world *w)
{
	fit_tree_destroy(w->tree);
	free(w->nodes);
	free(w);
}

static void fill_search_and_empty(
	enum placement_algorithm algorithm, make_node *make, enum keeping keeping)
{
	struct world *w = world_open_kept(algorithm, keeping);
	uint32_t nodes = nodes_of(keeping);
	for (uint32_t i = 0; i < nodes; i++)
		put(w, i, make);
	verify(w);
	assert_true(w->tree->is_flat == (keeping == FLAT));
	for (uint32_t i = 0; i < 100 / BUILD_SLOWNESS; i++)
		random_search(w);
	for (uint32_t i = 0; i < 6000 / BUILD_SLOWNESS; i++) {
		uint32_t slot = below(w, nodes);
		if (w->in[slot] && below(w, 2)) {
			change(w, slot, make);
			continue;
		}
		if (w->in[slot])
			take(w, slot);
		if (below(w, 2))
			put(w, slot, make);
	}
	verify(w);
	for (uint32_t i = 0; i < 100 / BUILD_SLOWNESS; i++)
		random_search(w);
	for (uint32_t i = 0; i < 4; i++)
		random_search_on(w);
	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t slot = i * 7919 % nodes; // every slot once, far apart
		if (w->in[slot])
			take(w, slot);
		if (i % 500 == 0)
			verify(w);
	}
	verify(w);
	random_search(w);
	put(w, 5, make);
	verify(w);
	world_close(w);
}

static void every_kind_of_fleet_is_searched_exactly(void **state)
{
	static make_node *const kinds[] = {identical, two_kinds, one_use_many_capacities,
		all_distinct, empty_distinct, random_node, no_disk, huge};
	for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		for (uint32_t k = 0; k < KEEPINGS; k++) {
			enum keeping keeping = (enum keeping)k;
			if (BUILD_SLOWNESS == 1 || (i + k) % 2)
				fill_search_and_empty(PLACEMENT_BINPACK, kinds[i], keeping);
			if (BUILD_SLOWNESS == 1 || (i + k) % 2 == 0)
				fill_search_and_empty(PLACEMENT_SPREAD, kinds[i], keeping);
		}
}

// Without a place to go on from, each search asks for all nodes that the earlier ones found.
static void pass_over(enum keeping keeping)
{
	struct world *w = world_open_kept(PLACEMENT_BINPACK, keeping);
	uint32_t nodes = nodes_of(keeping);
	for (uint32_t i = 0; i < nodes; i++)
		put(w, i, identical);
	search_on(w, &(struct fit_query){.class_bits = ~0ull}, nodes);
	assert_in_range(w->asked, nodes, 6 * nodes);
	world_close(w);
}

static void nodes_alike_are_passed_over(void **state)
{
	pass_over(IN_TREE);
	pass_over(FLAT);
}

#define HALVES 200u
static uint32_t differing; // of what halves() differ in
static uint32_t usual;     // free cpu, and half of the free memory

// The first slots have a little more or less of one thing.
static struct fit_node halves(struct world *w, uint32_t slot)
{
	struct fit_node n = {usual, 2 * usual, 500, 4000, 8000};
	uint32_t *const things[] = {
		&n.cpu_free, &n.memory_free, &n.cpu_capacity, &n.memory_capacity};
	if (slot < usual % HALVES)
		*things[differing / 2] += differing % 2 ? 100u : -100u;
	return n;
}

static void search_halves(enum placement_algorithm algorithm, enum keeping keeping)
{
	struct world *w = world_open_kept(algorithm, keeping);
	for (uint32_t i = 0; i < HALVES; i++)
		put(w, i, halves);
	for (uint32_t i = 0; i < 3; i++)
		search_on(w, &(struct fit_query){.class_bits = ~0ull, .first_slot = i * HALVES / 3},
			HALVES);
	world_close(w);
}

static void nodes_that_differ_in_one_thing_are_not_alike(void **state)
{
	for (usual = 500; usual < 3500; usual += 57 * BUILD_SLOWNESS)
		for (differing = 0; differing < 8; differing++) {
			search_halves(PLACEMENT_BINPACK, IN_TREE);
			search_halves(PLACEMENT_SPREAD, IN_TREE);
			search_halves(PLACEMENT_BINPACK, FLAT);
			search_halves(PLACEMENT_SPREAD, FLAT);
		}
}

static uint64_t pool_bytes(const struct fit_pool *p)
{
	return (uint64_t)p->made * p->block_bytes + p->returned_room * sizeof *p->returned +
	       p->chunk_count * sizeof *p->chunks;
}

static uint64_t tree_bytes(const struct fit_tree *t)
{
	return sizeof *t + pool_bytes(&t->leaves) + pool_bytes(&t->branches);
}

// A quick look never says of a node that it costs more than it does, and overlooks little.
static void a_quick_look_is_on_the_safe_side(void **state)
{
	(void)state;
	struct world w = {0};
	prng_seed(&w.prng, 7);
	for (uint32_t i = 0; i < 200000 / BUILD_SLOWNESS; i++) {
		enum placement_algorithm algorithm = i % 2 ? PLACEMENT_SPREAD : PLACEMENT_BINPACK;
		uint32_t most = i % 3 ? 100000 : UINT32_MAX;
		struct fit_node n = {.cpu_capacity = 1 + below(&w, most),
			.memory_capacity = 1 + below(&w, most)};
		n.cpu_free = below(&w, n.cpu_capacity) + 1;
		n.memory_free = below(&w, n.memory_capacity) + 1;
		struct fit_query q = {
			.cpu = below(&w, n.cpu_free + 1), .memory = below(&w, n.memory_free + 1)};
		double cost = fit_candidate_of(algorithm, &n, 0, &q).cost;
		assert_false(fit_costs_more(algorithm, &n, &q, cost));
		assert_true(fit_costs_more(algorithm, &n, &q, cost - 2.0 * FIT_FLAT_SLACK));
		assert_false(fit_costs_more(algorithm, &n, &q, INFINITY));
	}
}

// Blocks do not pile up while nodes come, change and go.
static void memory_does_not_grow(void **state)
{
	struct world *w = world_open(PLACEMENT_BINPACK);
	for (uint32_t i = 0; i < NODES; i++)
		put(w, i, random_node);
	for (uint32_t i = 0; i < 20000 / BUILD_SLOWNESS; i++) {
		uint32_t slot = below(w, NODES);
		take(w, slot);
		put(w, slot, random_node);
	}
	uint64_t bytes = tree_bytes(w->tree);
	for (uint32_t i = 0; i < 60000 / BUILD_SLOWNESS; i++) {
		uint32_t slot = below(w, NODES);
		take(w, slot);
		put(w, slot, random_node);
	}
	assert_true(tree_bytes(w->tree) < bytes + bytes / 4);
	assert_true(bytes / NODES < 100);
	world_close(w);
}

// Nodes that are alike and come in the order of their slots fill their blocks, whatever lies behind them in the order.
static void nodes_alike_fill_their_blocks(void **state)
{
	static make_node *const makes[] = {identical, two_kinds};
	for (uint32_t i = 0; i < sizeof makes / sizeof makes[0]; i++) {
		struct world *w = world_open(PLACEMENT_BINPACK);
		for (uint32_t slot = 0; slot < NODES; slot++)
			put(w, slot, makes[i]);
		verify(w);
		assert_true(w->tree->leaves.made <= NODES / (FIT_LEAF_NODES - 1) + 4);
		world_close(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_fleet_is_searched_exactly),
		cmocka_unit_test(nodes_alike_are_passed_over),
		cmocka_unit_test(nodes_that_differ_in_one_thing_are_not_alike),
		cmocka_unit_test(a_quick_look_is_on_the_safe_side),
		cmocka_unit_test(memory_does_not_grow),
		cmocka_unit_test(nodes_alike_fill_their_blocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
