// What a task may take of its node, as lines for the files of its control group.
#pragma once
#include "tools/agent/confine/cgroup.h"

#define LIMITS_CPU_PERIOD_US 100000u
#define LIMITS_CPU_PERIOD_US_LEAST 1000u // the kernel's own bounds
#define LIMITS_CPU_PERIOD_US_MOST 1000000u

struct limits_ask {
	int64_t cpu_mhz;
	int64_t memory_mb;
	int64_t memory_max_mb; // 0: memory_mb is the most
	int64_t pids;          // 0: as many as the node has
	const char *cores;     // that the task has to itself, "2-3,5"; "": none
	// cpu_mhz is the most, even when the node is idle: of this node's total and its cores.
	bool is_cpu_hard;
	int64_t cpu_period_us;
	int64_t node_mhz, node_cores;
};

struct limit {
	uint32_t controller; // enum cgroup_controller
	const char *file;
	char value[256];
};
#define LIMITS_MOST 8u
struct limits {
	uint32_t count;
	struct limit rows[LIMITS_MOST];
};

// The weight of a group among its siblings, from 1 to 10000, for an ask in MHz.
uint32_t limits_cpu_weight(int64_t cpu_mhz);
void limits_plan(struct limits *, const struct limits_ask *);
// The controllers that they need.
uint32_t limits_controllers(const struct limits *);
// Writes those whose controllers are there. 0, or -errno and a sentence.
int limits_set(const struct limits *, uint32_t controllers, const char *group, char *message,
	uint32_t message_size);
