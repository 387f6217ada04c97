// Updates allocations of an older version of the job in place, or replaces them (rows A27, A29).
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/system/system_attempt.h"
#include "state/base/check.h"

// The allocation keeps its networks, ports and devices. A reconnecting allocation gets that noted.
static void plan_in_place(
	struct system_attempt *a, const struct diff_item *item, const struct stack_option *option)
{
	CHECK(item->existing);
	const struct allocation *existing = item->existing;
	struct plan_update update = {.id = existing->id,
		.node_id = existing->node_id,
		.slot = item->slot,
		.job_version = a->job->record.modify_index,
		.resources = option->resources,
		.devices = *allocation_devices(existing),
		.client_status = PLAN_KEEP,
		.metrics = system_keep_metrics(a, item->group, option)};
	if (allocation_needs_reconnect(existing))
		update.details = details_with_client_status(
			existing, existing->client_status, a->run->settings->now_ns);
	stack_plan_update(a->stack, &update);
}

// Looks for room as if the allocation were gone. Victims found here are not preempted: an update in place asks for no
// more than the allocation has, so a node that holds too much does not get fuller.
static bool fits_in_place(struct system_attempt *a, const struct diff_item *item)
{
	CHECK(!allocation_is_terminal(item->existing));
	struct stack_option option;
	stack_plan_stop(a->stack, item->existing, STOP_UPDATING, false, NULL);
	bool fits = stack_select_node(a->stack, item->group, item->name_index, item->slot, &option);
	stack_plan_unstop(a->stack, &item->existing->id);
	if (!fits)
		return false;
	alloc_details_release(option.details);
	plan_in_place(a, item, &option);
	return true;
}

static bool try_in_place(struct system_attempt *a, const struct diff_item *item)
{
	CHECK(item->existing && item->group != DIFF_NO_GROUP);
	if (version_changes_group(&a->changes, item->existing->job, a->job, item->group))
		return false;
	if (allocation_is_terminal(item->existing))
		return true; // nothing is left to change
	if (item->slot == NODE_SLOT_NONE)
		return false;
	const struct node *node = a->view.node_at(a->view.context, item->slot);
	// The node may have been forgotten since the diff was made.
	return node && stack_targets_node(a->stack, node) && fits_in_place(a, item);
}

// Moves items that were changed in place behind the *destructive others. The last item takes the place of one that
// moves, as in Nomad: under a limit the order decides which allocation is replaced first.
static void split_updates(
	struct system_attempt *a, struct diff_list *updates, uint32_t *destructive)
{
	uint32_t n = updates->count;
	for (uint32_t i = 0; i < n;) {
		if (try_in_place(a, &updates->items[i])) {
			struct diff_item item = updates->items[i];
			updates->items[i] = updates->items[--n];
			updates->items[n] = item;
		} else {
			i++;
		}
	}
	*destructive = n;
	CHECK(*destructive <= updates->count);
}

static void annotate_updates(
	struct system_attempt *a, const struct diff_list *updates, uint32_t destructive)
{
	CHECK(destructive <= updates->count);
	for (uint32_t i = 0; i < updates->count; i++) {
		const char *group = a->groups[updates->items[i].group].group->name;
		struct desired_updates *desired = system_annotation(a, group);
		if (desired)
			++*(i < destructive ? &desired->destructive_update
					    : &desired->in_place_update);
	}
}

static uint32_t limit_of(const struct job *job)
{
	const struct update_strategy *update = job->update;
	bool rolling = update && update->stagger_ns > 0 && update->max_parallel > 0;
	return rolling && update->max_parallel < UINT32_MAX ? (uint32_t)update->max_parallel
							    : UINT32_MAX;
}

void system_update(struct system_attempt *a)
{
	struct diff_list *updates = &a->diff.lists[DIFF_UPDATE];
	const struct diff_list *reconnecting = &a->diff.lists[DIFF_RECONNECTING];
	for (uint32_t i = 0; i < reconnecting->count; i++)
		*diff_list_add(updates) = reconnecting->items[i];
	if (!updates->count)
		return;
	CHECK(a->job);
	uint32_t destructive, limit = limit_of(a->job);
	split_updates(a, updates, &destructive);
	annotate_updates(a, updates, destructive);
	a->limit_reached = destructive > limit;
	for (uint32_t i = 0; i < destructive && i < limit; i++) {
		const struct diff_item *item = &updates->items[i];
		if (item->existing->desired == ALLOC_RUN) // else it was told already
			stack_plan_stop(a->stack, item->existing, STOP_UPDATING, false, NULL);
		*diff_list_add(&a->place) = *item;
	}
}
