#include "placement/scheduler/common/version_changes.h"
#include "placement/scheduler/common/tasks_updated.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

struct version_memo {
	const struct job *before, *now;
	enum { MEMO_UNKNOWN, MEMO_SAME, MEMO_UPDATED } * groups;
};

static struct version_memo *memo_of(
	struct version_changes *c, const struct job *before, const struct job *now)
{
	for (uint32_t i = c->count; i > 0; i--)
		if (c->memos[i - 1].before == before && c->memos[i - 1].now == now)
			return &c->memos[i - 1];
	c->memos = memory_resize(c->memos, (c->count + 1) * sizeof *c->memos);
	struct version_memo *memo = &c->memos[c->count];
	memo->before = before;
	memo->now = now;
	memo->groups = memory_take_array(now->task_groups.count, sizeof *memo->groups);
	c->count++;
	CHECK(c->count > 0 && memo->groups);
	return memo;
}

bool version_changes_group(
	struct version_changes *c, const struct job *before, const struct job *now, uint32_t group)
{
	CHECK(group < now->task_groups.count);
	struct version_memo *memo = memo_of(c, before, now);
	if (memo->groups[group] == MEMO_UNKNOWN) {
		const char *name = ARRAY_AT(&now->task_groups, struct task_group, group)->name;
		memo->groups[group] = tasks_updated(before, now, name) ? MEMO_UPDATED : MEMO_SAME;
	}
	CHECK(memo->groups[group] != MEMO_UNKNOWN);
	return memo->groups[group] == MEMO_UPDATED;
}

void version_changes_release(struct version_changes *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		free(c->memos[i].groups);
	free(c->memos);
	*c = (struct version_changes){0};
}
