// The best nodes by sums of their scores: each finder searches the trees of its group, to whose sums it adds what
// spreads say of its classes at the moment. The most promising nodes get rows, until so many rows are better than any
// node that is left.
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

struct sum_search {
	const struct score_trees *trees;
	const struct score_tree *tree;
	double spread;
	struct bounds_search search;
};

static double score_with(const struct sum_search *of, double sum)
{
	if (of->spread == 0)
		return sum / of->tree->scores;
	return (sum + of->spread) / (of->tree->scores + 1);
}

static double score_below(const void *context, uint32_t level, uint32_t at)
{
	const struct sum_search *of = context;
	double sum = score_trees_most(of->trees, of->tree, level, at).sum;

	return sum == BOUND_NONE ? BOUND_NONE : score_with(of, sum);
}

static void begin_search(struct candidate_columns *c, struct sum_search *of, double spread)
{
	CHECK(of->tree->scores > 0);
	of->spread = spread;
	bounds_search_begin_with(&of->search, score_below, of, of->trees->counts,
		of->trees->level_count, c->s->first_slot);
}

static void open_searches(struct candidate_columns *c, struct row_finder *finder)
{
	const struct score_trees *trees = &c->ratings->sums;
	uint32_t group = node_ratings_group(c->set, finder->key.group);

	CHECK(!finder->sums && c->ratings->by_sums);
	finder->sums = memory_take_array(trees->count + 1, sizeof finder->sums[0]);
	for (uint32_t i = 0; i < trees->count; i++)
		if (trees->items[i].group == group)
			finder->sums[finder->sum_count++] =
				(struct sum_search){.trees = trees, .tree = &trees->items[i]};
}

void candidate_columns_release_sums(struct row_finder *finder)
{
	for (uint32_t i = 0; i < finder->sum_count; i++)
		bounds_search_release(&finder->sums[i].search);
	free(finder->sums);
}

// Classes that came to the finder have nodes that were passed over.
static void renew_searches(struct candidate_columns *c, struct row_finder *finder, double spread)
{
	bool is_new = !finder->sums;

	CHECK(finder->joined_count == 0);
	if (is_new)
		open_searches(c, finder);
	for (uint32_t i = 0; i < finder->sum_count; i++) {
		struct sum_search *of = &finder->sums[i];
		if (is_new || finder->sums_epoch != finder->epoch) {
			begin_search(c, of, spread);
		} else if (of->spread != spread) {
			of->spread = spread;
			bounds_search_renew(&of->search);
		}
	}
	finder->sums_epoch = finder->epoch;
	finder->joined_nodes = 0;
}

static bool is_searched(const struct candidate_columns *c, uint32_t number)
{
	const struct row_finder *finder = &c->finders[number];
	CHECK(finder->rows <= finder->ready);
	return finder->ready > finder->rows && !c->bins[number].refused_by;
}

static bool goes_before(
	const struct stack *s, const struct sum_search *of, const struct sum_search *than)
{
	CHECK(of->search.count > 0 && than->search.count > 0);
	double bound = of->search.items[0].bound, other = than->search.items[0].bound;

	if (of->tree->tier != than->tree->tier)
		return of->tree->tier > than->tree->tier;
	if (bound != other)
		return bound > other;
	return stack_is_first(
		s, bounds_search_first(&of->search), bounds_search_first(&than->search));
}

// Returns the finder of the search; finder_count: no node is left.
static uint32_t most_promising_sum(const struct candidate_columns *c, struct sum_search **best)
{
	uint32_t number = c->finder_count;

	for (uint32_t i = 0; i < c->finder_count; i++) {
		const struct row_finder *finder = &c->finders[i];
		uint32_t count = is_searched(c, i) ? finder->sum_count : 0;
		for (uint32_t j = 0; j < count; j++) {
			struct sum_search *of = &finder->sums[j];
			if (of->search.count == 0 ||
				(number < c->finder_count && !goes_before(c->s, of, *best)))
				continue;
			number = i;
			*best = of;
		}
	}
	return number;
}

// The last of so many best blocks; NULL: there are fewer.
static const struct contender *last_of_best(struct candidate_columns *c, uint32_t wanted)
{
	CHECK(wanted > 0);
	if (c->row_count < wanted || candidate_columns_best_blocks(c, wanted) < wanted)
		return NULL;
	return &c->tree[c->leaves + c->best_blocks[wanted - 1]];
}

// Whether a row is better than all that a search may still find.
static bool outdoes(
	const struct candidate_columns *c, const struct contender *row, const struct sum_search *of)
{
	CHECK(of->search.count > 0);
	double bound = of->search.items[0].bound;

	if (!row || row->tier != of->tree->tier)
		return row && row->tier > of->tree->tier;
	return row->score > bound ||
	       (row->score == bound && stack_is_first(c->s, c->slot_of[row->row],
					       bounds_search_first(&of->search)));
}

void candidate_columns_fetch_by_sums(struct candidate_columns *c, uint32_t wanted)
{
	struct sum_search *next = NULL;
	uint32_t number;

	CHECK(c->property_count > 0);
	for (uint32_t i = 0; i < c->finder_count; i++)
		if (is_searched(c, i) && c->finders[i].joined_count > 0)
			candidate_columns_look_at_joined(c, i);
	for (uint32_t i = 0; i < c->finder_count; i++)
		if (is_searched(c, i))
			renew_searches(c, &c->finders[i], c->bins[i].spread);
	const struct contender *last = last_of_best(c, wanted);
	while ((number = most_promising_sum(c, &next)) < c->finder_count &&
		!outdoes(c, last, next)) {
		uint32_t slot = bounds_search_take(&next->search), rows = c->row_count;
		if (slot == BOUNDS_SEARCH_ON || slot >= c->slots)
			continue;
		struct fit_candidate one = candidate_columns_rated(c, slot);
		candidate_columns_make_found(c, number, &one);
		if (c->row_count > rows)
			last = last_of_best(c, wanted);
	}
}
