// Places missing instances, each on its own node (rows A30–A36).
#include "placement/scheduler/common/eval_log.h"
#include "placement/scheduler/system/system_attempt.h"
#include "state/base/check.h"
#include <stdlib.h>

// Takes the details from the option and adds the previous allocation and the victims. NULL: there is nothing to keep.
static struct alloc_details *take_details(struct stack_option *option, const struct diff_item *item)
{
	struct alloc_details *details = option->details;
	option->details = NULL;
	if (!item->existing && !option->preempted_count)
		return details;
	if (!details)
		details = alloc_details_create();
	if (item->existing)
		details->previous_allocation = item->existing->id;
	for (uint32_t i = 0; i < option->preempted_count; i++)
		*(struct uuid *)array_append(&details->preempted, sizeof(struct uuid)) =
			option->preempted[i]->id;
	CHECK(details);
	return details;
}

static void preempt_victims(struct system_attempt *a, uint32_t group,
	const struct stack_option *option, const struct uuid *by)
{
	CHECK(option->preempted_count == 0 || option->preempted);
	struct desired_updates *desired = system_annotation(a, a->groups[group].group->name);
	for (uint32_t i = 0; i < option->preempted_count; i++)
		stack_plan_preempt(a->stack, option->preempted[i], by);
	if (desired)
		desired->preemptions += option->preempted_count;
}

static void place_instance(
	struct system_attempt *a, const struct diff_item *item, struct stack_option *option)
{
	CHECK(option->node && option->outcome == STACK_FITS);
	CHECK(item->group < a->job->task_groups.count);
	struct plan_placement placement = {.id = prng_uuid(a->run->settings->prng),
		.node_id = option->node->id,
		.slot = item->slot,
		.generation = option->node->generation,
		.group = (uint16_t)item->group,
		.name_index = item->name_index,
		.job_version = a->job->record.modify_index,
		.resources = option->resources,
		.devices = option->devices,
		.score = option->score,
		.details = take_details(option, item),
		.metrics = system_keep_metrics(a, item->group, option)};
	preempt_victims(a, item->group, option, &placement.id);
	stack_plan_place(a->stack, &placement);
}

// The allocation's node may have stopped taking instances of the job since it was placed there (row A31).
static bool takes_instances(const struct system_attempt *a, const struct diff_item *item)
{
	return item->slot != NODE_SLOT_NONE &&
	       (!item->existing || target_nodes_contain(&a->diff.nodes, &item->existing->node_id));
}

static void log_node_not_found(const struct system_attempt *a, const struct diff_item *item)
{
	char id[UUID_TEXT_BYTES] = "";
	struct uuid node = {0};

	if (item->existing)
		node = item->existing->node_id;
	else if (item->node)
		node = item->node->id;
	log_evaluation(a->run->eval, "node-not-found", "node=%s task_group=%s index=%u",
		uuid_format(&node, id), a->groups[item->group].group->name, item->name_index);
}

// Nodes come in the order of their ids, which is no order in memory, so the next few are prefetched.
#define NODES_AHEAD 8u
#define NODE_LINES_AHEAD 4u

static void fetch_ahead(const struct system_attempt *a, uint32_t i)
{
	if (i + NODES_AHEAD >= a->place.count)
		return;
	const char *node = (const char *)a->place.items[i + NODES_AHEAD].node;
	for (uint32_t line = 0; line < NODE_LINES_AHEAD; line++)
		__builtin_prefetch(node + line * 64);
}

void system_place(struct system_attempt *a)
{
	CHECK(a->place.count == 0 || a->groups);
	for (uint32_t i = 0; i < a->place.count; i++) {
		CHECK(a->place.items[i].group < a->job->task_groups.count);
		a->groups[a->place.items[i].group].queued++;
	}
	for (uint32_t i = 0; i < a->place.count; i++) {
		const struct diff_item *item = &a->place.items[i];
		struct stack_option option;
		fetch_ahead(a, i);
		if (!takes_instances(a, item)) {
			log_node_not_found(a, item);
			continue;
		}
		// What a rolling update stopped in this pass counts against its limit, so the pass ends whole.
		if (!scheduler_run_goes_on(a->run, a->plan, !a->limit_reached))
			break;
		// Most instances of a group share the metrics of its first one.
		if (a->groups[item->group].metrics == PLAN_NO_METRICS)
			a->looking_since_ns = scheduler_clock_ns(a->run->settings);
		if (system_is_over_quota(a, item))
			system_fail_by_quota(a, item);
		else if (stack_take_node(
				 a->stack, item->group, item->name_index, item->slot, &option))
			place_instance(a, item, &option);
		else
			system_fail(a, item, &option);
	}
}
