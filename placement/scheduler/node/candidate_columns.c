#include "placement/scheduler/node/candidate_columns.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

// --- Scores of a row -------------------------------------------------------------------------------------

// Nodes of a fleet are much alike: the same room gives the same score.
#define FIT_CACHE_SLOTS 4096u

struct fit_cache {
	struct fit_cached {
		struct resources capacity, used; // of cpu and memory
		double score;
		bool known;
	} slots[FIT_CACHE_SLOTS];
};

// 10^x for x in [0, 1], at most 2e-6 off.
static double power_near(double x)
{
	static const double whole[] = {1, 2, 4, 8};
	double y = x * 3.3219280948873623; // 2^y
	uint32_t n = (uint32_t)y;
	double r = y - n;
	double p =
		1 + r * (0.69315307 +
				r * (0.24015361 +
					    r * (0.05582632 + r * (0.00898934 + r * 0.00187758))));
	return whole[n & 3] * p;
}

// More than four times what two such powers can be off in a score.
#define BOUND_SLACK 1e-6

static double score_bound(
	const struct columns *c, const struct resources *capacity, const struct resources *used)
{
	double cpu = ((double)used->cpu_mhz + c->g->ask.cpu_mhz) / capacity->cpu_mhz;
	double memory = ((double)used->memory_mb + c->g->ask.memory_mb) / capacity->memory_mb;
	double t = power_near(1 - cpu) + power_near(1 - memory);
	double score = c->s->algorithm == PLACEMENT_SPREAD ? t - 2 : 20 - t;
	return score / 18 + BOUND_SLACK;
}

// exact: or else a bound will do, where there is nothing like it.
static double fit_score(struct columns *c, const struct resources *capacity,
	const struct resources *used, bool *exact)
{
	uint64_t hash =
		((uint64_t)capacity->cpu_mhz << 32 | capacity->memory_mb) * 0x9e3779b97f4a7c15ull ^
		((uint64_t)used->cpu_mhz << 32 | used->memory_mb) * 0xff51afd7ed558ccdull;
	struct fit_cached *slot = &c->cache->slots[hash >> 52];
	if (slot->known && slot->capacity.cpu_mhz == capacity->cpu_mhz &&
		slot->capacity.memory_mb == capacity->memory_mb &&
		slot->used.cpu_mhz == used->cpu_mhz && slot->used.memory_mb == used->memory_mb) {
		*exact = true;
		return slot->score;
	}
	// What takes the place of something else has little chance to stay.
	if (!*exact && slot->known && capacity->cpu_mhz && capacity->memory_mb)
		return score_bound(c, capacity, used);
	*exact = true;
	*slot = (struct fit_cached){
		*capacity, *used, stack_fit_score(c->s, capacity, used, &c->g->ask), true};
	return slot->score;
}

static bool needs_own_host(const struct columns *c, struct neighbours near)
{
	return (c->s->job_rules.distinct.hosts && near.of_job > 0) ||
	       (c->g->distinct.hosts && near.of_group > 0);
}

// What a row is counted for: a property that is used up comes before its room, and after other instances on it.
static void show(struct columns *c, uint32_t row)
{
	const char *reason = c->refusals[row], *of_bin = c->bins[c->bin_of[row]].refusal;
	enum stack_outcome outcome = reason ? (enum stack_outcome)c->outcomes[row] : STACK_FITS;
	if (of_bin && reason != reason_distinct_hosts) {
		bool by_both = outcome == STACK_FILTERED;
		reason = by_both ? stack_check_properties(c->s, c->g, c->nodes[row]) : of_bin;
		outcome = STACK_FILTERED;
	}
	if (reason == c->shown[row] && outcome == c->shown_outcomes[row])
		return;
	if (c->shown[row])
		tallies_add(&c->refused, c->shown[row], c->nodes[row],
			(enum stack_outcome)c->shown_outcomes[row], -1);
	if (reason)
		tallies_add(&c->refused, reason, c->nodes[row], outcome, 1);
	c->shown[row] = reason;
	c->shown_outcomes[row] = (uint8_t)outcome;
}

static void set_refusal(
	struct columns *c, uint32_t row, const char *reason, enum stack_outcome outcome)
{
	c->refusals[row] = reason;
	c->outcomes[row] = (uint8_t)outcome;
	show(c, row);
}

void columns_set_bin_refusal(struct columns *c, struct column_bin *bin, const char *refusal)
{
	bin->refusal = refusal;
	for (uint32_t row = bin->first_row; row < bin->first_row + bin->rows; row++)
		show(c, row);
}

static void add_score(struct columns *c, uint32_t row, double score)
{
	if (score == 0)
		return;
	c->sums[row] += score;
	c->recorded[row]++;
}

static void fill_row(struct columns *c, uint32_t row, const struct resources *capacity,
	const struct resources *used, bool exact)
{
	struct neighbours near = {0, 0};
	if (c->has_neighbours[row])
		near = stack_neighbours(c->s, c->g, c->nodes[row]->slot);
	if (needs_own_host(c, near)) {
		set_refusal(c, row, reason_distinct_hosts, STACK_FILTERED);
		return;
	}
	const char *property = c->row_property_count ? columns_row_refusal(c, row) : NULL;
	if (property) {
		set_refusal(c, row, property, STACK_FILTERED);
		return;
	}
	const char *dimension = resources_shortage(capacity, used, &c->g->ask);
	set_refusal(c, row, dimension, dimension ? STACK_EXHAUSTED : STACK_FITS);
	if (dimension)
		return;
	if (c->tiers)
		c->tiers[row] = (uint8_t)stack_snapshot_tier(c->s, c->g, c->nodes[row]);
	c->sums[row] = fit_score(c, capacity, used, &exact);
	c->bounded[row] = !exact;
	c->recorded[row] = 1;
	add_score(c, row, anti_affinity_score(c->g, near.of_group));
	add_score(c, row, c->affinities ? c->affinities[row] : 0);
}

static void refresh_row(struct columns *c, uint32_t row)
{
	struct resources capacity = node_capacity(c->nodes[row]);
	struct resources used = proposal_used(&c->s->proposal, c->nodes[row]->slot);
	fill_row(c, row, &capacity, &used, true);
}

// --- Blocks ----------------------------------------------------------------------------------------------

double columns_score(const struct columns *c, uint32_t row)
{
	double spread = c->bins[c->bin_of[row]].spread;
	if (spread == 0)
		return c->sums[row] / c->recorded[row];
	return (c->sums[row] + spread) / (c->recorded[row] + 1);
}

// Of rows of one bin with equally many scores.
static bool has_more(const struct columns *c, uint32_t row, uint32_t than)
{
	if (columns_tier(c, row) != columns_tier(c, than))
		return columns_tier(c, row) > columns_tier(c, than);
	return c->sums[row] > c->sums[than];
}

static void refresh_block(struct columns *c, struct column_block *b)
{
	for (uint32_t k = 0; k < ROW_SCORES_MAX; k++)
		b->best[k] = ROW_NONE;
	b->bounded = false;
	for (uint32_t row = b->first; row < b->end; row++) {
		if (c->refusals[row])
			continue;
		b->bounded |= c->bounded[row];
		uint32_t *best = &b->best[c->recorded[row] - 1];
		if (*best == ROW_NONE || has_more(c, row, *best))
			*best = row;
	}
	columns_block_changed(c, (uint32_t)(b - c->blocks));
}

static void make_exact(struct columns *c, struct column_block *b)
{
	for (uint32_t row = b->first; row < b->end; row++)
		if (c->bounded[row] && !c->refusals[row])
			refresh_row(c, row);
	refresh_block(c, b);
}

void columns_refuse(struct columns *c, uint32_t row, const char *reason)
{
	set_refusal(c, row, reason, STACK_EXHAUSTED);
	refresh_block(c, &c->blocks[c->block_of[row]]);
}

// --- All of them -----------------------------------------------------------------------------------------

void columns_fill(struct columns *c, const struct gathered_node *nodes)
{
	c->cache = memory_take(sizeof *c->cache);
	for (uint32_t row = 0; row < c->row_count; row++)
		fill_row(c, row, &nodes[row].capacity, &nodes[row].used, false);
	for (uint32_t i = 0; i < c->block_count; i++)
		refresh_block(c, &c->blocks[i]);
	columns_refresh_bins(c);
}

static void renew(struct columns *c, uint32_t row)
{
	refresh_row(c, row);
	refresh_block(c, &c->blocks[c->block_of[row]]);
}

void columns_catch_up(struct columns *c)
{
	struct stack *s = c->s;
	for (; c->seen < s->changed_count; c->seen++) {
		uint32_t slot = s->changed_slots[c->seen];
		uint32_t row = slot < c->slots ? c->row_of[slot] : ROW_NONE;
		if (c->row_property_count)
			columns_each_alike(c, s->view.node_at(s->view.context, slot), renew);
		if (row == ROW_NONE)
			continue;
		c->has_neighbours[row] = true;
		renew(c, row);
	}
	columns_refresh_bins(c);
}

// --- The best --------------------------------------------------------------------------------------------

struct ranked {
	uint32_t row;
	uint8_t tier;
	double score;
};

struct ranking {
	struct ranked items[ROWS_WANTED_MAX];
	uint32_t count, wanted;
};

static bool is_better(const struct columns *c, const struct ranked *a, const struct ranked *b)
{
	if (a->tier != b->tier)
		return a->tier > b->tier;
	return a->score > b->score ||
	       (a->score == b->score && c->slot_of[a->row] < c->slot_of[b->row]);
}

static void rank_row(const struct columns *c, struct ranking *r, uint32_t row)
{
	struct ranked one = {row, columns_tier(c, row), columns_score(c, row)};
	if (r->count == r->wanted && !is_better(c, &one, &r->items[r->count - 1]))
		return;
	uint32_t at = r->count < r->wanted ? r->count++ : r->count - 1;
	for (; at > 0 && is_better(c, &one, &r->items[at - 1]); at--)
		r->items[at] = r->items[at - 1];
	r->items[at] = one;
}

static bool is_among(const uint32_t *rows, uint32_t count, uint32_t row)
{
	for (uint32_t i = 0; i < count; i++)
		if (rows[i] == row)
			return true;
	return false;
}

static bool make_all_exact(struct columns *c, const uint32_t *blocks, uint32_t count)
{
	bool any = false;
	for (uint32_t i = 0; i < count; i++)
		if (c->blocks[blocks[i]].bounded) {
			make_exact(c, &c->blocks[blocks[i]]);
			any = true;
		}
	return any;
}

// The best rows are in the blocks whose best are the best.
uint32_t columns_top(struct columns *c, const uint32_t *skipped, uint32_t skipped_count,
	uint32_t wanted, uint32_t *rows)
{
	struct ranking best = {.wanted = wanted};
	uint32_t blocks[ROWS_WANTED_MAX], count;
	CHECK(wanted + skipped_count <= ROWS_WANTED_MAX);
	do {
		count = columns_best_blocks(c, wanted + skipped_count, blocks);
	} while (make_all_exact(c, blocks, count));
	for (uint32_t i = 0; i < count; i++) {
		const struct column_block *b = &c->blocks[blocks[i]];
		for (uint32_t row = b->first; row < b->end; row++)
			if (!c->refusals[row] && !is_among(skipped, skipped_count, row))
				rank_row(c, &best, row);
	}
	for (uint32_t i = 0; i < best.count; i++)
		rows[i] = best.items[i].row;
	return best.count;
}

// --- Metrics ---------------------------------------------------------------------------------------------

void columns_count(const struct columns *c, bool again, struct alloc_metrics *m)
{
	m->nodes_evaluated += c->candidates;
	tallies_count(&c->refused, m);
	tallies_count(again ? &c->later : &c->first, m);
}
