// The best nodes of the groups of class sets against a sort of all nodes, while nodes come, change and go.
#include "placement/direct/classes/class_search.h"
#include "placement/direct/classes/class_sets.h"
#include "state/base/prng.h"
#include "state/records/nodes/node.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SLOTS_MOST 2600u // more than a small fleet has
#define CLASSES 40u
#define WANTED_MOST 24u

struct world {
	struct prng prng;
	enum placement_algorithm algorithm;
	struct fit_index *index;
	struct class_sets *sets;
	struct node_class classes[CLASSES];
	uint32_t slots;
	bool is_there[SLOTS_MOST];
	struct fit_input nodes[SLOTS_MOST];
	uint32_t listed[SHORTLIST_MAX], listed_count; // slots of the newest list
	uint32_t own_share; // of eight nodes so many are refused for what is their own
	// What the search of the moment may not find.
	const struct class_set *set;
	bool is_taken[SLOTS_MOST];
};

static uint32_t below(struct world *w, uint32_t bound)
{
	return (uint32_t)prng_below(&w->prng, bound);
}

static void judge(void *context, const struct node_class *c, uint32_t unused,
	struct class_judgement *judgement)
{
	judgement->affinity = (double)(c->hash / 8 % 3) / 4;
	judgement->verdict = c->hash % 8 == 0 ? CLASS_REFUSED : CLASS_TAKEN;
	judgement->refusal = "one";
}

// Here the first node has its say, too: classes go where none of their other nodes has changed.
static void judge_by_first(void *context, const struct node_class *c, uint32_t first,
	struct class_judgement *judgement)
{
	const struct world *w = context;
	struct node_class seen = *c;

	if (first != CLASS_WITHOUT_NODES)
		seen.hash += w->nodes[first].stamp * 0x9e3779b97f4a7c15ull;
	judge(context, &seen, first, judgement);
}

static const char *judge_own(void *context, uint32_t slot, bool *comes_first)
{
	const struct world *w = context;
	*comes_first = false;
	return w->is_there[slot] && (slot + w->nodes[slot].stamp) % 8 < w->own_share ? "own" : NULL;
}

static void define_class(struct world *w, uint32_t id)
{
	w->classes[id] = (struct node_class){
		.id = id, .hash = prng_u64(&w->prng), .class_name = "c", .datacenter = "dc1"};
}

// Often one of the best.
static uint32_t slot_to_change(struct world *w)
{
	return w->listed_count > 0 && below(w, 3) == 0 ? w->listed[below(w, w->listed_count)]
						       : below(w, w->slots);
}

// Few sizes and few uses: many nodes are alike.
static void change_node(struct world *w)
{
	uint32_t slot = slot_to_change(w), id = below(w, CLASSES), size = 1000u << below(w, 2);
	uint32_t step = below(w, 4) ? 250 : 1;

	w->is_there[slot] = below(w, 10) > 0;
	if (!w->is_there[slot]) {
		fit_index_set(w->index, slot, NULL);
		return;
	}
	w->nodes[slot] = (struct fit_input){
		.capacity = {size, size, size},
		.used = {below(w, 1200 / step) * step, below(w, 1200 / step) * step, below(w, 600)},
		.node_class = id,
		.class_hash = w->classes[id].hash,
		.class_record = &w->classes[id],
		.stamp = below(w, 2),
		.ready = below(w, 8) > 0,
	};
	fit_index_set(w->index, slot, &w->nodes[slot]);
}

static bool fits(const struct fit_input *in, const struct resources *ask)
{
	return in->ready && in->used.cpu_mhz + ask->cpu_mhz <= in->capacity.cpu_mhz &&
	       in->used.memory_mb + ask->memory_mb <= in->capacity.memory_mb &&
	       in->used.disk_mb + ask->disk_mb <= in->capacity.disk_mb;
}

struct ranked {
	double score;
	uint32_t slot, order;
};

static int compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

// All nodes of a group, best first; without those that are taken if `is_taken` tells so.
static uint32_t sort_all(struct world *w, const struct class_set *s, uint32_t group,
	uint32_t first_slot, bool leaves_taken, struct ranked ranked[])
{
	uint32_t count = 0;
	bool ignored;

	for (uint32_t slot = 0; slot < w->slots; slot++) {
		const struct fit_input *in = &w->nodes[slot];
		if (!w->is_there[slot] || !fits(in, &s->ask.room) ||
			!(s->groups[group].classes[in->node_class / 64] >> in->node_class % 64 & 1))
			continue;
		if ((s->ask.by_node && judge_own(w, slot, &ignored)) ||
			(leaves_taken && w->is_taken[slot]))
			continue;
		struct resources used = resources_plus(in->used, s->ask.room);
		ranked[count++] = (struct ranked){
			placement_score(w->algorithm, in->capacity, used), slot, slot - first_slot};
	}
	qsort(ranked, count, sizeof ranked[0], compare);
	return count;
}

static void check_best(struct world *w, struct class_set *s, uint32_t group, uint32_t first_slot)
{
	static struct ranked ranked[SLOTS_MOST];
	uint32_t count = sort_all(w, s, group, first_slot, false, ranked);
	const struct shortlist *list = class_set_best(s, group, w->index, first_slot);

	assert_true(list->count <= count);
	assert_true(list->count >= 8 || list->complete);
	assert_true(!list->complete || list->count == count);
	for (uint32_t i = 0; i < list->count; i++)
		assert_int_equal(w->listed[i] = list->at[i].slot, ranked[i].slot);
	w->listed_count = list->count;
}

static bool accepts(void *context, uint32_t slot, const struct fit_node *unused)
{
	const struct world *w = context;
	return !w->is_taken[slot] && class_set_passes(w->set, slot);
}

// Goes on behind what was found, as often as there is something.
static void check_search(struct world *w, struct class_set *s, uint32_t group, uint32_t first_slot)
{
	static struct ranked ranked[SLOTS_MOST];
	struct fit_candidate found[WANTED_MOST], last;
	struct fit_query query = class_set_query(s, group, w->index, first_slot);
	uint32_t wanted = 1 + below(w, WANTED_MOST), at = 0, got = wanted;

	for (uint32_t slot = 0; slot < w->slots; slot++)
		w->is_taken[slot] = below(w, 8) == 0;
	uint32_t count = sort_all(w, s, group, first_slot, true, ranked);
	w->set = s;
	query.accepts = accepts;
	query.context = w;
	for (uint32_t looks = 0; looks < 4 && got == wanted; looks++) {
		got = class_set_search(s, w->index, &query, wanted, found);
		assert_int_equal(got, count - at < wanted ? count - at : wanted);
		for (uint32_t i = 0; i < got; i++) {
			assert_int_equal(found[i].slot, ranked[at++].slot);
			w->is_taken[found[i].slot] = true;
		}
		last = found[got ? got - 1 : 0];
		query.after = got ? &last : NULL;
	}
}

static void check_set(struct world *w, uint32_t number)
{
	struct class_ask ask = {.room = {100 * number, 60 * (7 - number), 50},
		.by_first = number / 2 % 2,
		.by_node = number % 2 ? judge_own : NULL};
	struct class_set *s = class_sets_take(
		w->sets, &number, sizeof number, &ask, ask.by_first ? judge_by_first : judge, w);
	uint32_t first_slot = below(w, 4) ? 0 : below(w, 3) * 100;

	for (uint32_t group = 0; group < s->group_count; group++) {
		check_best(w, s, group, first_slot);
		if (below(w, 4) == 0)
			check_search(w, s, group, first_slot);
	}
	class_sets_give(w->sets, s);
}

static void open_world(struct world *w, uint64_t seed)
{
	memset(w, 0, sizeof *w);
	prng_seed(&w->prng, seed);
	w->algorithm = seed % 2 ? PLACEMENT_SPREAD : PLACEMENT_BINPACK;
	w->slots = seed % 5 == 0 ? SLOTS_MOST : 20 + below(w, 300);
	w->own_share = below(w, 9);
	w->index = fit_index_create(w->algorithm);
	w->sets = class_sets_create(w->index);
	for (uint32_t id = 0; id < CLASSES; id++)
		define_class(w, id);
	for (uint32_t i = 0; i < 2 * w->slots; i++)
		change_node(w);
}

// Another class of the same number, once nothing is of the old one.
static void change_class(struct world *w)
{
	uint32_t id = below(w, CLASSES);

	for (uint32_t slot = 0; slot < w->slots; slot++)
		if (w->is_there[slot] && w->nodes[slot].node_class == id) {
			w->is_there[slot] = false;
			fit_index_set(w->index, slot, NULL);
		}
	define_class(w, id);
}

static uint64_t first_seed = 1;

static void best_nodes_follow_the_changes(void **state)
{
	static struct world w;

	for (uint64_t seed = first_seed; seed < first_seed + 20; seed++) {
		open_world(&w, seed);
		for (uint32_t i = 0; i < 200; i++) {
			// Now and then more than is followed, or than the index remembers.
			uint32_t changes = below(&w, 10)   ? below(&w, 12)
					   : below(&w, 20) ? below(&w, 200)
							   : FIT_LOG_CHANGES + 100;
			while (changes--)
				change_node(&w);
			if (below(&w, 20) == 0)
				change_class(&w);
			check_set(&w, below(&w, 4));
		}
		class_sets_destroy(w.sets);
		fit_index_destroy(w.index);
	}
}

// A seed of your own: class_search_test SEED.
int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(best_nodes_follow_the_changes)};

	if (count > 1)
		first_seed = strtoull(arguments[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
