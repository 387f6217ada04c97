// A periodic or parameterized job counts the jobs that it made, its children, by their status. A child that is
// forgotten before it is dead counts as dead; dead children stay counted for ever. For state/ only; applier thread.
#pragma once
#include "state/tables/state.h"

struct job_cell;

// Call it when the job has a new version and its status is up to date. Finds its parent and, if the job is new and
// makes jobs itself, its children.
void job_children_join(struct state *, struct job_cell *);
// Call it when the job's status changed.
void job_children_follow(struct state *, struct job_cell *);
// Call both when the job is about to be forgotten: it leaves its parent and forsakes its children.
void job_children_leave(struct state *, struct job_cell *);
void job_children_forsake(struct state *, struct job_cell *);
// Links a job of a snapshot to its parent, once all jobs and their statuses are there. The snapshot has what the parent
// counts.
void job_children_load(struct state *, struct job_cell *);
