// Nodes whose id and key two agents have: both register in turn, each fencing the other. Who registered first keeps the
// node; the other is a clone. These counts are not part of the state; the conclusion is. Applier thread.
//
// An agent is known by its boot, a number that each start of it draws anew, and one that says none by address and port.
// A start, another address, another port or another link is no clone, since an agent that was followed by another one
// never comes back. Only one that is still alive does: that is a return. Two returns make a clone:
//
//	first, second (takes over), first (return), second (return: it is the clone, and refused)
#pragma once
#include "state/base/uuid.h"
#include <stdbool.h>
#include <stdint.h>

struct agent_mark {
	uint64_t boot;       // 0: the agent does not say
	uint8_t address[16]; // IPv6, or IPv4 in the first four bytes
	uint16_t port;
};

struct clone_limits {
	int64_t window_ns; // returns that are further apart are none
	// A return of an agent that says no boot counts only so soon after the registration before it: one agent alone
	// registers again because it was told to, or because six heartbeats had no answer, which takes two times to live.
	int64_t soon_ns;
};

struct clones;

struct clones *clones_create(const struct clone_limits *);
void clones_free(struct clones *); // NULL is allowed
// Of a node that the holder has, the comer wants to register anew. True: the comer is a clone, and *first the agent that
// keeps the node. False: it may, and the comer is the holder then.
bool clones_register(struct clones *, const struct uuid *node, const struct agent_mark *holder,
	const struct agent_mark *comer, int64_t now_ns, struct agent_mark *first);
// Forgets what was seen of a node: an operator has decided.
void clones_forget(struct clones *, const struct uuid *node);
bool agent_mark_same(const struct agent_mark *, const struct agent_mark *);
