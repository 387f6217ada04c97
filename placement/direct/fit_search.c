#include "placement/direct/fit_tree.h"
#include "placement/direct/fit_tree_private.h"
#include "state/base/check.h"
#include <float.h>
#include <math.h>
#include <string.h>

struct search {
	struct fit_tree *tree;
	const struct fit_query *query;
	struct fit_bounds bounds;
	struct fit_candidate *best; // sorted, best first
	uint32_t found, wanted;
};

bool fit_costs_more(enum placement_algorithm algorithm, const struct fit_node *n,
	const struct fit_query *q, double cost)
{
	float x = (float)(n->cpu_free - q->cpu) / (float)n->cpu_capacity;
	float y = (float)(n->memory_free - q->memory) / (float)n->memory_capacity;
	float total = fit_quick_exp10(x) + fit_quick_exp10(y);
	double own = algorithm == PLACEMENT_BINPACK ? total : -total;
	return own > cost + (double)FIT_FLAT_SLACK;
}

struct fit_candidate fit_candidate_of(enum placement_algorithm algorithm, const struct fit_node *n,
	uint32_t slot, const struct fit_query *q)
{
	double x = ((double)n->cpu_free - q->cpu) / n->cpu_capacity;
	double y = ((double)n->memory_free - q->memory) / n->memory_capacity;
	double total = fit_exp10(x) + fit_exp10(y);
	return (struct fit_candidate){algorithm == PLACEMENT_BINPACK ? total : -total, -1.0, slot,
		n->cpu_free, n->memory_free, n->cpu_capacity, n->memory_capacity};
}

double fit_candidate_score(
	enum placement_algorithm algorithm, const struct fit_query *q, struct fit_candidate *c)
{
	if (c->score < 0) {
		struct resources capacity = {c->cpu_capacity, c->memory_capacity, 0};
		struct resources used = {c->cpu_capacity - c->cpu_free + q->cpu,
			c->memory_capacity - c->memory_free + q->memory, 0};
		c->score = placement_score(algorithm, capacity, used);
	}
	return c->score;
}

static bool same_score(const struct fit_candidate *a, const struct fit_candidate *b)
{
	return a->cpu_free == b->cpu_free && a->memory_free == b->memory_free &&
	       a->cpu_capacity == b->cpu_capacity && a->memory_capacity == b->memory_capacity;
}

bool fit_prefer(enum placement_algorithm algorithm, const struct fit_query *q,
	struct fit_candidate *a, struct fit_candidate *b)
{
	if (fabs(a->cost - b->cost) > FIT_SLACK)
		return a->cost < b->cost;
	if (!same_score(a, b)) {
		double score_a = fit_candidate_score(algorithm, q, a);
		double score_b = fit_candidate_score(algorithm, q, b);
		if (score_a != score_b)
			return score_a > score_b;
	}
	return a->slot - q->first_slot < b->slot - q->first_slot; // those below it wrap round
}

// Where a candidate goes among those found so far: most often at the end.
static uint32_t place_among(const struct search *s, struct fit_candidate *c)
{
	uint32_t low = 0, high = s->found;
	if (high > 0 && !fit_prefer(s->tree->algorithm, s->query, c, &s->best[high - 1]))
		return high;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (fit_prefer(s->tree->algorithm, s->query, c, &s->best[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void offer_candidate(struct search *s, struct fit_candidate c)
{
	uint32_t i = place_among(s, &c);
	if (i == s->wanted)
		return;
	s->found -= s->found == s->wanted;
	memmove(&s->best[i + 1], &s->best[i], (s->found - i) * sizeof c);
	s->best[i] = c;
	s->found++;
	if (s->found == s->wanted)
		s->bounds.cost_most = s->best[s->found - 1].cost + FIT_SLACK;
}

static bool is_of_classes(const struct search *s, const struct fit_leaf *l, uint32_t lane)
{
	return fit_query_takes(s->query, l->node_class[lane]);
}

static uint32_t keep_classes(const struct search *s, const struct fit_leaf *l, uint32_t lanes)
{
	uint32_t kept = 0;
	if (!s->query->classes)
		return lanes;
	for (; lanes; lanes &= lanes - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(lanes);
		kept |= (uint32_t)is_of_classes(s, l, lane) << lane;
	}
	return kept;
}

static bool accepted(const struct search *s, const struct fit_leaf *l, uint32_t lane)
{
	const struct fit_query *q = s->query;
	uint32_t slot = l->slot[lane];
	return !q->accepts || q->accepts(q->context, slot, &(*s->tree->nodes)[slot]);
}

// The lane of least cost; the first of equals.
static uint32_t cheapest_open(const double *cost, uint32_t lanes)
{
	uint32_t at = (uint32_t)__builtin_ctz(lanes);
	for (lanes &= lanes - 1; lanes; lanes &= lanes - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(lanes);
		if (cost[i] < cost[at])
			at = i;
	}
	return at;
}

// Lanes that are like the last of the candidates and have higher slots.
static uint32_t lanes_behind_last(const struct search *s, const struct fit_leaf *l)
{
	uint32_t behind;
	CHECK(s->found == s->wanted);
	const struct fit_candidate *last = &s->best[s->found - 1];
	return s->tree->scans->alike(l, last, s->query->first_slot, &behind) & behind;
}

static bool is_behind_last(const struct search *s, const struct fit_leaf *l, uint32_t i)
{
	const struct fit_candidate *last = &s->best[s->found - 1];
	uint32_t first_slot = s->query->first_slot;
	return l->slot[i] - first_slot > last->slot - first_slot &&
	       l->cpu_free[i] == last->cpu_free && l->memory_free[i] == last->memory_free &&
	       l->cpu_capacity[i] == last->cpu_capacity &&
	       l->memory_capacity[i] == last->memory_capacity;
}

// A look at one lane takes a fourth of the time of one at all.
#define LANES_FEW 4

static uint32_t leave_behind_last(const struct search *s, const struct fit_leaf *l, uint32_t lanes)
{
	uint32_t kept = 0;
	if (__builtin_popcount(lanes) > LANES_FEW)
		return lanes & ~lanes_behind_last(s, l);
	for (; lanes; lanes &= lanes - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(lanes);
		kept |= (uint32_t)!is_behind_last(s, l, lane) << lane;
	}
	return kept;
}

static uint32_t keep_accepted(const struct search *s, const struct fit_leaf *l, uint32_t lanes)
{
	uint32_t kept = 0;
	for (; lanes; lanes &= lanes - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(lanes);
		kept |= (uint32_t)accepted(s, l, lane) << lane;
	}
	return kept;
}

// Where one lane is of another class, so may be many: all of those go at once, rather than each as the cheapest. So do
// equals of the last candidate, once there are as many as are wanted.
static void search_lanes(struct search *s, const struct fit_leaf *l, uint32_t among)
{
	double cost[FIT_LEAF_NODES];
	uint32_t lanes = s->tree->scans->leaf(l, &s->bounds, cost) & among;
	while (lanes) {
		uint32_t i = cheapest_open(cost, lanes);
		if (cost[i] > s->bounds.cost_most)
			return;
		if (!is_of_classes(s, l, i)) {
			lanes = keep_classes(s, l, lanes);
			continue;
		}
		lanes &= ~(1u << i);
		if (!accepted(s, l, i))
			continue;
		bool was_short = s->found < s->wanted;
		offer_candidate(
			s, (struct fit_candidate){cost[i], -1.0, l->slot[i], l->cpu_free[i],
				   l->memory_free[i], l->cpu_capacity[i], l->memory_capacity[i]});
		if (was_short && s->found == s->wanted)
			lanes &= ~lanes_behind_last(s, l);
	}
}

static void search_leaf(struct search *s, const struct fit_leaf *l)
{
	search_lanes(s, l, UINT32_MAX);
}

// A slot that no slot below child i comes before, when slots are counted from first_slot on.
static uint32_t first_below(const struct fit_branch *b, uint32_t i, uint32_t first_slot)
{
	bool on_both_sides = b->slot_least[i] < first_slot && b->slot_most[i] >= first_slot;
	return on_both_sides ? first_slot : b->slot_least[i];
}

// True when nothing below child i beats the last of the candidates: all have its capacity, none is a
// better fit, and its slot is lower. Without this, a fleet of equal nodes would be visited whole.
static bool is_dominated(const struct search *s, const struct fit_branch *b, uint32_t i)
{
	if (s->found < s->wanted)
		return false;
	const struct fit_candidate *last = &s->best[s->found - 1];
	if (first_below(b, i, s->query->first_slot) - s->query->first_slot <
		last->slot - s->query->first_slot)
		return false;
	if (b->cpu_capacity_least[i] != last->cpu_capacity ||
		b->cpu_capacity_most[i] != last->cpu_capacity ||
		b->memory_capacity_least[i] != last->memory_capacity ||
		b->memory_capacity_most[i] != last->memory_capacity)
		return false;
	return s->tree->algorithm == PLACEMENT_BINPACK
		       ? b->cpu_free_least[i] >= last->cpu_free &&
				 b->memory_free_least[i] >= last->memory_free
		       : b->cpu_free_most[i] <= last->cpu_free &&
				 b->memory_free_most[i] <= last->memory_free;
}

// True when all nodes below child i are like the one to go on behind, and none comes after it.
static bool is_passed(const struct search *s, const struct fit_branch *b, uint32_t i)
{
	const struct fit_candidate *after = s->query->after;
	uint32_t first_slot = s->query->first_slot;
	if (!after || (b->slot_least[i] < first_slot && b->slot_most[i] >= first_slot))
		return false;
	return b->slot_most[i] - first_slot <= after->slot - first_slot &&
	       b->cpu_free_least[i] == after->cpu_free && b->cpu_free_most[i] == after->cpu_free &&
	       b->memory_free_least[i] == after->memory_free &&
	       b->memory_free_most[i] == after->memory_free &&
	       b->cpu_capacity_least[i] == after->cpu_capacity &&
	       b->cpu_capacity_most[i] == after->cpu_capacity &&
	       b->memory_capacity_least[i] == after->memory_capacity &&
	       b->memory_capacity_most[i] == after->memory_capacity;
}

struct frame {
	const struct fit_branch *branch;
	uint32_t lanes; // children not yet visited
	double cost[FIT_BRANCH_CHILDREN];
};

static void enter_child(struct search *s, struct frame *f, uint32_t branch)
{
	f->branch = branch_at(s->tree, branch);
	f->lanes = s->tree->scans->branch(f->branch, &s->bounds, f->cost);
}

// Depth first, the most promising child first.
static void search_branches(struct search *s)
{
	struct frame frames[FIT_HEIGHT_MAX];
	uint32_t depth = 0;
	enter_child(s, &frames[0], s->tree->root);
	for (;;) {
		struct frame *f = &frames[depth];
		uint32_t i = f->lanes ? cheapest_open(f->cost, f->lanes) : 0;
		if (f->lanes == 0 || f->cost[i] > s->bounds.cost_most) {
			if (depth == 0)
				return;
			depth--;
			continue;
		}
		f->lanes &= ~(1u << i);
		if (is_dominated(s, f->branch, i) || is_passed(s, f->branch, i))
			continue;
		if (f->branch->height == 1)
			search_leaf(s, leaf_at(s->tree, f->branch->child[i]));
		else
			enter_child(s, &frames[++depth], f->branch->child[i]);
	}
}

static float quick_cost_most(const struct search *s)
{
	return isinf(s->bounds.cost_most) ? FLT_MAX : (float)s->bounds.cost_most + FIT_FLAT_SLACK;
}

// In a fleet of few sizes every block has nodes as good as the best, beside others.
static uint32_t lanes_in_question(const struct search *s, const struct fit_flat_block *b)
{
	if (isinf(s->bounds.cost_most))
		return UINT32_MAX >> (FIT_LEAF_NODES - b->nodes.count);
	return s->tree->scans->near(b, &s->bounds, quick_cost_most(s));
}

// Leaves out what is_dominated and is_passed leave out of a tree, lane by lane.
static void search_block(struct search *s, const struct fit_flat_block *b)
{
	const struct fit_query *q = s->query;
	const struct fit_leaf *l = &b->nodes;
	uint32_t among = keep_classes(s, l, lanes_in_question(s, b)), behind;
	if (among && s->found == s->wanted)
		among = leave_behind_last(s, l, among);
	if (among && q->after) {
		uint32_t alike = s->tree->scans->alike(l, q->after, q->first_slot, &behind);
		among &= ~(alike & ~behind);
	}
	if (among && q->refuses_many)
		among = keep_accepted(s, l, among);
	if (among)
		search_lanes(s, l, among);
}

// The block with the least cost first, since what is found there bounds the others.
static void search_flat(struct search *s)
{
	const struct fit_flat *f = &s->tree->flat;
	const struct fit_scans *scans = s->tree->scans;
	struct fit_flat_costs costs[FIT_FLAT_MOST / FIT_LEAF_NODES];
	uint32_t count = fit_flat_blocks(f);
	float least = scans->quick(f->blocks, count, &s->bounds, costs);
	if (isinf(least))
		return;
	uint32_t first = scans->next(costs, 0, count, least);
	search_block(s, &f->blocks[first]);
	for (uint32_t i = 0; i < count; i++) {
		i = scans->next(costs, i, count, quick_cost_most(s));
		if (i < count && i != first)
			search_block(s, &f->blocks[i]);
	}
}

uint32_t fit_tree_search(
	struct fit_tree *t, const struct fit_query *q, uint32_t count, struct fit_candidate best[])
{
	struct search s = {
		.tree = t,
		.query = q,
		.bounds = {q->cpu, q->memory, q->disk, q->devices, q->class_bits, INFINITY},
		.best = best,
		.wanted = count,
	};
	if (t->is_flat)
		search_flat(&s);
	else if (t->height == 0)
		search_leaf(&s, leaf_at(t, t->root));
	else
		search_branches(&s);
	return s.found;
}
