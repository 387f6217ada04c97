// The best of nodes on which victims make room: by upper bounds of their scores that are kept by changes
// (placement/direct/victims), the most promising first, until so many rows are better than any bound that is left.
#include "placement/scheduler/common/growing.h"
#include "placement/scheduler/node/preempt.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include <stdlib.h>

// Nodes from a slot on, as many as a step of the level has; a single node on level 0.
struct promise {
	double bound;
	uint32_t level, at;
};

struct promises {
	struct promise *items; // a heap, the most promising first
	uint32_t count, room;
};

// Of equally good nodes none below comes before this one.
static uint32_t first_below(const struct stack *s, const struct promise *p)
{
	uint64_t step = 1;
	for (uint32_t i = 0; i < p->level; i++)
		step *= BOUNDS_A_STEP;
	uint64_t from = p->at * step;
	bool begins_inside = from <= s->first_slot && s->first_slot < from + step;

	return begins_inside ? s->first_slot : (uint32_t)from;
}

static bool goes_before(const struct stack *s, const struct promise *a, const struct promise *b)
{
	if (a->bound != b->bound)
		return a->bound > b->bound;
	return stack_is_first(s, first_below(s, a), first_below(s, b));
}

static void add_promise(struct candidate_columns *c, uint32_t level, uint32_t at)
{
	struct promises *all = c->promises;
	struct promise one = {c->bounds->levels[level][at], level, at};

	if (one.bound == BOUND_NONE)
		return;
	GROW(all->items, all->count, all->room);
	uint32_t to = all->count++;
	for (; to > 0 && goes_before(c->s, &one, &all->items[(to - 1) / 2]); to = (to - 1) / 2)
		all->items[to] = all->items[(to - 1) / 2];
	all->items[to] = one;
}

static struct promise take_promise(struct candidate_columns *c)
{
	struct promises *all = c->promises;
	struct promise taken = all->items[0], last = all->items[--all->count];
	uint32_t at = 0;

	for (uint32_t child; (child = 2 * at + 1) < all->count; at = child) {
		if (child + 1 < all->count &&
			goes_before(c->s, &all->items[child + 1], &all->items[child]))
			child++;
		if (!goes_before(c->s, &all->items[child], &last))
			break;
		all->items[at] = all->items[child];
	}
	all->items[at] = last;
	return taken;
}

static void keep_promise(struct candidate_columns *c, struct promise p)
{
	if (p.level == 0) {
		(void)candidate_columns_row_for(c, p.at);
		return;
	}
	uint32_t from = p.at * BOUNDS_A_STEP, to = from + BOUNDS_A_STEP;
	uint32_t count = c->bounds->counts[p.level - 1];
	for (uint32_t at = from; at < to && at < count; at++)
		add_promise(c, p.level - 1, at);
}

// Whether so many rows are better than what is promised.
static bool is_outdone(struct candidate_columns *c, const struct promise *p, uint32_t wanted)
{
	uint32_t blocks[ROWS_WANTED_MAX];

	if (c->row_count < wanted || candidate_columns_best_blocks(c, wanted, blocks) < wanted)
		return false;
	const struct contender *last = &c->tree[c->leaves + blocks[wanted - 1]];
	return last->score > p->bound ||
	       (last->score == p->bound &&
		       stack_is_first(c->s, c->slot_of[last->row], first_below(c->s, p)));
}

void candidate_columns_fetch_evicting(struct candidate_columns *c, uint32_t wanted)
{
	CHECK(c->block_rows == 1);
	while (c->promises->count > 0 && !is_outdone(c, &c->promises->items[0], wanted))
		keep_promise(c, take_promise(c));
}

struct victims *candidate_columns_evictable(const struct candidate_columns *c)
{
	return fleet_victims(c->s->view.fleet, c->s->job->priority - PRIORITY_DELTA);
}

void candidate_columns_open_bounds(struct candidate_columns *c, struct victims *victims)
{
	c->bounds = victim_bounds_of(c->set, c->fleet->fit, victims);
	c->promises = memory_take(sizeof *c->promises);
	uint32_t top = c->bounds->level_count - 1;
	for (uint32_t at = 0; at < c->bounds->counts[top]; at++)
		add_promise(c, top, at);
}

void candidate_columns_close_bounds(struct candidate_columns *c)
{
	if (c->promises)
		free(c->promises->items);
	free(c->promises);
	c->promises = NULL;
}
