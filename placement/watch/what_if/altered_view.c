#include "placement/watch/what_if/altered_view.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include <stdlib.h>

struct altered_allocation {
	struct lookup_node by_id;
	bool is_new;
	struct allocation is;
	struct device_set devices; // of a new one
};
struct altered_use {
	struct lookup_node by_slot;
	uint32_t slot;
	struct node_use added, removed;
};

static struct altered_allocation *find_altered(const struct altered_view *v, const struct uuid *id)
{
	for (struct lookup_node *at = lookup_first(&v->allocations, uuid_hash(id)); at;
		at = lookup_next(at)) {
		struct altered_allocation *a = CONTAINER_OF(at, struct altered_allocation, by_id);
		if (uuid_equal(&a->is.id, id))
			return a;
	}
	return NULL;
}

static struct altered_use *find_use(const struct altered_view *v, uint32_t slot)
{
	for (struct lookup_node *at = lookup_first(&v->uses, slot); at; at = lookup_next(at)) {
		struct altered_use *use = CONTAINER_OF(at, struct altered_use, by_slot);
		if (use->slot == slot)
			return use;
	}
	return NULL;
}

static struct altered_use *use_of(struct altered_view *v, uint32_t slot)
{
	struct altered_use *use = find_use(v, slot);

	if (use)
		return use;
	use = memory_take(sizeof *use);
	use->slot = slot;
	lookup_add(&v->uses, &use->by_slot, slot);
	return use;
}

// Adds what the allocation holds in its present state.
static void add_to(struct node_use *use, const struct allocation *a)
{
	if (!allocation_holds_room(a))
		return;
	use->used = resources_plus(use->used, a->resources);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		use->devices.groups[i] |= allocation_devices(a)->groups[i];
	use->with_details += a->details && alloc_details_hold_node(a->details);
	use->living += !allocation_is_terminal(a);
}

// The altered copy that replaces the allocation of the view below; made on first use.
static struct altered_allocation *alter(struct altered_view *v, const struct allocation *a)
{
	struct altered_allocation *altered = find_altered(v, &a->id);

	if (altered)
		return altered;
	altered = memory_take(sizeof *altered);
	altered->is = *a;
	altered->is.details = alloc_details_copy(a->details);
	lookup_add(&v->allocations, &altered->by_id, uuid_hash(&a->id));
	return altered;
}

void altered_view_flag(struct altered_view *v, const struct allocation *a)
{
	alter(v, a)->is.details->transition.migrate = (struct optional_bool){true, true};
}

static const struct allocation *now_of(const struct altered_view *v, const struct uuid *id)
{
	const struct altered_allocation *altered = find_altered(v, id);
	return altered ? &altered->is : v->below.allocation(v->below.context, id);
}

static void apply_stop(struct altered_view *v, const struct plan_stop *stop)
{
	const struct allocation *a = now_of(v, &stop->id);

	if (!a)
		return;
	if (a->node_slot != NODE_SLOT_NONE)
		add_to(&use_of(v, a->node_slot)->removed, a);
	struct allocation *is = &alter(v, a)->is;
	is->desired = stop->cause == STOP_PREEMPTED ? ALLOC_EVICT : ALLOC_STOP;
	if (stop->lost)
		is->client_status = ALLOC_LOST;
	if (is->node_slot != NODE_SLOT_NONE)
		add_to(&use_of(v, is->node_slot)->added, is);
}

static void apply_update(struct altered_view *v, const struct plan_update *update)
{
	const struct allocation *a = now_of(v, &update->id);

	if (!a)
		return;
	struct allocation *is = &alter(v, a)->is;
	if (update->client_status != PLAN_KEEP)
		is->client_status = update->client_status;
	if (update->details) {
		if (!uuid_equal(&is->details->deployment_id, &update->details->deployment_id))
			is->health = (struct alloc_deployment_status){0};
		alloc_details_release(is->details);
		is->details = alloc_details_share(update->details);
	}
}

struct version_search {
	uint64_t modify_index;
	const struct job *found;
};

static bool find_version(const struct allocation *a, void *context)
{
	struct version_search *search = context;

	if (a->job->record.modify_index == search->modify_index)
		search->found = a->job;
	return !search->found;
}

// The version that a placement names: the newest, or one of some allocation (row C31).
static const struct job *version_of(
	const struct altered_view *v, const struct job *job, uint64_t modify_index)
{
	struct version_search search = {.modify_index = modify_index};

	if (modify_index != 0 && job->record.modify_index != modify_index)
		v->below.job_allocations(
			v->below.context, job->namespace_name, job->id, find_version, &search);
	return search.found ? search.found : job;
}

static void apply_placement(
	struct altered_view *v, const struct plan_placement *p, const struct job *job)
{
	struct altered_allocation *altered = memory_take(sizeof *altered);

	altered->is_new = true;
	altered->devices = p->devices;
	altered->is = (struct allocation){
		.record = {.create_index = UINT64_MAX, .modify_index = UINT64_MAX},
		.id = p->id,
		.node_id = p->node_id,
		.node_slot = p->slot,
		.client = CLIENT_NONE,
		.job = (struct job *)version_of(v, job, p->job_version),
		.group = p->group,
		.desired = ALLOC_RUN,
		.client_status = ALLOC_PENDING,
		.index = p->name_index,
		.resources = p->resources,
		.devices = &altered->devices,
		.score = p->score,
		.details = p->details ? alloc_details_share(p->details) : alloc_details_create(),
		.report = p->report ? alloc_report_share(p->report) : NULL,
	};
	lookup_add(&v->allocations, &altered->by_id, uuid_hash(&p->id));
	*(struct altered_allocation **)array_append(&v->added, sizeof altered) = altered;
	add_to(&use_of(v, p->slot)->added, &altered->is);
}

void altered_view_apply(struct altered_view *v, const struct plan *plan, const struct job *job)
{
	for (uint32_t i = 0; i < plan->stops.count; i++)
		apply_stop(v, ARRAY_AT(&plan->stops, struct plan_stop, i));
	for (uint32_t i = 0; i < plan->preemptions.count; i++)
		apply_stop(v, ARRAY_AT(&plan->preemptions, struct plan_stop, i));
	for (uint32_t i = 0; i < plan->updates.count; i++)
		apply_update(v, ARRAY_AT(&plan->updates, struct plan_update, i));
	for (uint32_t i = 0; job && i < plan->placements.count; i++)
		apply_placement(v, ARRAY_AT(&plan->placements, struct plan_placement, i), job);
}

static const struct altered_view *view_of(void *context)
{
	return CONTAINER_OF(context, struct altered_view, below);
}

static const struct node *view_node_at(void *context, uint32_t slot)
{
	const struct altered_view *v = view_of(context);
	return slot == v->node->slot ? v->node : v->below.node_at(v->below.context, slot);
}

static const struct node *view_node_by_id(void *context, const struct uuid *id)
{
	const struct altered_view *v = view_of(context);
	return uuid_equal(id, &v->node->id) ? v->node : v->below.node_by_id(v->below.context, id);
}

struct showing {
	const struct altered_view *view;
	state_allocation_visit *visit;
	void *context;
	bool is_over;
};

static bool show_allocation(const struct allocation *a, void *context)
{
	struct showing *s = context;
	const struct altered_allocation *altered = find_altered(s->view, &a->id);

	s->is_over = !s->visit(altered ? &altered->is : a, s->context);
	return !s->is_over;
}

static bool is_of_job(const struct allocation *a, const char *namespace_name, const char *id)
{
	return strcmp(a->job->id, id) == 0 && strcmp(a->job->namespace_name, namespace_name) == 0;
}

static void view_job_allocations(void *context, const char *namespace_name, const char *id,
	state_allocation_visit *visit, void *visit_context)
{
	const struct altered_view *v = view_of(context);
	struct showing s = {v, visit, visit_context, false};

	v->below.job_allocations(v->below.context, namespace_name, id, show_allocation, &s);
	for (uint32_t i = 0; i < v->added.count && !s.is_over; i++) {
		const struct allocation *a =
			&(*ARRAY_AT(&v->added, struct altered_allocation *, i))->is;
		if (is_of_job(a, namespace_name, id))
			s.is_over = !visit(a, visit_context);
	}
}

static void view_node_allocations(
	void *context, uint32_t slot, state_allocation_visit *visit, void *visit_context)
{
	const struct altered_view *v = view_of(context);
	struct showing s = {v, visit, visit_context, false};

	v->below.node_allocations(v->below.context, slot, show_allocation, &s);
	for (uint32_t i = 0; i < v->added.count && !s.is_over; i++) {
		const struct allocation *a =
			&(*ARRAY_AT(&v->added, struct altered_allocation *, i))->is;
		if (a->node_slot == slot)
			s.is_over = !visit(a, visit_context);
	}
}

static const struct allocation *view_allocation(void *context, const struct uuid *id)
{
	return now_of(view_of(context), id);
}

// Published counts may have changed meanwhile.
static uint32_t less(uint32_t count, uint32_t removed)
{
	return removed < count ? count - removed : 0;
}

static struct node_use view_node_use(void *context, uint32_t slot)
{
	const struct altered_view *v = view_of(context);
	const struct altered_use *change = find_use(v, slot);
	struct node_use use = v->below.node_use(v->below.context, slot);

	if (!change)
		return use;
	use.used =
		resources_minus(resources_plus(use.used, change->added.used), change->removed.used);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		use.devices.groups[i] =
			(use.devices.groups[i] & ~change->removed.devices.groups[i]) |
			change->added.devices.groups[i];
	use.with_details =
		less(use.with_details + change->added.with_details, change->removed.with_details);
	use.living = less(use.living + change->added.living, change->removed.living);
	return use;
}

struct scheduler_view altered_view_of(struct altered_view *v)
{
	struct scheduler_view view = view_over(&v->below);

	view.node_at = view_node_at;
	view.node_by_id = view_node_by_id;
	view.job_allocations = view_job_allocations;
	view.node_allocations = view_node_allocations;
	view.allocation = view_allocation;
	view.node_use = view_node_use;
	return view;
}

void altered_view_init(
	struct altered_view *v, const struct scheduler_view *below, const struct node *as)
{
	*v = (struct altered_view){.below = *below, .node = as};
}

void altered_view_release(struct altered_view *v)
{
	uint32_t bucket = 0;
	struct lookup_node *at, *next;

	for (at = lookup_walk(&v->allocations, &bucket, NULL); at; at = next) {
		next = lookup_walk(&v->allocations, &bucket, at);
		struct altered_allocation *a = CONTAINER_OF(at, struct altered_allocation, by_id);
		alloc_details_release(a->is.details);
		if (a->is_new) // others have that of the view below
			alloc_report_release(a->is.report);
		free(a);
	}
	bucket = 0;
	for (at = lookup_walk(&v->uses, &bucket, NULL); at; at = next) {
		next = lookup_walk(&v->uses, &bucket, at);
		free(CONTAINER_OF(at, struct altered_use, by_slot));
	}
	lookup_free(&v->allocations);
	lookup_free(&v->uses);
	free(v->added.items);
	*v = (struct altered_view){0};
}
