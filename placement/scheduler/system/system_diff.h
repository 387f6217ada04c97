// Compares a system or sysbatch job with its allocations, node by node (rows A15–A26, docs/spec/system.md). Pure: it
// looks at the view and ignores room.
#pragma once
#include "placement/scheduler/common/view.h"

// What becomes of an allocation or a missing instance.
enum diff_kind {
	DIFF_STOP,          // its name is not required any more, or its node is not targeted
	DIFF_MIGRATE,       // flagged by the drainer or an operator
	DIFF_LOST,          // its node is down or gone, or it was unknown for too long
	DIFF_DISCONNECTING, // the allocation becomes unknown
	DIFF_RECONNECTING,  // its node is back: the allocation is sent again
	DIFF_UPDATE,        // the job changed
	DIFF_IGNORE,
	DIFF_PLACE,
	DIFF_KINDS
};
#define DIFF_NO_GROUP 0xffffffffu

struct diff_item {
	const struct allocation
		*existing;       // DIFF_PLACE: the newest allocation that ended there, or NULL
	const struct node *node; // NULL: gone
	uint32_t slot;           // of the node; NODE_SLOT_NONE: gone
	uint32_t group;          // of the job now; DIFF_NO_GROUP: its name is not required
	uint32_t name_index;
};
struct diff_list {
	struct diff_item *items;
	uint32_t count, room;
};
struct diff_item *diff_list_add(struct diff_list *);

// Nodes that take instances of the job (row A8), by id.
struct target_node {
	uint64_t key[2]; // the id as two big-endian words
	const struct node *node;
	uint32_t slot;
};
struct target_nodes {
	struct target_node *items;
	uint32_t count, room;
};

struct system_diff {
	struct target_nodes nodes;
	struct diff_list lists[DIFF_KINDS]; // by node id, then by name
	struct diff_list lost_late;         // stopped but never reported as ended (row A17)
};

// job: when NULL or stopped, nothing is required. Compares the allocations of (namespace, id), of every incarnation.
// The result is valid until the view ends; release it with system_diff_release.
struct system_diff_ask {
	const struct scheduler_view *view;
	const struct job *job;
	const char *namespace_name, *job_id;
	bool sysbatch;
	int64_t now_ns;
};
void system_diff(const struct system_diff_ask *, struct system_diff *);
void system_diff_release(struct system_diff *);
bool target_nodes_contain(const struct target_nodes *, const struct uuid *);
