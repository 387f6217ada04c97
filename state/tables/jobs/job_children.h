// Which job made which: what a periodic or parameterized job counts of the jobs that it made, by their status. A child
// that is forgotten before it was dead counts as dead; nothing that is dead is ever taken back. For state/ only;
// applier thread.
#pragma once
#include "state/tables/state.h"

struct job_cell;

// It has another version, its status is up to date: finds its parent, and, should it make jobs itself and be new, its
// children.
void job_children_join(struct state *, struct job_cell *);
// Its status changed.
void job_children_follow(struct state *, struct job_cell *);
// It is about to be forgotten: by its parent, and by its children.
void job_children_leave(struct state *, struct job_cell *);
void job_children_forsake(struct state *, struct job_cell *);
// Of a snapshot, once all jobs and their statuses are there: what its parent counts is known.
void job_children_load(struct state *, struct job_cell *);
