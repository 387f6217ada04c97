#include "state/apply/apply.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/client.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/jobs/job_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_extra.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/nodes/node_room.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"

int client_check(const struct state *state, const void *body)
{
	const struct entry_client *e = body;

	if (e->name.size == 0 || e->name.size > CLIENT_NAME_BYTES_MAX ||
		!text_is_printable(e->name) || e->number != state->client_count ||
		client_find(state, e->name))
		return -ERROR_CORRUPT;
	return e->number < state->limits.clients ? 0 : -ERROR_TABLE_FULL;
}

void client_apply(struct state *state, void *body, int64_t time_ns)
{
	const struct entry_client *e = body;

	CHECK(e->number == state->client_count);
	client_add(state, e->name, state->index);
	CHECK(state->client_count == e->number + 1);
}

static bool is_client(const struct state *state, uint32_t client)
{
	return client == CLIENT_NONE || client < state->client_count;
}

// What was placed before allocations that are to stop counted may share their room.
static bool node_takes(const struct state *state, const struct entry_alloc_place *e)
{
	if (e->slot >= state_node_slots(state))
		return false;
	const struct node_cell *cell = &state->cells[e->slot];
	const struct node *n = cell->working;
	if (!n || n->generation != e->generation || n->status != NODE_READY ||
		n->eligibility != NODE_ELIGIBLE || !resources_add_up(cell->used, e->resources))
		return false;
	struct resources left = resources_minus(node_capacity(n), node_room_of_living(cell));
	return resources_fit(e->resources, left) && node_living_spare_devices(cell, &e->devices);
}

static bool job_takes(const struct state *state, const struct entry_alloc_place *e)
{
	const struct job *job = job_version_find(state, e->job_version);
	if (!job || job->stop || e->group >= job->asks.count)
		return false;

	const struct job_cell *cell = job_cell_of(state, job);
	struct job_keep *keep = job_cell_keep(cell);
	if (!keep || keep->versions[0] != job)
		return false;
	const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, e->group);
	const struct group_counter *counter = job_keep_counter(keep, text_of(group->name));
	return counter && counter->next == e->number && e->number != UINT32_MAX;
}

int alloc_place_check(const struct state *state, const void *body)
{
	const struct entry_alloc_place *e = body;

	if (uuid_is_zero(&e->id) || !is_client(state, e->client) || !node_takes(state, e) ||
		!job_takes(state, e) || alloc_cell_find(state, &e->id) ||
		!__builtin_isfinite(e->score))
		return -ERROR_CORRUPT;
	return state->tables[STATE_ALLOCATIONS].order.count < state->limits.allocations
		       ? 0
		       : -ERROR_TABLE_FULL;
}

static struct allocation *placed_build(const struct state *state, const struct entry_alloc_place *e,
	struct job *job, int64_t time_ns)
{
	CHECK(job && e->group < job->task_groups.count);
	struct allocation *a = allocation_create();

	a->record.create_index = a->record.modify_index = state->index;
	a->id = e->id;
	a->node_id = *node_cell_id(&state->cells[e->slot]);
	a->node_slot = e->slot;
	a->client = e->client;
	a->job = job;
	a->group = e->group;
	a->desired = ALLOC_RUN;
	a->client_status = ALLOC_PENDING;
	a->index = e->number;
	a->resources = e->resources;
	allocation_set_devices(a, &e->devices);
	a->score = e->score;
	a->nodes_evaluated = e->nodes_evaluated;
	a->nodes_feasible = e->nodes_feasible;
	a->alloc_modify_index = state->index;
	a->create_time_ns = a->modify_time_ns = time_ns;
	allocation_describe(a, END_NONE, CLIENT_TEXT_NONE);
	return a;
}

void alloc_place_apply(struct state *state, void *body, int64_t time_ns)
{
	const struct entry_alloc_place *e = body;
	struct job *job = job_version_find(state, e->job_version);

	CHECK(job && e->slot < state_node_slots(state));
	struct job_cell *job_cell = job_cell_of(state, job);
	const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, e->group);
	struct allocation *a = placed_build(state, e, job, time_ns);
	struct alloc_cell *cell = alloc_cell_add(state, job_cell, a);

	CHECK(cell->working == a && cell->job_cell == job_cell);
	change_add(state->changes, STATE_ALLOCATIONS, cell, &a->record);
	alloc_cell_changed(state, cell);
	node_task_scheduled(state, e->slot, group);
	struct job_keep *keep = job_keep_revise(state, job_cell, state->index);
	struct group_counter *counter = job_keep_counter(keep, text_of(group->name));
	CHECK(counter && counter->next == e->number);
	counter->next++;
	job_cell_update_status(state, job_cell, state->index);
	state_node_changed(state, e->slot);
}

int place_request_check(const struct state *state, const void *body)
{
	const struct entry_place_request *e = body;

	if (!is_client(state, e->client) ||
		place_request_find(state, e->client, e->issued_ms, e->request))
		return -ERROR_CORRUPT;
	return state->tables[STATE_PLACE_REQUESTS].order.count < state->limits.place_requests
		       ? 0
		       : -ERROR_TABLE_FULL;
}

void place_request_remember(
	struct state *state, const struct entry_place_request *e, uint64_t index)
{
	CHECK(e->count > 0 && e->count <= PLACE_COUNT_MAX);
	size_t items = e->count * sizeof e->items[0];
	struct place_request *request = memory_take(sizeof *request + items);

	request->index = index;
	request->issued_ms = e->issued_ms;
	request->request = e->request;
	request->client = e->client;
	request->nodes_feasible = e->nodes_feasible;
	request->requested = e->requested;
	request->count = e->count;
	memcpy(request->items, e->items, items);
	place_request_add(state, request);
}

void place_request_apply(struct state *state, void *body, int64_t time_ns)
{
	place_request_remember(state, body, state->index);
}

int alloc_release_check(const struct state *state, const void *body)
{
	const struct entry_alloc_release *e = body;

	for (uint8_t i = 0; i < e->count; i++) {
		const struct alloc_cell *cell = alloc_cell_find(state, &e->ids[i]);
		if (!cell || !alloc_cell_is_living(cell))
			return -ERROR_CORRUPT;
		for (uint8_t j = 0; j < i; j++)
			if (uuid_equal(&e->ids[i], &e->ids[j]))
				return -ERROR_CORRUPT;
	}
	return 0;
}

void alloc_release_apply(struct state *state, void *body, int64_t time_ns)
{
	const struct entry_alloc_release *e = body;

	for (uint8_t i = 0; i < e->count; i++) {
		struct alloc_cell *cell = alloc_cell_find(state, &e->ids[i]);
		CHECK(cell && alloc_cell_is_living(cell));
		alloc_cell_end(state, cell, END_RELEASED, time_ns, ++state->index);
		CHECK(!alloc_cell_is_living(cell));
		job_cell_update_status(state, cell->job_cell, state->index);
		// The node of a scheduled job's allocation may have been purged while it lived.
		if (cell->working->node_slot != NODE_SLOT_NONE)
			state_node_changed(state, cell->working->node_slot);
	}
}
