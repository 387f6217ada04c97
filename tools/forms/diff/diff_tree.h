// A diff as a tree of records: parts that were added, deleted or edited, and their names in JSON.
#pragma once
#include "state/base/schema.h"

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
	struct array updates; // named_count: changes of its instances
};
struct job_diff {
	int type;
	char *id;
	struct array fields, objects;
	struct array groups; // group_diff
};

extern const struct record_type job_diff_description, object_diff_description;
