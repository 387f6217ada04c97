// Nodes whose id and key two agents have: both register in turn, each fencing the other. Who registered first keeps the
// node; the other is a clone. These counts are not part of the state; the conclusion is. Applier thread.
//
// An agent is known by its boot, and one that says none by address and port. A start, another address, another port or
// another link is no clone, since an agent that was followed by another one never comes back. Only one that is still
// alive does: that is a return. Two returns make a clone:
//
//	first, second (takes over), first (return), second (return: it is the clone, and refused)
//
// Agents that were not seen before may take over at any time: it may be the first one that was started anew. A clone
// that is started anew takes over once more, and is refused when it returns.
#pragma once
#include "state/base/uuid.h"
#include "state/records/nodes/node_registration.h"
#include <stdbool.h>
#include <stdint.h>

struct clone_limits {
	int64_t window_ns; // returns that are further apart are none
	// A return of an agent that says no boot counts only so soon after the registration before it: one agent
	// alone registers again because it was told to, or because six heartbeats had no answer, which takes two
	// times to live.
	int64_t soon_ns;
};

struct clones;

// What is kept of the agent that has a node, for each node. Two agents have the same one by chance once in
// 2^32, and are then not found to be two.
struct agent_print {
	uint32_t place; // of address and port; 0: it is not known who has the node
	uint32_t boot;  // 0: it does not say
};

struct agent_print agent_print_of(const struct agent_mark *);

struct clones *clones_create(const struct clone_limits *, uint32_t node_slots);
void clones_free(struct clones *); // NULL is allowed
// Who registered the node of a slot last, since the controller started.
void clones_hold(struct clones *, uint32_t slot, const struct agent_mark *);
struct agent_print clones_holder(const struct clones *, uint32_t slot);
// Of a node that the holder has, the comer wants to register anew. True: the comer is a clone. False: it may.
bool clones_register(struct clones *, const struct uuid *node, struct agent_print holder,
	const struct agent_mark *comer, int64_t now_ns);
// The holder, when it came back while the node changed hands, as one beside a clone did; else NULL.
const struct agent_mark *clones_seen(
	const struct clones *, const struct uuid *node, struct agent_print holder);
// Forgets what was seen of a node: an operator has decided.
void clones_forget(struct clones *, const struct uuid *node);
