// What a snapshot holds. Items come in this order; each begins with a u8, its kind. Integers are
// little-endian; text, device sets, descriptions and placement requests are as in entry.c.
//
//	HEAD        u64 index, u64 term, i64 forgotten_ms (placement requests issued up to then are
//	            too old)
//	NAMESPACED  nothing: namespaces are records. Older data has none; its namespaces are the
//	            texts in its jobs
//	CLIENT      u32 number, u64 create index, text8 name
//	CLASS       u32 number (counted up from 0 in this snapshot), description: of the class only
//	NODE        u32 slot, u32 generation, u16 owner of its block, u64 create index, u64 modify
//	            index, u64 register index, u8 status, u8 cause of the status (ff: none), u8
//	            eligibility, u32 status updated at (unix s), u32 number of its class,
//	            description: of what is the node's own; then u64 missed
//	            heartbeat index, u64 alloc update index, u64 sequence of its newest report, u8
//	            events, oldest first, each: u8 enum node_message, u32 time (unix s), u64 create
//	            index; then what snapshot_drain.h says; then how it stands as in
//	            NODE_LIFECYCLE of entry.c, text16 snapshot that it ran last
//	FREE_SLOT   u32 slot, u32 generation of its newest node, u16 owner of its block
//	JOB_VERSION a job as described in job_description.c; its modify index names it
//	JOB         as snapshot_job.h says
//	ALLOCATION  uuid id, u64 create index, u64 modify index, u64 alloc modify index, u64 job
//	            version, u32 slot, u32 client, u16 group, u32 number, u8 desired, u8 client
//	            status, u8 enum end_cause, u32 cpu, u32 memory, u32 disk, f64 score, u32 nodes
//	            evaluated, u32 nodes feasible, i64 create time, i64 modify time (unix ns),
//	            device set; then u8 enum client_text, uuid evaluation, uuid
//	            node where slot is ffffffff, u8 parts that follow: 1 details and 2 report as
//	            described in alloc_details.c, 4 u32 number of its metrics, counted up from 0 in
//	            this snapshot, with the first of a number the metrics as described in metrics.c
//	REQUEST     u64 index, placement request
//	IN_PART     u64 index, placement request of which only a part was placed; among the requests
//	any other   as snapshot_record.h says
//
// A kind of record has the number of its table (enum state_table). The head comes first, then NAMESPACED, the
// clients, and kinds in the order of their numbers; classes and free slots are among the nodes. Clients come by number,
// nodes by slot, everything else by index.
#include "state/snapshot/snapshot_view.h"
#include "state/apply/apply.h"
#include "state/base/memory.h"
#include "state/records/nodes/node_describe.h"
#include "state/snapshot/snapshot_allocation.h"
#include "state/snapshot/snapshot_drain.h"
#include "state/snapshot/snapshot_item.h"
#include "state/snapshot/snapshot_job.h"
#include "state/snapshot/snapshot_record.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/client.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/kind.h"
#include "state/tables/node_table.h"
#include "state/tables/nodes/node_report.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

struct snapshot_view {
	struct state *state;
	uint64_t index;
	int64_t forgotten_ms;
	uint32_t at;     // number of the current part
	uint64_t cursor; // within that part
	// By class id: the number of the class in this snapshot + 1, or 0. Classes that nodes had at one index all have
	// different ids.
	uint32_t *class_numbers;
	uint32_t class_capacity, class_count;
	struct node_registration description; // scratch
	struct description_texts texts;       // its
	struct snapshot_metrics *metrics;
};

struct snapshot_view *snapshot_view_begin(struct state *state)
{
	struct snapshot_view *v = memory_take(sizeof *v);

	v->state = state;
	v->metrics = snapshot_metrics_create();
	// Counted before the index is read: see state_bury().
	atomic_fetch_add(&state->snapshots, 1);
	state_read_begin();
	atomic_thread_fence(memory_order_seq_cst);
	pthread_mutex_lock(&state->summary_lock);
	v->index = state_index(state);
	v->forgotten_ms = state->published.forgotten_ms;
	pthread_mutex_unlock(&state->summary_lock);
	return v;
}

void snapshot_view_end(struct snapshot_view *v)
{
	state_read_end();
	atomic_fetch_sub(&v->state->snapshots, 1);
	free(v->class_numbers);
	description_texts_free(&v->texts);
	snapshot_metrics_free(v->metrics);
	free(v);
}

uint64_t snapshot_view_index(const struct snapshot_view *v)
{
	return v->index;
}

static bool put_head(struct snapshot_view *v, struct bytes_writer *w)
{
	if (v->cursor++)
		return false;
	bytes_put_u8(w, SNAPSHOT_HEAD);
	bytes_put_u64(w, v->index);
	bytes_put_u64(w, v->state->term); // does not change while anybody reads
	bytes_put_u64(w, (uint64_t)v->forgotten_ms);
	return true;
}

static bool put_namespaced(struct snapshot_view *v, struct bytes_writer *w)
{
	if (v->cursor++)
		return false;
	bytes_put_u8(w, SNAPSHOT_NAMESPACED);
	return true;
}

static bool put_client(struct snapshot_view *v, struct bytes_writer *w)
{
	uint32_t count = atomic_load_explicit(&v->state->client_count, memory_order_acquire);
	if (v->cursor >= count || v->state->clients[v->cursor]->create_index > v->index)
		return false;

	const struct client *client = v->state->clients[v->cursor++];
	bytes_put_u8(w, SNAPSHOT_CLIENT);
	bytes_put_u32(w, client->number);
	bytes_put_u64(w, client->create_index);
	bytes_put_text8(w, text_of(client->name));
	return true;
}

static void put_class(struct snapshot_view *v, const struct node_class *c, uint32_t number,
	struct bytes_writer *w)
{
	node_class_describe(c, &v->description, &v->texts);
	bytes_put_u8(w, SNAPSHOT_CLASS);
	bytes_put_u32(w, number);
	coder_write(node_description_code, &v->description, w);
}

static void put_events(const struct node *n, struct bytes_writer *w)
{
	bytes_put_u8(w, (uint8_t)n->event_count);
	for (uint32_t i = 0; i < n->event_count; i++) {
		bytes_put_u8(w, node_events(n)[i].message);
		bytes_put_u32(w, node_events(n)[i].timestamp_s);
		bytes_put_u64(w, node_events(n)[i].create_index);
	}
}

static void put_report(struct snapshot_view *v, const struct node *n, struct bytes_writer *w)
{
	const struct node_report *report = node_report_at(&v->state->cells[n->slot], n, v->index);
	bool is_newest = report && report->register_index == n->register_index;

	bytes_put_u64(w, report ? report->record.modify_index : 0);
	bytes_put_u64(w, is_newest ? report->sequence : 0);
}

static void put_one_node(struct snapshot_view *v, const struct node *n, uint32_t class_number,
	struct bytes_writer *w)
{
	struct drain_item drains = drain_item_of(n);

	node_describe(n, &v->description, &v->texts);
	bytes_put_u8(w, STATE_NODES);
	bytes_put_u32(w, n->slot);
	bytes_put_u32(w, n->generation);
	bytes_put_u16(w, node_table_owner(v->state->node_table, n->slot));
	bytes_put_u64(w, n->record.create_index);
	bytes_put_u64(w, n->record.modify_index);
	bytes_put_u64(w, n->register_index);
	bytes_put_u8(w, n->status);
	bytes_put_u8(w, node_cause_of(n));
	bytes_put_u8(w, n->eligibility);
	bytes_put_u32(w, n->status_updated_at_s);
	bytes_put_u32(w, class_number);
	coder_write(node_description_code, &v->description, w);
	bytes_put_u64(w, n->missed_heartbeat_index);
	put_report(v, n, w);
	put_events(n, w);
	coder_write(drain_item_code, &drains, w);
	coder_write(standing_code, &n->standing, w);
	bytes_put_text16(w, text_of(n->snapshot));
}

static uint32_t *class_number(struct snapshot_view *v, uint32_t id)
{
	if (id >= v->class_capacity) {
		uint32_t capacity = (id + 1) * 2;
		v->class_numbers =
			memory_resize(v->class_numbers, capacity * sizeof v->class_numbers[0]);
		memset(v->class_numbers + v->class_capacity, 0,
			(capacity - v->class_capacity) * sizeof v->class_numbers[0]);
		v->class_capacity = capacity;
	}
	return &v->class_numbers[id];
}

// May return the tombstone of a slot that was free.
static const struct node *node_version(const struct snapshot_view *v, uint32_t slot)
{
	const struct record *r = (const struct record *)__atomic_load_n(
		&v->state->cells[slot].published, __ATOMIC_ACQUIRE);

	while (r && r->modify_index > v->index)
		r = r->older;
	return (const struct node *)r;
}

static void put_free_slot(
	const struct snapshot_view *v, const struct node *gone, struct bytes_writer *w)
{
	bytes_put_u8(w, SNAPSHOT_FREE_SLOT);
	bytes_put_u32(w, gone->slot);
	bytes_put_u32(w, gone->generation);
	bytes_put_u16(w, node_table_owner(v->state->node_table, gone->slot));
}

static bool put_node(struct snapshot_view *v, struct bytes_writer *w)
{
	for (; v->cursor < state_node_slots(v->state); v->cursor++) {
		const struct node *n = node_version(v, (uint32_t)v->cursor);
		if (!n)
			continue;
		if (n->record.deleted) {
			put_free_slot(v, n, w);
			v->cursor++;
			return true;
		}
		uint32_t *number = class_number(v, n->node_class->id);
		if (*number) {
			put_one_node(v, n, *number - 1, w);
			v->cursor++;
		} else {
			*number = ++v->class_count;
			put_class(v, n->node_class, *number - 1, w);
		}
		return true;
	}
	return false;
}

static bool put_job_version(struct snapshot_view *v, struct bytes_writer *w)
{
	const struct job *job =
		sequence_next(&v->state->tables[STATE_JOB_VERSIONS].order, &v->cursor);

	if (!job || job->record.modify_index > v->index)
		return false;
	bytes_put_u8(w, STATE_JOB_VERSIONS);
	record_encode(&job_type_description, job, w);
	return true;
}

static bool put_job(struct snapshot_view *v, struct bytes_writer *w)
{
	const struct job_cell *cell;

	while ((cell = sequence_next(&v->state->tables[STATE_JOBS].order, &v->cursor)))
		if (job_item_encode(cell, v->index, w))
			return true;
	return false;
}

static bool put_allocation(struct snapshot_view *v, struct bytes_writer *w)
{
	const struct alloc_cell *cell;

	while ((cell = sequence_next(&v->state->tables[STATE_ALLOCATIONS].order, &v->cursor))) {
		const struct record *newest =
			(const struct record *)__atomic_load_n(&cell->published, __ATOMIC_ACQUIRE);
		const struct allocation *a =
			(const struct allocation *)state_version_at(newest, v->index);
		if (!a)
			continue;
		bytes_put_u8(w, STATE_ALLOCATIONS);
		allocation_item_encode(a, v->metrics, w);
		return true;
	}
	return false;
}

static bool is_remembered(const struct place_request *request, uint64_t index)
{
	uint64_t forgotten = atomic_load(&request->forgotten_index);
	return request->index <= index && (forgotten == 0 || forgotten > index);
}

static bool put_request(struct snapshot_view *v, struct bytes_writer *w)
{
	const struct place_request *request;

	do
		request = sequence_next(&v->state->tables[STATE_PLACE_REQUESTS].order, &v->cursor);
	while (request && !is_remembered(request, v->index));
	if (!request)
		return false;

	struct entry_place_request e = {
		.client = request->client,
		.issued_ms = request->issued_ms,
		.request = request->request,
		.nodes_feasible = request->nodes_feasible,
		.requested = request->requested,
		.count = request->count,
	};
	memcpy(e.items, request->items, request->count * sizeof e.items[0]);
	bool is_whole = request->count == request->requested;
	bytes_put_u8(w, is_whole ? STATE_PLACE_REQUESTS : SNAPSHOT_PLACE_IN_PART);
	bytes_put_u64(w, request->index);
	coder_write(is_whole ? entry_place_request_code : entry_place_in_part_code, &e, w);
	return true;
}

static bool put_record(struct snapshot_view *v, enum state_table at, struct bytes_writer *w)
{
	const struct table *table = &v->state->tables[at];
	const struct cell *cell;

	if (table->one)
		return !v->cursor++ && record_item_encode(table->kind, table->one, v->index, w);
	while ((cell = sequence_next(&table->order, &v->cursor)))
		if (record_item_encode(table->kind, cell, v->index, w))
			return true;
	return false;
}

typedef bool put_items(struct snapshot_view *, struct bytes_writer *);

static put_items *const before_tables[] = {put_head, put_namespaced, put_client};
#define PARTS_BEFORE (sizeof before_tables / sizeof before_tables[0])

// The items of kinds with cells of their own. Classes and free slots come with the nodes, reports in their items.
static put_items *const put_own[STATE_TABLES] = {
	[STATE_NODES] = put_node,
	[STATE_JOB_VERSIONS] = put_job_version,
	[STATE_JOBS] = put_job,
	[STATE_ALLOCATIONS] = put_allocation,
	[STATE_PLACE_REQUESTS] = put_request,
};

static bool put_of_part(struct snapshot_view *v, struct bytes_writer *w)
{
	if (v->at < PARTS_BEFORE)
		return before_tables[v->at](v, w);
	enum state_table at = v->at - PARTS_BEFORE;
	if (put_own[at])
		return put_own[at](v, w);
	return v->state->tables[at].kind->fields && put_record(v, at, w);
}

bool snapshot_view_next(struct snapshot_view *v, struct bytes_writer *w)
{
	for (; v->at < PARTS_BEFORE + STATE_TABLES; v->at++, v->cursor = 0)
		if (put_of_part(v, w))
			return true;
	return false;
}
