#include "placement/scheduler/proposal.h"
#include "placement/scheduler/growing.h"
#include <stdlib.h>

void proposal_begin(struct proposal *p, const struct scheduler_view *view)
{
	*p = (struct proposal){.view = view, .slots = view->slots(view->context)};
	p->touched_at = memory_take_array(p->slots + 1, sizeof *p->touched_at);
}

void proposal_release(struct proposal *p)
{
	free(p->touched_at);
	free(p->touched);
	free(p->gone);
	free(p->fresh);
}

// NULL for a slot that came after the proposal began, or none: no node of this view is there.
static struct touched_node *touch(struct proposal *p, uint32_t slot)
{
	if (slot >= p->slots)
		return NULL;
	if (p->touched_at[slot] == 0) {
		GROW(p->touched, p->touched_count, p->touched_room);
		p->touched[p->touched_count++] = (struct touched_node){.slot = slot};
		p->touched_at[slot] = p->touched_count;
	}
	return &p->touched[p->touched_at[slot] - 1];
}

static void devices_join(struct device_set *to, const struct device_set *from)
{
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		to->groups[i] |= from->groups[i];
}

static void devices_part(struct device_set *from, const struct device_set *gone)
{
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		from->groups[i] &= ~gone->groups[i];
}

static struct gone_allocation *find_gone(const struct proposal *p, const struct allocation *a)
{
	const struct touched_node *t = proposal_touched(p, a->node_slot);
	for (uint32_t at = t ? t->gone : 0; at; at = p->gone[at - 1].next)
		if (uuid_equal(&p->gone[at - 1].allocation->id, &a->id))
			return &p->gone[at - 1];
	return NULL;
}

bool proposal_has_removed(const struct proposal *p, const struct allocation *a)
{
	const struct gone_allocation *gone = find_gone(p, a);
	return gone && !gone->withdrawn;
}

static void free_resources(struct touched_node *t, const struct allocation *a)
{
	t->freed = resources_plus(t->freed, a->resources);
	devices_join(&t->devices_freed, &a->devices);
	t->details_freed += alloc_details_hold_node(a->details);
}

void proposal_remove(struct proposal *p, const struct allocation *a)
{
	struct touched_node *t = touch(p, a->node_slot);
	struct gone_allocation *before = t ? find_gone(p, a) : NULL;
	if (!t || (before && !before->withdrawn))
		return;
	if (before) {
		before->withdrawn = false;
	} else {
		GROW(p->gone, p->gone_count, p->gone_room);
		p->gone[p->gone_count++] = (struct gone_allocation){a, t->gone, false};
		t->gone = p->gone_count;
	}
	if (!allocation_is_terminal(a))
		free_resources(t, a);
}

bool proposal_restore(struct proposal *p, const struct allocation *a)
{
	struct gone_allocation *gone = find_gone(p, a);
	if (!gone || gone->withdrawn)
		return false;
	struct touched_node *t = touch(p, a->node_slot);
	gone->withdrawn = true;
	if (!allocation_is_terminal(a)) {
		t->freed = resources_minus(t->freed, a->resources);
		devices_part(&t->devices_freed, &a->devices);
		t->details_freed -= alloc_details_hold_node(a->details);
	}
	return true;
}

void proposal_add(struct proposal *p, const struct proposed_allocation *a)
{
	struct touched_node *t = touch(p, a->slot);
	if (!t)
		return;
	GROW(p->fresh, p->fresh_count, p->fresh_room);
	p->fresh[p->fresh_count] = *a;
	p->fresh[p->fresh_count++].next = t->fresh;
	t->fresh = p->fresh_count;
	t->added = resources_plus(t->added, a->resources);
	devices_join(&t->devices_added, &a->devices);
	t->details_added += alloc_details_hold_node(a->details);
}

struct node_use proposal_use(const struct proposal *p, uint32_t slot)
{
	struct node_use use = p->view->node_use(p->view->context, slot);
	const struct touched_node *t = proposal_touched(p, slot);
	if (!t)
		return use;
	use.used = resources_plus(resources_minus(use.used, t->freed), t->added);
	devices_part(&use.devices, &t->devices_freed);
	devices_join(&use.devices, &t->devices_added);
	// The view's number is of another moment than its records.
	use.with_details -=
		t->details_freed < use.with_details ? t->details_freed : use.with_details;
	use.with_details += t->details_added;
	return use;
}

struct walk {
	const struct proposal *p;
	proposal_visit *visit;
	void *context;
	bool stopped;
};

static bool walk_existing(const struct allocation *a, void *context)
{
	struct walk *w = context;
	if (allocation_is_terminal(a) || proposal_has_removed(w->p, a))
		return true;
	struct proposed_allocation proposed = {
		.id = a->id,
		.job = a->job,
		.group = a->group,
		.slot = a->node_slot,
		.resources = a->resources,
		.devices = a->devices,
		.details = a->details,
		.existing = a,
	};
	w->stopped = !w->visit(&proposed, w->context);
	return !w->stopped;
}

void proposal_walk(const struct proposal *p, uint32_t slot, proposal_visit *visit, void *context)
{
	struct walk w = {p, visit, context, false};
	const struct touched_node *t = proposal_touched(p, slot);
	p->view->node_allocations(p->view->context, slot, walk_existing, &w);
	for (uint32_t at = t ? t->fresh : 0; at && !w.stopped; at = p->fresh[at - 1].next)
		w.stopped = !visit(&p->fresh[at - 1], context);
}
