// Instances that found no room (rows A32–A34, A37). A node that does not qualify is a failure only when no node does.
// A full node is always one, and wakes the job when it has room again.
#include "placement/scheduler/system/system_attempt.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

static struct alloc_metrics *failed_metrics(struct system_attempt *a, uint32_t group)
{
	CHECK(group < a->job->task_groups.count);
	struct failed_group *failed =
		map_item(&a->run->failed_groups, sizeof *failed, a->groups[group].group->name);
	return &failed->metrics;
}

// Takes a filtered instance off the queued count. When all instances of a group are filtered, the group's metrics say
// why.
static void note_filtered(
	struct system_attempt *a, const struct diff_item *item, const struct stack_option *option)
{
	CHECK(option->outcome == STACK_FILTERED);
	struct group_progress *group = &a->groups[item->group];
	struct desired_updates *desired = system_annotation(a, group->group->name);
	group->queued--;
	CHECK(group->queued >= 0);
	if (desired)
		desired->place--;
	stack_count(option, &group->filtered);
	if (group->queued > 0)
		return;
	struct alloc_metrics *failed = failed_metrics(a, item->group);
	metrics_release(failed);
	metrics_copy(failed, &group->filtered);
	system_add_available(a, failed);
}

static void note_exhausted(
	struct system_attempt *a, const struct diff_item *item, const struct stack_option *option)
{
	CHECK(option->outcome == STACK_EXHAUSTED);
	uint32_t known = a->run->failed_groups.count;
	struct alloc_metrics *failed = failed_metrics(a, item->group);
	if (a->run->failed_groups.count == known) {
		failed->coalesced_failures++;
	} else {
		stack_count(option, failed);
		system_add_available(a, failed);
	}
	stack_count_exhausted(a->groups[item->group].group, 1, failed);
}

static bool is_blocked_first_time(struct system_attempt *a, uint32_t slot)
{
	if (!a->blocked_slots)
		a->blocked_slots = memory_take_array(
			a->view.slots(a->view.context) / 64 + 1, sizeof *a->blocked_slots);
	uint64_t bit = 1ull << (slot % 64), *word = &a->blocked_slots[slot / 64];
	bool first = !(*word & bit);
	*word |= bit;
	return first;
}

// Gives every full node a blocked evaluation, so that the first node with room wakes the job. The evaluation knows the
// classes looked at and the groups that failed so far.
static void block_node(struct system_attempt *a, const struct node *node)
{
	CHECK(node);
	if (!is_blocked_first_time(a, node->slot))
		return;
	struct evaluation *eval =
		scheduler_run_follow_up(a->run, TRIGGER_QUEUED_ALLOCS, EVAL_BLOCKED);
	eval->status_description = text_copy(TEXT("created to place remaining allocations"));
	eval->node_id = node->id;
	stack_eligibility(a->stack, eval);
	scheduler_run_tell_failed(a->run, eval);
	if (a->blocked_count == a->blocked_room) {
		a->blocked_room = a->blocked_room ? a->blocked_room * 2 : 8;
		a->blocked = memory_resize(a->blocked, a->blocked_room * sizeof *a->blocked);
	}
	a->blocked[a->blocked_count++] = eval;
}

void system_fail(
	struct system_attempt *a, const struct diff_item *item, const struct stack_option *option)
{
	CHECK(option->outcome != STACK_FITS);
	if (option->outcome == STACK_FILTERED) {
		note_filtered(a, item, option);
	} else {
		note_exhausted(a, item, option);
		block_node(a, option->node); // as it was looked at: the node may be gone by now
	}
}

bool system_is_over_quota(struct system_attempt *a, const struct diff_item *item)
{
	const char *quota = stack_quota_lacks(a->stack, item->group, NULL);
	if (quota)
		scheduler_run_note_quota(a->run, quota);
	return quota != NULL;
}

// One evaluation waits for the quota, however many nodes are left: it names no node.
void system_fail_by_quota(struct system_attempt *a, const struct diff_item *item)
{
	uint32_t known = a->run->failed_groups.count;
	struct alloc_metrics *failed = failed_metrics(a, item->group);
	CHECK(a->run->quota);
	if (a->run->failed_groups.count == known)
		failed->coalesced_failures++;
	else
		(void)stack_quota_lacks(a->stack, item->group, &failed->quota_exhausted);
}

void system_blocked_release(struct system_attempt *a)
{
	for (uint32_t i = 0; i < a->blocked_count; i++)
		evaluation_free(a->blocked[i]);
	free(a->blocked);
	free(a->blocked_slots);
	a->blocked = NULL;
	a->blocked_slots = NULL;
	a->blocked_count = a->blocked_room = 0;
}
