// The best of nodes on which victims make room: by upper bounds of their scores that are kept by changes
// (placement/direct/victims), the most promising first, until so many rows are better than any bound that is left.
#include "placement/scheduler/node/fit.h"
#include "placement/scheduler/node/preempt.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

// Whether so many rows are better than what is promised.
static bool is_outdone(struct candidate_columns *c, uint32_t wanted)
{
	const struct bounds_search *search = &c->promising;
	uint32_t blocks[ROWS_WANTED_MAX];

	if (c->row_count < wanted || candidate_columns_best_blocks(c, wanted, blocks) < wanted)
		return false;
	const struct contender *last = &c->tree[c->leaves + blocks[wanted - 1]];
	double bound = search->items[0].bound;
	return last->score > bound ||
	       (last->score == bound &&
		       stack_is_first(c->s, c->slot_of[last->row], bounds_search_first(search)));
}

void candidate_columns_fetch_evicting(struct candidate_columns *c, uint32_t wanted)
{
	CHECK(c->block_rows == 1);
	while (c->promising.count > 0 && !is_outdone(c, wanted)) {
		uint32_t slot = bounds_search_take(&c->promising);
		if (slot != BOUNDS_SEARCH_ON)
			(void)candidate_columns_row_for(c, slot);
	}
}

struct victims *candidate_columns_evictable(const struct candidate_columns *c)
{
	return fleet_victims(c->s->view.fleet, c->s->job->priority - PRIORITY_DELTA);
}

static void keep_reasons(struct candidate_columns *c)
{
	const struct victim_bounds *b = c->bounds;
	c->bound_reasons = memory_take_array(b->reason_count, sizeof *c->bound_reasons);
	for (uint32_t i = 0; i < b->reason_count; i++)
		c->bound_reasons[i] = i < FIT_SHORTAGES
					      ? shortage_reasons[i]
					      : reasons_keep(&c->s->reasons, b->reasons[i]);
}

bool candidate_columns_open_bounds(struct candidate_columns *c, struct victims *victims)
{
	struct looker *l = c->g->plain ? NULL : candidate_columns_open_looker(c);
	c->bounds = victim_bounds_of(
		c->set, c->fleet->fit, victims, l ? candidate_columns_look : NULL, l);
	candidate_columns_close_looker(l);
	if (c->bounds->has_too_many_reasons)
		return false;
	keep_reasons(c);
	bounds_search_begin(&c->promising, &c->bounds->tree, c->s->first_slot);
	return true;
}

void candidate_columns_close_bounds(struct candidate_columns *c)
{
	bounds_search_release(&c->promising);
	free(c->bound_reasons);
	c->promising = (struct bounds_search){0};
	c->bound_reasons = NULL;
	c->bounds = NULL;
}
