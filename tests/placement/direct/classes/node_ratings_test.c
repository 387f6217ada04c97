// Ratings of nodes against a plain look at every node, while nodes and classes come, change and go.
#include "placement/direct/classes/class_sets.h"
#include "placement/direct/classes/node_ratings.h"
#include "placement/direct/placement.h"
#include "state/base/prng.h"
#include "state/records/nodes/node.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SLOTS_MOST 600u
#define CLASSES 30u

struct world {
	struct prng prng;
	struct fit_index *index;
	struct class_sets *sets;
	struct node_class classes[CLASSES];
	bool is_there[SLOTS_MOST];
	struct fit_input nodes[SLOTS_MOST];
	uint32_t slots, affinities_asked;
	bool lacks_cores[SLOTS_MOST]; // by details
	struct resources room;
	struct rating_ask ask;
};

static uint32_t below(struct world *w, uint32_t bound)
{
	return (uint32_t)prng_below(&w->prng, bound);
}

static void judge(
	void *unused, const struct node_class *c, uint32_t first, struct class_judgement *judgement)
{
	judgement->affinity = (double)(c->hash / 8 % 3) / 4;
	judgement->verdict = c->hash % 8 == 0   ? CLASS_UNTARGETED
			     : c->hash % 8 == 1 ? CLASS_REFUSED
						: CLASS_TAKEN;
	judgement->refusal = "one";
}

static double affinity_of(void *context, uint32_t slot)
{
	struct world *w = context;
	w->affinities_asked++;
	return w->is_there[slot] ? (double)(w->nodes[slot].stamp % 5) / 4 - 0.5 : 0;
}

static bool devices_will_do(void *unused, const struct node_class *c,
	const uint8_t free[NODE_DEVICE_GROUPS_MAX], double *score)
{
	*score = free[0] > 1 ? (double)(c->hash % 3) / 2 - 0.5 : free[1] * 0.25;
	return free[0] + free[1] > 1;
}

static uint32_t cpu_of(void *context, uint32_t slot)
{
	const struct world *w = context;
	return 50 * (w->nodes[slot].stamp % 4);
}

static bool has_cores(void *context, uint32_t slot)
{
	const struct world *w = context;
	return !w->lacks_cores[slot];
}

static uint8_t rank_of(void *unused, const char *snapshot)
{
	return !snapshot ? 0 : !snapshot[0] ? 2 : snapshot[0] == 's' ? 3 : 1;
}

static bool is_used(const struct world *w, uint32_t id)
{
	for (uint32_t i = 0; i < SLOTS_MOST; i++)
		if (w->is_there[i] && w->nodes[i].node_class == id)
			return true;
	return false;
}

static void change_node(struct world *w)
{
	static const uint32_t sizes[] = {0, 1000, 2000};
	static const char *const ran[] = {NULL, "", "s", "other"};
	uint32_t slot = below(w, w->slots), id = below(w, CLASSES);
	struct fit_input *n = &w->nodes[slot];

	if (w->is_there[slot] && below(w, 4)) { // what is on it, no more
		if (below(w, 3))                // else only the details differ
			n->used.cpu_mhz = below(w, 1200);
		if (below(w, 2))
			n->devices_free[below(w, 2)] = (uint8_t)below(w, 3);
		n->snapshot = ran[below(w, 4)];
		w->lacks_cores[slot] = n->has_details = below(w, 2);
		fit_index_set(w->index, slot, n);
		return;
	}
	w->is_there[slot] = below(w, 5) > 0;
	w->lacks_cores[slot] = false;
	if (!w->is_there[slot]) {
		fit_index_set(w->index, slot, NULL);
		return;
	}
	if (!is_used(w, id))
		w->classes[id] = (struct node_class){.id = id,
			.hash = prng_u64(&w->prng),
			.class_name = id % 2 ? "odd" : "even",
			.datacenter = "dc1"};
	*n = (struct fit_input){.capacity = {sizes[below(w, 3)], sizes[below(w, 3)], 1000},
		.used = {below(w, 4) ? below(w, 1200) : 0, below(w, 1200), below(w, 1200)},
		.node_class = id,
		.class_hash = w->classes[id].hash,
		.class_record = &w->classes[id],
		.stamp = below(w, 100),
		.devices_free = {(uint8_t)below(w, 3), (uint8_t)below(w, 3)},
		.ready = below(w, 8) > 0};
	fit_index_set(w->index, slot, n);
}

static struct resources room_of(struct world *w, uint32_t slot)
{
	struct resources room = w->room;
	room.cpu_mhz = w->ask.cpu ? cpu_of(w, slot) : room.cpu_mhz;
	return room;
}

static uint32_t shortage_of(struct world *w, uint32_t slot)
{
	double unused;
	const struct fit_input *n = &w->nodes[slot];
	struct resources room = room_of(w, slot);
	if (w->ask.devices && !devices_will_do(NULL, n->class_record, n->devices_free, &unused))
		return SHORT_OF_DEVICES;
	if (w->ask.cores && !has_cores(w, slot))
		return SHORT_OF_CORES;
	return n->used.cpu_mhz + room.cpu_mhz > n->capacity.cpu_mhz         ? SHORT_OF_CPU
	       : n->used.memory_mb + room.memory_mb > n->capacity.memory_mb ? SHORT_OF_MEMORY
	       : n->used.disk_mb + room.disk_mb > n->capacity.disk_mb       ? SHORT_OF_DISK
									    : NODE_SHORTAGES;
}

static double sum_of(
	struct world *w, uint32_t slot, const struct class_judgement *j, uint8_t *scores)
{
	const struct fit_input *n = &w->nodes[slot];
	struct resources room = room_of(w, slot);
	struct resources used = {
		n->used.cpu_mhz + room.cpu_mhz, n->used.memory_mb + room.memory_mb, 0};
	double sum = placement_score(fit_index_algorithm(w->index), n->capacity, used), score;
	double affinity = w->ask.affinity ? affinity_of(w, slot) : j->affinity;
	*scores = (uint8_t)(1 + (affinity != 0));

	if (w->ask.devices) {
		(void)devices_will_do(NULL, n->class_record, n->devices_free, &score);
		sum += score;
		*scores += 1;
	}
	return sum + affinity;
}

// scores: 0 for a node that will not do.
static void check_rating(
	struct world *w, const struct node_ratings *r, uint32_t slot, double sum, uint8_t scores)
{
	uint8_t rank = scores && w->ask.rank ? rank_of(NULL, w->nodes[slot].snapshot) : 0;

	assert_true(r->tree.levels[0][slot] == (scores ? sum / scores : BOUND_NONE));
	if (w->ask.rank)
		assert_int_equal(r->tree.ranks[0][slot], rank);
}

static void check_sum(struct world *w, const struct class_set *s, const struct node_ratings *r,
	uint32_t slot, double sum, uint8_t scores)
{
	assert_int_equal(r->sums.tree_of[slot] != 0, scores != 0);
	if (scores == 0)
		return;
	const struct score_tree *tree = &r->sums.items[r->sums.tree_of[slot] - 1];
	assert_int_equal(tree->group, s->classes[w->nodes[slot].node_class].group);
	assert_int_equal(tree->scores, scores);
	assert_int_equal(tree->tier, w->ask.rank ? rank_of(NULL, w->nodes[slot].snapshot) : 0);
	assert_true(r->sums.scores[slot].sum == sum && r->sums.scores[slot].victims == 0);
}

// Each place of a tree knows the greatest sum of its slots.
static void check_greatest(const struct score_trees *t, const struct score_tree *tree)
{
	uint32_t step = 1;

	for (uint32_t level = 1; level < t->level_count; level++) {
		step *= BOUNDS_A_STEP;
		for (uint32_t at = 0; at < t->counts[level]; at++) {
			double most = BOUND_NONE;
			for (uint32_t i = at * step; i < (at + 1) * step && i < t->counts[0]; i++)
				if (t->tree_of[i] == tree - t->items + 1 && t->scores[i].sum > most)
					most = t->scores[i].sum;
			assert_true(score_trees_most(t, tree, level, at).sum == most);
		}
	}
}

static void check_ratings(struct world *w)
{
	struct class_ask ask = {.room = w->room};
	uint32_t shorts[CLASSES][NODE_SHORTAGES] = {{0}}, by_name[2][NODE_SHORTAGES] = {{0}};
	struct class_set *s = class_sets_take(w->sets, "k", 1, &ask, judge, w);
	const struct node_ratings *r = node_ratings_of(s, w->index, &w->ask);

	for (uint32_t i = 0; i < r->slots; i++) {
		struct class_judgement j = {0};
		double sum = 0;
		uint8_t scores = 0;
		if (w->is_there[i])
			judge(NULL, w->nodes[i].class_record, 0, &j);
		bool is_asked = w->nodes[i].ready && j.verdict == CLASS_TAKEN;
		uint32_t shortage = is_asked ? shortage_of(w, i) : NODE_SHORTAGES;
		if (is_asked && shortage == NODE_SHORTAGES)
			sum = sum_of(w, i, &j, &scores);
		assert_int_equal(r->shortages[i], shortage);
		if (w->ask.by_sums)
			check_sum(w, s, r, i, sum, scores);
		else
			check_rating(w, r, i, sum, scores);
		if (shortage != NODE_SHORTAGES)
			shorts[w->nodes[i].node_class][shortage]++;
	}
	for (uint32_t i = 0; i < r->sums.count; i++)
		check_greatest(&r->sums, &r->sums.items[i]);
	for (uint32_t id = 0; id < CLASSES && id < s->class_count; id++) {
		assert_memory_equal(r->of_class[id], shorts[id], sizeof shorts[id]);
		for (uint32_t k = 0; k < NODE_SHORTAGES; k++)
			by_name[id % 2][k] += shorts[id][k];
	}
	for (uint32_t i = 0; i < s->tallies.short_count; i++)
		for (uint32_t k = 0; k < NODE_SHORTAGES; k++)
			by_name[s->tallies.shorts[i].class_name[0] == 'o'][k] -= r->of_tally[i][k];
	for (uint32_t k = 0; k < NODE_SHORTAGES; k++)
		assert_true(by_name[0][k] == 0 && by_name[1][k] == 0);
	class_sets_give(w->sets, s);
}

static void begin(struct world *w, uint64_t seed)
{
	enum placement_algorithm algorithm = seed % 2 ? PLACEMENT_SPREAD : PLACEMENT_BINPACK;

	*w = (struct world){.slots = 50,
		.index = fit_index_create(algorithm),
		.room = {seed & 8 ? 100 : 0, 200, 50},
		.ask = {seed & 2 ? affinity_of : NULL, seed & 4 ? devices_will_do : NULL,
			seed & 16 ? cpu_of : NULL, seed & 16 ? has_cores : NULL,
			seed % 3 ? rank_of : NULL, seed % 4 > 1 && seed & 1, w}};
	w->sets = class_sets_create(w->index);
	prng_seed(&w->prng, seed);
	for (uint32_t i = 0; i < 200; i++)
		change_node(w);
}

static void end(struct world *w)
{
	class_sets_destroy(w->sets);
	fit_index_destroy(w->index);
}

static void ratings_follow_the_index(void **state)
{
	static struct world w;
	for (uint64_t seed = 0; seed < 32; seed++) {
		begin(&w, seed);
		for (uint32_t round = 0; round < 60; round++) {
			check_ratings(&w);
			if (round % 8 == 7) // more slots
				w.slots += 1 + below(&w, 60);
			uint32_t changes = round % 20 == 9 ? FIT_LOG_CHANGES + 400 : below(&w, 30);
			for (uint32_t i = 0; i < changes; i++)
				change_node(&w);
		}
		end(&w);
	}
}

// Such an affinity is asked of the node's record, which use does not change.
static void an_affinity_is_asked_for_again_when_the_node_is_described_anew(void **state)
{
	static struct world w;
	begin(&w, 2);
	struct class_ask ask = {.room = w.room};
	struct class_set *s = class_sets_take(w.sets, "k", 1, &ask, judge, &w);
	(void)node_ratings_of(s, w.index, &w.ask);
	uint32_t slot = 0;
	while (!w.is_there[slot])
		slot++;
	w.affinities_asked = 0;
	for (uint32_t i = 0; i < 2; i++) {
		w.nodes[slot].used.cpu_mhz++;
		w.nodes[slot].stamp += i;
		fit_index_set(w.index, slot, &w.nodes[slot]);
		class_sets_give(w.sets, s);
		s = class_sets_take(w.sets, "k", 1, &ask, judge, &w);
		(void)node_ratings_of(s, w.index, &w.ask);
		assert_int_equal(w.affinities_asked, i);
	}
	class_sets_give(w.sets, s);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(ratings_follow_the_index),
		cmocka_unit_test(an_affinity_is_asked_for_again_when_the_node_is_described_anew)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
