#include "state/base/memory.h"
#include "state/records/plan.h"
#include "tools/forms/diff/job_diff.h"
#include <stdlib.h>

static void add_text(struct array *texts, const char *text)
{
	*(char **)array_append(texts, sizeof(char *)) = text_copy(text_of(text));
}

static void annotate_updates(struct group_diff *group, const struct array *updates)
{
	const struct desired_updates *u = NULL;
	for (uint32_t i = 0; i < updates->count && !u; i++) {
		const struct desired_updates *one = ARRAY_AT(updates, struct desired_updates, i);
		u = strcmp(one->group, group->name) == 0 ? one : NULL;
	}
	if (!u)
		return;
	const struct {
		const char *name;
		int64_t count;
	} counts[] = {{"ignore", u->ignore}, {"create", u->place}, {"migrate", u->migrate},
		{"destroy", u->stop}, {"canary", u->canary},
		{"in-place update", u->in_place_update},
		{"create/destroy update", u->destructive_update}};
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		if (!counts[i].count)
			continue;
		struct named_count *item = map_item(&group->updates, sizeof *item, counts[i].name);
		item->count = counts[i].count;
	}
}

static void annotate_count(struct group_diff *group)
{
	for (uint32_t i = 0; i < group->fields.count; i++) {
		struct field_diff *f = ARRAY_AT(&group->fields, struct field_diff, i);
		if (strcmp(f->name, "Count") != 0)
			continue;
		long long before = f->before ? strtoll(f->before, NULL, 10) : 0;
		long long after = f->after ? strtoll(f->after, NULL, 10) : 0;
		if (before != after)
			add_text(&f->annotations,
				before < after ? "forces create" : "forces destroy");
	}
}

// True when the names contain every item's name.
static bool all_are(
	const struct array *items, size_t bytes_each, size_t name_at, const char *const *names)
{
	for (uint32_t i = 0; i < items->count; i++) {
		const char *item = (const char *)items->items + i * bytes_each;
		const char *name = *(char *const *)(item + name_at);
		const char *const *at = names;
		while (*at && strcmp(*at, name) != 0)
			at++;
		if (!*at)
			return false;
	}
	return true;
}

// Whether only parts changed that can change while a task runs on.
static bool is_in_place(const struct task_diff *task)
{
	static const char *const fields[] = {"KillTimeout", NULL};
	static const char *const objects[] = {
		"LogConfig", "Service", "Constraint", "RestartPolicy", NULL};
	return all_are(&task->fields, sizeof(struct field_diff), offsetof(struct field_diff, name),
		       fields) &&
	       all_are(&task->objects, sizeof(struct object_diff),
		       offsetof(struct object_diff, name), objects);
}

static void annotate_task(struct task_diff *task, int group_type)
{
	bool group_changes = group_type == DIFF_ADDED || group_type == DIFF_DELETED;
	if (task->type == DIFF_NONE)
		return;
	if (group_changes && task->type == DIFF_ADDED)
		add_text(&task->annotations, "forces create");
	else if (group_changes && task->type == DIFF_DELETED)
		add_text(&task->annotations, "forces destroy");
	else
		add_text(&task->annotations, is_in_place(task) ? "forces in-place update"
							       : "forces create/destroy update");
}

void job_diff_annotate(struct job_diff *diff, const struct array *updates)
{
	for (uint32_t i = 0; i < diff->groups.count; i++) {
		struct group_diff *group = ARRAY_AT(&diff->groups, struct group_diff, i);
		annotate_updates(group, updates);
		annotate_count(group);
		for (uint32_t k = 0; k < group->tasks.count; k++)
			annotate_task(ARRAY_AT(&group->tasks, struct task_diff, k), group->type);
	}
}
