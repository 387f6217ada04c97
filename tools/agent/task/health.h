// Judges the health of a service job's allocation, for its deployment or a drain: healthy once all tasks have run for a
// while without a restart and, if the rule says so, the checks of its services pass; unhealthy when a task fails or the
// deadline passes. There is one verdict; later changes show in the tasks' status.
#pragma once
#include "dataplane/wire/wire_alloc.h"
#include "tools/agent/task/task.h"

struct health {
	uint8_t verdict;        // enum wire_healthy
	int64_t deadline_ns;    // unix; 0: nobody waits for a verdict
	bool has_checks;        // of services, that have to pass
	int64_t checks_well_ns; // unix; since when they all do; 0: one does not
};

// Starts a new judgement: by the update strategy in a deployment, else by the migrate strategy.
void health_watch(struct health *, const struct alloc_spec *, int64_t now_ns);
// The allocation is to be stopped: nobody waits for a verdict.
void health_leave(struct health *);
// True when this call gave the verdict; in a deployment, an unhealthy one adds notes to the tasks that caused it.
bool health_judge(struct health *, const struct alloc_spec *, struct task *, uint32_t task_count,
	int64_t now_ns);
// When to judge next if nothing happens before; 0: never.
int64_t health_due_ns(
	const struct health *, const struct alloc_spec *, const struct task *, uint32_t task_count);
