#include "placement/scheduler/node/stack_plan.h"
#include "placement/direct/claims.h"
#include "placement/scheduler/node/stack_quota.h"
#include "placement/scheduler/node/stack_state.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include <string.h>

// Appends an item to an array of the plan, which nobody else appends to meanwhile.
static void *append_item(struct array *to, uint32_t *room, size_t bytes_each)
{
	CHECK(to->count <= *room);
	if (to->count >= *room) {
		// So few of any kind are of a size that malloc() has at hand.
		*room = to->count + to->count / 2 + 4;
		to->items = memory_resize(to->items, *room * bytes_each);
	}
	void *item = (char *)to->items + to->count++ * bytes_each;
	CHECK(to->count <= *room);
	return memset(item, 0, bytes_each);
}

static void note_changed(struct stack *s, uint32_t slot)
{
	if (s->kind != STACK_GENERIC)
		return;
	ARENA_GROW(&s->memory, s->changed_slots, s->changed_count, s->changed_room);
	s->changed_slots[s->changed_count++] = slot;
}

typedef void property_visit(struct stack *, struct property_set *, void *context);

static void each_property(struct stack *s, property_visit *visit, void *context)
{
	struct property_set *set;
	for (uint32_t i = 0; (set = job_rules_property(&s->job_rules, i)); i++)
		visit(s, set, context);
	for (uint32_t g = 0; g < s->group_count; g++)
		for (uint32_t i = 0; s->groups[g] && (set = group_rules_property(s->groups[g], i));
			i++)
			visit(s, set, context);
}

struct counted_stop {
	const struct allocation *allocation;
	int by;
};

static bool is_own(const struct stack *s, const struct allocation *a)
{
	return s->job && strcmp(a->job->id, s->job->id) == 0 &&
	       strcmp(a->job->namespace_name, s->job->namespace_name) == 0;
}

static void count_stop(struct stack *s, struct property_set *set, void *context)
{
	const struct counted_stop *stop = context;
	const struct allocation *a = stop->allocation;
	CHECK(stop->by == 1 || stop->by == -1);
	if (is_own(s, a) && property_set_counts(set, s->job, a) && a->node_slot != NODE_SLOT_NONE)
		property_set_clear(set, view_node_in_no_order(&s->view, a->node_slot), stop->by);
}

struct counted_placement {
	const struct job *job;
	uint32_t group, slot;
};

static void count_placement(struct stack *s, struct property_set *set, void *context)
{
	const struct counted_placement *p = context;
	CHECK(p->group < p->job->task_groups.count);
	const struct task_group *group =
		ARRAY_AT(&p->job->task_groups, struct task_group, p->group);
	if (!set->group || strcmp(set->group, group->name) == 0)
		property_set_use(set, view_node_in_no_order(&s->view, p->slot), 1);
}

void stack_count_planned(struct stack *s, struct property_set *set)
{
	CHECK(s->job);
	for (uint32_t i = 0; i < s->plan->stops.count; i++) {
		struct plan_stop *stop = ARRAY_AT(&s->plan->stops, struct plan_stop, i);
		struct counted_stop counted = {s->view.allocation(s->view.context, &stop->id), 1};
		if (counted.allocation)
			count_stop(s, set, &counted);
	}
	for (uint32_t i = 0; i < s->proposal.fresh_count; i++) {
		const struct fresh_allocation *f = &s->proposal.fresh[i];
		const struct plan_placement *p =
			ARRAY_AT(&s->plan->placements, struct plan_placement, f->at);
		if (f->existing)
			continue;
		count_placement(s, set, &(struct counted_placement){f->job, p->group, p->slot});
	}
}

void stack_plan_stop(struct stack *s, const struct allocation *a, enum stop_cause cause, bool lost,
	const struct uuid *followup_eval)
{
	CHECK(cause < STOP_CAUSES && cause != STOP_PREEMPTED);
	CHECK(!lost || cause == STOP_LOST);
	struct plan_stop *stop = append_item(&s->plan->stops, &s->stop_room, sizeof *stop);
	struct counted_stop counted = {a, 1};
	stop->id = a->id;
	stop->node_id = a->node_id;
	stop->slot = a->node_slot;
	stop->cause = (uint8_t)cause;
	stop->lost = lost;
	if (followup_eval)
		stop->followup_eval = *followup_eval;
	proposal_remove(&s->proposal, a);
	stack_quota_stop(s, a, -1);
	each_property(s, count_stop, &counted);
	note_changed(s, a->node_slot);
}

void stack_plan_unstop(struct stack *s, const struct uuid *id)
{
	struct array *stops = &s->plan->stops;
	struct plan_stop *items = stops->items;
	uint32_t at = stops->count;
	while (at > 0 && !uuid_equal(&items[at - 1].id, id))
		at--;
	if (at == 0)
		return;
	memmove(&items[at - 1], &items[at], (stops->count - at) * sizeof *items);
	stops->count--;
	const struct allocation *a = s->view.allocation(s->view.context, id);
	struct counted_stop counted = {a, -1};
	if (a)
		stack_quota_stop(s, a, 1);
	if (!a || (a->node_slot != NODE_SLOT_NONE && !proposal_restore(&s->proposal, a)))
		return;
	each_property(s, count_stop, &counted);
	note_changed(s, a->node_slot);
}

void stack_plan_preempt(struct stack *s, const struct allocation *a, const struct uuid *by)
{
	CHECK(!uuid_is_zero(by));
	CHECK(allocation_holds_room(a));
	struct plan_stop *stop =
		append_item(&s->plan->preemptions, &s->preemption_room, sizeof *stop);
	stop->id = a->id;
	stop->node_id = a->node_id;
	stop->slot = a->node_slot;
	stop->cause = STOP_PREEMPTED;
	stop->preempted_by = *by;
	proposal_remove(&s->proposal, a);
	victim_counts_add(&s->victim_counts, a);
	note_changed(s, a->node_slot);
}

uint32_t stack_claims_seen(const struct stack *s, uint32_t slot)
{
	return s->view.claims ? claimant_look(s->view.claims, slot) : 0;
}

bool stack_claim(struct stack *s, struct stack_option *o)
{
	CHECK(o->node && o->outcome == STACK_FITS);
	const struct claim_ask ask = {.slot = o->slot,
		.seen = o->claims_seen,
		.resources = o->resources,
		.devices = &o->devices,
		.details = o->details};
	if (!s->view.claims || claimant_take(s->view.claims, &ask))
		return true;
	alloc_details_release(o->details);
	o->details = NULL;
	note_changed(s, o->slot);
	return false;
}

struct plan_placement *stack_plan_place(struct stack *s, const struct plan_placement *from)
{
	CHECK(s->job && from->group < s->job->task_groups.count);
	CHECK(from->slot != NODE_SLOT_NONE);
	struct plan_placement *p = append_item(&s->plan->placements, &s->placement_room, sizeof *p);
	*p = *from;
	struct counted_placement counted = {s->job, p->group, p->slot};
	proposal_add_placement(&s->proposal, s->job);
	stack_quota_place(s, s->job, p->group, p->resources);
	each_property(s, count_placement, &counted);
	note_changed(s, p->slot);
	if (s->view.claims)
		claimant_name(s->view.claims, &p->id);
	return p;
}

void stack_plan_update(struct stack *s, const struct plan_update *from)
{
	CHECK(from->metrics == PLAN_NO_METRICS || from->metrics < s->plan->metrics.count);
	struct plan_update *u = append_item(&s->plan->updates, &s->update_room, sizeof *u);
	*u = *from;
	const struct allocation *a = s->view.allocation(s->view.context, &u->id);
	if (!a || allocation_is_terminal(a))
		return;
	proposal_add_update(&s->proposal, a);
	note_changed(s, a->node_slot);
}
