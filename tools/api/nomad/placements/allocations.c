#include "tools/api/nomad/placements/allocations.h"
#include "state/records/alloc_details.h"
#include "tools/api/nomad/nodes/nodes.h"
#include "tools/api/nomad/placements/routes.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/blocking_query.h"
#include "tools/api/server/one_record.h"
#include "tools/forms/allocation_json.h"

static void write_one(struct json_writer *w, const struct request *request, const void *record)
{
	allocation_json(w, request->api->settings.state, record);
}

const struct one_record allocation_by_id = {
	.noun = "alloc", .table = STATE_ALLOCATIONS, .write = write_one};

static bool is_wanted(const struct record_list *list, const void *record)
{
	const struct allocation *a = record;
	return record_list_wants(list, &a->id, a->job->namespace_name,
		alloc_client_names[a->client_status], a->job->id);
}

static void write_stub(struct json_writer *w, const struct record_list *list, const void *record)
{
	allocation_json_stub(w, list->state, record, list->resources);
}

static void write_whole(struct json_writer *w, const struct record_list *list, const void *record)
{
	allocation_json(w, list->state, record);
}

#define CACHE_LINE 64u

// An allocation shows the name of its node: the node's cell leads to its record, and that to its name.
static void prefetch_allocation(const struct record_list *list, const void *record, uint32_t step)
{
	const struct allocation *a = record;
	if (a->node_slot == NODE_SLOT_NONE)
		return;
	const struct node_cell *cell = state_node_cell(list->state, a->node_slot);
	if (step == 0) {
		__builtin_prefetch(cell);
		for (uint32_t i = 1; i <= sizeof *a / CACHE_LINE; i++)
			__builtin_prefetch((const char *)a + i * CACHE_LINE);
		return;
	}
	const struct node *node = __atomic_load_n(&cell->published, __ATOMIC_RELAXED);
	if (step == 1)
		__builtin_prefetch(node);
	else if (node)
		__builtin_prefetch(&node->name);
}

static const struct record_kind all = {.table = STATE_ALLOCATIONS,
	.noun = "alloc",
	.is_wanted = is_wanted,
	.write = write_stub,
	.write_whole = write_whole,
	.prefetch = prefetch_allocation};

void allocations_list(struct request *request, struct reply *reply)
{
	record_list_answer(request, reply, &all);
}

static bool collect_allocation(const struct allocation *a, void *list)
{
	return record_list_add(list, &a->id);
}

// The short form, without resources.
static void write_short(struct json_writer *w, const struct record_list *list, const void *record)
{
	allocation_json_stub(w, list->state, record, false);
}

static bool is_of_node(const struct record_list *list, const void *record)
{
	const struct allocation *a = record;
	return uuid_equal(&a->node_id, &list->owner);
}

static const struct record_kind of_node = {
	.table = STATE_ALLOCATIONS, .by_id = true, .is_wanted = is_of_node, .write = write_whole};

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
	if (record_list_goes_on(request, reply))
		return;
	struct record_list *list = record_list_create(request, &of_node);
	list->walk.is_chosen = true;
	uint64_t index = table_index(request, STATE_ALLOCATIONS);
	state_read_begin();
	const struct node *node = node_named(request);
	if (node) {
		list->owner = node->id;
		state_node_allocations(state, node->slot, collect_allocation, list);
	}
	state_read_end();
	record_list_begin(list, index, request, reply);
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

static bool is_of_job(const struct record_list *list, const void *record)
{
	const struct allocation *a = record;
	return strcmp(list->namespace_name, a->job->namespace_name) == 0 &&
	       strcmp(list->path_name, a->job->id) == 0;
}

static const struct record_kind of_job = {.table = STATE_ALLOCATIONS,
	.by_id = true,
	.is_wanted = is_of_job,
	.write = write_short,
	.write_whole = write_whole};

void job_allocations(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	if (record_list_goes_on(request, reply))
		return;
	struct record_list *list = record_list_create(request, &of_job);
	list->walk.is_chosen = true;
	state_read_begin();
	uint64_t index = job_allocations_watched(request);
	if (index)
		state_job_allocations(state, text_of(request_namespace(request)),
			text_of(request->ids[0]), collect_allocation, list);
	state_read_end();
	// Nomad answers an unknown job with an empty list.
	record_list_begin(
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

static bool is_of_evaluation(const struct record_list *list, const void *record)
{
	const struct allocation *a = record;
	return uuid_equal(&a->eval_id, &list->owner);
}

const struct record_kind allocations_of_evaluation = {.table = STATE_ALLOCATIONS,
	.by_id = true,
	.is_wanted = is_of_evaluation,
	.write = write_short,
	.write_whole = write_whole};

static bool is_of_deployment(const struct record_list *list, const void *record)
{
	const struct allocation *a = record;
	return a->details && uuid_equal(&a->details->deployment_id, &list->owner);
}

const struct record_kind allocations_of_deployment = {.table = STATE_ALLOCATIONS,
	.by_id = true,
	.is_wanted = is_of_deployment,
	.write = write_short,
	.write_whole = write_whole};

struct owned_list {
	struct record_list *list;
	uint32_t visited;
};

// Looks at as many of the job's allocations as can be looked at at once. If it has more, the list looks at all.
static bool collect_owned(const struct allocation *a, void *context)
{
	struct owned_list *of = context;
	if (of->visited++ < RECORDS_VISITED_AT_ONCE)
		return !of->list->kind->is_wanted(of->list, a) || record_list_add(of->list, &a->id);
	of->list->walk.is_chosen = false;
	return false;
}

// Returns the index of the answer. Under read lock.
static uint64_t collect_of_owner(
	const struct request *request, struct record_list *list, find_allocation_owner *find)
{
	struct allocation_owner owner;
	struct owned_list of = {.list = list};
	if (!find(request, &owner))
		return table_index(request, STATE_ALLOCATIONS);
	uint64_t index = owned_allocations_watched(request, find);
	list->owner = owner.id;
	state_job_allocations(list->state, text_of(owner.namespace_name), text_of(owner.job_id),
		collect_owned, &of);
	return index;
}

void owned_allocations_answer(struct request *request, struct reply *reply,
	find_allocation_owner *find, const struct record_kind *kind)
{
	if (record_list_goes_on(request, reply))
		return;
	struct record_list *list = record_list_create(request, kind);
	list->walk.is_chosen = true;
	state_read_begin();
	uint64_t index = collect_of_owner(request, list, find);
	state_read_end();
	record_list_begin(list, index, request, reply);
}
