#include "tools/forms/diff/diff_tree.h"
#include "state/base/schema_table.h"

const char *const diff_type_names[] = {"None", "Added", "Deleted", "Edited", NULL};

#define TYPE(record)                                                           \
	{                                                                      \
		"Type", FIELD_ENUM, OF(record, type), NULL, diff_type_names, 0 \
	}
#define STRINGS(name, record, member)                                                 \
	{                                                                             \
		name, FIELD_STRINGS, OF(record, member), NULL, NULL, FIELD_NULL_EMPTY \
	}
#define LIST(name, record, member, description)                                             \
	{                                                                                   \
		name, FIELD_ARRAY, OF(record, member), &description, NULL, FIELD_NULL_EMPTY \
	}

static const struct field field_diff_fields[] = {
	TYPE(field_diff),
	{"Name", FIELD_STRING, OF(field_diff, name)},
	{"Old", FIELD_STRING, OF(field_diff, before)},
	{"New", FIELD_STRING, OF(field_diff, after)},
	STRINGS("Annotations", field_diff, annotations),
};
static DESCRIBE(field_diff_description, field_diff);

static const struct field object_diff_fields[] = {
	TYPE(object_diff),
	{"Name", FIELD_STRING, OF(object_diff, name)},
	LIST("Fields", object_diff, fields, field_diff_description),
	LIST("Objects", object_diff, objects, object_diff_description),
};
DESCRIBE(object_diff_description, object_diff);

static const struct field task_diff_fields[] = {
	TYPE(task_diff),
	{"Name", FIELD_STRING, OF(task_diff, name)},
	LIST("Fields", task_diff, fields, field_diff_description),
	LIST("Objects", task_diff, objects, object_diff_description),
	STRINGS("Annotations", task_diff, annotations),
};
static DESCRIBE(task_diff_description, task_diff);

static const struct field group_diff_fields[] = {
	TYPE(group_diff),
	{"Name", FIELD_STRING, OF(group_diff, name)},
	LIST("Fields", group_diff, fields, field_diff_description),
	LIST("Objects", group_diff, objects, object_diff_description),
	LIST("Tasks", group_diff, tasks, task_diff_description),
	{"Updates", FIELD_COUNT_MAP, OF(group_diff, updates), NULL, NULL, FIELD_NULL_EMPTY},
};
static DESCRIBE(group_diff_description, group_diff);

static const struct field job_diff_fields[] = {
	TYPE(job_diff),
	{"ID", FIELD_STRING, OF(job_diff, id)},
	LIST("Fields", job_diff, fields, field_diff_description),
	LIST("Objects", job_diff, objects, object_diff_description),
	LIST("TaskGroups", job_diff, groups, group_diff_description),
};
DESCRIBE(job_diff_description, job_diff);
