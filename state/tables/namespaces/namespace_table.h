// Namespaces by name, and what their living allocations use. A cell is there as long as a job is in it, also without a
// record. For state/ only; readers use state_namespace().
#pragma once
#include "state/records/namespaces/job_namespace.h"
#include "state/records/namespaces/quota.h"
#include "state/tables/kind.h"

extern const struct kind namespace_kind;

struct quota_cell;

struct namespace_cell {
	CELL_OF(struct job_namespace, char *name);
	// Applier thread only.
	uint32_t jobs;            // cells of jobs
	struct quota_cell *quota; // NULL: nothing limits it
	struct quota_amount used; // by its living allocations
};

// Applier thread only. NULL: as state_namespace().
const struct job_namespace *namespace_working(const struct state *, struct text name);
bool namespace_is_there(const struct state *, struct text name);
// In older data a namespace is only the text in its jobs: with the first of them it is one. Here that comes from the
// log, or from a snapshot, where the index is that of the job's cell.
void namespace_make_for(struct state *, const struct job *);
void namespace_load_for(struct state *, const struct job *, uint64_t index);

// A job's cell comes, and goes.
struct namespace_cell *namespace_join(struct state *, struct text name);
void namespace_leave(struct state *, struct namespace_cell *);
// A living allocation of one of its jobs comes (1), or goes (-1), with what it has by then.
void namespace_use(struct namespace_cell *, const struct allocation *, int64_t by);
// Whether its quota has no room for a change; no quota never does.
bool namespace_lacks(const struct namespace_cell *, const struct quota_amount *change);
