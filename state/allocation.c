#include "state/allocation.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/publish.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

const char *const alloc_desired_names[] = {"run", "stop", "evict"};
const char *const alloc_client_names[] = {
	"pending", "running", "complete", "failed", "lost", "unknown"};

// The reason is in both descriptions where the scheduler sets both states.
static const struct {
	const char *desired_description, *client_description;
	int client_status; // enum alloc_client; -1: stays as it is
} ends[END_CAUSES] = {
	[END_NONE] = {"", "", -1},
	[END_NODE_DOWN] = {"alloc is lost since its node is down",
		"alloc is lost since its node is down", ALLOC_LOST},
	[END_DEVICES_GONE] = {"alloc is lost since its devices are gone",
		"alloc is lost since its devices are gone", ALLOC_LOST},
	[END_JOB_STOPPED] = {"alloc not needed due to job update", "", -1},
	[END_RELEASED] = {"released by client", "released by client", ALLOC_COMPLETE},
};

enum end_cause allocation_end_cause(const struct allocation *a)
{
	enum end_cause cause = END_NONE;

	while (cause + 1 < END_CAUSES && a->desired_description != ends[cause].desired_description)
		cause++;
	return cause;
}

void allocation_describe_end(struct allocation *a, enum end_cause cause)
{
	a->desired_description = ends[cause].desired_description;
	a->client_description = ends[cause].client_description;
}

static int id_matches(struct cds_lfht_node *node, const void *id)
{
	return uuid_equal(&caa_container_of(node, struct alloc_cell, by_id)->id, id);
}

struct alloc_cell *alloc_cell_find(const struct state *state, const struct uuid *id)
{
	struct cds_lfht_iter iter;

	cds_lfht_lookup(state->allocations, uuid_hash(id), id_matches, id, &iter);
	struct cds_lfht_node *node = cds_lfht_iter_get_node(&iter);
	return node ? caa_container_of(node, struct alloc_cell, by_id) : NULL;
}

static void count(struct state *state, const struct allocation *a, int change)
{
	state->counts.allocations += (uint32_t)change;
	if (allocation_is_terminal(a))
		state->counts.allocations_terminal += (uint32_t)change;
}

// --- The working state ---------------------------------------------------------------------------

static void hold_node(struct state *state, const struct allocation *a)
{
	struct node_cell *node = &state->cells[a->node_slot];

	node->used = resources_plus(node->used, a->resources);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		node->devices_used.groups[i] |= a->devices.groups[i];
}

struct alloc_cell *alloc_cell_add(
	struct state *state, struct job_cell *job_cell, struct allocation *a)
{
	struct alloc_cell *cell = memory_take(sizeof *cell);
	struct node_cell *node = &state->cells[a->node_slot];

	cell->id = a->id;
	cell->working = a;
	cell->job_cell = job_cell;
	a->job->references++;
	cds_lfht_add(state->allocations, uuid_hash(&a->id), &cell->by_id);
	cds_list_add_tail_rcu(&cell->on_node, &node->allocations);
	cds_list_add_tail_rcu(&cell->of_job, &job_cell->allocations);
	sequence_append(&state->allocation_order, a->record.create_index, cell);
	node->allocation_count++;
	job_cell->allocation_count++;
	job_cell->present_count++;
	count(state, a, 1);
	if (!allocation_is_terminal(a)) {
		hold_node(state, a);
		job_cell->live_count++;
	}
	return cell;
}

struct allocation *allocation_revise(struct state *state, struct alloc_cell *cell, uint64_t index)
{
	struct allocation *old = cell->working;

	if (old->record.modify_index < state->unpublished_from) {
		cell->working = memory_take(sizeof *cell->working);
		*cell->working = *old;
		cell->working->record.older = &old->record;
		change_add(state->changes, CHANGE_ALLOCATION, cell, &cell->working->record);
	}
	cell->working->record.modify_index = index;
	return cell->working;
}

void alloc_cell_changed(struct state *state, struct alloc_cell *cell)
{
	const struct allocation *a = cell->working;

	if (a->client == CLIENT_NONE)
		return;
	struct sequence *changes = &state->clients[a->client]->changes;
	if (a->record.modify_index != a->record.create_index)
		sequence_remove(changes, cell);
	sequence_append(changes, a->record.modify_index, cell);
}

void alloc_cell_end(struct state *state, struct alloc_cell *cell, enum end_cause cause,
	int64_t time_ns, uint64_t index)
{
	struct allocation *a = allocation_revise(state, cell, index);
	struct node_cell *node = &state->cells[a->node_slot];

	CHECK(!allocation_is_terminal(a));
	node->used = resources_minus(node->used, a->resources);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		node->devices_used.groups[i] &= ~a->devices.groups[i];
	a->desired = ALLOC_STOP;
	if (ends[cause].client_status >= 0)
		a->client_status = (uint8_t)ends[cause].client_status;
	allocation_describe_end(a, cause);
	a->alloc_modify_index = index;
	a->modify_time_ns = time_ns;
	cell->job_cell->live_count--;
	cds_list_add_tail(&cell->terminal, &state->terminal);
	state->counts.allocations_terminal++;
	alloc_cell_changed(state, cell);
}

void alloc_cell_delete(struct state *state, struct alloc_cell *cell, uint64_t index)
{
	count(state, cell->working, -1);
	cell->job_cell->present_count--;
	cds_list_del(&cell->terminal);
	if (cell->working->client != CLIENT_NONE)
		sequence_remove(&state->clients[cell->working->client]->changes, cell);
	allocation_revise(state, cell, index)->record.deleted = true;
	state_grave_add(state, GRAVE_ALLOCATION, cell);
}

// --- Readers -------------------------------------------------------------------------------------

const struct allocation *state_allocation(const struct state *state, const struct uuid *id)
{
	const struct alloc_cell *cell = alloc_cell_find(state, id);
	return cell ? allocation_published(cell) : NULL;
}

const struct allocation *state_next_allocation(const struct state *state, uint64_t *cursor)
{
	const struct alloc_cell *cell;

	while ((cell = sequence_next(&state->allocation_order, cursor))) {
		const struct allocation *a = allocation_published(cell);
		if (a)
			return a;
	}
	return NULL;
}

void state_node_allocations(
	const struct state *state, uint32_t slot, state_allocation_visit *visit, void *context)
{
	const struct alloc_cell *cell;

	if (!state_node_at(state, slot))
		return;
	cds_list_for_each_entry_rcu (cell, &state->cells[slot].allocations, on_node) {
		const struct allocation *a = allocation_published(cell);
		if (a && !visit(a, context))
			return;
	}
}
