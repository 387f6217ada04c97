#include "state/plan/plan_check.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/plan/plan_check_private.h"
#include "state/plan/plan_deployment.h"
#include "state/records/alloc_details.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_ports_cores.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

// More reasons why a node takes nothing; plan_fit.c has those of the node itself.
#define JOB_MISSING "job version does not exist"
#define NOT_SOUND "placement is not sound"

static void plan_checker_free(struct plan_checker *c)
{
	memory_unmap(c->node_at, (size_t)c->slots_max * sizeof c->node_at[0]);
	plan_names_free(c->names);
	node_ports_cores_release(&c->held);
	free(c->devices);
	free(c->details);
	free(c->check.stops);
	free(c->check.preemptions);
	free(c->check.updates);
	free(c->check.update_jobs);
	free(c->check.update_groups);
	free(c->check.placement_jobs);
	free(c->check.nodes);
	free(c->check.missing);
	free(c);
}

struct plan_checker *plan_checker_of(const struct state *state)
{
	struct plan_memory *memory = state->plan_memory;

	if (memory->checker)
		return memory->checker;
	struct plan_checker *c = memory_take(sizeof *c);
	c->slots_max = state->slots_max;
	c->node_at = memory_map((size_t)state->slots_max * sizeof c->node_at[0]);
	CHECK(c->node_at);
	c->names = plan_names_create();
	memory->checker = c;
	memory->free = plan_checker_free;
	return c;
}

struct plan_check *plan_checked(struct plan_checker *c)
{
	return &c->check;
}

static struct plan_node *node_of(struct plan_checker *c, uint32_t slot)
{
	struct plan_check *check = &c->check;

	CHECK(slot < c->slots_max);
	if (!c->node_at[slot]) {
		check->nodes = memory_one_more(
			check->nodes, check->node_count, &c->node_capacity, sizeof check->nodes[0]);
		check->nodes[check->node_count++] = (struct plan_node){.slot = slot};
		c->node_at[slot] = check->node_count;
	}
	CHECK(check->nodes[c->node_at[slot] - 1].slot == slot);
	return &check->nodes[c->node_at[slot] - 1];
}

static struct plan_devices *devices_of(struct plan_checker *c, struct plan_node *n)
{
	if (!n->devices) {
		c->devices = memory_one_more(
			c->devices, c->device_count, &c->device_capacity, sizeof c->devices[0]);
		c->devices[c->device_count++] = (struct plan_devices){0};
		n->devices = c->device_count;
	}
	CHECK(n->devices <= c->device_count);
	return &c->devices[n->devices - 1];
}

static void add_missing(struct plan_checker *c, const struct uuid *id)
{
	struct plan_check *check = &c->check;

	check->is_complete = false;
	for (uint32_t i = 0; i < check->missing_count; i++)
		if (uuid_equal(&check->missing[i], id))
			return;
	check->missing = memory_one_more(check->missing, check->missing_count, &c->missing_capacity,
		sizeof check->missing[0]);
	check->missing[check->missing_count++] = *id;
}

// own: what the allocation holds already; NULL: nothing.
static void add_use(struct plan_checker *c, struct plan_node *n, struct resources resources,
	const struct device_set *set, const struct device_set *own)
{
	n->cpu_mhz += resources.cpu_mhz;
	n->memory_mb += resources.memory_mb;
	n->disk_mb += resources.disk_mb;
	if (device_set_is_empty(set))
		return;
	struct plan_devices *devices = devices_of(c, n);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++) {
		devices->are_twice |= (set->groups[i] & devices->added.groups[i]) != 0;
		devices->added.groups[i] |= set->groups[i];
		devices->fresh.groups[i] |= set->groups[i] & ~(own ? own->groups[i] : 0);
	}
}

static void add_details(struct plan_checker *c, struct plan_node *n,
	const struct alloc_details *details, bool is_held)
{
	if (!alloc_details_hold_node(details))
		return;
	c->details = memory_one_more(
		c->details, c->details_count, &c->details_capacity, sizeof c->details[0]);
	c->details[c->details_count++] = (struct plan_details){details, n->details, is_held};
	n->details = c->details_count;
}

// Marks each allocation once. The mark is removed at the end.
static bool mark(struct alloc_cell *cell, uint8_t mark)
{
	if (cell->plan_mark)
		return false;
	cell->plan_mark = mark;
	return true;
}

static void look_at_stops(struct plan_checker *c, const struct state *state,
	const struct array *stops, struct alloc_cell **cells, bool are_preemptions)
{
	for (uint32_t i = 0; i < stops->count; i++) {
		const struct plan_stop *s = ARRAY_AT(stops, struct plan_stop, i);
		struct alloc_cell *cell = alloc_cell_find(state, &s->id);
		bool is_there = cell && alloc_cell_is_there(cell) &&
				(!are_preemptions || !cell->is_ended || cell->room != ROOM_NONE);
		cells[i] = is_there && mark(cell, PLAN_MARK_STOP) ? cell : NULL;
		c->check.is_complete &= cells[i] != NULL;
		if (!cells[i] || cell->working->node_slot == NODE_SLOT_NONE)
			continue;
		struct plan_node *n = node_of(c, cell->working->node_slot);
		if (plan_counts(c, cell))
			n->freed = resources_plus(n->freed, cell->working->resources);
	}
}

static struct job *update_version(
	struct plan_checker *c, const struct state *state, uint64_t modify_index)
{
	struct known_version *known = &c->of_updates;
	struct job_cell *cell;

	if (modify_index != known->modify_index)
		*known = (struct known_version){
			modify_index, job_version_kept(state, modify_index, &cell)};
	return known->job;
}

// Finds the version that an update gives an allocation, and the group's index in it.
static bool find_update_job(struct plan_checker *c, const struct state *state, uint32_t i,
	const struct plan_update *u, const struct allocation *a)
{
	struct job *job = u->job_version ? update_version(c, state, u->job_version) : a->job;
	int group = a->group;

	if (job && job != a->job) {
		bool is_same = strcmp(job->id, a->job->id) == 0 &&
			       strcmp(job->namespace_name, a->job->namespace_name) == 0;
		const struct task_group *from = allocation_group(a);
		group = is_same ? job_group_index(job, text_of(from->name)) : -1;
	}
	if (!job || group < 0)
		return false;
	c->check.update_jobs[i] = job;
	c->check.update_groups[i] = (uint16_t)group;
	return true;
}

static bool update_is_sound(
	const struct entry_plan *e, const struct plan_update *u, const struct allocation *a)
{
	return !job_is_direct(a->job) &&
	       (u->client_status == PLAN_KEEP || u->client_status == ALLOC_UNKNOWN) &&
	       (u->metrics == PLAN_NO_METRICS || u->metrics < e->metrics.count);
}

bool plan_update_is_note(const struct plan_update *u, const struct allocation *a)
{
	if (u->job_version || u->client_status != PLAN_KEEP || job_is_direct(a->job))
		return false;
	return allocation_is_terminal(a) ||
	       (u->details && !alloc_details_hold_node(u->details) &&
		       !alloc_details_hold_node(a->details) &&
		       memcmp(&u->resources, &a->resources, sizeof a->resources) == 0 &&
		       device_set_is_equal(&u->devices, allocation_devices(a)));
}

// A note goes also beside the stop of its allocation.
static void look_at_note(struct plan_checker *c, uint32_t i, struct alloc_cell *cell)
{
	bool is_taken = cell->plan_mark == PLAN_MARK_STOP || mark(cell, PLAN_MARK_UPDATE);

	c->check.updates[i] = is_taken ? cell : NULL;
	c->check.is_complete &= c->check.updates[i] != NULL;
	c->check.update_jobs[i] = cell->working->job;
	c->check.update_groups[i] = cell->working->group;
}

// Whether the allocation is unknown after the update: notes on an unknown one are taken while its node is away.
static bool leaves_unknown(const struct plan_update *u, const struct allocation *a)
{
	return u->client_status == ALLOC_UNKNOWN ||
	       (a->client_status == ALLOC_UNKNOWN && u->job_version == 0);
}

static void look_at_update(struct plan_checker *c, const struct state *state,
	const struct entry_plan *e, uint32_t i, const struct plan_update *u)
{
	struct alloc_cell *cell = alloc_cell_find(state, &u->id);

	c->check.updates[i] = NULL;
	if (cell && alloc_cell_is_there(cell) && plan_update_is_note(u, cell->working)) {
		look_at_note(c, i, cell);
		return;
	}
	if (!cell || !alloc_cell_is_living(cell) || cell->plan_mark) {
		c->check.is_complete = false;
		return;
	}
	const struct allocation *a = cell->working;
	if (a->node_slot == NODE_SLOT_NONE) {
		add_missing(c, &a->node_id);
		return;
	}
	struct plan_node *n = node_of(c, a->node_slot);
	c->check.updates[i] = cell;
	(void)mark(cell, PLAN_MARK_UPDATE);
	n->updates = true;
	n->not_only_unknown |= !leaves_unknown(u, a);
	if (!update_is_sound(e, u, a))
		n->reason = NOT_SOUND;
	else if (!find_update_job(c, state, i, u, a))
		n->reason = JOB_MISSING;
	n->freed = resources_plus(n->freed, a->resources);
	add_use(c, n, u->resources, &u->devices, allocation_devices(a));
	n->takes_more |= !resources_fit(u->resources, a->resources) || u->details ||
			 !device_set_is_equal(&u->devices, allocation_devices(a));
	add_details(c, n, u->details ? u->details : a->details, u->details == NULL);
}

static bool placement_is_sound(const struct state *state, const struct entry_plan *e,
	const struct plan_placement *p, const struct job *job)
{
	return p->group < job->asks.count && !job_is_direct(job) && !uuid_is_zero(&p->id) &&
	       __builtin_isfinite(p->score) &&
	       (p->metrics == PLAN_NO_METRICS || p->metrics < e->metrics.count) &&
	       !alloc_cell_find(state, &p->id);
}

// All placements of a plan belong to one existing job.
static struct job *placement_version(
	struct plan_checker *c, const struct state *state, uint64_t modify_index)
{
	struct known_version *known = &c->of_placements;

	if (modify_index == known->modify_index)
		return known->job;
	struct job_cell *cell;
	struct job *job = job_version_kept(state, modify_index, &cell);
	if (job && !c->check.job_cell)
		c->check.job_cell = cell;
	*known =
		(struct known_version){modify_index, job && cell == c->check.job_cell ? job : NULL};
	return known->job;
}

static void look_at_placement(struct plan_checker *c, const struct state *state,
	const struct entry_plan *e, uint32_t i, const struct plan_placement *p)
{
	struct job *job = placement_version(c, state, p->job_version);
	const struct node *there = node_working(state, p->slot);
	// A decoded entry names nodes by their slots alone.
	c->check.placement_jobs[i] = NULL;
	if (!there || there->record.deleted ||
		(!uuid_equal(&there->id, &p->node_id) && !uuid_is_zero(&p->node_id))) {
		add_missing(c, &p->node_id);
		return;
	}
	struct plan_node *n = node_of(c, p->slot);
	n->places = n->not_only_unknown = n->takes_more = true;
	if (!job)
		n->reason = JOB_MISSING;
	else if (!placement_is_sound(state, e, p, job))
		n->reason = NOT_SOUND;
	else
		c->check.placement_jobs[i] = job;
	add_use(c, n, p->resources, &p->devices, NULL);
	add_details(c, n, p->details, false);
}

static void look_at_placements(
	struct plan_checker *c, const struct state *state, const struct entry_plan *e)
{
	const struct plan_placement *p = e->placements.items;

	for (uint32_t i = 0; i < e->placements.count; i++) {
		if (i + 2 * PLAN_NODES_AHEAD < e->placements.count) {
			node_cell_prefetch(state, p[i + 2 * PLAN_NODES_AHEAD].slot);
			node_cell_prefetch_record(state, p[i + PLAN_NODES_AHEAD].slot);
			__builtin_prefetch(p[i + PLAN_NODES_AHEAD].details);
		}
		look_at_placement(c, state, e, i, &p[i]);
	}
}

static void **room_for(void *items, uint32_t count, uint32_t *capacity, size_t bytes_each)
{
	if (count <= *capacity)
		return items;
	*capacity = count;
	free(items);
	return memory_take_array(count, bytes_each);
}

static void check_begin(struct plan_checker *c, const struct entry_plan *e)
{
	struct plan_check *check = &c->check;
	uint32_t capacity = c->update_capacity, groups = c->update_capacity;

	check->stops = (struct alloc_cell **)room_for(
		check->stops, e->stops.count, &c->stop_capacity, sizeof(void *));
	check->preemptions = (struct alloc_cell **)room_for(
		check->preemptions, e->preemptions.count, &c->preemption_capacity, sizeof(void *));
	check->updates = (struct alloc_cell **)room_for(
		check->updates, e->updates.count, &c->update_capacity, sizeof(void *));
	check->update_jobs = (struct job **)room_for(
		check->update_jobs, e->updates.count, &capacity, sizeof(void *));
	check->update_groups = (uint16_t *)room_for(
		check->update_groups, e->updates.count, &groups, sizeof(uint16_t));
	check->placement_jobs = (struct job **)room_for(
		check->placement_jobs, e->placements.count, &c->placement_capacity, sizeof(void *));
	check->node_count = check->missing_count = 0;
	check->job_cell = NULL;
	check->is_complete = true;
	c->device_count = c->details_count = 0;
	c->of_updates = c->of_placements = (struct known_version){0};
}

static void unmark(struct alloc_cell *const *cells, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (cells[i])
			cells[i]->plan_mark = 0;
}

static bool is_rejected(const struct plan_checker *c, uint32_t slot)
{
	return slot != NODE_SLOT_NONE && c->node_at[slot] &&
	       c->check.nodes[c->node_at[slot] - 1].reason;
}

static void leave_out(const struct plan_checker *c, struct alloc_cell **cells, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (cells[i] && is_rejected(c, cells[i]->working->node_slot))
			cells[i] = NULL;
}

static void leave_out_rejected(struct plan_checker *c, const struct entry_plan *e)
{
	leave_out(c, c->check.stops, e->stops.count);
	leave_out(c, c->check.preemptions, e->preemptions.count);
	leave_out(c, c->check.updates, e->updates.count);
	for (uint32_t i = 0; i < e->placements.count; i++)
		if (c->check.placement_jobs[i] &&
			is_rejected(c, ARRAY_AT(&e->placements, struct plan_placement, i)->slot))
			c->check.placement_jobs[i] = NULL;
}

static void judge_nodes(struct plan_checker *c, const struct state *state)
{
	const struct plan_node *nodes = c->check.nodes;

	for (uint32_t i = 0; i < c->check.node_count; i++) {
		if (i + 2 * PLAN_NODES_AHEAD < c->check.node_count) {
			node_cell_prefetch(state, nodes[i + 2 * PLAN_NODES_AHEAD].slot);
			node_cell_prefetch_record(state, nodes[i + PLAN_NODES_AHEAD].slot);
		}
		c->check.nodes[i].reason = plan_node_lacks(c, state, &c->check.nodes[i]);
		c->check.is_complete &= c->check.nodes[i].reason == NULL;
	}
}

static void look_at_deployments(
	struct plan_checker *c, const struct state *state, const struct entry_plan *e)
{
	c->check.is_stale = plan_deployment_is_stale(state, e);
	c->check.is_complete &= !c->check.is_stale;
	for (uint32_t i = 0; i < e->deployment_updates.count; i++)
		c->check.is_complete &= plan_deployment_update_holds(state, e, i);
}

static struct plan_check *check_plan(
	struct plan_checker *c, const struct state *state, const struct entry_plan *e)
{
	struct plan_check *check = &c->check;

	check_begin(c, e);
	look_at_stops(c, state, &e->stops, check->stops, false);
	look_at_stops(c, state, &e->preemptions, check->preemptions, true);
	for (uint32_t i = 0; i < e->updates.count; i++)
		look_at_update(c, state, e, i, ARRAY_AT(&e->updates, struct plan_update, i));
	look_at_placements(c, state, e);
	look_at_deployments(c, state, e);
	plan_names_check(c->names, state, e, check, c->node_at);
	judge_nodes(c, state);
	unmark(check->stops, e->stops.count);
	unmark(check->preemptions, e->preemptions.count);
	unmark(check->updates, e->updates.count);
	if (!check->is_complete)
		leave_out_rejected(c, e);
	for (uint32_t i = 0; i < check->node_count; i++)
		c->node_at[check->nodes[i].slot] = 0;
	return check;
}

struct plan_check *plan_check(
	struct plan_checker *c, const struct state *state, const struct entry_plan *e)
{
	c->is_replayed = false;
	return check_plan(c, state, e);
}

struct plan_check *plan_check_again(
	struct plan_checker *c, const struct state *state, const struct entry_plan *e)
{
	c->is_replayed = true;
	return check_plan(c, state, e);
}
