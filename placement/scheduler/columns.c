#include "placement/scheduler/columns.h"
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

static void set_refusal(
	struct columns *c, uint32_t row, const char *reason, enum stack_outcome outcome)
{
	if (c->refusals[row])
		tallies_add(&c->refused, c->refusals[row], c->nodes[row],
			(enum stack_outcome)c->outcomes[row], -1);
	c->refusals[row] = reason;
	c->outcomes[row] = (uint8_t)outcome;
	if (reason)
		tallies_add(&c->refused, reason, c->nodes[row], outcome, 1);
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
		set_refusal(c, row, "distinct_hosts", STACK_FILTERED);
		return;
	}
	const char *dimension = resources_shortage(capacity, used, &c->g->ask);
	set_refusal(c, row, dimension, dimension ? STACK_EXHAUSTED : STACK_FITS);
	if (dimension)
		return;
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

static double score_of(const struct columns *c, uint32_t row)
{
	double spread = c->bins[c->bin_of[row]].spread;
	if (spread == 0)
		return c->sums[row] / c->recorded[row];
	return (c->sums[row] + spread) / (c->recorded[row] + 1);
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
		if (*best == ROW_NONE || c->sums[row] > c->sums[*best])
			*best = row;
	}
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

// --- Bins ------------------------------------------------------------------------------------------------

static uint64_t property_changes(const struct columns *c)
{
	const struct property_set *set;
	uint64_t changes = 1;
	for (uint32_t i = 0; (set = job_rules_property(&c->s->job_rules, i)); i++)
		changes += set->changes;
	for (uint32_t i = 0; (set = group_rules_property(c->g, i)); i++)
		changes += set->changes;
	return changes;
}

static void refresh_bins(struct columns *c)
{
	uint64_t changes = property_changes(c);
	if (changes == c->properties_seen && *c->g->lowest_boost == c->lowest_seen)
		return;
	c->properties_seen = changes;
	for (uint32_t i = 0; i < c->bin_count && c->g->spread_count; i++)
		spread_note_lowest(c->g, c->bins[i].node);
	c->lowest_seen = *c->g->lowest_boost;
	for (uint32_t i = 0; i < c->bin_count; i++) {
		struct column_bin *bin = &c->bins[i];
		bin->refusal = stack_check_properties(c->s, c->g, bin->node);
		bin->spread = c->g->spread_count ? spread_score(c->g, bin->node) : 0;
	}
}

void columns_fill(struct columns *c, const struct gathered_node *nodes)
{
	c->cache = memory_take(sizeof *c->cache);
	for (uint32_t row = 0; row < c->row_count; row++)
		fill_row(c, row, &nodes[row].capacity, &nodes[row].used, false);
	for (uint32_t i = 0; i < c->block_count; i++)
		refresh_block(c, &c->blocks[i]);
	refresh_bins(c);
}

void columns_catch_up(struct columns *c)
{
	struct stack *s = c->s;
	for (; c->seen < s->changed_count; c->seen++) {
		uint32_t slot = s->changed_slots[c->seen];
		uint32_t row = slot < c->slots ? c->row_of[slot] : ROW_NONE;
		if (row == ROW_NONE)
			continue;
		c->has_neighbours[row] = true;
		refresh_row(c, row);
		refresh_block(c, &c->blocks[c->block_of[row]]);
	}
	refresh_bins(c);
}

// --- The best --------------------------------------------------------------------------------------------

struct ranked {
	uint32_t row;
	double score;
};

struct ranking {
	struct ranked items[ROWS_WANTED_MAX];
	uint32_t count, wanted;
};

static bool is_better(const struct columns *c, const struct ranked *a, const struct ranked *b)
{
	return a->score > b->score ||
	       (a->score == b->score && c->nodes[a->row]->slot < c->nodes[b->row]->slot);
}

static void rank_row(const struct columns *c, struct ranking *r, uint32_t row)
{
	struct ranked one = {row, score_of(c, row)};
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

static void rank_blocks(const struct columns *c, struct ranking *r)
{
	r->count = 0;
	for (uint32_t i = 0; i < c->block_count; i++) {
		const struct column_block *b = &c->blocks[i];
		for (uint32_t k = 0; k < ROW_SCORES_MAX; k++)
			if (b->best[k] != ROW_NONE && !c->bins[b->bin].refusal)
				rank_row(c, r, b->best[k]);
	}
}

// The blocks of those rows, each once.
static uint32_t blocks_of(
	const struct columns *c, const struct ranking *r, uint32_t blocks[ROWS_WANTED_MAX])
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < r->count; i++)
		if (!is_among(blocks, count, c->block_of[r->items[i].row]))
			blocks[count++] = c->block_of[r->items[i].row];
	return count;
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
	struct ranking tops = {.wanted = wanted + skipped_count}, best = {.wanted = wanted};
	uint32_t blocks[ROWS_WANTED_MAX], count;
	CHECK(wanted + skipped_count <= ROWS_WANTED_MAX);
	do {
		rank_blocks(c, &tops);
		count = blocks_of(c, &tops, blocks);
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

// A property that is used up comes before the room of a row.
static void count_rows(const struct columns *c, struct alloc_metrics *m)
{
	struct tallies t = {0};
	for (uint32_t row = 0; row < c->row_count; row++) {
		const char *of_bin = c->bins[c->bin_of[row]].refusal;
		bool own_host = c->refusals[row] && c->outcomes[row] == STACK_FILTERED;
		if (of_bin && !own_host)
			tallies_add(&t, of_bin, c->nodes[row], STACK_FILTERED, 1);
		else if (c->refusals[row])
			tallies_add(&t, c->refusals[row], c->nodes[row],
				(enum stack_outcome)c->outcomes[row], 1);
	}
	tallies_count(&t, m);
	free(t.buckets);
}

void columns_count(const struct columns *c, bool again, struct alloc_metrics *m)
{
	bool by_property =
		c->s->job_rules.distinct.property_count > 0 || c->g->distinct.property_count > 0;
	m->nodes_evaluated += c->candidates;
	tallies_count(again ? &c->later : &c->first, m);
	if (by_property)
		count_rows(c, m);
	else
		tallies_count(&c->refused, m);
}
