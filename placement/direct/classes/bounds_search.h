// Takes the slots of a tree of bounds one by one, the most promising first; of equal ones those from first_slot on go
// first, then those below it. The tree must stay as it is meanwhile.
#pragma once
#include "placement/direct/classes/bounds_tree.h"

#define BOUNDS_SEARCH_ON UINT32_MAX

// Slots from one on, as many as a step of the level has; a single one on level 0.
struct promise {
	double bound;
	uint32_t level, at;
	uint32_t order; // of the first slot, counted from first_slot on
	uint8_t rank;
};

static inline bool promise_goes_before(const struct promise *a, const struct promise *b)
{
	if (a->rank != b->rank)
		return a->rank > b->rank;
	if (a->bound != b->bound)
		return a->bound > b->bound;
	return a->order < b->order;
}

// The bound of a place; BOUND_NONE: no instance will do there, whatever changes.
typedef double bound_of_place(const void *context, uint32_t level, uint32_t at);

struct bounds_search {
	bound_of_place *bound_of;
	const void *context;
	const struct bounds_tree *ranked; // ranks come before bounds; NULL: there are none
	const uint32_t *counts;           // of the places of each level
	uint32_t level_count;
	uint32_t first_slot;
	struct promise *items; // a heap, the most promising first; [0] is valid while count > 0
	uint32_t count, room;
};

void bounds_search_begin(struct bounds_search *, const struct bounds_tree *, uint32_t first_slot);
// The same where bounds are computed.
void bounds_search_begin_with(struct bounds_search *, bound_of_place *, const void *context,
	const uint32_t *counts, uint32_t level_count, uint32_t first_slot);
// All bounds are others than before.
void bounds_search_renew(struct bounds_search *);
void bounds_search_release(struct bounds_search *);
// Of the slots below the most promising place none that is equally good comes before this one.
uint32_t bounds_search_first(const struct bounds_search *);
// Takes the most promising place. Returns its slot; BOUNDS_SEARCH_ON: it was one of many, which are in question now.
uint32_t bounds_search_take(struct bounds_search *);
