// Rows of a group for which victims make room. What a node offers stays as it is until the plan touches the node, but
// for one thing: a group of which the plan evicts more than its max_parallel counts against itself where candidates
// differ. Such rows get an upper bound, and are looked at again when their block comes into question.
#include "placement/scheduler/node/fit.h"
#include "placement/scheduler/node/preempt.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

void candidate_columns_open_evictions(struct candidate_columns *c)
{
	CHECK(!c->evictions);
	c->evictions = memory_take(sizeof *c->evictions);
	c->evictions->seen = c->s->victim_counts.count;
}

void candidate_columns_close_evictions(struct candidate_columns *c)
{
	free(c->evictions);
	c->evictions = NULL;
}

static void note_victims(
	struct candidate_columns *c, uint32_t row, const struct stack_option *option)
{
	struct evictions *e = c->evictions;
	const struct victim_basis *basis = &c->s->basis;
	e->scores[row] = 0;
	e->rest_on[row] = 0;
	if (option->preempted_count == 0)
		return;
	e->scores[row] = preemption_score(option->preempted, option->preempted_count);
	c->recorded[row]++;
	e->rest_on[row] = basis->groups;
	e->bounds[row] = basis->most;
	e->any_rests |= basis->groups != 0;
	CHECK(!basis->groups || e->scores[row] <= basis->most);
}

void candidate_columns_fill_evicting(
	struct candidate_columns *c, uint32_t row, struct neighbours near)
{
	struct stack_option option;
	option_begin(&option, c->nodes[row]);
	bool fits = stack_fit(c->s, c->g, c->nodes[row], true, &option);
	candidate_columns_set_refusal(
		c, row, fits ? NULL : option.reason, fits ? STACK_FITS : STACK_EXHAUSTED);
	if (!fits)
		return;
	alloc_details_release(option.details);
	if (c->tiers)
		c->tiers[row] = (uint8_t)stack_snapshot_tier(c->s, c->g, c->nodes[row]);
	c->bounded[row] = false;
	c->sums[row] = option.scores[SCORE_BINPACK];
	c->recorded[row] = 1;
	if (option.recorded >> SCORE_DEVICES & 1) {
		c->sums[row] += option.scores[SCORE_DEVICES];
		c->recorded[row]++;
	}
	candidate_columns_add_score(c, row, anti_affinity_score(c->g, near.of_group));
	candidate_columns_add_score(c, row, c->affinities ? c->affinities[row] : 0);
	note_victims(c, row, &option);
	CHECK(c->recorded[row] <= ROW_SCORES_MAX);
}

static void be_bounded(struct candidate_columns *c, uint32_t row)
{
	c->bounded[row] = true;
	c->evictions->scores[row] = c->evictions->bounds[row];
}

static void bound_block(struct candidate_columns *c, struct column_block *b, uint64_t groups)
{
	CHECK(b->end <= c->row_count);
	bool any = false;
	for (uint32_t row = b->first; row < b->end; row++) {
		if (!(c->evictions->rest_on[row] & groups) || c->bounded[row] || c->refusals[row])
			continue;
		be_bounded(c, row);
		any = true;
	}
	if (any)
		candidate_columns_refresh_block(c, b);
}

void candidate_columns_follow_victims(struct candidate_columns *c)
{
	struct evictions *e = c->evictions;
	const struct victim_counts *counts = &c->s->victim_counts;
	uint64_t groups = 0;
	if (!e)
		return;
	for (; e->seen < counts->count; e->seen++)
		groups |= 1ull << counts->order[e->seen];
	for (uint32_t i = 0; groups && e->any_rests && i < c->block_count; i++)
		bound_block(c, &c->blocks[i], groups);
	CHECK(e->seen == counts->count);
}
