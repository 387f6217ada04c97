// Standings of nodes, event by event: runs the daemon's own transitions (state/records/nodes/node_standing.h) and
// groups (state/tables/nodes/node_groups.h), without its records.
#pragma once
#include "state/records/nodes/node_standing.h"
#include "state/tables/nodes/node_groups.h"

enum node_event_kind {
	NODE_EVENT_NONE, // not given
	NODE_EVENT_ADDED,
	NODE_EVENT_REMOVED,
	NODE_EVENT_USER_ADDED,
	NODE_EVENT_USER_REMOVED,
	NODE_EVENT_TASK_SCHEDULED,
	NODE_EVENT_TASK_COMPLETED,
	NODE_EVENT_READY, // the answer of the node's probe
	NODE_EVENT_SWEEP,
	NODE_EVENT_KINDS
};

struct node_event {
	enum node_event_kind kind;
	int64_t at_ns; // positive
	uint32_t node;
	const char *snapshot; // of a scheduled task
	bool flaky;           // of a completed task
	bool ready;           // the probe's answer
	int64_t backoff_ns;
};

struct node_fleet {
	struct standing_limits limits;
	uint32_t count;
	struct standing *nodes; // forgotten: an unknown node
	struct node_groups *groups;
	int64_t running; // tasks scheduled less tasks completed, on all nodes (rows E23, E26)
};

// Nodes are numbers below count; the groups hold at most groups_max snapshots. NULL without memory.
struct node_fleet *node_fleet_create(
	uint32_t count, uint32_t groups_max, const struct standing_limits *);
void node_fleet_free(struct node_fleet *); // NULL is fine
// Applies an event. False, without a change, when a task is scheduled on a node that is not healthy. A sweep of all
// nodes follows every addition and removal, by the node itself or by an operator (row E3).
bool node_fleet_happens(struct node_fleet *, const struct node_event *);
uint32_t node_fleet_healthy(const struct node_fleet *);
