// The difference between two versions of a job, in the form of Nomad's plans: fields as text, blocks as objects, groups
// and tasks by name. The descriptions of the job's parts (state/records/job.h) give the fields; a new field of a job is
// a new line of its diff.
#pragma once
#include "state/records/job.h"
#include "tools/forms/diff/diff_tree.h"

// Both jobs are canonical; before is NULL for a new job. Release with record_release(&job_diff_description).
void job_diff_make(const struct job *before, const struct job *after, struct job_diff *);

// Annotates what the changes do to running allocations. updates: desired_updates (state/records/plan.h) by group.
void job_diff_annotate(struct job_diff *, const struct array *updates);
