// The nodes that a group could run on, in columns: all of them, gathered once for each attempt, or those that come into
// question, where classes and room decide (candidate_columns_sparse.c). After that only the rows that the plan changed
// are looked at again, so that the best node for one more instance costs a few microseconds.
//
// Rows with the same values of all spread and distinct_property attributes form a bin, for which those attributes say
// the same. The rows of a bin lie together, by slot, in blocks; each block knows its best row for every number of
// recorded scores (among rows with equally many, the greater sum stays the greater whatever spread adds). A tree over
// the blocks knows which block has the best row of all. Distinct properties that tell single nodes apart make no bins;
// their rows are found by their values.
//
// An exact fit score takes two powers of ten. Where nodes are not alike, most rows get an upper bound at first, and
// exact scores are computed only in the blocks that come into question.
#pragma once
#include "placement/direct/classes/bounds_search.h"
#include "placement/direct/classes/node_ratings.h"
#include "placement/direct/fleet.h"
#include "placement/direct/victims/victim_bounds.h"
#include "placement/scheduler/node/neighbours.h"
#include "placement/scheduler/node/stack_state.h"
#include "placement/scheduler/stack/refusal_counts.h"

#define BLOCK_ROWS 64u
#define ROW_NONE 0xffffffffu
// So many rows are wanted at once, but of an instance that failed on many nodes.
#define ROWS_WANTED_FEW 8u
// Fit, and maybe anti-affinity, affinity, devices and victims.
#define ROW_SCORES_MAX 5u

struct column_block {
	uint32_t first, end; // rows
	uint32_t bin;
	uint32_t best[ROW_SCORES_MAX];
	bool bounded; // some row's sum is an upper bound
};

// A bin's value of a property, by number of the property.
struct bin_value {
	uint32_t number;                    // among the counts; VALUE_NONE: its nodes have no value
	const struct spread_bucket *bucket; // of a spread with targets
};

struct column_bin {
	const struct node *node; // one of its nodes: all have the same values; NULL: a finder's bin
	const char *refusal;     // by distinct_property; NULL: none
	uint32_t
		refused_by; // number of the property, counted from 1, and how often its value was used
	int64_t refused_at;
	double spread;
	uint32_t first_row, rows;
	uint32_t first_block, blocks;
};

// A distinct property that tells single nodes apart, with rows by the hash of their value.
struct row_property {
	struct property_set *set;
	uint32_t *first_row, *next; // by hash, by row; ROW_NONE ends them
	uint32_t mask;
};

// A place in the tree over the blocks: the best row below it.
struct contender {
	double score;
	uint32_t row; // ROW_NONE: none
	uint8_t tier;
};

// What nodes of a finder have in common of a property.
struct finder_value {
	uint32_t
		mark; // as struct class_group; of single nodes' properties their own (candidate_columns_mark_of)
	uint32_t number; // of few values: among the counts; VALUE_NONE: it has none
	int64_t used;    // how often; 0: of few values, or of none
	const struct spread_bucket *bucket; // of spreads
};

struct finder_key {
	uint32_t group;              // of the class set
	struct finder_value *values; // by property
};

// Finds rows in the fleet's index, among classes that score alike but for their nodes' fit: of one affinity, with the
// same uses of all values. Where properties tell classes apart, the bin of the same number is that of its rows. One of
// rows whose own values are used has nothing to find.
struct row_finder {
	struct finder_key key;
	uint64_t *classes,
		bits; // as struct class_group; its own, with the values, when properties tell classes apart
	uint32_t ready, rows; // nodes, and those that have rows
	bool is_changed;      // what its bin says is new to its rows
	double bound;         // no node's score is above
	uint32_t open;        // rows that are as they were found, since the newest class joined
	uint32_t epoch;       // classes that joined
	uint32_t at_once;     // how many nodes were asked for last
	bool has_all;         // every node was found
	// Classes that joined and were not looked at yet, if of few nodes; what was found holds for all others.
	uint32_t *joined;
	uint32_t joined_count, joined_room;
	uint32_t
		joined_nodes; // at least theirs; JOINED_MANY: of too many classes, so that nothing holds
	struct bounds_search search; // by ratings
	struct sum_search
		*sums; // by sums of scores, one for each tree of its group; NULL: none yet
	uint32_t sum_count, sums_epoch;
	// Found by the newest search, best first; those from waiting_at on have no rows yet. Of another epoch:
	// forgotten.
	struct fit_candidate *waiting;
	uint32_t waiting_at, waiting_count, waiting_epoch;
};
#define FINDER_NONE 0u
#define JOINED_MANY UINT32_MAX

// How often the value of some classes is used; 0: of few values.
struct value_use {
	uint32_t number; // of the class set
	int64_t used;
};

// A property of which nodes of one class may differ, where but few nodes have rows: all whose values are used, have a
// bucket of their own, or are missing. To all others it is the same.
struct own_property {
	struct property_set *set;
	const struct compiled_spread *spread; // NULL: it is distinct
	struct node_values *values;
};

// A class of the set whose values are used, or some of whose nodes have rows, where properties tell classes apart.
struct column_class {
	uint32_t id;
	uint32_t finder; // and bin of its rows
	uint32_t first_row, rows, short_rows[NODE_SHORTAGES];
	uint32_t own_rows; // of those, in another bin for what is their nodes' own
	const char *
		refusal; // by distinct_property, for which its nodes without rows are counted; NULL: none
};

// A text that says why classes of a value are refused.
struct class_refusal {
	const struct property_set *set; // NULL: none yet
	const char *value;              // NULL: missing
	int64_t used;
	const char *text;
};

// What an exact fit score was computed from.
struct row_fit {
	struct resources capacity, used, ask;
	bool is_known; // else none was yet
	double score;
};

// What columns know of rows in which victims make room.
struct evictions {
	// By row.
	double *scores; // of the row's victims; 0: none
	uint64_t *
		rest_on; // struct victim_basis: groups whose victims in the plan may change the score; 0: none
	double *bounds; // of the scores of rows that rest on groups
	uint32_t seen;  // of the plan's victims
	bool any_rests; // some row may rest on groups
};

struct candidate_columns {
	// The columns lie in memory of the stack's job, or in their own if they are of one instance.
	struct arena *memory, own;
	struct stack *s;
	struct group_rules *g;
	uint32_t name_index;         // of the instance, if its volumes are its own; else 0
	uint32_t candidates;         // nodes looked at: rows, and those filtered at once
	struct evictions *evictions; // victims make room in rows without; NULL: nobody does
	// Nodes filtered at once: the first time, and later with the memo (candidate_columns_count_later).
	struct refusal_counts first, later;
	bool is_later_counted;
	struct refusal_counts refused; // rows that are refused now
	uint32_t row_count, row_room, bin_count, block_count;
	// By row, all of them in one piece.
	const struct node **nodes;
	double *sums;          // of the recorded scores without spread and victims
	double *fits, *antis;  // of those, the fit and the anti-affinity
	double *affinities;    // NULL: the group has none
	double *devices;       // their scores; NULL: no affinity is for devices
	uint8_t *tiers;        // enum snapshot_tier; NULL: the group names no snapshot
	const char **refusals; // the row's own; NULL: none
	uint8_t *outcomes;     // enum stack_outcome of refusals
	bool *is_full; // of cpu, memory or disk, and not looked into yet; NULL: those say it all
	const char **shown; // reason in the metrics, the row's or its bin's; NULL: open
	uint8_t *shown_outcomes;
	uint32_t *slot_of;
	uint8_t *recorded;    // how many scores are in the sum
	bool *has_neighbours; // maybe
	bool *bounded;        // the sum is an upper bound, less than a millionth off
	uint32_t *bin_of, *block_of;
	struct slot_map row_of; // row + 1
	// Which nodes may be the best with victims; NULL: nobody evicts, or all nodes have rows.
	const struct victim_bounds *bounds;
	const char **bound_reasons;   // their texts, by number
	struct tree_search *searches; // for those without rows, by tree; NULL: nobody searched
	uint32_t *aside;              // slots that were found, of classes that are refused
	uint32_t aside_count, aside_room;
	// Of single nodes, for groups that their classes do not tell enough of; NULL: not needed.
	struct node_ratings *ratings;
	// The index of a fleet, when only some nodes have rows; NULL: all have.
	const struct fleet_index *fleet;
	struct class_set *set;
	struct row_finder *finders; // first those of the groups of the set
	uint32_t finder_count, finder_room;
	struct column_class *classes;
	uint32_t class_count, class_room;
	struct class_refusal newest_refusal;
	struct row_fit newest_fit;
	struct slot_map class_at;           // by id: place in classes, counted from 1
	uint32_t *finder_of, *finder_epoch; // by row: its finder, counted from 1, or FINDER_NONE
	uint32_t *class_of, *next_of_class; // by row: place in classes; the next row of the class
	uint32_t slots, block_rows;
	bool has_reopened;  // some class is no longer refused
	bool makes_classes; // rows that are made now are of whole classes
	struct column_bin *bins;
	struct bin_value *values; // by bin and property
	uint32_t property_count;  // properties that make bins: distinct ones, then spreads
	uint32_t row_property_count;
	struct property_set **properties;
	struct row_property *row_properties;
	struct node_values *by_class; // nodes by their class; NULL: nobody asked for it yet
	struct own_property *owns;    // when only some nodes have rows
	uint32_t own_count;
	bool *are_own; // by property that makes bins
	// By property: of the finder and of the classes that are looked at.
	struct finder_value *wanted;
	struct value_use *uses;
	struct column_block *blocks;
	struct contender *tree; // [1]: the best of all; leaves, by block, at the end
	uint32_t *stale; // blocks whose leaf is out of date; lies behind the tree, like is_stale
	bool *is_stale;  // by block
	uint32_t leaves; // a power of two
	uint32_t stale_count;
	// Of the newest search for blocks: few of both, or in one piece of memory.
	uint32_t *best_blocks, *best_places, best_room;
	uint32_t few_best[2 * ROWS_WANTED_FEW], *many_best;
	struct fit_cache *cache;
	uint64_t properties_seen; // changes of all property counts
	double lowest_seen;       // lowest boost of the job
	// The newest metrics in the plan that tell of these refusals as metrics after the first do, by their number,
	// counted from 1; 0: none yet.
	uint32_t told;
	uint32_t seen; // how many of s->changed_slots
};

// ROW_NONE: the slot's node has none.
static inline uint32_t candidate_columns_row_of(const struct candidate_columns *c, uint32_t slot)
{
	return slot_map_get(&c->row_of, slot) - 1;
}

// Of a slot's node, among the classes of the set.
static inline uint32_t candidate_columns_class_number(
	const struct candidate_columns *c, uint32_t slot)
{
	return class_set_number(c->set, slot, fit_index_node(c->fleet->fit, slot));
}

// The tier is compared before the score.
static inline uint8_t candidate_columns_tier(const struct candidate_columns *c, uint32_t row)
{
	return c->tiers ? c->tiers[row] : 0;
}
// 0: no victims.
static inline double candidate_columns_victims(const struct candidate_columns *c, uint32_t row)
{
	return c->evictions ? c->evictions->scores[row] : 0;
}
static inline double candidate_columns_score(const struct candidate_columns *c, uint32_t row)
{
	double spread = c->bins[c->bin_of[row]].spread, victims = candidate_columns_victims(c, row);
	if (spread == 0)
		return (c->sums[row] + victims) / c->recorded[row];
	return (c->sums[row] + spread + victims) / (c->recorded[row] + 1);
}

static inline bool candidate_columns_is_first(
	const struct candidate_columns *c, uint32_t row, uint32_t other)
{
	return stack_is_first(c->s, c->slot_of[row], c->slot_of[other]);
}

// candidate_columns_gather.c
// name_index: of the instance; columns hold for all instances unless each has volumes of its own. evict: allocations of
// less importance make room where there is none.
struct candidate_columns *candidate_columns_create(
	struct stack *, struct group_rules *, uint32_t name_index, bool evict);
void candidate_columns_destroy(struct candidate_columns *); // NULL is fine

// A node as it was when gathered.
struct gathered_node {
	const struct node *node;
	uint32_t slot, class_id;
	struct resources capacity, used;
};

// candidate_columns_room.c
// Room for so many rows, more than before.
void candidate_columns_make_room(struct candidate_columns *, uint32_t rows);

// candidate_columns_sparse.c
// Prepares columns of few rows; false: all nodes have to be gathered.
bool candidate_columns_open_sparse(struct candidate_columns *);
void candidate_columns_close_sparse(struct candidate_columns *);
// Puts what columns know of all classes, or of one, into the memo of the stack, where a look at all nodes would have
// put it.
void candidate_columns_remember_classes(struct stack *);
void candidate_columns_remember_class(struct candidate_columns *, uint32_t id);
// Counts the nodes that are filtered when the group is asked for again, which few groups are.
void candidate_columns_count_later(struct candidate_columns *);
// Makes rows of all nodes that are short of something.
void candidate_columns_make_full_rows(struct candidate_columns *);

// candidate_columns_sparse_rows.c
// What a node is short of that has no row yet, where nobody evicts; NODE_SHORTAGES: nothing that is known.
uint32_t candidate_columns_shortage(const struct candidate_columns *, uint32_t slot);
// How many nodes of a class without rows are short of something that is known, where nobody evicts.
uint32_t candidate_columns_short_without_rows(
	const struct candidate_columns *, const struct column_class *);
// The row of a node that may need one by now; ROW_NONE: the node is out of the question.
uint32_t candidate_columns_row_for(struct candidate_columns *, uint32_t slot);
// Makes the row of a node that a finder found.
void candidate_columns_add_found(struct candidate_columns *, const struct node *,
	const struct fit_candidate *, uint32_t finder);
// The row is no longer as it was found.
void candidate_columns_row_is_touched(struct candidate_columns *, uint32_t row);
// Room for the first rows.
void candidate_columns_begin_rows(struct candidate_columns *);
// What is noted of a class that columns with properties take; valid until the next class is looked up.
struct column_class *candidate_columns_class(struct candidate_columns *, uint32_t id);
// Counts the nodes of a class that have no rows for this refusal; NULL: for what they are short of.
void candidate_columns_refuse_class(
	struct candidate_columns *, struct column_class *, const char *refusal);

// candidate_columns_finders.c
// Makes the row of a node that a finder found, unless it has one or its class is of another finder by now.
void candidate_columns_make_found(
	struct candidate_columns *, uint32_t finder, const struct fit_candidate *);
void candidate_columns_open_finders(struct candidate_columns *);
void candidate_columns_release_finders(struct candidate_columns *);
// The number of the finder of a group whose marks and uses are those of c->wanted; it may be new.
uint32_t candidate_columns_finder_for(struct candidate_columns *, uint32_t group);
// No fit and no score of devices is above 1, and no mean of such and affinities: what is rated by node counts as none.
double candidate_columns_greatest_score(
	const struct candidate_columns *, double affinity, double spread);
// Makes rows until the best `wanted` rows are the best of all nodes.
void candidate_columns_fetch(struct candidate_columns *, uint32_t wanted);

// candidate_columns_uses.c
// What a group sees in a value that is not one of few: 0 when it is missing, 2 and more are the buckets of a spread,
// MARK_OTHER is any other value.
#define MARK_OTHER 1u
uint32_t candidate_columns_mark_of(
	const struct candidate_columns *, uint32_t property, const char *value);
// Puts all classes where others of their values' uses are.
void candidate_columns_place_classes(struct candidate_columns *);
// The plan uses another number of the values of this node.
void candidate_columns_follow_values(struct candidate_columns *, const struct node *);
// Makes rows of all nodes of the few classes that joined a finder and were not looked at yet.
void candidate_columns_look_at_joined(struct candidate_columns *, uint32_t finder);
// Brings what properties say of finders up to what is planned now; unlisted: by spread.
void candidate_columns_refresh_finders(struct candidate_columns *, const int64_t *unlisted);

// candidate_columns_own.c
void candidate_columns_open_own(struct candidate_columns *);
void candidate_columns_close_own(struct candidate_columns *);
// Makes the rows of nodes that differ from others by their own values.
void candidate_columns_make_own_rows(struct candidate_columns *);
// Puts a row where others of its own values' uses are.
void candidate_columns_place_row(struct candidate_columns *, uint32_t row);
// Puts a row into the bin of another finder.
void candidate_columns_move_row(struct candidate_columns *, uint32_t row, uint32_t finder);
// Makes rows of all nodes that share an own value with this one, and visits those that a value may refuse.
typedef void candidate_columns_row_visit(struct candidate_columns *, uint32_t row);
void candidate_columns_each_own(
	struct candidate_columns *, const struct node *, candidate_columns_row_visit *);

// candidate_columns_ratings.c
// Whether nodes of a class may score differently though they have the same room.
bool candidate_columns_are_rated(const struct candidate_columns *);
void candidate_columns_open_ratings(struct candidate_columns *);
// Of a slot's node; the context: struct candidate_columns.
double candidate_columns_rate_affinity(void *context, uint32_t slot);
// The slots that ratings know to be the best.
const struct bounds_best *candidate_columns_best_rated(struct candidate_columns *);
// A node that ratings found, with its room as the index knows it.
struct fit_candidate candidate_columns_rated(const struct candidate_columns *, uint32_t slot);
// As fit_tree_search(), by ratings; begins anew where the query does.
uint32_t candidate_columns_search_rated(struct candidate_columns *, struct row_finder *,
	const struct fit_query *, uint32_t count, struct fit_candidate best[]);

// candidate_columns_sums.c: the same by sums of scores.
void candidate_columns_fetch_by_sums(struct candidate_columns *, uint32_t wanted);
void candidate_columns_release_sums(struct row_finder *);

// candidate_columns_rows.c
// Fills a row that was just made, at the end of its block. found: of a node that holds nothing of the job; NULL: is to
// be looked at.
void candidate_columns_enter(
	struct candidate_columns *, uint32_t row, const struct fit_candidate *found);
// Fills all rows and blocks of new columns; nodes by row.
void candidate_columns_fill(struct candidate_columns *, const struct gathered_node *nodes);
// Brings all columns up to what is planned now.
void candidate_columns_catch_up(struct candidate_columns *);
// Finds the best open rows, best first, without the skipped ones, which are in the order of their numbers. Returns how
// many, at most `wanted`, of which there are few.
uint32_t candidate_columns_top(struct candidate_columns *, const uint32_t *skipped,
	uint32_t skipped_count, uint32_t wanted, uint32_t *rows);
// Where a row is or would be among rows in the order of their numbers, and whether it is there.
uint32_t rows_find(const uint32_t *rows, uint32_t count, uint32_t row);
static inline bool rows_have(const uint32_t *rows, uint32_t count, uint32_t row)
{
	uint32_t at = count > 0 ? rows_find(rows, count, row) : 0;
	return at < count && rows[at] == row;
}
// Whether rows know what a look at their nodes would say, for an instance without penalties and victims: all but ports.
bool candidate_columns_know_scores(const struct candidate_columns *);
// Says it of a row that is open, without what the instance is given of devices and cores; its node may turn out to be
// exhausted.
void candidate_columns_describe(
	const struct candidate_columns *, uint32_t row, struct stack_option *);
// Records a score of a row, unless it is 0.
void candidate_columns_add_score(struct candidate_columns *, uint32_t row, double score);
// Finds the block's best rows again.
void candidate_columns_refresh_block(struct candidate_columns *, struct column_block *);
// Marks a row that looked open as exhausted.
void candidate_columns_refuse(struct candidate_columns *, uint32_t row, const char *reason);
// Adds the nodes that were evaluated, filtered and exhausted to metrics. again: the group was asked for before.
// in_part: it is enough to tell how they differ from those in the plan.
void candidate_columns_count(
	const struct candidate_columns *, bool again, bool in_part, struct alloc_metrics *);
// The metrics that were counted last stand in the plan by this number, and were not the first.
void candidate_columns_are_told(struct candidate_columns *, uint32_t number);

// candidate_columns_evictions.c
void candidate_columns_open_evictions(struct candidate_columns *);
void candidate_columns_close_evictions(struct candidate_columns *);
// Fills a row that nothing but room may refuse.
void candidate_columns_fill_evicting(struct candidate_columns *, uint32_t row, struct neighbours);
// Rows whose victims rest on groups that the plan has evicted more of have bounds from now on.
void candidate_columns_follow_victims(struct candidate_columns *);

// candidate_columns_victims.c
// What is kept of those that may be evicted.
struct victims *candidate_columns_evictable(const struct candidate_columns *);
// False: the bounds say nothing.
bool candidate_columns_open_bounds(struct candidate_columns *, struct victims *);
void candidate_columns_close_bounds(struct candidate_columns *);
// Makes rows until the best `wanted` rows are the best of all nodes, as far as those are exact.
void candidate_columns_fetch_evicting(struct candidate_columns *, uint32_t wanted);

// candidate_columns_looks.c: looks at nodes for their bounds.
struct looker *candidate_columns_open_looker(const struct candidate_columns *);
void candidate_columns_close_looker(struct looker *);                            // NULL is fine
bool candidate_columns_look(void *context, uint32_t slot, struct victim_look *); // struct looker

// candidate_columns_properties.c: finds the properties that make bins, and what properties say of bins and rows.
void candidate_columns_find_properties(struct candidate_columns *);
void candidate_columns_know_values(struct candidate_columns *); // when bins and rows are there
void candidate_columns_release_properties(struct candidate_columns *);
// Brings the bins up to what is planned now.
void candidate_columns_refresh_bins(struct candidate_columns *);
// Properties that refuse come first among those that make bins.
uint32_t candidate_columns_distinct_count(const struct candidate_columns *);
// Why a row's own property values rule it out; NULL: they do not.
const char *candidate_columns_row_refusal(const struct candidate_columns *, uint32_t row);
// Visits the rows that share a value with the node.
void candidate_columns_each_alike(
	struct candidate_columns *, const struct node *, candidate_columns_row_visit *);

// candidate_columns_refusals.c: notes why rows are refused. reason: NULL when the row is open.
void candidate_columns_set_refusal(
	struct candidate_columns *, uint32_t row, const char *reason, enum stack_outcome);
void candidate_columns_set_bin_refusal(
	struct candidate_columns *, struct column_bin *, const char *refusal);
// Counts the row for what refuses it now.
void candidate_columns_show_row(struct candidate_columns *, uint32_t row);
// Looks into full nodes: a group with ports, devices or cores asks for those before cpu, memory and disk. That takes as
// long as placing on them, so it waits until somebody wants to know why nothing fits.
void candidate_columns_look_into_full(struct candidate_columns *);

// candidate_columns_tree.c: finds the best blocks.
// blocks: the most that there will be.
void candidate_columns_tree_create(struct candidate_columns *, uint32_t blocks);
void candidate_columns_block_changed(struct candidate_columns *, uint32_t block);
// Of all rows; minus infinity: none is open.
double candidate_columns_best_score(struct candidate_columns *);
// Finds the best blocks, best first: c->best_blocks, until it is called again. Returns how many.
uint32_t candidate_columns_best_blocks(struct candidate_columns *, uint32_t wanted);
