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

// Second pass: computes the tags that the burst's heartbeats should have, and those of their acknowledgements.
void heartbeats_tag(struct hot_worker *, struct burst *);
// Third pass, for the heartbeat of the given lane: compares, updates, turns it into its acknowledgement.
void heartbeat_receive(struct hot_worker *, struct burst *, const struct frame *,
	const struct lane *, uint32_t lane);
