// Which core polls which queue. Reads the machine through hwloc (or a synthetic topology in tests)
// and lays out: workers on their port's NUMA node, no two pollers on one core, SMT siblings of a
// poller left idle while there are others, applier and schedulers near the workers.
#pragma once
#include "state/base/limits.h"
#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

struct topology_ask {
	uint32_t ports;
	struct {
		int numa_node;   // of the NIC; -1 unknown (virtual device)
		uint32_t queues; // workers wanted
	} port[PORTS_MAX];
	bool spin;           // pollers keep their core: sharing one is a problem, not a warning
	uint32_t schedulers; // scheduler threads wanted; 0: one per core that is left
};

// At least two schedulers: one works while the plan of the other is on its way to the disk. Beyond
// SCHEDULERS_USUAL_MAX they only wait for the applier.
#define SCHEDULERS_MAX 64u
#define SCHEDULERS_USUAL_LEAST 2u
#define SCHEDULERS_USUAL_MAX 16u

struct topology_worker {
	uint16_t port, queue;
	int cpu;       // OS index
	int numa_node; // of cpu, OS index
};

enum topology_severity { TOPOLOGY_NOTE, TOPOLOGY_WARNING, TOPOLOGY_ERROR };

struct topology_plan {
	uint32_t worker_count;
	struct topology_worker workers[WORKERS_MAX];
	int applier_cpu; // OS index
	int main_cpu;    // of EAL's main lcore; a poller's only without a choice
	uint32_t scheduler_count;
	int scheduler_cpus
		[SCHEDULERS_MAX]; // near the applier; a poller's only where pollers have all
	uint32_t problem_count;
	struct {
		enum topology_severity severity;
		char text[160];   // what is wrong
		char remedy[160]; // what to do
	} problems[32];
};

// Adds a problem, or drops it when the table is full. remedy may be "".
void topology_problem(struct topology_plan *, enum topology_severity, const char *remedy,
	const char *text, ...) __attribute__((format(printf, 4, 5)));
// Plans only cores that this process may use (affinity mask). Returns 0 or a negative error.
int topology_plan(hwloc_topology_t, const struct topology_ask *, struct topology_plan *);
// One line per thread and per problem, for --check and the log at start.
void topology_print(
	const struct topology_plan *, void (*line)(const char *text, void *context), void *context);
