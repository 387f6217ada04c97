// Room on one node (rows A52–A55), and making room.
#pragma once
#include "placement/direct/classes/node_ratings.h"
#include "placement/scheduler/node/stack_option.h"
#include "placement/scheduler/node/stack_state.h"

// Fills the option except for scores that depend on other nodes. evict: victims may be chosen.
bool stack_fit(struct stack *, struct group_rules *, const struct node *, bool evict,
	struct stack_option *);

// What is said of a node that is short of it.
extern const char *const shortage_reasons[NODE_SHORTAGES];
// Whether the devices that the node has left will do, and their score. Its class must take the group.
bool stack_serves_devices(
	const struct stack *, const struct group_rules *, const struct node *, double *score);
// Notes that the devices of an option's node will not do. Returns false.
bool stack_lacks_devices(struct stack_option *);
// Whether enough of its cores are free.
bool stack_serves_cores(const struct stack *, const struct group_rules *, const struct node *);
// What the group asks of the node, where a core stands for a share of its cpu.
struct resources stack_ask(const struct group_rules *, const struct node *);
// The first of the others that falls short, in the order of row A52; NULL: none.
const char *resources_shortage(const struct resources *capacity, const struct resources *used,
	const struct resources *ask);
// The node's score with the instance on it.
double stack_fit_score(const struct stack *, const struct resources *capacity,
	const struct resources *used, const struct resources *ask);
