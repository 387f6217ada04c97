#include "tools/api/nomad/placements/allocations.h"
#include "tools/api/lists/cursor_list.h"
#include "tools/api/nomad/nodes/nodes.h"
#include "tools/api/nomad/placements/routes.h"
#include "tools/api/server/blocking_query.h"
#include "tools/api/server/one_record.h"
#include "tools/forms/allocation_json.h"

// The allocation that the path names, or NULL. Under read lock.
static const void *allocation_of(const struct request *request)
{
	struct uuid id;
	if (!uuid_parse(request->ids[0], &id))
		return NULL;
	return state_allocation(request->api->settings.state, &id);
}

static void write_one(struct json_writer *w, const struct request *request, const void *record)
{
	allocation_json(w, request->api->settings.state, record);
}

const struct one_record allocation_by_id = {
	.noun = "alloc", .find = allocation_of, .write = write_one};

static const void *next_allocation(const struct state *state, uint64_t *cursor)
{
	return state_next_allocation(state, cursor);
}

static bool is_wanted(const struct cursor_list *list, const void *record)
{
	const struct allocation *a = record;
	return cursor_list_wants(list, &a->id, a->job->namespace_name,
		alloc_client_names[a->client_status], a->job->id);
}

static void write_stub(struct json_writer *w, const struct cursor_list *list, const void *record)
{
	allocation_json_stub(w, list->state, record, list->resources);
}

static void write_whole(struct json_writer *w, const struct cursor_list *list, const void *record)
{
	allocation_json(w, list->state, record);
}

static const struct cursor_kind all = {.noun = "alloc",
	.next = next_allocation,
	.is_wanted = is_wanted,
	.write = write_stub,
	.write_whole = write_whole};

void allocations_list(struct request *request, struct reply *reply)
{
	cursor_list_answer(request, reply, &all);
}

static bool collect_one(const struct allocation *a, void *context)
{
	id_list_add(context, &a->id, a->node_slot);
	return true;
}

struct owned_list {
	struct id_list *list;
	const struct request *request;
	struct allocation_owner owner; // without has: the job
};

static bool collect_owned(const struct allocation *a, void *context)
{
	struct owned_list *of = context;
	if (!of->owner.has || of->owner.has(a, &of->owner.id))
		id_list_add(of->list, &a->id, a->node_slot);
	return id_list_visits(of->list, of->request);
}

static void write_stub_of(struct id_list *list, struct json_writer *w, const struct id_item *item)
{
	const struct allocation *a = state_allocation(list->api->settings.state, &item->id);
	if (a)
		allocation_json_stub(w, list->api->settings.state, a, false);
}

static void write_whole_of(struct id_list *list, struct json_writer *w, const struct id_item *item)
{
	const struct allocation *a = state_allocation(list->api->settings.state, &item->id);
	if (a)
		allocation_json(w, list->api->settings.state, a);
}

void allocation_list_answer(
	struct id_list *list, uint64_t index, struct request *request, struct reply *reply)
{
	list->write = list->detailed ? write_whole_of : write_stub_of;
	list->write_whole = write_whole_of;
	id_list_answer(list, index, request, reply);
}

uint64_t node_allocations_watched(const struct request *request)
{
	const struct state *state = request->api->settings.state;
	const struct node *node = node_named(request);
	if (!node)
		return 0;
	const struct node_line *line =
		node_table_line(state_node_table((struct state *)state), node->slot);
	uint64_t index = line ? atomic_load_explicit(&line->alloc_index, memory_order_relaxed) : 0;
	// The allocations' own reports, which a drain waits for.
	uint64_t reported = state_node_report_index(state, node);
	if (reported > index)
		index = reported;
	return index > node->record.create_index ? index : node->record.create_index;
}

void node_allocations(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	struct id_list *list = id_list_create(request->api);
	list->detailed = true;
	uint64_t index = table_index(request, STATE_ALLOCATIONS);
	state_read_begin();
	const struct node *node = node_named(request);
	if (node)
		state_node_allocations(state, node->slot, collect_one, list);
	state_read_end();
	allocation_list_answer(list, index, request, reply);
}

uint64_t job_allocations_watched(const struct request *request)
{
	const struct state *state = request->api->settings.state;
	struct text namespace_name = text_of(request_namespace(request));
	struct text id = text_of(request->ids[0]);
	uint64_t job = state_job_index(state, namespace_name, id);
	uint64_t allocations = state_job_allocations_index(state, namespace_name, id);
	if (!job)
		return 0;
	// Changes from before the server started are no newer than its first index.
	if (!allocations)
		allocations = request->api->first_index;
	return job > allocations ? job : allocations;
}

void job_allocations(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	struct id_list *list = id_list_create(request->api);
	struct owned_list of = {.list = list, .request = request};
	state_read_begin();
	uint64_t index = job_allocations_watched(request);
	if (index)
		state_job_allocations(state, text_of(request_namespace(request)),
			text_of(request->ids[0]), collect_owned, &of);
	state_read_end();
	if (id_list_begins_again(list, request, reply))
		return;
	// Nomad answers an unknown job with an empty list.
	allocation_list_answer(
		list, index ? index : table_index(request, STATE_ALLOCATIONS), request, reply);
}

// Every change of its own allocations also changes the index of the job's allocations.
uint64_t owned_allocations_watched(const struct request *request, find_allocation_owner *find)
{
	struct allocation_owner owner;
	if (!find(request, &owner))
		return 0;
	uint64_t index = state_job_allocations_index(
		request->api->settings.state, text_of(owner.namespace_name), text_of(owner.job_id));
	return index > owner.create_index ? index : owner.create_index;
}

void owned_allocations_answer(
	struct request *request, struct reply *reply, find_allocation_owner *find)
{
	const struct state *state = request->api->settings.state;
	struct owned_list of = {.list = id_list_create(request->api), .request = request};
	uint64_t index = table_index(request, STATE_ALLOCATIONS);
	state_read_begin();
	if (find(request, &of.owner)) {
		index = owned_allocations_watched(request, find);
		state_job_allocations(state, text_of(of.owner.namespace_name),
			text_of(of.owner.job_id), collect_owned, &of);
	}
	state_read_end();
	if (id_list_begins_again(of.list, request, reply))
		return;
	allocation_list_answer(of.list, index, request, reply);
}
