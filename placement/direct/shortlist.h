// The best nodes for one ask, kept from one decision to the next: a search fills it, changed nodes are put
// in their place one by one, and only when it runs dry is the fleet searched again.
#pragma once
#include "placement/direct/fit_tree.h"

#define SHORTLIST_MAX 32u

struct shortlist {
	enum placement_algorithm algorithm;
	const struct fit_query *query;
	struct fit_candidate at[SHORTLIST_MAX]; // best first
	uint32_t count;
	bool complete; // every node that fits is in it
	struct fit_candidate
		horizon; // when not complete: no node outside the list is better than this one
};

// What a search for `wanted` nodes found.
void shortlist_fill(struct shortlist *, uint32_t wanted);
// Puts a candidate in, unless it is beyond the horizon. Its slot is not in the list.
void shortlist_offer(struct shortlist *, struct fit_candidate);
void shortlist_drop(struct shortlist *, uint32_t slot);
