// Plans everything of a reconciliation except placements: stops, changes in place, allocations that become unknown or
// are back.
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/generic/generic_attempt.h"
#include "state/base/check.h"
#include <stdlib.h>

// Looks for room as if the allocation were gone.
static bool fits_in_place(struct generic_attempt *a, const struct allocation *old, uint32_t group,
	const struct node *node)
{
	CHECK(!allocation_is_terminal(old));
	CHECK(group < a->job->task_groups.count);
	struct stack_option option;
	generic_use_version(a, a->job);
	if (!stack_targets_node(a->stack, node))
		return false;
	stack_plan_stop(a->stack, old, STOP_UPDATING, false, NULL);
	bool fits = stack_stay_on_node(a->stack, group, old->index, node->slot, &option);
	stack_plan_unstop(a->stack, &old->id);
	if (!fits)
		return false;
	alloc_details_release(option.details);
	*(struct in_place_change *)array_append(&a->in_place, sizeof(struct in_place_change)) =
		(struct in_place_change){old, option.resources};
	return true;
}

enum alloc_change generic_change_of(void *context, const struct allocation *old)
{
	CHECK(old->job);
	struct generic_attempt *a = context;
	if (old->job->job_modify_index == a->job->job_modify_index)
		return CHANGE_NONE;
	int group = job_group_index(a->job, text_of(allocation_group(old)->name));
	if (group < 0 || version_changes_group(&a->changes, old->job, a->job, (uint32_t)group))
		return CHANGE_DESTRUCTIVE;
	if (allocation_is_terminal(old))
		return CHANGE_NONE;
	const struct node *node = allocation_node(&a->view, old);
	if (!node)
		return CHANGE_DESTRUCTIVE;
	// Nothing can be changed on a disconnected node. Its return makes an evaluation.
	if (node->status == NODE_DISCONNECTED)
		return CHANGE_NONE;
	return fits_in_place(a, old, (uint32_t)group, node) ? CHANGE_IN_PLACE : CHANGE_DESTRUCTIVE;
}

static void plan_stops(struct generic_attempt *a)
{
	CHECK(a->stack);
	for (uint32_t i = 0; i < a->found.stops.count; i++) {
		const struct reconcile_stop *stop =
			ARRAY_AT(&a->found.stops, struct reconcile_stop, i);
		stack_plan_stop(a->stack, stop->allocation, stop->cause, stop->lost,
			uuid_is_zero(&stop->followup_eval) ? NULL : &stop->followup_eval);
		ARRAY_AT(&a->plan->stops, struct plan_stop, a->plan->stops.count - 1)->failed =
			stop->failed;
	}
}

// An update that changes nothing yet.
static struct plan_update update_of(const struct allocation *old)
{
	CHECK(!uuid_is_zero(&old->id));
	return (struct plan_update){.id = old->id,
		.node_id = old->node_id,
		.slot = old->node_slot,
		.resources = old->resources,
		.devices = *allocation_devices(old),
		.client_status = PLAN_KEEP,
		.metrics = PLAN_NO_METRICS};
}

static void plan_disconnects(struct generic_attempt *a)
{
	for (uint32_t i = 0; i < a->found.disconnects.count; i++) {
		const struct reconcile_update *found =
			ARRAY_AT(&a->found.disconnects, struct reconcile_update, i);
		struct plan_update update = update_of(found->allocation);
		update.client_status = ALLOC_UNKNOWN;
		update.details = details_with_client_status(
			found->allocation, ALLOC_UNKNOWN, a->run->settings->now_ns);
		update.details->followup_eval = found->followup_eval;
		stack_plan_update(a->stack, &update);
	}
}

static void plan_reconnects(struct generic_attempt *a)
{
	for (uint32_t i = 0; i < a->found.reconnects.count; i++) {
		const struct allocation *old =
			*ARRAY_AT(&a->found.reconnects, const struct allocation *, i);
		struct plan_update update = update_of(old);
		update.details = details_with_client_status(
			old, old->client_status, a->run->settings->now_ns);
		stack_plan_update(a->stack, &update);
	}
}

// Finds the change in place of an allocation. Changes are asked for in about the order in which they were noted, so
// the search begins with the next one.
static const struct in_place_change *change_in_place(
	const struct generic_attempt *a, const struct allocation *old, uint32_t *next)
{
	uint32_t count = a->in_place.count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = (*next + i) % count;
		const struct in_place_change *change =
			ARRAY_AT(&a->in_place, struct in_place_change, at);
		if (change->allocation != old)
			continue;
		*next = at + 1;
		return change;
	}
	CHECK(*next <= count);
	return NULL;
}

// Details of an allocation that joins another deployment: it loses its health, which has to be found out anew. NULL:
// the details stay.
static struct alloc_details *details_in_deployment(
	const struct generic_attempt *a, const struct allocation *old)
{
	struct uuid id = a->deployment ? a->deployment->id : (struct uuid){0};
	struct uuid before = old->details ? old->details->deployment_id : (struct uuid){0};
	if (uuid_equal(&id, &before))
		return NULL;
	struct alloc_details *details = alloc_details_copy(old->details);
	details->deployment_id = id;
	free(details->deployment_status);
	details->deployment_status = NULL;
	CHECK(!details->deployment_status);
	return details;
}

static void plan_in_place(struct generic_attempt *a)
{
	uint32_t next = 0;
	for (uint32_t i = 0; i < a->found.in_place.count; i++) {
		const struct allocation *old =
			*ARRAY_AT(&a->found.in_place, const struct allocation *, i);
		const struct in_place_change *change = change_in_place(a, old, &next);
		CHECK(change);
		struct plan_update update = update_of(old);
		update.job_version = a->job->record.modify_index;
		update.resources = change->resources;
		update.details = details_in_deployment(a, old);
		stack_plan_update(a->stack, &update);
	}
}

static void plan_attributes(struct generic_attempt *a)
{
	CHECK(a->found.attribute_updates.count == 0 || a->run->eval->wait_until_ns == 0);
	for (uint32_t i = 0; i < a->found.attribute_updates.count; i++) {
		const struct reconcile_update *found =
			ARRAY_AT(&a->found.attribute_updates, struct reconcile_update, i);
		struct plan_update update = update_of(found->allocation);
		update.attribute_only = true;
		update.details = alloc_details_copy(found->allocation->details);
		update.details->followup_eval = found->followup_eval;
		stack_plan_update(a->stack, &update);
	}
}

static void array_move(struct array *to, struct array *from)
{
	CHECK(to != from && !to->items);
	*to = *from;
	*from = (struct array){0};
}

static void plan_deployment(struct generic_attempt *a)
{
	CHECK(!a->plan->deployment);
	a->plan->deployment = a->found.deployment;
	a->found.deployment = NULL;
	array_move(&a->plan->deployment_updates, &a->found.deployment_updates);
	if (a->plan->deployment)
		a->deployment = a->plan->deployment;
}

void generic_plan_changes(struct generic_attempt *a)
{
	CHECK(a->plan && a->run->in_view);
	if (a->plan->annotate)
		array_move(&a->plan->annotations, &a->found.desired);
	plan_deployment(a);
	plan_stops(a);
	plan_disconnects(a);
	plan_reconnects(a);
	plan_in_place(a);
	plan_attributes(a);
	CHECK(!a->found.deployment);
}
