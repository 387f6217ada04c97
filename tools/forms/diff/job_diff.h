// What differs between two versions of a job, in the form of Nomad's plans: fields as text, blocks
// as objects, groups and tasks by name. Which fields there are comes from the descriptions of the
// job's parts (state/records/job.h); a new field of a job is a new line of its diff.
#pragma once
#include "state/records/job.h"

enum diff_type { DIFF_NONE, DIFF_ADDED, DIFF_DELETED, DIFF_EDITED };
extern const char *const diff_type_names[]; // "None" "Added" "Deleted" "Edited" NULL

struct field_diff {
	int type; // enum diff_type
	char *name, *before, *after;
	struct array annotations; // char *
};
struct object_diff {
	int type;
	char *name;
	struct array fields;  // field_diff
	struct array objects; // object_diff
};
struct task_diff {
	int type;
	char *name;
	struct array fields, objects;
	struct array annotations; // char *
};
struct group_diff {
	int type;
	char *name;
	struct array fields, objects;
	struct array tasks;   // task_diff
	struct array updates; // named_count: what becomes of its instances
};
struct job_diff {
	int type;
	char *id;
	struct array fields, objects;
	struct array groups; // group_diff
};

extern const struct record_type job_diff_description, object_diff_description;

// Both canonical; before is NULL for a new job. Release with record_release(&job_diff_description).
void job_diff_make(const struct job *before, const struct job *after, struct job_diff *);

// Says what the changes will do to what runs. updates: desired_updates (state/records/plan.h) by group.
void job_diff_annotate(struct job_diff *, const struct array *updates);
