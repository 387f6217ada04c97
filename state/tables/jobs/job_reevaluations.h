// A mark says that something happened to nodes or allocations of a job, so that a scheduler has to look at the job.
// Marks are part of the state, so none is lost in a restart. Applier thread only.
//
// What allocations report is urgent: it is gathered for a moment and becomes an evaluation (rows B57, B58). What nodes
// do comes in crowds, so a job waits until it is quiet: a rack of a thousand nodes that goes down with fifty jobs on it
// makes few evaluations of each. Nodes that die together are missed one by one, over an interval of heartbeats. A job
// that was evaluated because of nodes therefore rests for such an interval, but only while nodes go on to come and go.
#pragma once
#include "state/base/time_units.h"
#include "state/records/evaluation.h"
#include "state/tables/jobs/job_cell.h"

// A report's evaluation is to be durable within 50 ms; the rest is for the log.
#define MARK_REPORT_NS (40 * NS_PER_MS)
// The evaluation of what nodes did is made when no event came for MARK_QUIET_NS, or the oldest is MARK_OLDEST_NS old.
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
// Whether the evaluation of the cell's mark is due, and when (unix ns). beat_ns: between two heartbeats of a node; 0:
// jobs never rest. A clock that went back does not delay it.
bool job_mark_is_due(const struct state *, const struct job_cell *, int64_t now_ns, int64_t beat_ns,
	int64_t *due_ns);
