// Whether an allocation of a service job is well, as its deployment or a drain wants to know it: healthy when all its
// tasks have run for a while without a start between, unhealthy when one failed or when that did not come in time.
// A verdict is given once; the status of the tasks tells what comes later.
#pragma once
#include "dataplane/wire/wire_alloc.h"
#include "tools/agent/task/task.h"

struct health {
	uint8_t verdict;     // enum wire_healthy
	int64_t deadline_ns; // unix; 0: nobody waits for a verdict
};

// Begins anew: by the update strategy of a deployment, else by the migrate strategy.
void health_watch(struct health *, const struct alloc_spec *, int64_t now_ns);
// Nobody waits any more: the allocation is to be stopped.
void health_leave(struct health *);
// True when the verdict came now; tasks that are in the way of a deployment get a note.
bool health_judge(struct health *, const struct alloc_spec *, struct task *, uint32_t task_count,
	int64_t now_ns);
// When to judge next if nothing happens before; 0: never.
int64_t health_due_ns(
	const struct health *, const struct alloc_spec *, const struct task *, uint32_t task_count);
