// Looking at evaluations.
#include "state/evaluation.h"
#include "tools/api/allocation_json.h"
#include "tools/api/cursor_list.h"
#include "tools/api/handlers.h"
#include "tools/api/json_record.h"

// The evaluation that a path names, or NULL. Under read lock.
static const struct evaluation *evaluation_of(const struct request *request)
{
	struct uuid id;
	if (!uuid_parse(request->ids[0], &id))
		return NULL;
	return state_evaluation(request->api->settings.state, &id);
}

uint64_t evaluation_watched(const struct request *request)
{
	const struct evaluation *e = evaluation_of(request);
	return e ? e->record.modify_index : 0;
}

void evaluation_read(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	state_read_begin();
	const struct evaluation *e = evaluation_of(request);
	if (e) {
		json_record(reply_json(request, reply), &evaluation_description, e);
		reply_index(reply, e->record.modify_index);
	} else {
		reply_error(reply, MHD_HTTP_NOT_FOUND, "eval not found");
		reply_index(reply, state_index(state));
	}
	state_read_end();
}

// --- All -----------------------------------------------------------------------------------------

uint64_t evaluations_watched(const struct request *request)
{
	return table_watched(request, STATE_EVALUATIONS);
}

static const void *next_evaluation(const struct state *state, uint64_t *cursor)
{
	return state_next_evaluation(state, cursor);
}

static bool is_wanted(const struct cursor_list *list, const void *record)
{
	const struct evaluation *e = record;
	return id_prefix_fits(&list->id_prefix, &e->id) &&
	       cursor_list_has_namespace(list, e->namespace_name) &&
	       (!*list->status || strcmp(list->status, eval_status_names[e->status]) == 0) &&
	       (!*list->job || strcmp(list->job, e->job_id) == 0);
}

static void write_one(struct json_writer *w, const struct cursor_list *list, const void *record)
{
	json_record(w, &evaluation_description, record);
}

static const struct cursor_kind all = {"eval", next_evaluation, is_wanted, write_one};

void evaluations_list(struct request *request, struct reply *reply)
{
	cursor_list_answer(request, reply, &all);
}

// --- Those of a job ------------------------------------------------------------------------------

static bool collect_evaluation(const struct evaluation *e, void *context)
{
	id_list_add(context, &e->id, NODE_SLOT_NONE);
	return true;
}

static void write_evaluation(
	struct id_list *list, struct json_writer *w, const struct id_item *item)
{
	const struct evaluation *e = state_evaluation(list->api->settings.state, &item->id);
	if (e)
		json_record(w, &evaluation_description, e);
}

uint64_t job_evaluations_watched(const struct request *request)
{
	const struct state *state = request->api->settings.state;
	struct text namespace_name = text_of(request_namespace(request));
	struct text id = text_of(request->ids[0]);
	uint64_t job = state_job_index(state, namespace_name, id);
	uint64_t evaluations = state_job_evaluations_index(state, namespace_name, id);
	if (!job && !evaluations)
		return 0;
	// What changed before the server started is no older than that.
	if (!evaluations)
		evaluations = request->api->first_index;
	return job > evaluations ? job : evaluations;
}

static void stream(
	struct id_list *list, uint64_t index, struct request *request, struct reply *reply)
{
	id_list_sort(list);
	if (!id_list_page(list, request, reply)) {
		id_list_free(list);
		return;
	}
	reply_index(reply, index);
	id_list_stream(list, request, reply);
}

void job_evaluations(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	struct id_list *list = id_list_create(request->api);
	list->write = write_evaluation;
	state_read_begin();
	uint64_t index = job_evaluations_watched(request);
	state_job_evaluations(state, text_of(request_namespace(request)), text_of(request->ids[0]),
		collect_evaluation, list);
	state_read_end();
	// Nomad answers an unknown job with an empty list.
	stream(list, index ? index : state_index(state), request, reply);
}

// --- Allocations of an evaluation ----------------------------------------------------------------

struct of_evaluation {
	struct id_list *list;
	struct uuid id;
};

static bool collect_allocation(const struct allocation *a, void *context)
{
	const struct of_evaluation *of = context;
	if (uuid_equal(&a->eval_id, &of->id))
		id_list_add(of->list, &a->id, a->node_slot);
	return true;
}

static void write_allocation(
	struct id_list *list, struct json_writer *w, const struct id_item *item)
{
	const struct state *state = list->api->settings.state;
	const struct allocation *a = state_allocation(state, &item->id);
	if (a)
		allocation_json_stub(w, state, a, false);
}

// Its job's allocations move when one of its own does.
uint64_t evaluation_allocations_watched(const struct request *request)
{
	const struct evaluation *e = evaluation_of(request);
	if (!e)
		return 0;
	uint64_t index = state_job_allocations_index(
		request->api->settings.state, text_of(e->namespace_name), text_of(e->job_id));
	return index > e->record.create_index ? index : e->record.create_index;
}

void evaluation_allocations(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	struct of_evaluation of = {.list = id_list_create(request->api)};
	of.list->write = write_allocation;
	uint64_t index = state_index(state);
	state_read_begin();
	const struct evaluation *e = evaluation_of(request);
	if (e) {
		of.id = e->id;
		index = evaluation_allocations_watched(request);
		state_job_allocations(state, text_of(e->namespace_name), text_of(e->job_id),
			collect_allocation, &of);
	}
	state_read_end();
	// An evaluation that is not there has none, as Nomad has it.
	stream(of.list, index, request, reply);
}
