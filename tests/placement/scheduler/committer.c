#include "tests/placement/scheduler/committer.h"
#include "placement/scheduler/scheduler.h"
#include "placement/scheduler/stack/view_fleet.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "state/base/time_units.h"
#include "state/records/allocation_end.h"
#include "tests/placement/job_check/job_build.h"
#include <stdio.h>
#include <stdlib.h>

static struct allocation *allocation_at(struct world *w, const struct uuid *id)
{
	struct scheduler_view view = world_view(w);
	return (struct allocation *)view.allocation(w, id);
}

static bool same_instance(const struct allocation *a, const struct allocation *b)
{
	const struct task_group *x = ARRAY_AT(&a->job->task_groups, struct task_group, a->group);
	const struct task_group *y = ARRAY_AT(&b->job->task_groups, struct task_group, b->group);
	// A service's canary has the name of the instance that it may replace.
	bool once = a->job->type == JOB_SYSTEM || a->job->type == JOB_SYSBATCH;
	return once && strcmp(a->job->id, b->job->id) == 0 && strcmp(x->name, y->name) == 0 &&
	       a->index == b->index;
}

static void check_names(const struct world_allocation *first)
{
	for (const struct world_allocation *a = first; a; a = a->next_of_node)
		for (const struct world_allocation *b = a->next_of_node; b; b = b->next_of_node)
			CHECK(allocation_is_terminal(&a->record) ||
				allocation_is_terminal(&b->record) ||
				!same_instance(&a->record, &b->record));
}

void world_check(struct world *w)
{
	for (uint32_t slot = 0; slot < w->node_count; slot++) {
		if (!w->nodes[slot])
			continue;
		struct resources used = w->machines[slot];
		for (const struct world_allocation *a = w->of_node[slot]; a; a = a->next_of_node)
			if (!allocation_is_terminal(&a->record))
				used = resources_plus(used, a->record.resources);
		CHECK(resources_fit(used, node_capacity(w->nodes[slot])));
		check_names(w->of_node[slot]);
	}
}

uint32_t world_living(const struct world *w, const struct job *job)
{
	uint32_t living = 0;
	for (const struct world_allocation *a = w->allocations; a; a = a->next)
		living += !allocation_is_terminal(&a->record) &&
			  (!job || strcmp(a->record.job->id, job->id) == 0);
	return living;
}

// What a node would hold, in numbers that cannot overflow.
struct holding {
	int64_t cpu, memory, disk;
};

static void hold(struct holding *h, const struct resources *r, int64_t sign)
{
	h->cpu += sign * r->cpu_mhz;
	h->memory += sign * r->memory_mb;
	h->disk += sign * r->disk_mb;
}

static void hold_without(
	struct holding *h, struct world *w, const struct array *stops, uint32_t slot)
{
	for (uint32_t i = 0; i < stops->count; i++) {
		const struct plan_stop *stop = ARRAY_AT(stops, struct plan_stop, i);
		const struct allocation *a = allocation_at(w, &stop->id);
		if (stop->slot == slot && allocation_holds_room(a))
			hold(h, &a->resources, -1);
	}
}

// Checks a plan like the applier: only nodes that get something new.
static bool fits(const struct committer *c, const struct plan *plan, uint32_t slot)
{
	struct scheduler_view view = world_view(c->world);
	struct resources used = view.node_use(c->world, slot).used;
	struct resources capacity = node_capacity(c->world->nodes[slot]);
	struct holding h = {0};
	hold(&h, &used, 1);
	hold_without(&h, c->world, &plan->stops, slot);
	hold_without(&h, c->world, &plan->preemptions, slot);
	for (uint32_t i = 0; i < plan->placements.count; i++) {
		const struct plan_placement *p =
			ARRAY_AT(&plan->placements, struct plan_placement, i);
		if (p->slot == slot)
			hold(&h, &p->resources, 1);
	}
	return h.cpu <= capacity.cpu_mhz && h.memory <= capacity.memory_mb &&
	       h.disk <= capacity.disk_mb;
}

static void reject(struct committer *c, uint32_t slot, struct plan_result *result)
{
	if (c->rejects[slot])
		return;
	c->rejects[slot] = true;
	struct plan_rejection *rejection = array_append(&result->rejections, sizeof *rejection);
	rejection->node_id = c->world->nodes[slot]->id;
	rejection->reason = "cpu";
}

static void find_rejections(
	struct committer *c, const struct plan *plan, struct plan_result *result)
{
	memset(c->rejects, 0, sizeof c->rejects);
	if (c->rejections && c->world->nodes[c->rejected_slot])
		reject(c, c->rejected_slot, result);
	for (uint32_t i = 0; i < plan->placements.count; i++) {
		uint32_t slot = ARRAY_AT(&plan->placements, struct plan_placement, i)->slot;
		CHECK(slot < COMMITTER_NODES_MAX);
		if (!fits(c, plan, slot))
			reject(c, slot, result);
	}
}

static bool rejects(const struct committer *c, uint32_t slot)
{
	return slot != NODE_SLOT_NONE && c->rejects[slot];
}

static void commit_stop(
	struct committer *c, const struct plan_stop *stop, enum alloc_desired desired)
{
	struct allocation *a = allocation_at(c->world, &stop->id);
	CHECK(a && uuid_equal(&a->node_id, &stop->node_id) && a->node_slot == stop->slot);
	a->desired = desired;
	if (stop->lost)
		a->client_status = ALLOC_LOST;
	a->record.modify_index = ++c->world->index;
}

static struct job *version(const struct committer *c, const struct plan *plan, uint64_t index)
{
	for (uint32_t i = 0; i < c->world->job_count; i++)
		if (c->world->jobs[i]->record.modify_index == index)
			return c->world->jobs[i];
	CHECK(!"a version that is there");
	return NULL;
}

// Links the allocation that it replaces to it.
static void link_previous(struct committer *c, const struct allocation *a)
{
	if (!a->details || uuid_is_zero(&a->details->previous_allocation))
		return;
	struct allocation *previous = allocation_at(c->world, &a->details->previous_allocation);
	CHECK(previous);
	struct alloc_details *details = alloc_details_copy(previous->details);
	details->next_allocation = a->id;
	alloc_details_release(previous->details);
	previous->details = details;
}

// Like the applier, adds a canary to its deployment.
static void count_canary(struct committer *c, const struct allocation *a)
{
	const struct task_group *group =
		ARRAY_AT(&a->job->task_groups, struct task_group, a->group);
	const struct alloc_deployment_status *health = allocation_health(a);
	if (!health || !health->canary)
		return;
	for (uint32_t i = 0; i < c->world->deployment_count; i++) {
		struct deployment *d = c->world->deployments[i];
		if (uuid_equal(&d->id, &a->details->deployment_id))
			*(struct uuid *)array_append(
				&deployment_group_of(d, text_of(group->name))->placed_canaries,
				sizeof(struct uuid)) = a->id;
	}
}

static void commit_deployments(struct committer *c, const struct plan *plan)
{
	if (plan->deployment)
		world_deploy(c->world, deployment_copy(plan->deployment));
	for (uint32_t i = 0; i < plan->deployment_updates.count; i++) {
		const struct deployment_update *update =
			ARRAY_AT(&plan->deployment_updates, struct deployment_update, i);
		for (uint32_t k = 0; k < c->world->deployment_count; k++)
			if (uuid_equal(&c->world->deployments[k]->id, &update->id))
				c->world->deployments[k]->status = update->status;
	}
}

static void commit_placement(
	struct committer *c, const struct plan *plan, const struct plan_placement *p)
{
	const struct node *node = c->world->nodes[p->slot];
	CHECK(node && uuid_equal(&node->id, &p->node_id) && node->generation == p->generation);
	CHECK(p->metrics < plan->metrics.count);
	struct allocation *a = world_allocate(
		c->world, version(c, plan, p->job_version), p->group, p->slot, p->name_index);
	a->id = p->id;
	a->client_status = ALLOC_PENDING;
	a->resources = p->resources;
	allocation_set_devices(a, &p->devices);
	a->details = alloc_details_share(p->details);
	a->report = alloc_report_share(p->report);
	a->eval_id = plan->eval_id;
	link_previous(c, a);
	count_canary(c, a);
}

static void commit_update(
	struct committer *c, const struct plan *plan, const struct plan_update *update)
{
	struct allocation *a = allocation_at(c->world, &update->id);
	CHECK(a);
	if (update->job_version) {
		struct job *job = version(c, plan, update->job_version);
		const char *group =
			ARRAY_AT(&a->job->task_groups, struct task_group, a->group)->name;
		a->group = (uint16_t)job_group_index(job, text_of(group));
		a->job = job;
	}
	a->resources = update->resources;
	if (update->details) {
		alloc_details_release(a->details);
		a->details = alloc_details_share(update->details);
	}
	if (update->client_status != PLAN_KEEP)
		a->client_status = update->client_status;
	a->record.modify_index = ++c->world->index;
}

static void commit_ends(struct committer *c, const struct plan *plan, struct plan_result *result)
{
	for (uint32_t i = 0; i < plan->stops.count; i++) {
		const struct plan_stop *stop = ARRAY_AT(&plan->stops, struct plan_stop, i);
		if (rejects(c, stop->slot))
			continue;
		commit_stop(c, stop, ALLOC_STOP);
		result->stops_committed++;
	}
	for (uint32_t i = 0; i < plan->preemptions.count; i++) {
		const struct plan_stop *stop = ARRAY_AT(&plan->preemptions, struct plan_stop, i);
		if (!rejects(c, stop->slot))
			commit_stop(c, stop, ALLOC_EVICT);
	}
}

static void commit_rest(struct committer *c, const struct plan *plan, struct plan_result *result)
{
	for (uint32_t i = 0; i < plan->updates.count; i++) {
		const struct plan_update *update = ARRAY_AT(&plan->updates, struct plan_update, i);
		if (rejects(c, update->slot))
			continue;
		commit_update(c, plan, update);
		result->updates_committed++;
	}
	for (uint32_t i = 0; i < plan->placements.count; i++) {
		const struct plan_placement *p =
			ARRAY_AT(&plan->placements, struct plan_placement, i);
		if (rejects(c, p->slot))
			continue;
		commit_placement(c, plan, p);
		const struct job *job = version(c, plan, p->job_version);
		count_add(&result->placed_by_group,
			ARRAY_AT(&job->task_groups, struct task_group, p->group)->name, 1);
		result->placements_committed++;
	}
	if (c->other_group)
		count_add(&result->placed_by_group, c->other_group, 7);
}

static int begin_view(void *context, uint64_t index, struct scheduler_view *view)
{
	struct committer *c = context;
	CHECK(!c->in_view);
	if (c->view_error)
		return c->view_error;
	c->in_view = true;
	c->views++;
	c->asked_index = index;
	*view = world_view(c->world);
	if (!c->fleet)
		c->fleet = view_fleet_create();
	view_fleet_begin(c->fleet, view);
	return 0;
}

static void end_view(void *context)
{
	struct committer *c = context;
	CHECK(c->in_view);
	c->in_view = false;
}

static void forget_annotations(struct committer *c)
{
	for (uint32_t i = 0; i < c->annotations.count; i++)
		record_release(&desired_updates_description,
			ARRAY_AT(&c->annotations, struct desired_updates, i));
	free(c->annotations.items);
	c->annotations = (struct array){0};
}

static void note_plan(struct committer *c, const struct plan *plan)
{
	c->plans++;
	c->stops = plan->stops.count;
	c->preemptions = plan->preemptions.count;
	c->placements = plan->placements.count;
	c->updates = plan->updates.count;
	forget_annotations(c);
	for (uint32_t i = 0; i < plan->annotations.count; i++)
		record_copy(&desired_updates_description,
			array_append(&c->annotations, sizeof(struct desired_updates)),
			ARRAY_AT(&plan->annotations, struct desired_updates, i));
}

static int submit_plan(void *context, struct plan *plan, struct plan_result *result)
{
	struct committer *c = context;
	CHECK(!c->in_view);
	if (c->submit_error)
		return c->submit_error;
	note_plan(c, plan);
	result->placements_planned = plan->placements.count;
	if (!plan->annotate) {
		find_rejections(c, plan, result);
		commit_deployments(c, plan);
		commit_ends(c, plan, result);
		commit_rest(c, plan, result);
		c->changes += result->stops_committed + result->updates_committed +
			      result->placements_committed;
		world_check(c->world);
	} else {
		result->stops_committed = plan->stops.count;
		result->placements_committed = plan->placements.count;
		result->updates_committed = plan->updates.count;
	}
	result->alloc_index = c->world->index;
	if (c->rejections) {
		c->rejections--;
		result->refresh_index = c->refreshes ? c->world->index : 0;
	}
	return 0;
}

static void keep(struct evaluation ***list, uint32_t *count, const struct evaluation *eval)
{
	*list = memory_resize(*list, (*count + 1) * sizeof **list);
	(*list)[(*count)++] = evaluation_copy(eval);
}

static int update_eval(void *context, const struct evaluation *eval)
{
	struct committer *c = context;
	CHECK(!c->in_view);
	if (c->update_error)
		return c->update_error;
	keep(&c->updated, &c->updated_count, eval);
	return 0;
}

static int create_eval(void *context, const struct evaluation *eval)
{
	struct committer *c = context;
	CHECK(!c->in_view);
	if (c->create_error)
		return c->create_error;
	CHECK(eval->priority == c->priority); // row C50
	keep(&c->created, &c->created_count, eval);
	return 0;
}

static int reblock_eval(void *context, const struct evaluation *eval)
{
	struct committer *c = context;
	CHECK(!c->in_view);
	keep(&c->reblocked, &c->reblocked_count, eval);
	return 0;
}

static void note_reschedule(void *context, const struct reschedule_note *note)
{
	struct committer *c = context;
	CHECK(c->in_view && note->allocation->client_status == ALLOC_FAILED);
	c->reschedules++;
	c->attempted = note->attempted;
	c->limit = note->limit;
	c->wait_until_ns = note->follow_up ? note->follow_up->wait_until_ns : 0;
}

void committer_init(struct committer *c, struct world *w)
{
	*c = (struct committer){.world = w};
}

static void forget(struct evaluation ***list, uint32_t *count)
{
	for (uint32_t i = 0; i < *count; i++)
		evaluation_free((*list)[i]);
	free(*list);
	*list = NULL;
	*count = 0;
}

void committer_release(struct committer *c)
{
	forget(&c->created, &c->created_count);
	forget(&c->updated, &c->updated_count);
	forget(&c->reblocked, &c->reblocked_count);
	forget_annotations(c);
	view_fleet_destroy(c->fleet);
	c->fleet = NULL;
}

static void count_broken(void *context, const struct evaluation *eval, const char *text)
{
	struct committer *c = context;
	if (!c->may_break) {
		fprintf(stderr, "%s\n", text);
		abort();
	}
	c->broken++;
}

struct scheduler_settings committer_settings(struct committer *c, struct prng *prng, int64_t now_ns)
{
	return (struct scheduler_settings){.planner = {.context = c,
						   .begin_view = begin_view,
						   .end_view = end_view,
						   .submit_plan = submit_plan,
						   .update_eval = update_eval,
						   .create_eval = create_eval,
						   .reblock_eval = reblock_eval},
		.prng = prng,
		.now_ns = now_ns,
		.rescheduled = note_reschedule,
		.broken = count_broken,
		.notes_context = c};
}

struct evaluation *evaluation_for(const struct job *job, enum eval_trigger trigger)
{
	struct evaluation *eval = evaluation_create();
	eval->id.bytes[0] = 0xe0;
	set(&eval->namespace_name, job->namespace_name);
	set(&eval->job_id, job->id);
	eval->priority = job->priority + 3; // all that follows has the same (row C50)
	eval->type = job->type;
	eval->triggered_by = (int)trigger;
	eval->job_modify_index = job->job_modify_index;
	eval->status = EVAL_PENDING;
	return eval;
}

int committer_run(struct committer *c, const struct evaluation *eval)
{
	struct prng prng;
	prng_seed(&prng, ++c->world->index);
	forget(&c->created, &c->created_count);
	forget(&c->updated, &c->updated_count);
	forget(&c->reblocked, &c->reblocked_count);
	c->plans = c->views = c->changes = c->reschedules = 0;
	struct scheduler_settings settings = committer_settings(c, &prng, NS_PER_S);
	c->priority = eval->priority;
	int result = scheduler_process(&settings, eval);
	CHECK(!c->in_view);
	CHECK(result < 0 || c->updated_count + c->reblocked_count == 1);
	return result;
}

const struct evaluation *committer_end(const struct committer *c)
{
	CHECK(c->updated_count == 1);
	return c->updated[0];
}
