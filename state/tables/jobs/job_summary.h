// The summary of a job: for each group, its allocations by client status and how many wait. It is kept with the job and
// changes as allocations change. For state/ only; applier thread.
#pragma once
#include "state/tables/state.h"

struct alloc_cell;
struct array;
struct job_cell;
struct job_keep;

// Call it when an allocation came, changed its status or went. Allocations that ended well or badly stay counted when
// they are collected.
void job_summary_follow(struct state *, struct alloc_cell *);
// Notes that the job's summary counts the allocation already.
void job_summary_counted(struct alloc_cell *);
// Counts all allocations anew, for a job with allocations from before it was registered.
void job_summary_recount(struct job_keep *, struct job_cell *);
// Notes what an evaluation left waiting.
void job_summary_queued(struct state *, struct job_cell *, const struct array *queued);
