// All nodes that may take work, ordered for the search of the best one: a B+ tree along a Hilbert curve
// over (free cpu, free memory), whose branches know bounds of everything that scoring looks at. A search
// descends where the bound is best and leaves out whatever cannot beat what it has. One thread.
#pragma once
#include "placement/direct/fit_node.h"
#include "placement/direct/placement.h"
#include <stdbool.h>
#include <stdint.h>

struct fit_query {
	uint32_t cpu, memory, disk;
	uint32_t devices;    // one device group must have this many free; 0: no devices asked for
	uint64_t class_bits; // bit (class mod 64) of each class that will do
	const uint64_t *classes; // the same exactly, as a bit map; NULL: all
	// The last word on a node that fits otherwise (devices, what is unique to it). NULL: none.
	bool (*accepts)(void *context, uint32_t slot, const struct fit_node *);
	void *context;
};

// A node as it was when it was found: what its score follows from is in it.
struct fit_candidate {
	double cost;  // approximate, to within FIT_SLACK
	double score; // exact; negative: not computed yet
	uint32_t slot;
	uint32_t cpu_free, memory_free, cpu_capacity, memory_capacity;
};

struct fit_tree;

// nodes: the slots' array, owned and grown by the caller.
struct fit_tree *fit_tree_create(enum placement_algorithm, struct fit_node *const *nodes);
void fit_tree_destroy(struct fit_tree *);

// nodes[slot] says what to insert; its place is set.
void fit_tree_insert(struct fit_tree *, uint32_t slot);
void fit_tree_remove(struct fit_tree *, uint32_t slot);

// The best nodes in order, at most count. Returns how many there are, fewer than count only when no other
// node fits.
uint32_t fit_tree_search(
	struct fit_tree *, const struct fit_query *, uint32_t count, struct fit_candidate best[]);

// A node that fits the ask, as a candidate.
struct fit_candidate fit_candidate_of(
	enum placement_algorithm, const struct fit_node *, uint32_t slot, const struct fit_query *);
// The exact score; computed once.
double fit_candidate_score(
	enum placement_algorithm, const struct fit_query *, struct fit_candidate *);
// True when a is to be preferred to b: by score, then slot.
bool fit_prefer(enum placement_algorithm, const struct fit_query *, struct fit_candidate *a,
	struct fit_candidate *b);

// Every invariant of the structure; for tests. Returns NULL or what is broken; counts the nodes in it.
const char *fit_tree_verify(const struct fit_tree *, uint32_t *nodes);
