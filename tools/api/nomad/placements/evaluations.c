// Reads evaluations.
#include "state/records/evaluation.h"
#include "tools/api/lists/record_list.h"
#include "tools/api/nomad/placements/routes.h"
#include "tools/api/server/blocking_query.h"
#include "tools/api/server/one_record.h"
#include "tools/forms/eval_made_json.h"
#include "tools/json/json_record.h"

// Most related evaluations that one answer shows.
#define RELATED_MAX 256u

// Evaluations that lead to each other, as far as the state still has them.
struct related {
	struct uuid ids[RELATED_MAX];
	uint32_t count;
};

static void add_related(struct related *r, const struct uuid *id)
{
	for (uint32_t i = 0; i < r->count; i++)
		if (uuid_equal(&r->ids[i], id))
			return;
	if (!uuid_is_zero(id) && r->count < RELATED_MAX)
		r->ids[r->count++] = *id;
}

static void put_related_stub(struct json_writer *w, const struct evaluation *e)
{
	json_begin_object(w);
	json_record_members(w, &evaluation_description, e, FIELD_IN_LIST);
	json_end_object(w);
}

// Writes the evaluations that led to the first or follow from it, over any number of steps.
static void put_related(
	struct json_writer *w, const struct state *state, const struct evaluation *first)
{
	struct related r = {.ids = {first->id}, .count = 1};
	json_open_array(w, "RelatedEvals");
	for (uint32_t at = 0; at < r.count; at++) {
		const struct evaluation *e = state_evaluation(state, &r.ids[at]);
		if (!e)
			continue;
		add_related(&r, &e->next_eval);
		add_related(&r, &e->previous_eval);
		add_related(&r, &e->blocked_eval);
		if (at > 0)
			put_related_stub(w, e);
	}
	json_end_array(w);
}

static void write_one(struct json_writer *w, const struct request *request, const void *record)
{
	json_begin_object(w);
	json_record_members(w, &evaluation_description, record, 0);
	if (request_flag(request, "related"))
		put_related(w, request->api->settings.state, record);
	json_end_object(w);
}

const struct one_record evaluation_by_id = {
	.noun = "eval", .table = STATE_EVALUATIONS, .write = write_one};

static bool is_wanted(const struct record_list *list, const void *record)
{
	const struct evaluation *e = record;
	return record_list_wants(
		list, &e->id, e->namespace_name, eval_status_names[e->status], e->job_id);
}

static const char *namespace_of_evaluation(const void *record)
{
	return ((const struct evaluation *)record)->namespace_name;
}

const struct record_kind evaluation_list = {.table = STATE_EVALUATIONS,
	.namespace_of = namespace_of_evaluation,
	.shown_with = ACL_READ_JOB,
	.noun = "eval",
	.is_wanted = is_wanted,
	.type = &evaluation_description};

void evaluations_count(struct request *request, struct reply *reply)
{
	uint64_t count, index;
	if (!record_list_count(request, reply, &evaluation_list, &count, &index))
		return;
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_u64(w, "Count", count);
	read_meta_json(w, index);
	json_end_object(w);
	reply_index(reply, index);
}

static bool is_of_job(const struct record_list *list, const void *record)
{
	const struct evaluation *e = record;
	return strcmp(list->namespace_name, e->namespace_name) == 0 &&
	       strcmp(list->path_name, e->job_id) == 0;
}

static bool collect_evaluation(const struct evaluation *e, void *list)
{
	return record_list_add(list, &e->id);
}

static uint64_t job_evaluations_watched(const struct request *request)
{
	const struct state *state = request->api->settings.state;
	struct text namespace_name = text_of(request_namespace(request));
	struct text id = text_of(request->ids[0]);
	uint64_t job = state_job_index(state, namespace_name, id);
	uint64_t evaluations = state_job_index_of(state, STATE_EVALUATIONS, namespace_name, id);
	if (!job && !evaluations)
		return 0;
	// Changes from before the server started are no newer than its first index.
	if (!evaluations)
		evaluations = request->api->first_index;
	return job > evaluations ? job : evaluations;
}

static uint64_t choose_of_job(const struct request *request, struct record_list *list)
{
	state_job_evaluations(list->state, text_of(list->namespace_name), text_of(list->path_name),
		collect_evaluation, list);
	return job_evaluations_watched(request);
}

const struct record_kind evaluations_of_job = {.table = STATE_EVALUATIONS,
	.namespace_of = namespace_of_evaluation,
	.shown_with = ACL_READ_JOB,
	.by_id = true,
	.choose = choose_of_job,
	.watched = job_evaluations_watched,
	.is_wanted = is_of_job,
	.type = &evaluation_description};
