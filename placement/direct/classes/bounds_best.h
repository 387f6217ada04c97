// The most promising slots of a tree of bounds, kept from one decision to the next: they follow single changes of the
// tree, which is searched again when they have run dry.
#pragma once
#include "placement/direct/classes/bounds_search.h"
#include <stdbool.h>

#define BOUNDS_BEST_MOST 16u

struct bounds_best {
	uint32_t slots[BOUNDS_BEST_MOST]; // the most promising first
	uint32_t count;
	bool is_complete;       // all slots that will do are among them
	bool is_known;          // else the tree changed as a whole
	struct promise horizon; // if not complete: no slot outside goes before this one
	struct bounds_search search;
};

void bounds_best_release(struct bounds_best *);
// The bound of this slot is another one.
void bounds_best_follow(struct bounds_best *, const struct bounds_tree *, uint32_t slot);
// Sees to it that there are a few, or all; of equal ones those from first_slot on go first.
void bounds_best_find(struct bounds_best *, const struct bounds_tree *, uint32_t first_slot);
