// How good the nodes of a fleet can be for one kind of group that evicts what is less important: an upper bound of each
// node's score; and how many nodes are short of what with all their victims gone. Kept by changes. Holds for nodes that
// hold nothing of the job and that its plan does not touch.
#pragma once
#include "placement/direct/classes/bounds_tree.h"
#include "placement/direct/classes/class_set.h"
#include "placement/direct/victims/victims.h"

enum victim_outcome {
	VICTIMS_NOT_ASKED, // the node is not ready, or refused
	VICTIMS_SUFFICE,   // or are not needed
	VICTIMS_SHORT_OF,  // and enum fit_shortage
};

struct victim_bounds {
	struct bounds_tree tree;
	uint8_t *outcomes; // by slot
	uint32_t *tallies; // by slot: its class's, of those of the set that are short
	uint32_t (*shorts)[FIT_SHORTAGES]; // by tally
	uint32_t short_count;
	uint64_t seen;   // readings of victims
	uint64_t judged; // classes by the set
	struct victims *victims;
};

// The bounds that belong to a set, up to date with it and with victims, always of one priority; valid until the set is
// given back.
struct victim_bounds *victim_bounds_of(
	struct class_set *, const struct fit_index *, struct victims *);
// What the node is short of; FIT_SHORTAGES: of nothing. The node must have been asked.
enum fit_shortage victim_bounds_shortage(const struct victim_bounds *, uint32_t slot);
