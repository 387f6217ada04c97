// Marks: that something happened to nodes or allocations of a job after which a scheduler has to look
// at the job. Many of them become one evaluation (a rack of a thousand nodes that goes down with fifty
// jobs on it makes fifty), once it has been quiet for a moment. They are part of the state, so none is
// lost in a restart. Applier thread only.
#pragma once
#include "state/base/time_units.h"
#include "state/records/evaluation.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/mark_patience.h"

// No new one for this long, or the oldest this old: then the evaluation is made. Nodes that go silent
// together are missed one by one, up to an interval of their heartbeats apart: who knows the interval
// sets struct mark_patience above it. These are taken where nothing is set.
#define MARK_QUIET_NS (100 * NS_PER_MS)
#define MARK_OLDEST_NS NS_PER_S

// While an entry is applied. job: a version of the cell's job, which may be gone by now. node: of the
// event, NULL: none. Direct jobs have no scheduler and get no marks.
void job_mark_add(struct state *, struct job_cell *, const struct job *job, enum eval_trigger,
	const struct node *node);
// Something changed about a node: marks the jobs that have allocations on it and, when it takes new
// work, the system jobs that want to be on it.
void node_mark_jobs(struct state *, const struct node_cell *);
// Whether a job's datacenters and pool hold the node.
bool job_targets_node(const struct job *, const struct node *);
// The mark's evaluation is there.
void job_mark_clear(struct state *, struct job_cell *);
// When its evaluation is to be made (unix ns); a clock that went back does not delay it.
bool job_mark_is_due(
	const struct job_mark *, int64_t now_ns, const struct mark_patience *, int64_t *due_ns);
