#include "tools/forms/diff/job_diff.h"
#include "state/base/memory.h"
#include "tools/forms/diff/diff_objects.h"
#include <stdlib.h>

// A changed block also shows its unchanged fields.
#define CONTEXT true

static void compare_jobs(const struct record_type *type, const void *before, const void *after,
	const char *without, struct array *fields, struct array *objects)
{
	struct flat old_fields = {0}, new_fields = {0};
	flat_record(&old_fields, type, before, without);
	flat_record(&new_fields, type, after, without);
	fields_compare(&old_fields, &new_fields, false, fields);
	objects_compare(type, before, after, CONTEXT, objects);
}

static int type_of(const struct record_type *type, const void *before, const void *after)
{
	if (!before || !after)
		return before ? DIFF_DELETED : DIFF_ADDED;
	return record_equal(type, before, after) ? DIFF_NONE : DIFF_EDITED;
}

static bool has_own_restart(const struct task_group *group, const struct task *task)
{
	if (!task || !task->restart)
		return false;
	return !group->restart ||
	       !record_equal(&restart_description, task->restart, group->restart);
}

struct group_pair {
	const struct task_group *before, *after; // NULL: added, deleted
};

static void add_task(struct group_diff *diff, const struct group_pair *groups,
	const struct task *before, const struct task *after)
{
	struct task_diff *task = array_append(&diff->tasks, sizeof *task);
	task->type = type_of(&task_description, before, after);
	task->name = text_copy(text_of((before ? before : after)->name));
	compare_jobs(&task_description, before, after, "Name", &task->fields, &task->objects);
	// A task inherits its group's policy; only its own policy is shown.
	if (has_own_restart(groups->before, before) || has_own_restart(groups->after, after))
		object_compare("RestartPolicy", &restart_description,
			before ? before->restart : NULL, after ? after->restart : NULL, CONTEXT,
			&task->objects);
}

static const struct task *task_named(const struct task_group *group, const char *name)
{
	for (uint32_t i = 0; group && i < group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&group->tasks, struct task, i);
		if (strcmp(task->name, name) == 0)
			return task;
	}
	return NULL;
}

static int by_task_name(const void *a, const void *b)
{
	const struct task_diff *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static void add_tasks(struct group_diff *diff, const struct group_pair *groups)
{
	for (uint32_t i = 0; groups->before && i < groups->before->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&groups->before->tasks, struct task, i);
		add_task(diff, groups, task, task_named(groups->after, task->name));
	}
	for (uint32_t i = 0; groups->after && i < groups->after->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&groups->after->tasks, struct task, i);
		if (!task_named(groups->before, task->name))
			add_task(diff, groups, NULL, task);
	}
	if (diff->tasks.count)
		qsort(diff->tasks.items, diff->tasks.count, sizeof(struct task_diff), by_task_name);
}

static void add_group(
	struct job_diff *diff, const struct task_group *before, const struct task_group *after)
{
	struct group_diff *group = array_append(&diff->groups, sizeof *group);
	group->type = type_of(&task_group_description, before, after);
	group->name = text_copy(text_of((before ? before : after)->name));
	compare_jobs(
		&task_group_description, before, after, "Name", &group->fields, &group->objects);
	add_tasks(group, &(struct group_pair){before, after});
}

static const struct task_group *group_named(const struct job *job, const char *name)
{
	int at = job ? job_group_index(job, text_of(name)) : -1;
	return at < 0 ? NULL : ARRAY_AT(&job->task_groups, struct task_group, at);
}

static int by_group_name(const void *a, const void *b)
{
	const struct group_diff *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static void add_groups(struct job_diff *diff, const struct job *before, const struct job *after)
{
	for (uint32_t i = 0; before && i < before->task_groups.count; i++) {
		const struct task_group *group =
			ARRAY_AT(&before->task_groups, struct task_group, i);
		add_group(diff, group, group_named(after, group->name));
	}
	for (uint32_t i = 0; i < after->task_groups.count; i++) {
		const struct task_group *group =
			ARRAY_AT(&after->task_groups, struct task_group, i);
		if (!group_named(before, group->name))
			add_group(diff, NULL, group);
	}
	if (diff->groups.count)
		qsort(diff->groups.items, diff->groups.count, sizeof(struct group_diff),
			by_group_name);
}

static bool some_group_differs(const struct job_diff *diff)
{
	for (uint32_t i = 0; i < diff->groups.count; i++)
		if (ARRAY_AT(&diff->groups, struct group_diff, i)->type != DIFF_NONE)
			return true;
	return false;
}

void job_diff_make(const struct job *before, const struct job *after, struct job_diff *diff)
{
	*diff = (struct job_diff){.id = text_copy(text_of(after->id))};
	compare_jobs(&job_type_description, before, after, "ID", &diff->fields, &diff->objects);
	add_groups(diff, before, after);
	if (!before)
		diff->type = DIFF_ADDED;
	else if (diff->fields.count || diff->objects.count || some_group_differs(diff))
		diff->type = DIFF_EDITED;
}
