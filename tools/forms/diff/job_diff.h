// What differs between two versions of a job, in the form of Nomad's plans: fields as text, blocks
// as objects, groups and tasks by name. Which fields there are comes from the descriptions of the
// job's parts (state/records/job.h); a new field of a job is a new line of its diff.
#pragma once
#include "state/records/job.h"
#include "tools/forms/diff/diff_tree.h"

// Both canonical; before is NULL for a new job. Release with record_release(&job_diff_description).
void job_diff_make(const struct job *before, const struct job *after, struct job_diff *);

// Says what the changes will do to what runs. updates: desired_updates (state/records/plan.h) by group.
void job_diff_annotate(struct job_diff *, const struct array *updates);
