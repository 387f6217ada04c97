// Refusals and scores of single rows, and of their blocks.
#include "placement/scheduler/node/checks.h"
#include "placement/scheduler/node/fit.h"
#include "placement/scheduler/node/neighbours.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

// Nodes of a fleet are much alike: nodes with the same room get the same score.
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

// More than four times the error of a score from two such powers.
#define BOUND_SLACK 1e-6

static double score_bound(const struct candidate_columns *c, const struct resources *capacity,
	const struct resources *used)
{
	double cpu = ((double)used->cpu_mhz + c->g->ask.cpu_mhz) / capacity->cpu_mhz;
	double memory = ((double)used->memory_mb + c->g->ask.memory_mb) / capacity->memory_mb;
	double t = power_near(1 - cpu) + power_near(1 - memory);
	double score = c->s->algorithm == PLACEMENT_SPREAD ? t - 2 : 20 - t;
	return score / 18 + BOUND_SLACK;
}

// Nodes that are alike come one after the other.
static double newest_score(struct candidate_columns *c, const struct resources *capacity,
	const struct resources *used, const struct resources *ask)
{
	struct row_fit *newest = &c->newest_fit;

	if (!newest->is_known || memcmp(&newest->capacity, capacity, sizeof *capacity) != 0 ||
		memcmp(&newest->used, used, sizeof *used) != 0 ||
		memcmp(&newest->ask, ask, sizeof *ask) != 0)
		*newest = (struct row_fit){
			*capacity, *used, *ask, true, stack_fit_score(c->s, capacity, used, ask)};
	return newest->score;
}

// Returns the fit score. With *exact false it may return an upper bound for values that are not in the cache, which is
// for one ask; it sets *exact when the score is exact.
static double fit_score(struct candidate_columns *c, const struct resources *capacity,
	const struct resources *used, const struct resources *ask, bool *exact)
{
	if (!c->cache || c->g->cores) {
		*exact = true;
		return newest_score(c, capacity, used, ask);
	}
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
	// An entry that would replace another one has little chance to be found again.
	if (!*exact && slot->known && capacity->cpu_mhz && capacity->memory_mb)
		return score_bound(c, capacity, used);
	*exact = true;
	*slot = (struct fit_cached){
		*capacity, *used, stack_fit_score(c->s, capacity, used, &c->g->ask), true};
	return slot->score;
}

static bool needs_own_host(const struct candidate_columns *c, struct neighbours near)
{
	return (c->s->job_rules.distinct.hosts && near.of_job > 0) ||
	       (c->g->distinct.hosts && near.of_group > 0);
}

void candidate_columns_add_score(struct candidate_columns *c, uint32_t row, double score)
{
	if (score == 0)
		return;
	c->sums[row] += score;
	c->recorded[row]++;
}

static void sum_scores(
	struct candidate_columns *c, uint32_t row, double fit, double devices, double anti)
{
	c->fits[row] = c->sums[row] = fit;
	c->antis[row] = anti;
	c->recorded[row] = 1;
	if (c->devices) {
		c->devices[row] = devices;
		c->sums[row] += devices;
		c->recorded[row]++;
	}
	candidate_columns_add_score(c, row, anti);
	candidate_columns_add_score(c, row, c->affinities ? c->affinities[row] : 0);
}

// Devices without a score are noticed when the row is tried.
static const char *row_shortage(const struct candidate_columns *c, uint32_t row,
	const struct resources *capacity, const struct resources *used, const struct resources *ask,
	double *devices)
{
	bool is_rated = c->ratings && !c->has_neighbours[row]; // and the plan does not touch it

	if (c->devices && is_rated)
		*devices = c->ratings->devices[c->slot_of[row]];
	else if (c->devices && !stack_serves_devices(c->s, c->g, c->nodes[row], devices))
		return shortage_reasons[SHORT_OF_DEVICES];
	if (c->g->cores && !is_rated && !stack_serves_cores(c->s, c->g, c->nodes[row]))
		return shortage_reasons[SHORT_OF_CORES];
	return resources_shortage(capacity, used, ask);
}

static struct resources ask_of_row(const struct candidate_columns *c, uint32_t row)
{
	struct resources ask = c->g->ask;

	if (!c->ratings || !c->ratings->cpu_mhz)
		return stack_ask(c->g, c->nodes[row]);
	ask.cpu_mhz = c->ratings->cpu_mhz[c->slot_of[row]];
	return ask;
}

static void fill_row(struct candidate_columns *c, uint32_t row, const struct resources *capacity,
	const struct resources *used, bool exact)
{
	struct neighbours near = {0, 0};
	if (c->has_neighbours[row])
		near = stack_neighbours(c->s, c->g, c->slot_of[row]);
	if (needs_own_host(c, near)) {
		candidate_columns_set_refusal(c, row, reason_distinct_hosts, STACK_FILTERED);
		return;
	}
	const char *property = c->row_property_count ? candidate_columns_row_refusal(c, row) : NULL;
	if (property) {
		candidate_columns_set_refusal(c, row, property, STACK_FILTERED);
		return;
	}
	if (c->evictions) {
		candidate_columns_fill_evicting(c, row, near);
		return;
	}
	double devices = 0;
	struct resources ask = ask_of_row(c, row);
	const char *dimension = row_shortage(c, row, capacity, used, &ask, &devices);
	if (c->is_full)
		c->is_full[row] = dimension != NULL;
	candidate_columns_set_refusal(c, row, dimension, dimension ? STACK_EXHAUSTED : STACK_FITS);
	if (dimension)
		return;
	if (c->tiers)
		c->tiers[row] = (uint8_t)stack_snapshot_tier(c->s, c->g, c->nodes[row]);
	double fit = fit_score(c, capacity, used, &ask, &exact);
	c->bounded[row] = !exact;
	sum_scores(c, row, fit, devices, anti_affinity_score(c->g, near.of_group));
}

static void refresh_row(struct candidate_columns *c, uint32_t row)
{
	CHECK(row < c->row_count);
	struct resources capacity = node_capacity(c->nodes[row]);
	struct resources used = proposal_used(&c->s->proposal, c->nodes[row]->slot);
	fill_row(c, row, &capacity, &used, true);
}

// Compares rows of one bin that have equally many scores.
static bool goes_before(const struct candidate_columns *c, uint32_t row, uint32_t than)
{
	if (candidate_columns_tier(c, row) != candidate_columns_tier(c, than))
		return candidate_columns_tier(c, row) > candidate_columns_tier(c, than);
	double sum = c->sums[row] + candidate_columns_victims(c, row);
	double other = c->sums[than] + candidate_columns_victims(c, than);
	if (sum != other)
		return sum > other;
	return candidate_columns_is_first(c, row, than);
}

static void offer_to_block(const struct candidate_columns *c, struct column_block *b, uint32_t row)
{
	CHECK(b->first <= row && row < b->end);
	if (c->refusals[row])
		return;
	b->bounded |= c->bounded[row];
	uint32_t *best = &b->best[c->recorded[row] - 1];
	if (*best == ROW_NONE || goes_before(c, row, *best))
		*best = row;
}

// Whether index and ratings know what the scores of a row depend on, so that the node's record is not read. The index
// takes no capacity for 1.
static bool is_told(const struct candidate_columns *c, const struct fit_candidate *found)
{
	if (!found || found->cpu_capacity <= 1 || found->memory_capacity <= 1 || c->tiers)
		return false;
	// Who is short of something is in no tree of ratings.
	CHECK(!c->ratings || c->ratings->shortages[found->slot] == NODE_SHORTAGES);
	return true;
}

static void score_found(
	struct candidate_columns *c, uint32_t row, const struct fit_candidate *found)
{
	const struct resources capacity = {found->cpu_capacity, found->memory_capacity, 0};
	const struct resources used = {found->cpu_capacity - found->cpu_free,
		found->memory_capacity - found->memory_free, 0};

	const struct resources ask = c->ratings ? ask_of_row(c, row) : c->g->ask;

	sum_scores(c, row, newest_score(c, &capacity, &used, &ask),
		c->devices ? c->ratings->devices[found->slot] : 0, 0);
}

void candidate_columns_enter(
	struct candidate_columns *c, uint32_t row, const struct fit_candidate *found)
{
	if (is_told(c, found))
		score_found(c, row, found);
	else
		refresh_row(c, row);
	offer_to_block(c, &c->blocks[c->block_of[row]], row);
	candidate_columns_block_changed(c, c->block_of[row]);
}

void candidate_columns_refresh_block(struct candidate_columns *c, struct column_block *b)
{
	CHECK(b->first <= b->end && b->end <= c->row_count);
	for (uint32_t k = 0; k < ROW_SCORES_MAX; k++)
		b->best[k] = ROW_NONE;
	b->bounded = false;
	for (uint32_t row = b->first; row < b->end; row++)
		offer_to_block(c, b, row);
	candidate_columns_block_changed(c, (uint32_t)(b - c->blocks));
}

static void make_exact(struct candidate_columns *c, struct column_block *b)
{
	for (uint32_t row = b->first; row < b->end; row++)
		if (c->bounded[row] && !c->refusals[row])
			refresh_row(c, row);
	candidate_columns_refresh_block(c, b);
	CHECK(!b->bounded);
}

static void describe_score(struct stack_option *o, enum score_kind kind, double score)
{
	if (score != 0)
		option_record(o, kind, score);
	else if (kind != SCORE_SPREAD)
		o->shown |= (uint8_t)(1u << kind);
}

bool candidate_columns_know_scores(const struct candidate_columns *c)
{
	return !c->evictions && !group_asks_ports(c->g);
}

// Devices without a score are noticed only now.
static bool lacks_devices(const struct candidate_columns *c, uint32_t row)
{
	double unused;
	return c->g->needs.devices.count > 0 && !c->devices &&
	       !stack_serves_devices(c->s, c->g, c->nodes[row], &unused);
}

static void describe_scores(const struct candidate_columns *c, uint32_t row, struct stack_option *o)
{
	option_record(o, SCORE_BINPACK, c->fits[row]);
	if (c->devices)
		option_record(o, SCORE_DEVICES, c->devices[row]);
	describe_score(o, SCORE_ANTI_AFFINITY, c->antis[row]);
	describe_score(o, SCORE_RESCHEDULE_PENALTY, 0);
	describe_score(o, SCORE_AFFINITY, c->affinities ? c->affinities[row] : 0);
	describe_score(o, SCORE_SPREAD, c->bins[c->bin_of[row]].spread);
	if (c->tiers) {
		o->scores[SCORE_SNAPSHOT] = snapshot_tier_score((enum snapshot_tier)c->tiers[row]);
		o->shown |= 1u << SCORE_SNAPSHOT;
	}
	option_settle(o);
}

void candidate_columns_describe(
	const struct candidate_columns *c, uint32_t row, struct stack_option *o)
{
	CHECK(candidate_columns_know_scores(c));
	CHECK(!c->refusals[row] && !c->bounded[row]);
	option_begin(o, c->nodes[row]);
	if (lacks_devices(c, row)) {
		(void)stack_lacks_devices(o);
		return;
	}
	o->resources = c->g->ask;
	describe_scores(c, row, o);
}

void candidate_columns_refuse(struct candidate_columns *c, uint32_t row, const char *reason)
{
	CHECK(reason && row < c->row_count);
	candidate_columns_set_refusal(c, row, reason, STACK_EXHAUSTED);
	candidate_columns_refresh_block(c, &c->blocks[c->block_of[row]]);
}

void candidate_columns_fill(struct candidate_columns *c, const struct gathered_node *nodes)
{
	CHECK(!c->cache);
	c->cache = memory_take(sizeof *c->cache);
	for (uint32_t row = 0; row < c->row_count; row++)
		fill_row(c, row, &nodes[row].capacity, &nodes[row].used, false);
	for (uint32_t i = 0; i < c->block_count; i++)
		candidate_columns_refresh_block(c, &c->blocks[i]);
	candidate_columns_refresh_bins(c);
}

static void renew(struct candidate_columns *c, uint32_t row)
{
	refresh_row(c, row);
	candidate_columns_refresh_block(c, &c->blocks[c->block_of[row]]);
}

void candidate_columns_catch_up(struct candidate_columns *c)
{
	CHECK(c->seen <= c->s->changed_count);
	struct stack *s = c->s;
	for (; c->seen < s->changed_count; c->seen++) {
		uint32_t slot = s->changed_slots[c->seen];
		uint32_t row = candidate_columns_row_for(c, slot);
		const struct node *n = view_node_in_no_order(&s->view, slot);
		if (c->fleet)
			candidate_columns_each_own(c, n, renew);
		else if (c->row_property_count)
			candidate_columns_each_alike(c, n, renew);
		if (c->fleet && c->property_count && n)
			candidate_columns_follow_values(c, n);
		if (row == ROW_NONE)
			continue;
		c->has_neighbours[row] = true;
		candidate_columns_row_is_touched(c, row);
		renew(c, row);
	}
	candidate_columns_follow_victims(c);
	candidate_columns_refresh_bins(c);
	CHECK(c->seen == c->s->changed_count);
}

struct ranked {
	uint32_t row;
	uint8_t tier;
	double score;
};

struct ranking {
	struct ranked items[ROWS_WANTED_FEW];
	uint32_t count, wanted;
};

static bool is_better(
	const struct candidate_columns *c, const struct ranked *a, const struct ranked *b)
{
	if (a->tier != b->tier)
		return a->tier > b->tier;
	return a->score > b->score ||
	       (a->score == b->score && candidate_columns_is_first(c, a->row, b->row));
}

static void rank_row(const struct candidate_columns *c, struct ranking *r, uint32_t row)
{
	struct ranked one = {row, candidate_columns_tier(c, row), candidate_columns_score(c, row)};
	if (r->count == r->wanted && !is_better(c, &one, &r->items[r->count - 1]))
		return;
	uint32_t at = r->count < r->wanted ? r->count++ : r->count - 1;
	for (; at > 0 && is_better(c, &one, &r->items[at - 1]); at--)
		r->items[at] = r->items[at - 1];
	r->items[at] = one;
}

uint32_t rows_find(const uint32_t *rows, uint32_t count, uint32_t row)
{
	uint32_t low = 0;

	while (low < count) {
		uint32_t middle = low + (count - low) / 2;
		if (rows[middle] < row)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

static bool make_all_exact(struct candidate_columns *c, const uint32_t *blocks, uint32_t count)
{
	bool any = false;
	for (uint32_t i = 0; i < count; i++)
		if (c->blocks[blocks[i]].bounded) {
			make_exact(c, &c->blocks[blocks[i]]);
			any = true;
		}
	return any;
}

// The best rows are in the blocks whose own best rows are the best.
uint32_t candidate_columns_top(struct candidate_columns *c, const uint32_t *skipped,
	uint32_t skipped_count, uint32_t wanted, uint32_t *rows)
{
	struct ranking best = {.wanted = wanted};
	uint32_t count;
	CHECK(wanted <= ROWS_WANTED_FEW);
	do {
		candidate_columns_fetch(c, wanted + skipped_count);
		count = candidate_columns_best_blocks(c, wanted + skipped_count);
	} while (make_all_exact(c, c->best_blocks, count));
	for (uint32_t i = 0; i < count; i++) {
		const struct column_block *b = &c->blocks[c->best_blocks[i]];
		for (uint32_t row = b->first; row < b->end; row++)
			if (!c->refusals[row] && !rows_have(skipped, skipped_count, row))
				rank_row(c, &best, row);
	}
	for (uint32_t i = 0; i < best.count; i++)
		rows[i] = best.items[i].row;
	CHECK(best.count <= wanted);
	return best.count;
}
