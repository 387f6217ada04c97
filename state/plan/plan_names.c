#include "state/plan/plan_names.h"
#include "state/base/memory.h"
#include "state/plan/plan_found.h"
#include "state/records/alloc_details.h"
#include "state/records/job_traits.h"
#include "state/records/shared_strings.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/job_allocations.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

#define NAME_TAKEN "allocation name is taken"
#define ID_TAKEN "allocation id is taken"

// Two hash tables of placements by index + 1 (0: empty); each capacity is a power of two.
struct plan_names {
	uint32_t *by_name, *by_id;
	uint32_t capacity;
	// The group hashed last.
	const char *group;
	uint64_t group_hash;
};

struct plan_names *plan_names_create(void)
{
	return memory_take(sizeof(struct plan_names));
}

void plan_names_free(struct plan_names *names)
{
	if (!names)
		return;
	free(names->by_name);
	free(names->by_id);
	free(names);
}

static void names_begin(struct plan_names *names, uint32_t count)
{
	uint32_t capacity = 64;

	while (capacity < 2 * count)
		capacity *= 2;
	if (capacity > names->capacity) {
		free(names->by_name);
		free(names->by_id);
		names->by_name = memory_take_array(capacity, sizeof names->by_name[0]);
		names->by_id = memory_take_array(capacity, sizeof names->by_id[0]);
	} else {
		memset(names->by_name, 0, capacity * sizeof names->by_name[0]);
		memset(names->by_id, 0, capacity * sizeof names->by_id[0]);
	}
	names->capacity = capacity;
	names->group = NULL;
}

struct name {
	const char *group;
	uint32_t index, slot;
};

static const char *group_name(const struct job *job, uint16_t group)
{
	return ARRAY_AT(&job->task_groups, struct task_group, group)->name;
}

static uint32_t name_hash(struct plan_names *names, const struct name *name)
{
	if (name->group != names->group) {
		names->group = name->group;
		names->group_hash = hash_keyed(0, name->group, (uint32_t)strlen(name->group));
	}
	uint64_t hash = (names->group_hash ^ ((uint64_t)name->slot << 32 | name->index)) *
			0x9e3779b97f4a7c15ull;
	return (uint32_t)(hash >> 32);
}

struct placed {
	const struct plan_placement *items;
	struct job *const *jobs;
};

static bool is_named(const struct placed *placed, uint32_t i, const struct name *name)
{
	const struct plan_placement *p = &placed->items[i];
	if (p->slot != name->slot || p->name_index != name->index)
		return false;
	const char *group = group_name(placed->jobs[i], p->group);
	return group == name->group || strcmp(group, name->group) == 0;
}

// The bucket of the placement with that name, or the free one for it.
static uint32_t *find_name(
	struct plan_names *names, const struct placed *placed, const struct name *name)
{
	uint32_t at = name_hash(names, name) & (names->capacity - 1);

	while (names->by_name[at] && !is_named(placed, names->by_name[at] - 1, name))
		at = (at + 1) & (names->capacity - 1);
	return &names->by_name[at];
}

static uint32_t *find_id(
	struct plan_names *names, const struct placed *placed, const struct uuid *id)
{
	uint32_t at = (uint32_t)uuid_hash(id) & (names->capacity - 1);

	while (names->by_id[at] && !uuid_equal(&placed->items[names->by_id[at] - 1].id, id))
		at = (at + 1) & (names->capacity - 1);
	return &names->by_id[at];
}

static void reject(
	struct plan_check *check, const uint32_t *node_at, uint32_t slot, const char *reason)
{
	check->nodes[node_at[slot] - 1].reason = reason;
}

static bool is_canary(const struct allocation *a)
{
	const struct alloc_deployment_status *health = allocation_health(a);
	return health && health->canary;
}

static bool is_planned_canary(const struct alloc_details *details)
{
	return details && details->deployment_status && details->deployment_status->canary;
}

static bool is_service_or_batch(const struct job *job)
{
	return job_is_counted(job);
}

// A canary has the name of the allocation it will replace. Instances of two versions also share a name for a while,
// and so do an allocation that was away and its stand-in.
static bool may_share(const struct placed *placed, uint32_t i, const struct allocation *a)
{
	return is_service_or_batch(placed->jobs[i]) &&
	       (a->job != placed->jobs[i] || is_canary(a) ||
		       is_planned_canary(placed->items[i].details) ||
		       (a->details && a->details->states.count));
}

static bool may_share_both(const struct placed *placed, uint32_t i, uint32_t j)
{
	return is_service_or_batch(placed->jobs[i]) &&
	       (placed->jobs[i] != placed->jobs[j] || is_planned_canary(placed->items[i].details) ||
		       is_planned_canary(placed->items[j].details));
}

static void name_enter(struct plan_names *names, const struct placed *placed, uint32_t count,
	struct plan_check *check, const uint32_t *node_at)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct plan_placement *p = &placed->items[i];
		if (!placed->jobs[i])
			continue;
		struct name name = {group_name(placed->jobs[i], p->group), p->name_index, p->slot};
		uint32_t *named = find_name(names, placed, &name);
		uint32_t *known = find_id(names, placed, &p->id);
		if (*named && !may_share_both(placed, i, *named - 1))
			reject(check, node_at, p->slot, NAME_TAKEN);
		if (*known)
			reject(check, node_at, p->slot, ID_TAKEN);
		*named = *known = i + 1;
	}
}

static void meet(struct plan_names *names, const struct placed *placed, struct plan_check *check,
	const uint32_t *node_at, const struct alloc_cell *cell)
{
	const struct allocation *a = cell->working;

	if (cell->job_cell != check->job_cell || cell->plan_mark == PLAN_MARK_STOP ||
		!alloc_cell_is_living(cell) || a->node_slot == NODE_SLOT_NONE ||
		!node_at[a->node_slot])
		return;
	struct name name = {group_name(a->job, a->group), a->index, a->node_slot};
	uint32_t named = *find_name(names, placed, &name);
	if (named && !may_share(placed, named - 1, a))
		reject(check, node_at, a->node_slot, NAME_TAKEN);
}

static bool is_less_by_node(const struct state *state, const struct plan_check *check)
{
	uint64_t on_nodes = 0;

	for (uint32_t i = 0; i < check->node_count; i++)
		if (check->nodes[i].places)
			on_nodes += state->cells[check->nodes[i].slot].allocation_count;
	return on_nodes < check->job_cell->allocation_count;
}

static void meet_living(struct plan_names *names, const struct state *state,
	const struct placed *placed, struct plan_check *check, const uint32_t *node_at)
{
	const struct alloc_cell *cell;

	if (!is_less_by_node(state, check)) {
		FOR_ALLOCATIONS_OF(cell, check->job_cell)
		meet(names, placed, check, node_at, cell);
		return;
	}
	for (uint32_t i = 0; i < check->node_count; i++) {
		if (!check->nodes[i].places)
			continue;
		cds_list_for_each_entry_rcu (
			cell, &state->cells[check->nodes[i].slot].allocations, on_node)
			meet(names, placed, check, node_at, cell);
	}
}

void plan_names_check(struct plan_names *names, const struct state *state,
	const struct entry_plan *e, struct plan_check *check, const uint32_t *node_at)
{
	struct placed placed = {e->placements.items, check->placement_jobs};

	if (!check->job_cell)
		return;
	names_begin(names, e->placements.count);
	name_enter(names, &placed, e->placements.count, check, node_at);
	if (check->job_cell->live_count > 0)
		meet_living(names, state, &placed, check, node_at);
}
