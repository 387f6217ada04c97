// Jobs in the tables: their kinds, their lists and their status. For state/ only; applier thread.
#pragma once
#include "state/tables/jobs/job_cell.h"
#include "state/tables/kind.h"

extern const struct kind job_kind, job_version_kind;

// Leaves a tombstone; remaining allocations keep the cell in its place.
void job_cell_delete(struct state *, struct job_cell *, uint64_t index);
void job_cell_list_stopped(struct state *, struct job_cell *, bool stopped);
void job_cell_list_marked(struct state *, struct job_cell *); // as its mark says
void job_cell_list_system(struct state *, struct job_cell *, bool wanted);
int job_status_of(const struct job_cell *, const struct job_keep *); // enum job_status
void job_cell_update_status(struct state *, struct job_cell *, uint64_t index);
