// Puts the items of a snapshot back. Everything in them is checked before it is believed: a
// snapshot file has a checksum, but the checksum does not know what the tables rely on.
#include "state/apply/apply.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/records/job_traits.h"
#include "state/snapshot/snapshot_allocation.h"
#include "state/snapshot/snapshot_item.h"
#include "state/snapshot/snapshot_job.h"
#include "state/snapshot/snapshot_node.h"
#include "state/snapshot/snapshot_record.h"
#include "state/snapshot/snapshot_view.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/client.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_children.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/jobs/job_summary.h"
#include "state/tables/jobs/job_table.h"
#include "state/tables/namespaces/namespace_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_extra.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/nodes/node_room.h"
#include "state/tables/publication_check.h"
#include "state/tables/publish.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include "state/tables/widener.h"
#include <limits.h>
#include <stdlib.h>

// Allocations by their last changes, gathered as they come: the order is found without another look at each.
struct changes {
	struct changed {
		uint64_t modify_index;
		struct alloc_cell *cell;
	} * items;
	uint32_t count, capacity;
	bool is_out_of_order;
};

struct snapshot_load {
	struct state *state;
	int at; // rank of the newest item that was put back; 0: none came yet
	uint64_t items;
	int error;
	bool is_namespaced;
	struct snapshot_nodes nodes;
	struct changes changes;
	struct {
		struct snapshot_metrics *metrics;
		struct node_registration description; // scratch
		uint32_t slots_backed;
	} ahead; // of who decodes
};

struct snapshot_load *snapshot_load_begin(struct state *state)
{
	struct snapshot_load *l = memory_take(sizeof *l);

	l->state = state;
	l->ahead.metrics = snapshot_metrics_create();
	tables_gather(state, false);
	state_read_begin();
	return l;
}

static int corrupt_unless(bool condition)
{
	return condition ? 0 : -ERROR_CORRUPT;
}

static int load_head(struct snapshot_load *l, struct bytes_reader *r)
{
	struct state *state = l->state;

	state->index = bytes_take_u64(r);
	state->term = bytes_take_u64(r);
	state->forgotten_ms = (int64_t)bytes_take_u64(r);
	// Both are counted up from here for as long as the system lives.
	return corrupt_unless(
		!r->failed && state->index < UINT64_MAX / 2 && state->term < UINT64_MAX / 2);
}

static int load_client(struct snapshot_load *l, struct bytes_reader *r)
{
	struct entry_client e = {.number = bytes_take_u32(r)};
	uint64_t create_index = bytes_take_u64(r);
	e.name = bytes_take_text8(r);

	if (r->failed || create_index > l->state->index)
		return -ERROR_CORRUPT;
	int error = client_check(l->state, &e);
	if (!error)
		client_add(l->state, e.name, create_index);
	return error;
}

// A node that registered again with less may be over-committed, but nothing was placed on it since (see verify.c).
// Allocations come in the order in which they were placed.
static bool has_room(const struct node_cell *cell, const struct allocation *a)
{
	struct resources capacity = node_capacity(cell->working), ask = a->resources;

	if (a->record.create_index < cell->working->register_index)
		return true;
	struct resources used = node_room_of_living(cell);
	return (ask.cpu_mhz == 0 || used.cpu_mhz + ask.cpu_mhz <= capacity.cpu_mhz) &&
	       (ask.memory_mb == 0 || used.memory_mb + ask.memory_mb <= capacity.memory_mb) &&
	       (ask.disk_mb == 0 || used.disk_mb + ask.disk_mb <= capacity.disk_mb);
}

// A living allocation has room on its node beside the other living ones and shares no device instance with them.
// Allocations of direct jobs end with their node.
static bool node_holds(const struct state *state, const struct allocation *a)
{
	if (a->node_slot == NODE_SLOT_NONE)
		return !uuid_is_zero(&a->node_id);
	if (a->node_slot >= state_node_slots(state) || !state->cells[a->node_slot].working)
		return false;
	const struct node_cell *cell = &state->cells[a->node_slot];
	if (allocation_holds_room(a) && !resources_add_up(cell->used, a->resources))
		return false;
	if (allocation_is_terminal(a))
		return true;
	return (cell->working->status == NODE_READY || !job_is_direct(a->job)) &&
	       has_room(cell, a) && node_living_spare_devices(cell, allocation_devices(a));
}

static int allocation_check(const struct state *state, const struct allocation *a)
{
	if (a->record.create_index <= sequence_last_key(&state->tables[STATE_ALLOCATIONS].order) ||
		a->record.create_index > a->record.modify_index ||
		a->record.modify_index > state->index || uuid_is_zero(&a->id))
		return -ERROR_CORRUPT;
	if (a->desired > ALLOC_EVICT || a->client_status > ALLOC_UNKNOWN ||
		(a->end_cause != END_NONE) != (a->desired != ALLOC_RUN) ||
		!__builtin_isfinite(a->score) || !a->job || a->group >= a->job->asks.count ||
		(a->client != CLIENT_NONE && a->client >= state->client_count) ||
		!node_holds(state, a))
		return -ERROR_CORRUPT;
	return table_has_room(state, STATE_ALLOCATIONS, 1) ? 0 : -ERROR_TABLE_FULL;
}

// A direct job with living allocations is there and does not give their numbers again.
static bool job_keeps_number(struct job_cell *cell, const struct allocation *a)
{
	struct job_keep *keep = job_cell_keep(cell);

	if (allocation_is_terminal(a) || !job_is_direct(a->job))
		return true;
	if (!keep)
		return false;
	const struct task_group *group = allocation_group(a);
	const struct group_counter *counter = job_keep_counter(keep, text_of(group->name));
	return a->index < (counter ? counter->next : keep->counter_floor);
}

static void changes_add(struct changes *c, struct alloc_cell *cell)
{
	uint64_t index = cell->working->record.modify_index;

	if (c->count == c->capacity) {
		c->capacity = c->capacity ? c->capacity * 2 : 1024;
		c->items = memory_resize(c->items, c->capacity * sizeof c->items[0]);
	}
	c->is_out_of_order |= c->count > 0 && c->items[c->count - 1].modify_index >= index;
	c->items[c->count++] = (struct changed){index, cell};
}

static int add_allocation(struct snapshot_load *l, struct allocation *a)
{
	struct state *state = l->state;
	int error = allocation_check(state, a);
	if (error)
		return error;
	struct job_cell *job_cell =
		job_cell_find(state, text_of(a->job->namespace_name), text_of(a->job->id));
	if (!job_cell || !job_keeps_number(job_cell, a))
		return -ERROR_CORRUPT;

	if (a->node_slot != NODE_SLOT_NONE)
		a->node_id = *node_cell_id(&state->cells[a->node_slot]);
	struct alloc_cell *cell = alloc_cell_add(state, job_cell, a);
	publish_loaded(STATE_ALLOCATIONS, cell, a);
	job_summary_counted(cell);
	node_use_follow(state, cell, NULL, a);
	node_use_take_devices(state, a);
	changes_add(&l->changes, cell);
	return 0;
}

static int load_allocation(struct snapshot_load *l, struct snapshot_item *item)
{
	struct allocation *a = item->allocation.allocation;

	if (item->error)
		return item->error;
	a->job = job_version_find(l->state, item->allocation.job_version);
	int error = add_allocation(l, a);
	if (!error)
		item->allocation.allocation = NULL;
	return error;
}

static int load_request(struct snapshot_load *l, bool is_whole, struct bytes_reader *r)
{
	struct state *state = l->state;
	struct entry_place_request e;
	uint64_t index = bytes_take_u64(r);

	int error =
		coder_read(is_whole ? entry_place_request_code : entry_place_in_part_code, &e, r);
	if (error || r->failed ||
		index <= sequence_last_key(&state->tables[STATE_PLACE_REQUESTS].order) ||
		index > state->index)
		return -ERROR_CORRUPT;
	error = place_request_check(state, &e);
	if (!error)
		place_request_remember(state, &e, index);
	return error;
}

static int load_by_kind(struct snapshot_load *l, struct snapshot_item *item)
{
	struct state *state = l->state;
	struct bytes_reader *r = &item->rest;

	switch (item->kind) {
	case SNAPSHOT_HEAD: return load_head(l, r);
	case SNAPSHOT_NAMESPACED: l->is_namespaced = true; return 0;
	case SNAPSHOT_CLIENT: return load_client(l, r);
	case SNAPSHOT_CLASS: return class_item_load(state, &l->nodes, r);
	case SNAPSHOT_FREE_SLOT: return free_slot_item_load(state, r);
	case STATE_NODES: return node_item_load(state, &l->nodes, !item->is_unsound, r);
	case STATE_JOB_VERSIONS: return job_version_item_load(state, r);
	case STATE_JOBS: return job_item_load(state, r);
	case STATE_ALLOCATIONS: return load_allocation(l, item);
	case STATE_PLACE_REQUESTS: return load_request(l, true, r);
	case SNAPSHOT_PLACE_IN_PART: return load_request(l, false, r);
	default: break;
	}
	bool has_fields = item->kind < STATE_TABLES && state->tables[item->kind].kind->fields;
	return has_fields ? record_item_load(state, item->kind, r) : -ERROR_VERSION;
}

// The place of an item's kind in the order, from 1 on. Nodes, their classes and free slots share one.
static int rank_of(uint8_t kind)
{
	if (kind == SNAPSHOT_HEAD)
		return 1;
	if (kind == SNAPSHOT_CLIENT || kind == SNAPSHOT_NAMESPACED)
		return 2;
	if (kind == SNAPSHOT_PLACE_IN_PART)
		return 3 + STATE_PLACE_REQUESTS;
	return 3 + (kind == SNAPSHOT_CLASS || kind == SNAPSHOT_FREE_SLOT ? STATE_NODES : kind);
}

// Ranks never fall, and the head comes once, first.
static bool may_follow(int before, int rank)
{
	return before == 0 ? rank == 1 : rank >= before && rank != 1;
}

// Nobody else writes to the tables, and a thread that decodes ahead reads them as any other reader.
static void widen_tables(struct state *state)
{
	if (!tables_want(state))
		return;
	state_read_end();
	tables_widen(state);
	state_read_begin();
}

// Adds together what came of the kinds before this rank.
static int add_gathered(struct snapshot_load *l, int rank)
{
	bool all_differ = true;

	widen_tables(l->state);
	for (uint8_t i = 0; i < STATE_TABLES; i++)
		if (l->state->tables[i].gathered && rank_of(i) < rank)
			all_differ &= table_add_gathered(l->state, i, true);
	return corrupt_unless(all_differ);
}

// Buckets are looked after now and then: a chain that is a little longer for a while does no harm.
#define WIDENED_ITEMS 256u

static int load_next(struct snapshot_load *l, struct snapshot_item *item)
{
	int rank = rank_of(item->kind);
	int error = rank > l->at ? add_gathered(l, rank) : 0;

	if (l->items++ % WIDENED_ITEMS == 0)
		widen_tables(l->state);
	return error ? error : load_by_kind(l, item);
}

int snapshot_load_decoded(struct snapshot_load *l, struct snapshot_item *item)
{
	const struct bytes_reader *r = &item->rest;

	CHECK(!l->error);
	if (!item->has_kind || !may_follow(l->at, rank_of(item->kind)))
		l->error = -ERROR_CORRUPT;
	else
		l->error = load_next(l, item);
	if (!l->error && (r->failed || bytes_left(r) > 0))
		l->error = -ERROR_CORRUPT;
	l->at = rank_of(item->kind);
	return l->error;
}

void snapshot_load_decode(struct snapshot_load *l, const void *bytes, uint32_t size,
	bool approaches, struct snapshot_item *item)
{
	struct bytes_reader *r = &item->rest;

	*item = (struct snapshot_item){.rest = bytes_reader_over(bytes, size)};
	item->kind = bytes_take_u8(r);
	item->has_kind = !r->failed;
	if (item->has_kind && item->kind == STATE_NODES) {
		item->is_unsound = !node_item_is_sound(&l->ahead.description, *r);
		if (approaches)
			node_item_approach(l->state, &l->ahead.slots_backed, *r);
	}
	if (item->kind != STATE_ALLOCATIONS || !item->has_kind)
		return;
	item->error = allocation_item_decode(&item->allocation, l->ahead.metrics, r);
}

void snapshot_item_release(struct snapshot_item *item)
{
	allocation_free(item->allocation.allocation);
}

int snapshot_load_item(struct snapshot_load *l, const void *bytes, uint32_t size)
{
	struct snapshot_item item;

	snapshot_load_decode(l, bytes, size, false, &item);
	int error = snapshot_load_decoded(l, &item);
	snapshot_item_release(&item);
	return error;
}

static int by_modify_index(const void *left, const void *right)
{
	const struct changed *a = left, *b = right;
	uint64_t x = a->modify_index, y = b->modify_index;

	return (x > y) - (x < y);
}

// What is looked at of an allocation lies anywhere: cells are fetched twice as far ahead as their records.
#define CHANGES_AHEAD 8u

static void prefetch_change(const struct changes *c, uint32_t i)
{
	if (i + 2 * CHANGES_AHEAD >= c->count)
		return;
	const char *cell = (const char *)c->items[i + 2 * CHANGES_AHEAD].cell;
	for (size_t line = 0; line < sizeof(struct alloc_cell); line += 64)
		__builtin_prefetch(cell + line);
	const char *record = (const char *)c->items[i + CHANGES_AHEAD].cell->working;
	for (size_t line = 0; line < sizeof(struct allocation); line += 64)
		__builtin_prefetch(record + line);
}

// Puts an allocation into the lists that are in the order of their last changes.
static void list_change(struct state *state, uint64_t index, struct alloc_cell *cell)
{
	const struct allocation *a = cell->working;

	if (a->client != CLIENT_NONE)
		sequence_append(&state->clients[a->client]->changes, index, cell);
	if (allocation_is_terminal(a))
		cds_list_add_tail(&cell->terminal, ended_list(state, a));
	eval_follow_allocation(state, cell);
	deployment_follow_allocation(state, cell);
}

static int order_changes(struct snapshot_load *l)
{
	const struct changes *c = &l->changes;
	uint64_t last = 0;

	if (c->is_out_of_order)
		qsort(c->items, c->count, sizeof c->items[0], by_modify_index);
	for (uint32_t i = 0; i < c->count; i++) {
		if (c->items[i].modify_index <= last)
			return -ERROR_CORRUPT;
		last = c->items[i].modify_index;
		prefetch_change(c, i);
		list_change(l->state, last, c->items[i].cell);
	}
	return 0;
}

// Namespaces of older data begin with the first of their jobs that is left.
static void load_namespaces(struct state *state)
{
	uint64_t cursor = 0;
	const struct job_cell *cell;

	while ((cell = sequence_next(&state->tables[STATE_JOBS].order, &cursor)))
		if (job_cell_keep(cell))
			namespace_load_for(state, cell->working->versions[0], cell->index);
}

static int by_stop(const void *left, const void *right)
{
	const struct job_cell *a = *(struct job_cell *const *)left;
	const struct job_cell *b = *(struct job_cell *const *)right;
	uint64_t x = a->working->versions[0]->record.modify_index;
	uint64_t y = b->working->versions[0]->record.modify_index;

	return (x > y) - (x < y);
}

static void order_jobs(struct state *state)
{
	struct job_cell **stopped =
		memory_take_array(state->tables[STATE_JOBS].order.count, sizeof stopped[0]);
	uint32_t count = 0;
	uint64_t cursor = 0;
	struct job_cell *cell;

	while ((cell = sequence_next(&state->tables[STATE_JOBS].order, &cursor))) {
		struct job_keep *keep = job_cell_keep(cell);
		job_cell_list_marked(state, cell);
		job_cell_bury_if_idle(state, cell);
		if (!keep)
			continue;
		const struct job *job = keep->versions[0];
		keep->status = job_status_of(cell, keep);
		keep->versions[0]->status = keep->status;
		state->counts.jobs_by_status[keep->status]++;
		job_children_load(state, cell);
		job_cell_list_system(state, cell, !job->stop && job_traits_of(job)->follows_nodes);
		if (job->stop && job_is_direct(job))
			stopped[count++] = cell;
	}
	qsort(stopped, count, sizeof stopped[0], by_stop);
	for (uint32_t i = 0; i < count; i++)
		job_cell_list_stopped(state, stopped[i], true);
	free(stopped);
}

// Buries job versions without references: they were released while the snapshot was read.
static void drop_unused_versions(struct state *state)
{
	uint64_t cursor = 0;
	struct job *job;

	while ((job = sequence_next(&state->tables[STATE_JOB_VERSIONS].order, &cursor)))
		if (job->references == 0)
			grave_add(state, STATE_JOB_VERSIONS, job);
}

int snapshot_load_end(struct snapshot_load *l)
{
	struct state *state = l->state;
	int error = l->error ? l->error : corrupt_unless(l->at != 0);
	int added = add_gathered(l, INT_MAX);

	if (!error)
		error = added;
	if (!error)
		error = order_changes(l);
	if (!error) {
		order_jobs(state);
		if (!l->is_namespaced)
			load_namespaces(state);
		error = corrupt_unless(job_counts_add_up(state));
	}
	if (!error)
		drop_unused_versions(state);
	snapshot_nodes_release(state, &l->nodes);
	if (!error) {
		struct summary summary = state_summary_now(state);
		state_publish(state, &(struct change_list){0}, state->index, &summary);
		state->unpublished_from = state->index + 1;
		publication_check_forget(
			state); // this is no batch, of which another process has a sum
	}
	state_read_end();
	snapshot_metrics_free(l->ahead.metrics);
	free(l->changes.items);
	free(l);
	return error;
}
