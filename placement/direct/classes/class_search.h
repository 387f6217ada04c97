// Searches among the nodes of a class set's groups, and keeps the best of each group from one decision to the next:
// they follow the changes of the index, and nodes are searched again when the list has run dry.
#pragma once
#include "placement/direct/classes/class_set.h"
#include "placement/direct/shortlist.h"

// As fit_tree_search(), of nodes that the set does not refuse for what is their own, as accepts must say, too. Where
// those are few, each is looked at.
uint32_t class_set_search(const struct class_set *, struct fit_index *, const struct fit_query *,
	uint32_t count, struct fit_candidate best[]);

// What a group asks for, of nodes that are not refused for what is their own; valid until the set is taken again.
struct fit_query class_set_query(
	const struct class_set *, uint32_t group, const struct fit_index *, uint32_t first_slot);

// The best nodes of a group that are not refused for what is their own; at least a few, or all. Valid until the next
// call.
const struct shortlist *class_set_best(
	struct class_set *, uint32_t group, struct fit_index *, uint32_t first_slot);
