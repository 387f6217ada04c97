#include "state/tables/jobs/alloc_table.h"
#include "state/base/check.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/plan.h"
#include "state/records/slab.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/client.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_allocations.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/jobs/job_summary.h"
#include "state/tables/kind.h"
#include "state/tables/namespaces/namespace_table.h"
#include "state/tables/node_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_room.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

static int working_id_matches(struct cds_lfht_node *node, const void *id)
{
	return uuid_equal(alloc_cell_id(caa_container_of(node, struct alloc_cell, by_id)), id);
}

static int has_same_id(struct cds_lfht_node *node, const void *other)
{
	return working_id_matches(
		node, alloc_cell_id(caa_container_of(other, struct alloc_cell, by_id)));
}

// A reader may meet a cell whose first version is not published yet.
static int published_id_matches(struct cds_lfht_node *node, const void *id)
{
	const struct alloc_cell *cell = caa_container_of(node, struct alloc_cell, by_id);
	const struct allocation *a = __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE);
	return a && uuid_equal(&a->id, id);
}

static struct alloc_cell *find_by_id(
	const struct state *state, const struct uuid *id, cds_lfht_match_fct matches)
{
	struct cds_lfht_node *node =
		table_hash_find(state, STATE_ALLOCATIONS, uuid_hash(id), matches, id);
	return node ? caa_container_of(node, struct alloc_cell, by_id) : NULL;
}

struct alloc_cell *alloc_cell_find(const struct state *state, const struct uuid *id)
{
	return find_by_id(state, id, working_id_matches);
}

void alloc_cell_approach(const struct state *state, const struct uuid *id, uint32_t slot)
{
	table_hash_approach(state, STATE_ALLOCATIONS, uuid_hash(id));
	node_cell_prefetch(state, slot);
}

// A node has few allocations and reports about its newest: its list costs fewer cache misses than the table.
#define LOOKED_AT_NEAR 4u

// The table keeps its hashes this way round.
static uint64_t bits_reversed(uint64_t bits)
{
	bits = (bits & 0x5555555555555555ull) << 1 | (bits >> 1 & 0x5555555555555555ull);
	bits = (bits & 0x3333333333333333ull) << 2 | (bits >> 2 & 0x3333333333333333ull);
	bits = (bits & 0x0f0f0f0f0f0f0f0full) << 4 | (bits >> 4 & 0x0f0f0f0f0f0f0f0full);
	return __builtin_bswap64(bits);
}

struct alloc_cell *alloc_cell_find_near(
	const struct state *state, const struct uuid *id, uint32_t slot)
{
	CHECK(slot < state_node_slots(state));
	const struct cds_list_head *list = &state->cells[slot].allocations, *at = list->prev;
	uint64_t hash = bits_reversed(uuid_hash(id));

	for (uint32_t i = 0; i < LOOKED_AT_NEAR && at != list; i++, at = at->prev) {
		struct alloc_cell *cell = caa_container_of(at, struct alloc_cell, on_node);
		if (cell->by_id.reverse_hash == hash && uuid_equal(alloc_cell_id(cell), id))
			return cell;
	}
	return alloc_cell_find(state, id);
}

static void count_allocation(struct state *state, const struct allocation *a, int change)
{
	CHECK(change > 0 || state->counts.allocations > 0);
	state->counts.allocations += (uint32_t)change;
	if (allocation_is_terminal(a))
		state->counts.allocations_terminal += (uint32_t)change;
}

// One thread writes, so that nothing has to be locked.
static void change_count(struct node_cell *node, int change)
{
	uint32_t count = atomic_load_explicit(&node->allocation_count, memory_order_relaxed);
	atomic_store_explicit(
		&node->allocation_count, count + (uint32_t)change, memory_order_relaxed);
}

struct alloc_cell *alloc_cell_add(
	struct state *state, struct job_cell *job_cell, struct allocation *a)
{
	struct alloc_cell *cell = slab_take(sizeof *cell);

	cell->working = a;
	cell->job_cell = job_cell;
	CHECK(a->job && a->group < a->job->asks.count);
	CHECK(job_cell->present_count <= job_cell->allocation_count);
	a->job->references++;
	table_hash_add(state, STATE_ALLOCATIONS, uuid_hash(&a->id), &cell->by_id);
	if (a->node_slot != NODE_SLOT_NONE) {
		struct node_cell *node = &state->cells[a->node_slot];
		cds_list_add_tail_rcu(&cell->on_node, &node->allocations);
		change_count(node, 1);
	}
	job_allocations_add(job_cell, cell);
	sequence_append(&state->tables[STATE_ALLOCATIONS].order, a->record.create_index, cell);
	job_cell->present_count++;
	count_allocation(state, a, 1);
	cell->is_ended = allocation_is_terminal(a);
	job_cell->live_count += !cell->is_ended;
	if (!cell->is_ended)
		namespace_use(job_cell->space, a, 1);
	node_room_follow(state, cell);
	CHECK(cell->is_ended || job_cell->live_count <= job_cell->present_count);
	return cell;
}

struct allocation *allocation_revise(struct state *state, struct alloc_cell *cell, uint64_t index)
{
	struct allocation *old = cell->working;

	CHECK(old && index >= old->record.modify_index);
	if (old->record.modify_index < state->unpublished_from) {
		cell->working = allocation_create();
		*cell->working = *old;
		cell->working->record.older = &old->record;
		cell->working->devices = NULL;
		if (old->devices)
			allocation_set_devices(cell->working, old->devices);
		alloc_details_share(old->details);
		alloc_report_share(old->report);
		shared_metrics_share(old->metrics);
		change_add(state->changes, STATE_ALLOCATIONS, cell, &cell->working->record);
	}
	cell->working->record.modify_index = index;
	CHECK(!cell->working->record.deleted);
	return cell->working;
}

static void end_life(struct state *state, struct alloc_cell *cell)
{
	CHECK(!cell->is_ended && cell->job_cell->live_count > 0);
	cell->job_cell->live_count--;
	namespace_use(cell->job_cell->space, cell->working, -1);
	state->counts.allocations_terminal++;
	cell->is_ended = true;
}

// Ended allocations are listed in the order of their last change, so a snapshot can restore the list.
void alloc_cell_changed(struct state *state, struct alloc_cell *cell)
{
	const struct allocation *a = cell->working;

	CHECK(!a->record.deleted);
	job_summary_follow(state, cell);
	eval_follow_allocation(state, cell);
	deployment_follow_allocation(state, cell);
	if (allocation_is_terminal(a)) {
		if (cell->is_ended)
			cds_list_del(&cell->terminal);
		else
			end_life(state, cell);
		cds_list_add_tail(&cell->terminal, ended_list(state, a));
	}
	node_room_follow(state, cell);
	CHECK(cell->is_ended == allocation_is_terminal(a));
	if (a->client == CLIENT_NONE)
		return;
	CHECK(a->client < state->client_count);
	struct sequence *changes = &state->clients[a->client]->changes;
	if (a->record.modify_index != a->record.create_index)
		sequence_remove(changes, cell);
	sequence_append(changes, a->record.modify_index, cell);
}

void alloc_cell_resize(struct state *state, struct alloc_cell *cell, struct allocation *a,
	struct resources resources, const struct device_set *devices, struct alloc_details *details)
{
	CHECK(a == cell->working && !cell->is_ended);
	node_room_release(state, cell);
	a->resources = resources;
	allocation_set_devices(a, devices);
	if (details)
		allocation_set_details(a, details);
	node_room_take(state, cell);
}

static void leave_list(struct state *state, struct alloc_cell *cell)
{
	CHECK(cell->working->node_slot != NODE_SLOT_NONE);
	CHECK(state->cells[cell->working->node_slot].allocation_count > 0);
	cds_list_del_rcu(&cell->on_node);
	change_count(&state->cells[cell->working->node_slot], -1);
}

static void leave_table(struct state *state, struct alloc_cell *cell)
{
	table_hash_remove(state, STATE_ALLOCATIONS, uuid_hash(alloc_cell_id(cell)), &cell->by_id);
}

void alloc_cell_leave_node(struct state *state, struct alloc_cell *cell, uint64_t index)
{
	leave_list(state, cell);
	struct allocation *a = allocation_revise(state, cell, index);

	node_room_leave(state, cell);
	a->node_slot = NODE_SLOT_NONE;
	a->modify_time_ns = state->time_ns; // ended allocations are in this order
	alloc_cell_changed(state, cell);
	CHECK(a->node_slot == NODE_SLOT_NONE);
}

void alloc_cell_leave_grave(struct state *state, struct alloc_cell *cell)
{
	CHECK(!alloc_cell_is_there(cell));
	leave_list(state, cell);
	cell->working->node_slot = NODE_SLOT_NONE;
	CHECK(cell->working->node_slot == NODE_SLOT_NONE);
}

// A version holds a reference to its job when that is not the job of the version before it.
static bool owns_job(const struct allocation *a)
{
	const struct allocation *older = (const struct allocation *)a->record.older;
	return !older || older->job != a->job;
}

void allocation_set_job(struct state *state, struct allocation *a, struct job *job)
{
	if (a->job == job)
		return;
	if (owns_job(a))
		job_version_release(state, a->job);
	a->job = job;
	if (owns_job(a))
		job->references++;
	CHECK(!owns_job(a) || job->references > 0);
}

void allocation_set_details(struct allocation *a, struct alloc_details *details)
{
	CHECK(!details || details != a->details);
	alloc_details_release(a->details);
	a->details = details;
}

void allocation_set_health(struct allocation *a, struct optional_bool healthy, int64_t time_ns)
{
	const struct alloc_deployment_status *known = allocation_health(a);

	a->health = (struct alloc_deployment_status){.healthy = healthy,
		.timestamp_ns = time_ns,
		.canary = known && known->canary,
		.modify_index = a->record.modify_index,
		.is_there = true};
	CHECK(allocation_health(a)->healthy.value == healthy.value);
}

void allocation_set_report(struct allocation *a, struct alloc_report *report)
{
	alloc_report_release(a->report);
	a->report = report;
}

void allocation_set_metrics(struct allocation *a, struct shared_metrics *metrics)
{
	shared_metrics_release(a->metrics);
	a->metrics = metrics;
}

// Where both states are set without the node, both descriptions give the reason.
static const struct {
	uint8_t client_text;
	int client_status; // enum alloc_client; -1: stays as it is
} ends[END_CAUSES] = {
	[END_NODE_DOWN] = {CLIENT_TEXT_NODE_DOWN, ALLOC_LOST},
	[END_DEVICES_GONE] = {CLIENT_TEXT_DEVICES_GONE, ALLOC_LOST},
	[END_JOB_STOPPED] = {CLIENT_TEXT_NONE, -1},
	[END_RELEASED] = {CLIENT_TEXT_RELEASED, ALLOC_COMPLETE},
};

void alloc_cell_end(struct state *state, struct alloc_cell *cell, enum end_cause cause,
	int64_t time_ns, uint64_t index)
{
	CHECK(!cell->is_ended);
	CHECK(cause > END_NONE && cause < END_CAUSES && ends[cause].client_text < CLIENT_TEXTS);
	struct allocation *a = allocation_revise(state, cell, index);

	a->desired = ALLOC_STOP;
	if (ends[cause].client_status >= 0)
		a->client_status = (uint8_t)ends[cause].client_status;
	allocation_describe(a, cause, ends[cause].client_text);
	a->alloc_modify_index = index;
	a->modify_time_ns = time_ns;
	alloc_cell_changed(state, cell);
	CHECK(!alloc_cell_is_living(cell));
}

void alloc_cell_delete(struct state *state, struct alloc_cell *cell, uint64_t index)
{
	CHECK(alloc_cell_is_there(cell) && cell->is_ended);
	CHECK(cell->job_cell->present_count > 0);
	count_allocation(state, cell->working, -1);
	cell->job_cell->present_count--;
	cds_list_del(&cell->terminal);
	if (cell->working->client != CLIENT_NONE)
		sequence_remove(&state->clients[cell->working->client]->changes, cell);
	allocation_revise(state, cell, index)->record.deleted = true;
	if (cell->room != ROOM_NONE)
		state_node_changed(state, cell->working->node_slot);
	node_room_follow(state, cell);
	job_summary_follow(state, cell);
	eval_follow_allocation(state, cell);
	grave_add(state, STATE_ALLOCATIONS, cell);
	CHECK(!alloc_cell_is_there(cell) && !cell->eval_cell);
}

// The node is told at once of changes of its allocations that it did not report itself.
static void announce_to_node(struct state *state, const struct allocation *a)
{
	if (a->record.deleted || a->node_slot == NODE_SLOT_NONE)
		return;
	node_table_announce(state->node_table, a->node_slot, a->alloc_modify_index);
}

static void allocation_published_now(struct state *state, void *cell, void *before, void *now)
{
	node_use_follow(state, cell, before, now);
	announce_to_node(state, now);
}

static void allocation_noted(void *noted, uint64_t index)
{
	struct alloc_cell *cell = noted;
	atomic_store_explicit(&cell->job_cell->allocations_index, index, memory_order_relaxed);
}

static void allocation_settled(struct state *state, void *record)
{
	node_use_take_devices(state, record);
}

// When the new version has another job, the old version's job is released with the old version.
static void allocation_retired(struct state *state, void *record, const void *now)
{
	const struct allocation *old = record, *new = now;

	if (old->job != new->job)
		job_version_release(state, old->job);
}

static void free_allocation(void *record)
{
	allocation_free(record);
}

static void alloc_cell_free(struct rcu_head *head)
{
	struct alloc_cell *cell = caa_container_of(head, struct alloc_cell, rcu);

	allocation_free(cell->working);
	slab_give(cell, sizeof *cell);
}

static bool bury_allocation(struct state *state, void *item)
{
	struct alloc_cell *cell = item;
	struct job_cell *job_cell = cell->job_cell;

	if (cell->published != cell->working)
		return false;
	CHECK(cell->working->record.deleted);
	leave_table(state, cell);
	if (cell->working->node_slot != NODE_SLOT_NONE)
		leave_list(state, cell);
	job_allocations_remove(job_cell, cell);
	sequence_remove(&state->tables[STATE_ALLOCATIONS].order, cell);
	job_version_release(state, cell->working->job);
	job_cell_bury_if_idle(state, job_cell);
	call_rcu(&cell->rcu, alloc_cell_free);
	return true;
}

static void destroy_allocations(struct state *state)
{
	uint64_t cursor = 0;
	struct alloc_cell *cell;

	while ((cell = sequence_next(&state->tables[STATE_ALLOCATIONS].order, &cursor))) {
		leave_table(state, cell);
		cell_free_versions(&allocation_kind, cell);
		slab_give(cell, sizeof *cell);
	}
}

const struct kind allocation_kind = {
	.name = "allocation",
	.limit_offset = offsetof(struct state_limits, allocations),
	.limit_max = ALLOCATIONS_MAX,
	.position_offset = offsetof(struct alloc_cell, position),
	.is_hashed = true,
	.has_ids = true,
	.key_offset = offsetof(struct allocation, id),
	.is_same = has_same_id,
	.published = allocation_published_now,
	.noted = allocation_noted,
	.settled = allocation_settled,
	.sum = allocation_sum,
	.retired = allocation_retired,
	.free = free_allocation,
	.bury = bury_allocation,
	.destroy = destroy_allocations,
};

const struct allocation *state_allocation(const struct state *state, const struct uuid *id)
{
	const struct alloc_cell *cell = find_by_id(state, id, published_id_matches);
	return cell ? allocation_published(cell) : NULL;
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
