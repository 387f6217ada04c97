// Finds a node for every missing instance: first for instances that replace a running one, which has to make room,
// then for all others.
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/generic/generic_attempt.h"
#include "state/base/check.h"
#include <stdlib.h>

struct placing {
	struct generic_attempt *a;
	const struct reconcile_place *wanted;
	struct older_version version; // that the instance is placed with, maybe the newest
	const char *group;            // the group's name
	struct array *penalties;      // struct uuid
};

static const struct task_group *group_of(const struct placing *p)
{
	CHECK(p->version.group < p->version.job->task_groups.count);
	return ARRAY_AT(&p->version.job->task_groups, struct task_group, p->version.group);
}

// The newest version's instances join the active deployment.
static struct older_version newest_version(
	const struct generic_attempt *a, const struct reconcile_place *wanted)
{
	CHECK(wanted->group < a->job->task_groups.count);
	struct older_version version = {.job = a->job, .group = wanted->group};
	if (a->deployment && deployment_is_active(a->deployment))
		version.deployment = a->deployment->id;
	return version;
}

static void add_penalty(struct array *penalties, const struct uuid *node)
{
	*(struct uuid *)array_append(penalties, sizeof *node) = *node;
}

// Penalises the node where the previous allocation failed and the nodes where its predecessors did (row A57).
static void find_penalties(struct placing *p)
{
	const struct allocation *previous = p->wanted->previous;
	p->penalties->count = 0;
	if (!previous)
		return;
	if (previous->client_status == ALLOC_FAILED)
		add_penalty(p->penalties, &previous->node_id);
	for (uint32_t i = 0; previous->details && i < previous->details->reschedule_events.count;
		i++)
		add_penalty(p->penalties,
			&ARRAY_AT(&previous->details->reschedule_events, struct reschedule_event, i)
				 ->previous_node);
}

// The node that has the instance's disk (row A61).
static uint32_t preferred_slot(const struct placing *p)
{
	const struct task_group *group = group_of(p);
	if (!p->wanted->previous || !(group->disk.sticky || group->disk.migrate))
		return NODE_SLOT_NONE;
	const struct node *node = allocation_node(&p->a->view, p->wanted->previous);
	return node ? node->slot : NODE_SLOT_NONE;
}

static bool select_node(
	struct placing *p, struct stack_option *option, struct alloc_metrics *metrics)
{
	struct generic_attempt *a = p->a;
	find_penalties(p);
	struct stack_request request = {.group = p->version.group,
		.name_index = p->wanted->name_index,
		.preferred_slot = preferred_slot(p),
		.penalty_nodes = p->penalties->items,
		.penalty_count = p->penalties->count};
	generic_use_version(a, p->version.job);
	int64_t begun_ns = scheduler_clock_ns(a->run->settings);
	bool found = stack_select(a->stack, &request, option, metrics);
	metrics->allocation_time_ns = scheduler_clock_ns(a->run->settings) - begun_ns;
	stack_nodes_available(a->stack, metrics);
	CHECK(found == !!option->node);
	return found;
}

static void preempt_victims(
	struct placing *p, const struct stack_option *option, const struct uuid *by)
{
	CHECK(option->preempted_count == 0 || option->preempted);
	struct generic_attempt *a = p->a;
	for (uint32_t i = 0; i < option->preempted_count; i++)
		stack_plan_preempt(a->stack, option->preempted[i], by);
	if (!a->plan->annotate || !option->preempted_count)
		return;
	struct desired_updates *desired =
		map_item(&a->plan->annotations, sizeof *desired, p->group);
	desired->preemptions += option->preempted_count;
}

static void place_instance(
	struct placing *p, struct stack_option *option, const struct alloc_metrics *metrics)
{
	CHECK(option->node && option->outcome == STACK_FITS);
	CHECK(option->slot == option->node->slot);
	struct generic_attempt *a = p->a;
	struct plan_placement placement = {.id = prng_uuid(a->run->settings->prng),
		.node_id = option->node->id,
		.slot = option->slot,
		.generation = option->node->generation,
		.group = (uint16_t)p->version.group,
		.name_index = p->wanted->name_index,
		.job_version = p->version.job->record.modify_index,
		.resources = option->resources,
		.devices = option->devices,
		.score = option->score,
		.details = generic_details(a, p->wanted, option, &p->version.deployment),
		.report = generic_handles(p->wanted, group_of(p)),
		.metrics = stack_keep_metrics(a->stack, metrics)};
	preempt_victims(p, option, &placement.id);
	stack_plan_place(a->stack, &placement);
	CHECK(placement.metrics < a->plan->metrics.count);
}

static void fail_group(struct placing *p, const struct alloc_metrics *metrics)
{
	struct failed_group *failed = map_item(&p->a->run->failed_groups, sizeof *failed, p->group);
	metrics_copy(&failed->metrics, metrics);
	stack_count_exhausted(group_of(p), 1, &failed->metrics);
}

// A group that did not fit once is not tried again, nor are the instances of the same run that follow.
static bool failed_before(struct placing *p, int64_t instances)
{
	CHECK(p->group);
	struct array *failed = &p->a->run->failed_groups;
	uint32_t at;
	if (!map_find(failed, sizeof(struct failed_group), p->group, &at))
		return false;
	struct alloc_metrics *metrics = &ARRAY_AT(failed, struct failed_group, at)->metrics;
	metrics->coalesced_failures += instances;
	stack_count_exhausted(group_of(p), instances, metrics);
	return true;
}

// Row B45. The stack sees what the plan stops and places. The group fails for what lacks.
static bool quota_has_room(struct placing *p)
{
	struct generic_attempt *a = p->a;
	struct alloc_metrics metrics = {0};
	generic_use_version(a, p->version.job);
	const char *quota = stack_quota_lacks(a->stack, p->version.group, &metrics.quota_exhausted);
	if (!quota)
		return true;
	scheduler_run_note_quota(a->run, quota);
	fail_group(p, &metrics);
	metrics_release(&metrics);
	return false;
}

// The group fails where no node takes the instance.
static bool find_place(struct placing *p)
{
	struct alloc_metrics metrics;
	struct stack_option option;
	bool found = select_node(p, &option, &metrics);
	CHECK(found == (metrics.score_metadata.count > 0));
	if (found)
		place_instance(p, &option, &metrics);
	else
		fail_group(p, &metrics);
	return found;
}

static void place_one(struct placing *p)
{
	CHECK(!p->wanted->destructive || p->wanted->previous);
	struct generic_attempt *a = p->a;
	const struct allocation *replaced = p->wanted->destructive ? p->wanted->previous : NULL;
	if (failed_before(p, 1))
		return;
	if (replaced)
		stack_plan_stop(a->stack, replaced, STOP_UPDATING, false, NULL);
	bool is_placed = quota_has_room(p) && find_place(p);
	if (replaced && !is_placed)
		stack_plan_unstop(a->stack, &replaced->id);
}

static bool generic_goes_on(struct generic_attempt *a)
{
	const struct scheduler_run *run = a->run;
	return !run->is_cut && run->pass_error == 0 && scheduler_run_goes_on(a->run, a->plan, true);
}

static void place_run(
	struct generic_attempt *a, const struct reconcile_place *run, struct array *penalties)
{
	struct reconcile_place wanted = *run;
	struct placing p = {.a = a, .wanted = &wanted, .penalties = penalties};
	p.version = newest_version(a, run);
	p.group = ARRAY_AT(&a->job->task_groups, struct task_group, run->group)->name;
	if (run->downgrade)
		generic_older_version(a, run, &p.version);
	for (; generic_goes_on(a); wanted.name_index++, wanted.more--) {
		place_one(&p);
		if (wanted.more == 0 || failed_before(&p, wanted.more))
			break;
	}
}

static void place_all(
	struct generic_attempt *a, const struct array *wanted, struct array *penalties)
{
	CHECK(a->job || wanted->count == 0);
	for (uint32_t i = 0; i < wanted->count && !a->run->is_cut && a->run->pass_error == 0; i++)
		place_run(a, ARRAY_AT(wanted, struct reconcile_place, i), penalties);
}

void generic_place(struct generic_attempt *a)
{
	CHECK(a->stack && a->run->in_view);
	struct array penalties = {0};
	place_all(a, &a->found.destructive, &penalties);
	place_all(a, &a->found.place, &penalties);
	free(penalties.items);
}
