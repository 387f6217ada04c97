// Reads allocations.
#include "state/records/alloc_details.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "tools/api/lists/record_list.h"
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

static const char *namespace_of_allocation(const void *record)
{
	return ((const struct allocation *)record)->job->namespace_name;
}

const struct record_kind allocation_list = {.table = STATE_ALLOCATIONS,
	.namespace_of = namespace_of_allocation,
	.shown_with = ACL_READ_JOB,
	.noun = "alloc",
	.is_wanted = is_wanted,
	.write = write_stub,
	.write_whole = write_whole,
	.prefetch = prefetch_allocation};

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

static uint64_t choose_of_node(const struct request *request, struct record_list *list)
{
	uint64_t index = table_index(request, STATE_ALLOCATIONS);
	const struct node *node = node_named(request);
	if (node) {
		list->owner = node->id;
		state_node_allocations(list->state, node->slot, collect_allocation, list);
	}
	return index;
}

const struct record_kind allocations_of_node = {.table = STATE_ALLOCATIONS,
	.namespace_of = namespace_of_allocation,
	.shown_with = ACL_READ_JOB,
	.by_id = true,
	.choose = choose_of_node,
	.watched = node_allocations_watched,
	.is_wanted = is_of_node,
	.write = write_whole};

static uint64_t job_allocations_watched(const struct request *request)
{
	const struct state *state = request->api->settings.state;
	struct text namespace_name = text_of(request_namespace(request));
	struct text id = text_of(request->ids[0]);
	uint64_t job = state_job_index(state, namespace_name, id);
	uint64_t allocations = state_job_index_of(state, STATE_ALLOCATIONS, namespace_name, id);
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

static uint64_t choose_of_job(const struct request *request, struct record_list *list)
{
	uint64_t index = job_allocations_watched(request);
	if (index)
		state_job_allocations(list->state, text_of(list->namespace_name),
			text_of(list->path_name), collect_allocation, list);
	return index;
}

const struct record_kind allocations_of_job = {.table = STATE_ALLOCATIONS,
	.namespace_of = namespace_of_allocation,
	.shown_with = ACL_READ_JOB,
	.by_id = true,
	.choose = choose_of_job,
	.watched = job_allocations_watched,
	.is_wanted = is_of_job,
	.write = write_short,
	.write_whole = write_whole};

// An evaluation or a deployment that owns some of its job's allocations.
struct allocation_owner {
	struct uuid id;
	uint64_t create_index;
	const char *namespace_name, *job_id;
};
// Finds the owner that the path names; false: there is none. Under read lock.
typedef bool find_allocation_owner(const struct request *, struct allocation_owner *);

static bool find_evaluation(const struct request *request, struct allocation_owner *owner)
{
	const struct evaluation *e = record_of_path(request, STATE_EVALUATIONS);
	if (e)
		*owner = (struct allocation_owner){
			e->id, e->record.create_index, e->namespace_name, e->job_id};
	return e != NULL;
}

static bool find_deployment(const struct request *request, struct allocation_owner *owner)
{
	const struct deployment *d = record_of_path(request, STATE_DEPLOYMENTS);
	if (d)
		*owner = (struct allocation_owner){
			d->id, d->record.create_index, d->namespace_name, d->job_id};
	return d != NULL;
}

// Every change of its own allocations also changes the index of the job's allocations.
static uint64_t owner_index(const struct state *state, const struct allocation_owner *owner)
{
	uint64_t index = state_job_index_of(
		state, STATE_ALLOCATIONS, text_of(owner->namespace_name), text_of(owner->job_id));
	return index > owner->create_index ? index : owner->create_index;
}

static uint64_t owned_watched(const struct request *request, find_allocation_owner *find)
{
	struct allocation_owner owner;
	return find(request, &owner) ? owner_index(request->api->settings.state, &owner) : 0;
}

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

// An unknown owner has none, as in Nomad.
static uint64_t choose_owned(
	const struct request *request, struct record_list *list, find_allocation_owner *find)
{
	struct allocation_owner owner;
	struct owned_list of = {.list = list};
	if (!find(request, &owner))
		return 0;
	uint64_t index = owner_index(list->state, &owner);
	list->owner = owner.id;
	state_job_allocations(list->state, text_of(owner.namespace_name), text_of(owner.job_id),
		collect_owned, &of);
	return index;
}

static bool is_of_evaluation(const struct record_list *list, const void *record)
{
	const struct allocation *a = record;
	return uuid_equal(&a->eval_id, &list->owner);
}

static uint64_t choose_of_evaluation(const struct request *request, struct record_list *list)
{
	return choose_owned(request, list, find_evaluation);
}

static uint64_t evaluation_watched(const struct request *request)
{
	return owned_watched(request, find_evaluation);
}

const struct record_kind allocations_of_evaluation = {.table = STATE_ALLOCATIONS,
	.namespace_of = namespace_of_allocation,
	.shown_with = ACL_READ_JOB,
	.by_id = true,
	.choose = choose_of_evaluation,
	.watched = evaluation_watched,
	.is_wanted = is_of_evaluation,
	.write = write_short,
	.write_whole = write_whole};

static bool is_of_deployment(const struct record_list *list, const void *record)
{
	const struct allocation *a = record;
	return a->details && uuid_equal(&a->details->deployment_id, &list->owner);
}

static uint64_t choose_of_deployment(const struct request *request, struct record_list *list)
{
	return choose_owned(request, list, find_deployment);
}

static uint64_t deployment_watched(const struct request *request)
{
	return owned_watched(request, find_deployment);
}

const struct record_kind allocations_of_deployment = {.table = STATE_ALLOCATIONS,
	.namespace_of = namespace_of_allocation,
	.shown_with = ACL_READ_JOB,
	.by_id = true,
	.choose = choose_of_deployment,
	.watched = deployment_watched,
	.is_wanted = is_of_deployment,
	.write = write_short,
	.write_whole = write_whole};
