// Jobs by name, their versions by number, and every way in which a job keep changes. For state/ only; applier thread.
#pragma once
#include "state/tables/jobs/job_cell.h"

struct job_cell *job_cell_find(const struct state *, struct text namespace_name, struct text id);
struct job_cell *job_cell_of(const struct state *, const struct job *); // of its name
struct job_cell *job_cell_find_or_add(
	struct state *, struct text namespace_name, struct text id, uint64_t index);
// Returns a job keep that may be changed until it is published.
struct job_keep *job_keep_revise(struct state *, struct job_cell *, uint64_t index);
void job_keep_free(struct job_keep *); // which nobody sees and whose versions were released
// Makes a kept version stable, or not stable any more.
void job_keep_set_stable(struct state *, struct job_cell *, uint64_t version, bool stable);
// The newest stable version, NULL: none is.
struct job *job_keep_newest_stable(const struct job_keep *);
// A kept version by its number, or NULL.
struct job *job_keep_version(const struct job_keep *, uint64_t version);
struct job *job_version_find(const struct state *, uint64_t modify_index);
// The same, but only for a version that its job still keeps. How long others can be found depends on readers.
struct job *job_version_kept(const struct state *, uint64_t modify_index, struct job_cell **);
void job_version_release(struct state *, struct job *);
// A keep of these versions with counters at 0, not yet in any cell.
struct job_keep *job_keep_build(struct job *const *versions, uint32_t version_count);
// The counter of a group's name, or NULL.
struct group_counter *job_keep_counter(struct job_keep *, struct text group);
struct text job_keep_counter_name(const struct job_keep *, uint32_t counter);
// Takes the job over as newest version. Drops a version beyond the limit, and the counters of groups that no kept
// version has.
void job_keep_push(struct state *, struct job_cell *, struct job *, uint64_t index);
// Replaces the job's record by a tombstone: the job is not there.
struct job_keep *job_keep_push_tombstone(
	struct state *, struct job_cell *, uint64_t create_index, uint64_t index);
// Finds the job's cell, or adds that of a deleted job, for allocations and evaluations of a job that is not there.
struct job_cell *job_cell_find_or_add_deleted(
	struct state *, struct text namespace_name, struct text id, uint64_t index);
// Buries the cell of a deleted job when nothing refers to it any more.
void job_cell_bury_if_idle(struct state *, struct job_cell *);

// Of struct kind.
uint64_t job_keep_sum(const struct record *, uint64_t sum);
