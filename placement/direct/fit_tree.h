// All nodes that may take work, ordered for the search of the best one: a B+ tree along a Hilbert curve over (free
// cpu, free memory), whose branches hold bounds of everything that scoring reads. A search descends where the bound
// is best and skips whatever cannot beat its candidates. A small fleet is kept without order instead, and a search
// looks at all of it. One thread only.
#pragma once
#include "placement/direct/fit_node.h"
#include "placement/direct/placement.h"
#include <stdbool.h>
#include <stdint.h>

// A node as it was found, with what its score depends on.
struct fit_candidate {
	double cost;  // approximate, to within FIT_SLACK
	double score; // exact; negative: not computed yet
	uint32_t slot;
	uint32_t cpu_free, memory_free, cpu_capacity, memory_capacity;
};

struct fit_query {
	uint32_t cpu, memory, disk;
	uint32_t devices;    // one device group must have this many free; 0: no devices asked for
	uint64_t class_bits; // bit (class mod 64) of each class that will do
	const uint64_t *classes; // exact bit map of them; NULL: all
	const uint32_t *kinds;   // by class: its bit in the map; NULL: its number
	uint32_t first_slot; // among equals, slots from this one on go first, then those below it
	// Called last on a node that otherwise fits (devices, what is unique to it). NULL: accepts all.
	bool (*accepts)(void *context, uint32_t slot, const struct fit_node *);
	void *context;
	bool refuses_many; // accepts does, and is cheap: in a small fleet it may be called earlier
	// Goes on behind this one: where nodes are alike, blocks of those up to it are passed over. accepts refuses
	// them, as the caller has them from an earlier search. NULL: begins anew.
	const struct fit_candidate *after;
};

static inline bool fit_query_takes(const struct fit_query *q, uint32_t node_class)
{
	if (!q->classes)
		return true;
	uint32_t bit = q->kinds ? q->kinds[node_class] : node_class;
	return q->classes[bit / 64] >> bit % 64 & 1;
}

struct fit_tree;

// nodes: the array by slot; the caller owns and grows it.
struct fit_tree *fit_tree_create(enum placement_algorithm, struct fit_node *const *nodes);
void fit_tree_destroy(struct fit_tree *);

// Inserts nodes[slot] and sets its place.
void fit_tree_insert(struct fit_tree *, uint32_t slot);
void fit_tree_remove(struct fit_tree *, uint32_t slot);
// Puts another record into nodes[slot], which is in the tree and stays in it.
void fit_tree_change(struct fit_tree *, uint32_t slot, const struct fit_node *);

// Whether nodes are few, so that a search looks at all of them.
bool fit_tree_is_flat(const struct fit_tree *);
// How many changes of a ranking of its best nodes cost about as much as a search.
uint32_t fit_tree_search_changes(const struct fit_tree *);
// Finds the best nodes in order, at most count. Returns their number: less than count only when no other node fits.
uint32_t fit_tree_search(
	struct fit_tree *, const struct fit_query *, uint32_t count, struct fit_candidate best[]);

// Whether a quick look shows that a node that fits the ask costs more than that. Seldom false when it does.
bool fit_costs_more(
	enum placement_algorithm, const struct fit_node *, const struct fit_query *, double cost);
// The candidate of a node that fits the ask.
struct fit_candidate fit_candidate_of(
	enum placement_algorithm, const struct fit_node *, uint32_t slot, const struct fit_query *);
// The exact score; computed once.
double fit_candidate_score(
	enum placement_algorithm, const struct fit_query *, struct fit_candidate *);
// True when a is to be preferred to b: by score, then by slot from first_slot on.
bool fit_prefer(enum placement_algorithm, const struct fit_query *, struct fit_candidate *a,
	struct fit_candidate *b);

// Checks every invariant of the structure; for tests. Returns NULL or what is broken; counts the nodes.
const char *fit_tree_verify(const struct fit_tree *, uint32_t *nodes);
