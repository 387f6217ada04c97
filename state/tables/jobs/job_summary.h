// How many allocations of each group of a job are in which state at their clients, and how many wait. Kept with the
// job, and changed one by one as allocations change.
// For state/ only; applier thread.
#pragma once
#include "state/tables/state.h"

struct alloc_cell;
struct array;
struct job_cell;
struct job_keep;

// An allocation changed its state, came or went. Allocations that ended well or badly stay counted
// when they are collected.
void job_summary_follow(struct state *, struct alloc_cell *);
// Its state is in what the job has loaded already.
void job_summary_counted(struct alloc_cell *);
// Counts what is there: of a job with allocations from before it was registered.
void job_summary_recount(struct job_keep *, struct job_cell *);
// What an evaluation says is waiting.
void job_summary_queued(struct state *, struct job_cell *, const struct array *queued);
