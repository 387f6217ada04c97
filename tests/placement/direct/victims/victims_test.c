// Victims and bounds that are kept by changes against those that begin anew, and against plain sums, while nodes and
// what is on them change.
#include "placement/direct/classes/class_sets.h"
#include "placement/direct/victims/victim_bounds.h"
#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SLOTS 5000u // more than two steps of bounds
#define HELD_MAX 6u
#define CLASSES 8u
#define PRIORITIES 5u
#define PRIORITY 30
#define REASONS (FIT_SHORTAGES + 2)

struct held {
	struct allocation allocations[HELD_MAX];
	uint32_t count;
};

struct world {
	struct prng prng;
	struct fit_index *index;
	struct class_sets *sets;
	struct victims *kept;
	struct job jobs[PRIORITIES];
	struct node_class classes[CLASSES];
	struct fit_input nodes[SLOTS];
	bool is_there[SLOTS];
	struct held held[SLOTS];
	uint32_t slots, reads, looks, asked, anew;
};

static uint32_t below(struct world *w, uint32_t bound)
{
	return (uint32_t)prng_below(&w->prng, bound);
}

static void judge(void *context, const struct node_class *c, uint32_t unused,
	struct class_judgement *judgement)
{
	judgement->verdict = c->hash % 7 == 0   ? CLASS_UNTARGETED
			     : c->hash % 7 == 1 ? CLASS_REFUSED
						: CLASS_TAKEN;
	judgement->refusal = "no";
	judgement->affinity = c->hash % 3 ? 0 : 0.5;
}

static const char *judge_own(void *context, uint32_t slot, bool *comes_first)
{
	const struct world *w = context;
	return w->is_there[slot] && w->nodes[slot].stamp % 4 == 0 ? "own" : NULL;
}

static bool use(void *context, uint32_t slot, struct resources *capacity, struct resources *used)
{
	struct world *w = context;

	w->reads++;
	*capacity = w->nodes[slot].capacity;
	*used = w->nodes[slot].used;
	return w->is_there[slot];
}

static void visit_allocations(
	void *context, uint32_t slot, state_allocation_visit *visit, void *visit_context)
{
	const struct world *w = context;
	for (uint32_t i = 0; i < w->held[slot].count; i++)
		if (!visit(&w->held[slot].allocations[i], visit_context))
			return;
}

// Some nodes are refused for one of two reasons, some take instances without victims.
static bool look(void *context, uint32_t slot, struct victim_look *l)
{
	struct world *w = context;
	const struct held *held = &w->held[slot];

	w->looks++;
	l->refusal = held->count > 4 ? "many" : held->count == 1 ? "one" : NULL;
	l->sum = 0.25 * held->count;
	l->scores = 2;
	l->tier = held->count == 2;
	if (held->count > 2)
		l->victims = 0.5 / (double)(1 + held->allocations[0].job->priority);
	return w->is_there[slot];
}

// Of the node, whatever its class likes.
static double like(void *context, uint32_t slot)
{
	struct world *w = context;

	w->asked++;
	return w->nodes[slot].stamp % 3 ? 0 : 0.25;
}

static void hold(struct world *w, uint32_t slot)
{
	struct held *held = &w->held[slot];
	struct resources used = {below(w, 2) * 100, 0, 0}; // by machines

	*held = (struct held){.count = below(w, HELD_MAX + 1)};
	for (uint32_t i = 0; i < held->count; i++) {
		struct allocation *a = &held->allocations[i];
		a->job = &w->jobs[below(w, PRIORITIES)];
		a->node_slot = slot;
		a->resources = (struct resources){
			100 * (1 + below(w, 4)), 100 * (1 + below(w, 4)), 50 * below(w, 3)};
		a->client_status = below(w, 8) ? ALLOC_RUNNING : ALLOC_COMPLETE;
		if (allocation_holds_room(a))
			used = resources_plus(used, a->resources);
	}
	w->nodes[slot].used = used;
}

static void describe(struct world *w, uint32_t slot)
{
	struct fit_input *in = &w->nodes[slot];
	const struct node_class *c = &w->classes[below(w, CLASSES)];

	in->capacity = (struct resources){1000 + 500 * below(w, 2), 1000, 300};
	in->node_class = c->id;
	in->class_hash = c->hash;
	in->class_record = c;
	in->stamp++;
	in->ready = below(w, 6) > 0;
	w->is_there[slot] = below(w, 12) > 0;
}

// Sometimes only priorities change, of which the index knows nothing.
static void change_slot(struct world *w, uint32_t slot)
{
	uint32_t kind = below(w, 4);

	if (kind == 0)
		describe(w, slot);
	if (kind < 3)
		hold(w, slot);
	for (uint32_t i = 0; i < w->held[slot].count; i++)
		w->held[slot].allocations[i].job = &w->jobs[below(w, PRIORITIES)];
	fit_index_set(w->index, slot, w->is_there[slot] ? &w->nodes[slot] : NULL);
	victims_touch(w->kept, slot);
}

static void define_class(struct world *w, uint32_t id)
{
	static const char *const names[] = {"a", "b"};
	w->classes[id] = (struct node_class){.id = id,
		.hash = prng_u64(&w->prng),
		.class_name = (char *)(uintptr_t)names[below(w, 2)],
		.datacenter = (char *)(uintptr_t) "dc1"};
}

static void add_slots(struct world *w, uint32_t count)
{
	for (; count > 0 && w->slots < SLOTS; count--) {
		uint32_t slot = w->slots++;
		describe(w, slot);
		w->is_there[slot] = true;
		hold(w, slot);
		fit_index_set(w->index, slot, &w->nodes[slot]);
	}
}

static void open_world(struct world *w, uint64_t seed, uint32_t slots)
{
	memset(w, 0, sizeof *w);
	prng_seed(&w->prng, seed);
	w->index = fit_index_create(seed % 2 ? PLACEMENT_BINPACK : PLACEMENT_SPREAD);
	w->sets = class_sets_create(w->index);
	w->kept = victims_create(PRIORITY);
	for (uint32_t i = 0; i < PRIORITIES; i++)
		w->jobs[i].priority = 10 * (i + 1);
	for (uint32_t i = 0; i < CLASSES; i++)
		define_class(w, i);
	add_slots(w, slots);
}

static void close_world(struct world *w)
{
	class_sets_destroy(w->sets);
	victims_destroy(w->kept);
	fit_index_destroy(w->index);
}

static void catch_up(struct world *w, struct victims *v)
{
	struct victims_source source = {use, visit_allocations, w};
	victims_catch_up(v, &source, w->slots);
}

static void check_sums(const struct world *w, uint32_t slot)
{
	const struct victims_of_node *n = victims_at(w->kept, slot);
	uint64_t cpu = 0;
	uint32_t count = 0, most = 0;
	int64_t least = INT64_MAX;

	for (uint32_t i = 0; w->is_there[slot] && i < w->held[slot].count; i++) {
		const struct allocation *a = &w->held[slot].allocations[i];
		if (!allocation_holds_room(a) || a->job->priority > PRIORITY)
			continue;
		cpu += a->resources.cpu_mhz;
		count++;
		most = a->resources.memory_mb > most ? a->resources.memory_mb : most;
		least = a->job->priority < least ? a->job->priority : least;
	}
	assert_int_equal(n->held.cpu_mhz, cpu);
	assert_int_equal(n->count, count);
	assert_int_equal(n->most.memory_mb, most);
	assert_true(count == 0 || n->least == least);
}

// The same reason may have another number in other bounds.
static uint32_t number_of(const struct victim_bounds *b, uint32_t reason)
{
	return reason < FIT_SHORTAGES ? reason : FIT_SHORTAGES + (b->reasons[reason][0] == 'o');
}

static uint32_t reason_of(const struct victim_bounds *b, uint32_t slot)
{
	uint32_t reason = victim_bounds_reason(b, slot);
	return reason == VICTIM_REASON_NONE ? reason : number_of(b, reason);
}

// Of refused nodes, by class name: a, b.
static void sum_refused(
	const struct class_set *s, const struct victim_bounds *b, uint32_t sums[2][REASONS])
{
	memset(sums, 0, 2 * sizeof sums[0]);
	for (uint32_t i = 0; i < s->tallies.short_count; i++)
		for (uint32_t j = 0; j < b->reason_count; j++)
			sums[s->tallies.shorts[i].class_name[0] == 'b'][number_of(b, j)] +=
				b->refused[i][j];
}

static struct tree_scores more_of(struct tree_scores a, struct tree_scores b)
{
	return (struct tree_scores){
		a.sum > b.sum ? a.sum : b.sum, a.victims > b.victims ? a.victims : b.victims};
}

static void check_levels(const struct score_trees *t, const struct score_tree *tree)
{
	assert_true(t->counts[t->level_count - 1] <= BOUNDS_A_STEP);
	for (uint32_t level = 1; level < t->level_count; level++)
		for (uint32_t at = 0; at < t->counts[level]; at++) {
			struct tree_scores most = {BOUND_NONE, 0},
					   is = score_trees_most(t, tree, level, at);
			for (uint32_t i = at * BOUNDS_A_STEP;
				i < (at + 1) * BOUNDS_A_STEP && i < t->counts[level - 1]; i++)
				most = more_of(most, score_trees_most(t, tree, level - 1, i));
			assert_memory_equal(&is, &most, sizeof is);
		}
}

static void check_same_place(
	const struct score_trees *a, const struct score_trees *b, uint32_t slot)
{
	assert_int_equal(!a->tree_of[slot], !b->tree_of[slot]);
	if (!a->tree_of[slot])
		return;
	const struct score_tree *in = &a->items[a->tree_of[slot] - 1],
				*other = &b->items[b->tree_of[slot] - 1];
	assert_int_equal(in->scores, other->scores);
	assert_int_equal(in->tier, other->tier);
	assert_memory_equal(&a->scores[slot], &b->scores[slot], sizeof a->scores[slot]);
}

static void check_same(const struct class_set *kept_set, const struct victim_bounds *kept,
	const struct class_set *new_set, const struct victim_bounds *fresh)
{
	uint32_t is[2][REASONS], should[2][REASONS];

	assert_int_equal(kept->trees.counts[0], fresh->trees.counts[0]);
	for (uint32_t slot = 0; slot < kept->trees.counts[0]; slot++) {
		check_same_place(&kept->trees, &fresh->trees, slot);
		assert_int_equal(reason_of(kept, slot), reason_of(fresh, slot));
	}
	for (uint32_t i = 0; i < kept->trees.count; i++)
		check_levels(&kept->trees, &kept->trees.items[i]);
	sum_refused(kept_set, kept, is);
	sum_refused(new_set, fresh, should);
	assert_memory_equal(is, should, sizeof is);
}

static double affinity_at(
	const struct world *w, const struct class_set *set, bool is_own, uint32_t slot)
{
	if (is_own)
		return w->nodes[slot].stamp % 3 ? 0 : 0.25;
	return set->classes[w->nodes[slot].node_class].affinity;
}

static void check_looked_at(
	const struct world *w, const struct class_set *set, const struct victim_bounds *b)
{
	const struct score_trees *t = &b->trees;
	for (uint32_t slot = 0; slot < t->counts[0]; slot++) {
		if (!t->tree_of[slot])
			continue;
		const struct score_tree *in = &t->items[t->tree_of[slot] - 1];
		const struct class_in_set *c = &set->classes[w->nodes[slot].node_class];
		double affinity = affinity_at(w, set, b->affinities, slot);
		uint32_t held = w->held[slot].count;
		assert_int_equal(in->scores, 2 + (held > 2) + (affinity != 0));
		assert_int_equal(in->tier, held == 2);
		assert_true(t->scores[slot].sum == 0.25 * held + affinity);
		assert_int_equal(in->group, c->group);
	}
}

static void check_kept(struct world *w)
{
	struct class_ask ask = {.room = {600, 500, 100}, .by_node = judge_own};
	struct victims *fresh = victims_create(PRIORITY);
	static const char *const names[] = {"kept1", "kept2", "kept3", "kept4"};
	uint32_t key = ++w->anew;

	catch_up(w, w->kept);
	catch_up(w, fresh);
	for (uint32_t slot = 0; slot < w->slots; slot++)
		check_sums(w, slot);
	for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const struct victim_ask of = {.look = i % 2 ? look : NULL,
			.look_context = w,
			.affinity = i > 1 ? like : NULL,
			.affinity_context = w};
		struct class_set *set = class_sets_take(w->sets, names[i], 5, &ask, judge, w);
		struct class_set *other =
			class_sets_take(w->sets, &key, sizeof key, &ask, judge, w);
		check_same(set, victim_bounds_of(set, w->index, w->kept, &of), other,
			victim_bounds_of(other, w->index, fresh, &of));
		if (of.look)
			check_looked_at(w, set, set->attached);
		class_sets_give(w->sets, set);
		class_sets_give(w->sets, other);
		key = ++w->anew;
	}
	victims_destroy(fresh);
}

static void be_of_another_priority(struct world *w)
{
	victims_turn_to(w->kept, 10);
	catch_up(w, w->kept);
	victims_turn_to(w->kept, PRIORITY);
}

static void bounds_follow_the_nodes(void **state)
{
	static struct world w;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		open_world(&w, seed, seed % 3 ? 50 + 20 * (uint32_t)seed : 4500);
		for (uint32_t i = 0; i < 30; i++) {
			if (below(&w, 10) == 0)
				be_of_another_priority(&w);
			for (uint32_t changes = below(&w, 60); changes > 0; changes--)
				change_slot(&w, below(&w, w.slots));
			if (below(&w, 5) == 0)
				add_slots(&w, below(&w, 10));
			check_kept(&w);
		}
		close_world(&w);
	}
}

static void only_what_was_touched_is_read_again(void **state)
{
	static struct world w;

	open_world(&w, 1, 1000);
	check_kept(&w);
	w.reads = 0;
	catch_up(&w, w.kept);
	assert_int_equal(w.reads, 0);
	for (uint32_t i = 0; i < 10; i++)
		victims_touch(w.kept, 7 * (i % 5));
	catch_up(&w, w.kept);
	assert_int_equal(w.reads, 5);
	close_world(&w);
}

static struct victim_bounds *bounds_by_looks(struct world *w)
{
	struct class_ask ask = {.room = {600, 500, 100}};
	struct class_set *set = class_sets_take(w->sets, "looks", 5, &ask, judge, w);
	const struct victim_ask of = {look, w, like, w};
	class_sets_give(w->sets, set);
	return victim_bounds_of(set, w->index, w->kept, &of);
}

// Also when a class is judged anew.
static void only_what_was_touched_is_looked_at_again(void **state)
{
	static struct world w;

	open_world(&w, 1, 1000);
	catch_up(&w, w.kept);
	(void)bounds_by_looks(&w);
	assert_true(w.looks > 100);
	assert_int_equal(w.asked, w.slots);
	w.looks = w.asked = 0;
	for (uint32_t slot = 0; slot < 5; slot++)
		victims_touch(w.kept, slot);
	catch_up(&w, w.kept);
	w.classes[0].hash = 9; // it is taken now
	for (uint32_t slot = 0; slot < w.slots; slot++)
		if (w.is_there[slot] && w.nodes[slot].node_class == 0) {
			w.nodes[slot].class_hash = 9;
			fit_index_set(w.index, slot, &w.nodes[slot]);
		}
	uint32_t in_class = fit_index_class_ready(w.index, 0);
	(void)bounds_by_looks(&w);
	assert_in_range(w.looks, 1, 5 + in_class);
	assert_int_equal(w.asked, 1); // the first of the class that is another one now
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_follow_the_nodes),
		cmocka_unit_test(only_what_was_touched_is_read_again),
		cmocka_unit_test(only_what_was_touched_is_looked_at_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
