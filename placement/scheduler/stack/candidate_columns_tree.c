// A tree of winners over the blocks, which are its leaves, finds the blocks with the best rows.
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// When more than one in so many leaves is out of date, rebuilding the tree is cheaper than one way up for each.
#define STALE_SHARE 8u

void candidate_columns_tree_create(struct candidate_columns *c, uint32_t blocks)
{
	c->leaves = 1;
	while (c->leaves < blocks)
		c->leaves *= 2;
	size_t places = 2 * (size_t)c->leaves, stale = (size_t)blocks + 1;
	c->tree =
		arena_take(c->memory, places * sizeof *c->tree + stale * sizeof *c->stale + stale);
	c->stale = (uint32_t *)(c->tree + places);
	c->is_stale = (bool *)(c->stale + stale);
	for (uint32_t i = 0; i < 2 * c->leaves; i++)
		c->tree[i].row = ROW_NONE;
	c->stale_count = 0;
	for (uint32_t i = 0; i < c->block_count; i++)
		candidate_columns_block_changed(c, i);
	CHECK(c->leaves >= c->block_count && c->leaves > 0);
}

static void make_room_for_best(struct candidate_columns *c, uint32_t wanted)
{
	if (wanted <= c->best_room)
		return;
	c->best_room = wanted > ROWS_WANTED_FEW ? wanted : ROWS_WANTED_FEW;
	if (wanted > ROWS_WANTED_FEW)
		c->many_best = memory_resize(c->many_best, 2 * wanted * sizeof(uint32_t));
	c->best_blocks = c->many_best ? c->many_best : c->few_best;
	c->best_places = c->best_blocks + c->best_room;
}

void candidate_columns_block_changed(struct candidate_columns *c, uint32_t block)
{
	CHECK(block < c->block_count);
	if (c->is_stale[block])
		return;
	c->is_stale[block] = true;
	c->stale[c->stale_count++] = block;
}

static bool wins(
	const struct candidate_columns *c, const struct contender *a, const struct contender *b)
{
	if (a->row == ROW_NONE || b->row == ROW_NONE)
		return b->row == ROW_NONE;
	if (a->tier != b->tier)
		return a->tier > b->tier;
	return a->score > b->score ||
	       (a->score == b->score && candidate_columns_is_first(c, a->row, b->row));
}

static struct contender best_of_block(
	const struct candidate_columns *c, const struct column_block *b)
{
	CHECK(b->bin < c->bin_count);
	struct contender best = {.row = ROW_NONE};
	if (c->bins[b->bin].refusal)
		return best;
	for (uint32_t k = 0; k < ROW_SCORES_MAX; k++) {
		struct contender one = {.row = b->best[k]};
		if (one.row == ROW_NONE)
			continue;
		one.score = candidate_columns_score(c, one.row);
		one.tier = candidate_columns_tier(c, one.row);
		if (wins(c, &one, &best))
			best = one;
	}
	return best;
}

// Returns whether the place has another winner, or one with another score, than before.
static bool play(struct candidate_columns *c, uint32_t at)
{
	CHECK(at > 0 && at < c->leaves);
	const struct contender *left = &c->tree[2 * at], *right = &c->tree[2 * at + 1];
	const struct contender before = c->tree[at], *winner = wins(c, right, left) ? right : left;

	c->tree[at] = *winner;
	return winner->row != before.row || winner->score != before.score ||
	       winner->tier != before.tier;
}

static void renew_all(struct candidate_columns *c)
{
	for (uint32_t at = c->leaves - 1; at > 0; at--)
		(void)play(c, at);
}

// Level by level, as blocks that went out of date together lie side by side.
static void renew_above(struct candidate_columns *c, uint32_t *places, uint32_t count)
{
	while (count > 0) {
		uint32_t kept = 0, newest = 0;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t at = places[i] / 2;
			if (at == newest)
				continue;
			newest = at;
			if (at > 0 && play(c, at))
				places[kept++] = at;
		}
		count = kept;
	}
}

static void catch_up(struct candidate_columns *c)
{
	CHECK(c->stale_count <= c->block_count);
	for (uint32_t i = 0; i < c->stale_count; i++) {
		uint32_t block = c->stale[i];
		c->is_stale[block] = false;
		c->stale[i] = c->leaves + block;
		c->tree[c->leaves + block] = best_of_block(c, &c->blocks[block]);
	}
	if (c->stale_count > c->leaves / STALE_SHARE)
		renew_all(c);
	else
		renew_above(c, c->stale, c->stale_count);
	c->stale_count = 0;
}

// Places of the tree whose winners may come next: the losers on the way to the blocks taken so far, best first. No more
// are kept than blocks are still wanted, for each of them has one.
struct frontier {
	uint32_t *places;
	uint32_t count, wanted;
};

static void add_place(const struct candidate_columns *c, struct frontier *f, uint32_t place)
{
	CHECK(place < 2 * c->leaves && f->count <= f->wanted);
	const struct contender *one = &c->tree[place];
	if (one->row == ROW_NONE || f->wanted == 0)
		return;
	if (f->count == f->wanted && !wins(c, one, &c->tree[f->places[f->count - 1]]))
		return;
	uint32_t at = f->count < f->wanted ? f->count++ : f->count - 1;
	for (; at > 0 && wins(c, one, &c->tree[f->places[at - 1]]); at--)
		f->places[at] = f->places[at - 1];
	f->places[at] = place;
}

static uint32_t take_best(struct frontier *f)
{
	CHECK(f->count > 0 && f->wanted > 0);
	uint32_t place = f->places[0];
	memmove(f->places, f->places + 1, --f->count * sizeof f->places[0]);
	f->wanted--;
	if (f->count > f->wanted)
		f->count = f->wanted;
	return place;
}

double candidate_columns_best_score(struct candidate_columns *c)
{
	catch_up(c);
	return c->tree[1].row == ROW_NONE ? -INFINITY : c->tree[1].score;
}

uint32_t candidate_columns_best_blocks(struct candidate_columns *c, uint32_t wanted)
{
	uint32_t count = 0;
	make_room_for_best(c, wanted);
	struct frontier f = {c->best_places, 0, wanted};
	catch_up(c);
	add_place(c, &f, 1);
	while (f.count > 0) {
		uint32_t place = take_best(&f);
		while (place < c->leaves) {
			bool left = c->tree[2 * place].row == c->tree[place].row;
			add_place(c, &f, 2 * place + left);
			place = 2 * place + !left;
		}
		c->best_blocks[count++] = place - c->leaves;
	}
	CHECK(count <= wanted);
	return count;
}
