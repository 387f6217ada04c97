// The best nodes for one ask, kept between decisions: a search fills the list, changed nodes move within it one by
// one, and the fleet is searched again only when the list runs dry.
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

// Takes the result of a search for `wanted` nodes.
void shortlist_fill(struct shortlist *, uint32_t wanted);
// Adds a candidate unless it is beyond the horizon. Its slot must not be in the list.
void shortlist_offer(struct shortlist *, struct fit_candidate);
void shortlist_drop(struct shortlist *, uint32_t slot);
