// Whether what allocations hold of a node fits it, summed anew from the allocations: nothing that the state has summed
// is looked at.
#pragma once
#include "state/tables/state.h"
#include <stdbool.h>
#include <stddef.h>

// Of living allocations, in the working state. False: why not. In a read section.
bool room_suffices(const struct state *, uint32_t slot, char *why, size_t why_size);
// Whether the node has so much left beside all that it holds. What is to stop and has not ended holds its room as well:
// only what a scheduler puts in its place may share it (state/tables/nodes/node_room.h).
bool room_is_left(
	const struct state *, uint32_t slot, const struct resources *, char *why, size_t why_size);
