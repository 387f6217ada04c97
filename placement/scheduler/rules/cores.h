// Cores that tasks have to themselves (row A52).
#pragma once
#include "placement/scheduler/rules/task_room.h"
#include "state/base/limits.h"

struct core_set {
	uint64_t words[CORES_MAX / 64];
};

// Parses ranges like "0-7,12"; leaves out cores beyond CORES_MAX and text that does not parse.
struct core_set core_set_parse(const char *ranges);
struct core_set node_reservable_cores(const struct node *);
uint32_t core_set_count(const struct core_set *);
void core_set_remove(struct core_set *, const struct core_set *);
// Adds the cores that an allocation holds.
void core_set_add_details(struct core_set *, const struct alloc_details *);
// Takes the lowest cores of the set for a task; false when there are not enough.
bool core_set_take(struct core_set *, int64_t count, struct task_room *, struct allocated_task *);

// All that the tasks of a group have to themselves.
int64_t group_cores(const struct task_group *);

// The share of cpu that stands for one core of the node.
int64_t node_shares_per_core(const struct node *);
// The same, for whoever has read the node's reservable cores.
int64_t node_shares_of_cores(const struct node *, const struct core_set *reservable);
// What a group asks of cpu when each core of a task counts as this much.
uint32_t cpu_with_cores(const struct task_group *, int64_t shares_per_core);
