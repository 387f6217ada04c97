// Nodes beside their status, one event after the other: the daemon's own transitions
// (state/records/nodes/node_standing.h) and groups (state/tables/nodes/node_groups.h), without its records.
#pragma once
#include "state/records/nodes/node_standing.h"
#include "state/tables/nodes/node_groups.h"

enum node_event_kind {
	NODE_EVENT_NONE, // not said
	NODE_EVENT_ADDED,
	NODE_EVENT_REMOVED,
	NODE_EVENT_USER_ADDED,
	NODE_EVENT_USER_REMOVED,
	NODE_EVENT_TASK_SCHEDULED,
	NODE_EVENT_TASK_COMPLETED,
	NODE_EVENT_READY, // the probe was asked, and answered
	NODE_EVENT_SWEEP,
	NODE_EVENT_KINDS
};

struct node_event {
	enum node_event_kind kind;
	int64_t at_ns; // positive
	uint32_t node;
	const char *snapshot; // of a task that is scheduled
	bool flaky;           // of one that is completed
	bool ready;           // what the probe answered
	int64_t backoff_ns;
};

struct node_fleet {
	struct lifecycle_limits limits;
	uint32_t count;
	struct node_lifecycle *nodes; // forgotten: nothing is known of it
	struct node_groups *groups;
	int64_t running; // tasks scheduled less tasks completed, whoever had them (rows E23, E26)
};

// Nodes are numbers below count; at most groups_max snapshots are remembered. NULL when memory is short.
struct node_fleet *node_fleet_create(
	uint32_t count, uint32_t groups_max, const struct lifecycle_limits *);
void node_fleet_free(struct node_fleet *); // NULL is fine
// False, and nothing is changed: a task cannot be scheduled on a node that is not healthy. Whoever is added or removed,
// by itself or by an operator, has all of them swept after it (row E3).
bool node_fleet_happens(struct node_fleet *, const struct node_event *);
uint32_t node_fleet_healthy(const struct node_fleet *);
