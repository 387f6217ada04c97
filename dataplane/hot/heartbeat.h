// The second and third pass for heartbeats, and what they share with other frames of a node.
#pragma once
#include "dataplane/hot/burst.h"

// Finds the frame's node and its key: the line's, or that of up.node_key when the line has another one. Refuses the
// frame and returns false when there is none.
bool lane_find(struct hot_worker *, const struct frame *, struct lane *);
// Called once the frame's tag is verified: keeps its key in the line if this worker may write that.
void lane_verified(const struct hot_worker *, const struct frame *, const struct lane *);
// Checks the node's replay window. Refuses the frame and returns false when it was seen or is too old.
bool lane_accept(struct hot_worker *, const struct frame *, const struct lane *);
// Counts and answers an authentic frame that is not acted on.
void lane_refuse(struct hot_worker *, const struct frame *, const struct lane *, enum hot_refusal,
	enum wire_refusal);

// Second pass, from the frame first on: takes as many heartbeats as are tagged at a time, and computes the tags that
// they should have, and those of their acknowledgements. Returns the first frame that it did not look at.
uint32_t heartbeats_tag(struct hot_worker *, struct burst *, uint32_t first);
// Third pass, for those of the newest heartbeats that came before the given frame: compares, updates, turns them into
// their acknowledgements.
void heartbeats_receive(struct hot_worker *, struct burst *, const struct frame *before);
