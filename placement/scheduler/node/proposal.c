#include "placement/scheduler/node/proposal.h"
#include "placement/direct/claims.h"
#include "state/base/check.h"

void proposal_begin(struct proposal *p, const struct scheduler_view *view, const struct plan *plan,
	struct arena *arena)
{
	CHECK(plan);
	*p = (struct proposal){
		.view = view, .plan = plan, .arena = arena, .slots = view->slots(view->context)};
	slot_map_begin(&p->touched_at, p->slots, arena);
}

// NULL for NODE_SLOT_NONE or a slot that came after the proposal began: this view has no node there.
static struct touched_node *touch_node(struct proposal *p, uint32_t slot)
{
	if (slot >= p->slots)
		return NULL;
	uint32_t at = slot_map_get(&p->touched_at, slot);
	if (at == 0) {
		ARENA_GROW(p->arena, p->touched, p->touched_count, p->touched_room);
		p->touched[p->touched_count++] = (struct touched_node){.slot = slot};
		at = p->touched_count;
		slot_map_put(&p->touched_at, slot, at);
	}
	CHECK(at <= p->touched_count);
	return &p->touched[at - 1];
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

static bool is_detailed(const struct device_set *devices, const struct alloc_details *details)
{
	return !device_set_is_empty(devices) || alloc_details_hold_node(details);
}

void proposal_remove(struct proposal *p, const struct allocation *a)
{
	struct touched_node *t = touch_node(p, a->node_slot);
	struct gone_allocation *before = t ? find_gone(p, a) : NULL;
	if (!t || (before && !before->withdrawn))
		return;
	if (before) {
		before->withdrawn = false;
	} else {
		ARENA_GROW(p->arena, p->gone, p->gone_count, p->gone_room);
		p->gone[p->gone_count++] = (struct gone_allocation){a, t->gone, false};
		t->gone = p->gone_count;
	}
	if (allocation_holds_room(a)) {
		t->freed = resources_plus(t->freed, a->resources);
		t->detailed |= is_detailed(allocation_devices(a), a->details);
	}
}

bool proposal_restore(struct proposal *p, const struct allocation *a)
{
	struct gone_allocation *gone = find_gone(p, a);
	if (!gone || gone->withdrawn)
		return false;
	struct touched_node *t = touch_node(p, a->node_slot);
	CHECK(t);
	gone->withdrawn = true;
	if (allocation_holds_room(a))
		t->freed = resources_minus(t->freed, a->resources);
	return true;
}

static struct proposed_allocation proposed_update(
	const struct fresh_allocation *f, const struct plan_update *u)
{
	CHECK(f->existing);
	return (struct proposed_allocation){
		.id = &f->existing->id,
		.job = f->job,
		.group = f->existing->group,
		.resources = u->resources,
		.devices = &u->devices,
		.details = u->details ? u->details : f->existing->details,
		.existing = f->existing,
	};
}

static struct proposed_allocation proposed_placement(
	const struct fresh_allocation *f, const struct plan_placement *p)
{
	CHECK(!f->existing);
	return (struct proposed_allocation){
		.id = &p->id,
		.job = f->job,
		.group = p->group,
		.resources = p->resources,
		.devices = &p->devices,
		.details = p->details,
	};
}

struct proposed_allocation proposal_fresh(const struct proposal *p, uint32_t at)
{
	CHECK(at < p->fresh_count);
	const struct fresh_allocation *f = &p->fresh[at];
	if (f->existing)
		return proposed_update(f, ARRAY_AT(&p->plan->updates, struct plan_update, f->at));
	return proposed_placement(f, ARRAY_AT(&p->plan->placements, struct plan_placement, f->at));
}

static void add_fresh(struct proposal *p, uint32_t slot, const struct fresh_allocation *fresh)
{
	struct touched_node *t = touch_node(p, slot);
	if (!t)
		return;
	ARENA_GROW(p->arena, p->fresh, p->fresh_count, p->fresh_room);
	p->fresh[p->fresh_count] = *fresh;
	p->fresh[p->fresh_count++].next = t->fresh;
	t->fresh = p->fresh_count;
	struct proposed_allocation a = proposal_fresh(p, p->fresh_count - 1);
	t->added = resources_plus(t->added, a.resources);
	t->detailed |= is_detailed(a.devices, a.details);
	CHECK(t->fresh == p->fresh_count);
}

void proposal_add_placement(struct proposal *p, const struct job *job)
{
	CHECK(p->plan->placements.count > 0);
	uint32_t at = p->plan->placements.count - 1;
	struct fresh_allocation fresh = {.job = job, .at = at};
	add_fresh(p, ARRAY_AT(&p->plan->placements, struct plan_placement, at)->slot, &fresh);
}

void proposal_add_update(struct proposal *p, const struct allocation *a)
{
	CHECK(p->plan->updates.count > 0);
	struct fresh_allocation fresh = {
		.job = a->job, .existing = a, .at = p->plan->updates.count - 1};
	proposal_remove(p, a);
	add_fresh(p, a->node_slot, &fresh);
}

static struct resources used_of(struct resources used, const struct touched_node *t)
{
	return resources_plus(resources_minus(used, t->freed), t->added);
}

struct node_use proposal_before(const struct proposal *p, uint32_t slot)
{
	const struct scheduler_view *view = p->view;
	struct node_use use = view->node_use(view->context, slot);

	if (view->claims)
		claimant_add_others(view->claims, slot, &use);
	return use;
}

struct resources proposal_used(const struct proposal *p, uint32_t slot)
{
	struct resources used = proposal_before(p, slot).used;
	const struct touched_node *t = proposal_touched(p, slot);
	return t ? used_of(used, t) : used;
}

bool proposal_is_idle(const struct proposal *p, uint32_t slot)
{
	uint32_t living = proposal_before(p, slot).living;
	const struct touched_node *t = proposal_touched(p, slot);
	if (!t)
		return living == 0;
	for (uint32_t at = t->gone; at; at = p->gone[at - 1].next)
		living -= !p->gone[at - 1].withdrawn &&
			  !allocation_is_terminal(p->gone[at - 1].allocation);
	return !t->fresh && living == 0;
}

static bool count_details(const struct proposed_allocation *a, void *context)
{
	struct node_use *use = context;
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		use->devices.groups[i] |= a->devices->groups[i];
	use->with_details += alloc_details_hold_node(a->details);
	return true;
}

struct node_use proposal_use(const struct proposal *p, uint32_t slot)
{
	struct node_use use = proposal_before(p, slot);
	const struct touched_node *t = proposal_touched(p, slot);
	if (!t)
		return use;
	use.used = used_of(use.used, t);
	if (!t->detailed)
		return use;
	use.devices = (struct device_set){0};
	use.with_details = 0;
	proposal_walk_details(p, slot, count_details, &use);
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
	if (!allocation_holds_room(a) || proposal_has_removed(w->p, a))
		return true;
	struct proposed_allocation proposed = {
		.id = &a->id,
		.job = a->job,
		.group = a->group,
		.resources = a->resources,
		.devices = allocation_devices(a),
		.details = a->details,
		.existing = a,
	};
	w->stopped = !w->visit(&proposed, w->context);
	return !w->stopped;
}

void proposal_walk(const struct proposal *p, uint32_t slot, proposal_visit *visit, void *context)
{
	CHECK(visit);
	struct walk w = {p, visit, context, false};
	const struct touched_node *t = proposal_touched(p, slot);
	p->view->node_allocations(p->view->context, slot, walk_existing, &w);
	for (uint32_t at = t ? t->fresh : 0; at && !w.stopped; at = p->fresh[at - 1].next) {
		struct proposed_allocation a = proposal_fresh(p, at - 1);
		w.stopped = !visit(&a, context);
	}
}

struct details_walk {
	proposal_visit *visit;
	void *context;
};

static void walk_claim(
	const struct device_set *devices, const struct alloc_details *details, void *context)
{
	const struct details_walk *w = context;
	(void)w->visit(
		&(struct proposed_allocation){.devices = devices, .details = details}, w->context);
}

// Claims first: one that is published meanwhile is seen twice, which takes nothing more, rather than not at all.
void proposal_walk_details(
	const struct proposal *p, uint32_t slot, proposal_visit *visit, void *context)
{
	struct details_walk w = {visit, context};
	if (p->view->claims)
		claimant_walk_others(p->view->claims, slot, walk_claim, &w);
	proposal_walk(p, slot, visit, context);
}
