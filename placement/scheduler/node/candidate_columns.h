// All nodes that a group could run on, in columns: gathered once for each attempt, then only what the plan changed
// is looked at again, so that the best node for one more instance costs a few microseconds.
//
// Rows with the same values of all spread and distinct_property attributes form a bin: what those say is the same
// for all of a bin's rows. A bin's rows lie together, by slot, in blocks; each block knows its best row for every
// number of recorded scores (among rows with equally many, the greater sum stays the greater whatever spread adds).
// A tree over the blocks knows which of them has the best row of all. Distinct properties that tell single nodes
// apart make no bins; rows are found by their values.
//
// An exact fit score takes two powers of ten. Where nodes are not alike, most rows get a bound from above at first,
// and exact scores only in the blocks that come into question.
#pragma once
#include "placement/scheduler/node/rank.h"

#define BLOCK_ROWS 64u
#define ROW_NONE 0xffffffffu
// Fit alone; with anti-affinity or affinity; with both.
#define ROW_SCORES_MAX 3u

struct tally { // nodes refused for one reason, of one node class name
	const char *reason, *class_name;
	enum stack_outcome outcome;
	int64_t count;
};

struct tallies {
	struct tally *items;
	uint32_t *sorted; // their numbers, by reason
	uint32_t count, room;
	uint32_t *buckets; // open addressing: numbers, counted from 1
	uint32_t mask;
};

struct column_block {
	uint32_t first, end; // rows
	uint32_t bin;
	uint32_t best[ROW_SCORES_MAX];
	bool bounded; // some row's sum is a bound from above
};

// What a bin has of a property, by number of the property.
struct bin_value {
	uint32_t number;                    // among the counts; VALUE_NONE: its nodes have none
	const struct spread_bucket *bucket; // of a spread with targets
};

struct column_bin {
	const struct node *node; // one of its nodes: all have the same values
	const char *refusal;     // by distinct_property; NULL: none
	uint32_t refused_by;     // which property, counted from 1, and how often its value was used
	int64_t refused_at;
	double spread;
	uint32_t first_row, rows;
	uint32_t first_block, blocks;
};

// A distinct property that tells single nodes apart: rows by the hash of their value.
struct row_property {
	struct property_set *set;
	uint32_t *first_row, *next; // by hash, by row; ROW_NONE ends them
	uint32_t mask;
};

// A place of the tree over the blocks: the best row under it.
struct contender {
	double score;
	uint32_t row; // ROW_NONE: none
	uint8_t tier;
};

struct columns {
	struct stack *s;
	struct group_rules *g;
	uint32_t candidates; // nodes looked at: rows, and those filtered at once
	struct tallies first,
		later; // nodes filtered at once: as it was, and as the memo has it from then on
	struct tallies refused; // rows that are refused now
	uint32_t row_count, bin_count, block_count;
	// By row.
	const struct node **nodes;
	double *sums;          // of the recorded scores, spread aside
	double *affinities;    // NULL: the group has none
	uint8_t *tiers;        // enum snapshot_tier; NULL: the group names no snapshot
	const char **refusals; // its own; NULL: none
	uint8_t *outcomes;     // enum stack_outcome, of that
	const char **shown;    // what it is counted for, be it its own or its bin's; NULL: open
	uint8_t *shown_outcomes;
	uint32_t *slot_of;
	uint8_t *recorded;    // how many scores are in the sum
	bool *has_neighbours; // maybe
	bool *bounded;        // the sum is a bound from above, less than a millionth off
	uint32_t *bin_of, *block_of;
	uint32_t *row_of; // by slot; ROW_NONE
	uint32_t slots;
	struct column_bin *bins;
	struct bin_value *values; // by bin and property
	uint32_t property_count;  // that make bins: distinct ones, then spreads
	struct property_set **properties;
	struct row_property *row_properties;
	uint32_t row_property_count;
	struct column_block *blocks;
	struct contender *tree; // [1]: the best of all; the leaves, by block, are at the end
	uint32_t leaves;        // a power of two
	uint32_t *stale;        // blocks whose leaf is out of date
	uint32_t stale_count;
	bool *is_stale; // by block
	struct fit_cache *cache;
	uint32_t seen;            // of s->changed_slots
	uint64_t properties_seen; // changes of all counts of properties
	double lowest_seen;       // boost of the job
};

struct columns *columns_create(struct stack *, struct group_rules *);
void columns_destroy(struct columns *); // NULL is fine

// A node when it was gathered.
struct gathered_node {
	const struct node *node;
	uint32_t slot, class_id;
	struct resources capacity, used;
};
// Every row and block, when they are new; nodes by row.
void columns_fill(struct columns *, const struct gathered_node *nodes);

// columns_properties.c: which properties make bins, and what they say of bins and rows.
void columns_find_properties(struct columns *);
void columns_know_values(struct columns *); // when bins and rows are there
void columns_release_properties(struct columns *);
// Brings the bins up to what is planned now.
void columns_refresh_bins(struct columns *);
// Why a row's own values rule it out; NULL: they do not.
const char *columns_row_refusal(const struct columns *, uint32_t row);
// Rows that share a value with the node.
typedef void columns_row_visit(struct columns *, uint32_t row);
void columns_each_alike(struct columns *, const struct node *, columns_row_visit *);

// columns_tree.c: the best of the blocks.
void columns_tree_create(struct columns *);
void columns_tree_release(struct columns *);
void columns_block_changed(struct columns *, uint32_t block);
// The best blocks, best first; returns how many.
uint32_t columns_best_blocks(struct columns *, uint32_t wanted, uint32_t *blocks);

// columns.c: what they share. The tier comes before the score.
static inline uint8_t columns_tier(const struct columns *c, uint32_t row)
{
	return c->tiers ? c->tiers[row] : 0;
}
double columns_score(const struct columns *, uint32_t row);
void columns_set_bin_refusal(struct columns *, struct column_bin *, const char *refusal);
// Brings everything up to what is planned now.
void columns_catch_up(struct columns *);
// The best open rows, best first; rows that are skipped are left out. Returns how many, at most `wanted`.
uint32_t columns_top(struct columns *, const uint32_t *skipped, uint32_t skipped_count,
	uint32_t wanted, uint32_t *rows);
#define ROWS_WANTED_MAX 16u
// A row that looked open is exhausted.
void columns_refuse(struct columns *, uint32_t row, const char *reason);
// Nodes evaluated, filtered and exhausted, as of now. again: not the group's first.
void columns_count(const struct columns *, bool again, struct alloc_metrics *);

void tallies_add(
	struct tallies *, const char *reason, const struct node *, enum stack_outcome, int by);
void tallies_release(struct tallies *);
void tallies_count(const struct tallies *, struct alloc_metrics *);
