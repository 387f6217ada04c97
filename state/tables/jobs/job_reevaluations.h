// A mark says that something happened to nodes or allocations of a job, so that a scheduler has to look at the job.
// Many events become one evaluation of the job, once it has been quiet for a moment: a rack of a thousand nodes that
// goes down with fifty jobs on it makes fifty evaluations. Marks are part of the state, so none is lost in a restart.
// Applier thread only.
#pragma once
#include "state/base/time_units.h"
#include "state/records/evaluation.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/mark_patience.h"

// The evaluation is made when no event came for MARK_QUIET_NS, or the oldest is MARK_OLDEST_NS old. Nodes that go
// silent together are missed one by one, up to a heartbeat interval apart: a caller that knows the interval sets struct
// mark_patience above it. These are the defaults.
#define MARK_QUIET_NS (100 * NS_PER_MS)
#define MARK_OLDEST_NS NS_PER_S

// Call it while an entry is applied. job: a version of the cell's job; the job may be gone by now. node: of the event;
// NULL: none. Direct jobs have no scheduler and get no marks.
void job_mark_add(struct state *, struct job_cell *, const struct job *job, enum eval_trigger,
	const struct node *node);
// Call it when a node changed: marks the jobs that have allocations on it and, when it takes new work, the system jobs
// that want to be on it.
void node_mark_jobs(struct state *, const struct node_cell *);
// Whether a job's datacenters and pool hold the node.
bool job_targets_node(const struct job *, const struct node *);
// Clears the mark, because its evaluation was made.
void job_mark_clear(struct state *, struct job_cell *);
// Whether the mark's evaluation is due, and when (unix ns). A clock that went back does not delay it.
bool job_mark_is_due(
	const struct job_mark *, int64_t now_ns, const struct mark_patience *, int64_t *due_ns);
