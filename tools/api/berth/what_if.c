// GET /v1/berth/node/:id/what-if?kind=drain|down: where a node's allocations would go, and which would not fit. The
// schedulers decide it; nothing is stored.
#include "placement/watch/what_if/what_if.h"
#include "state/records/evaluation.h"
#include "tools/api/berth/routes.h"
#include "tools/api/nomad/nodes/nodes.h"
#include "tools/api/server/access.h"
#include "tools/api/server/background_answers.h"
#include "tools/json/json_record.h"
#include <string.h>

static bool may_see(const struct request *request, const struct job *job)
{
	return request_may(request, job->namespace_name, ACL_READ_JOB);
}

static void put_allocation(struct json_writer *w, const struct allocation *a)
{
	char name[2 * NAME_BYTES_MAX + 32];
	json_put_uuid(w, "ID", &a->id);
	json_put_string(w, "Name", allocation_name(a, name, sizeof name));
	json_put_string(w, "Namespace", a->job->namespace_name);
	json_put_string(w, "JobID", a->job->id);
	json_put_string(w, "JobType", job_type_names[a->job->type]);
	json_put_i64(w, "JobPriority", a->job->priority);
	json_put_string(w, "TaskGroup", allocation_group(a)->name);
}

// How many allocations that the request may see would be stopped for the item.
static uint32_t count_preempted(const struct request *request, const struct what_if *result,
	const struct what_if_item *item)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < result->preempted.count && item->to; i++) {
		const struct what_if_preempted *one =
			ARRAY_AT(&result->preempted, struct what_if_preempted, i);
		count += uuid_equal(&one->by, &item->replacement) &&
			 may_see(request, one->allocation->job);
	}
	return count;
}

static void put_destination(struct json_writer *w, const struct what_if_item *item)
{
	static const struct uuid none;
	bool moves = item->to != NULL;
	json_put_uuid(w, "ToNodeID", moves ? &item->to->id : &none);
	json_put_string(w, "ToNodeName", moves ? item->to->name : "");
	json_put_f64(w, "Score", moves ? item->score : 0);
}

static void put_items(
	struct json_writer *w, const struct request *request, const struct what_if *result)
{
	json_open_array(w, "Allocations");
	for (uint32_t i = 0; i < result->items.count; i++) {
		const struct what_if_item *item = ARRAY_AT(&result->items, struct what_if_item, i);
		if (!may_see(request, item->allocation->job))
			continue;
		json_begin_object(w);
		put_allocation(w, item->allocation);
		json_put_string(w, "Outcome", what_if_outcome_names[item->outcome]);
		json_put_bool(w, "LeftToFinish", item->finishes);
		put_destination(w, item);
		json_put_u64(w, "Preempts", count_preempted(request, result, item));
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_failed_groups(struct json_writer *w, const struct what_if_failure *failure)
{
	for (uint32_t i = 0; i < failure->groups.count; i++) {
		const struct failed_group *group =
			ARRAY_AT(&failure->groups, struct failed_group, i);
		json_begin_object(w);
		json_put_string(w, "Namespace", failure->job->namespace_name);
		json_put_string(w, "JobID", failure->job->id);
		json_put_string(w, "TaskGroup", group->group);
		json_write_key(w, "Metrics");
		json_record(w, &metrics_description, &group->metrics);
		json_end_object(w);
	}
}

static void put_failures(
	struct json_writer *w, const struct request *request, const struct array *failures)
{
	json_open_array(w, "Failures");
	for (uint32_t i = 0; i < failures->count; i++) {
		const struct what_if_failure *failure =
			ARRAY_AT(failures, struct what_if_failure, i);
		if (may_see(request, failure->job))
			put_failed_groups(w, failure);
	}
	json_end_array(w);
}

static void put_preempted(
	struct json_writer *w, const struct request *request, const struct array *preempted)
{
	json_open_array(w, "Preempted");
	for (uint32_t i = 0; i < preempted->count; i++) {
		const struct allocation *a =
			ARRAY_AT(preempted, struct what_if_preempted, i)->allocation;
		if (!may_see(request, a->job))
			continue;
		json_begin_object(w);
		put_allocation(w, a);
		json_end_object(w);
	}
	json_end_array(w);
}

// Counts what the request may see.
static void put_outcomes(
	struct json_writer *w, const struct request *request, const struct array *items)
{
	uint32_t counts[WHAT_IF_OUTCOMES] = {0};
	for (uint32_t i = 0; i < items->count; i++) {
		const struct what_if_item *item = ARRAY_AT(items, struct what_if_item, i);
		counts[item->outcome] += may_see(request, item->allocation->job);
	}
	json_open_object(w, "Outcomes");
	for (uint32_t i = 0; i < WHAT_IF_OUTCOMES; i++)
		json_put_u64(w, what_if_outcome_names[i], counts[i]);
	json_end_object(w);
}

static void put_what_if(struct json_writer *w, const struct request *request,
	const struct node *node, enum what_if_kind kind, const struct what_if *result)
{
	json_begin_object(w);
	json_put_uuid(w, "NodeID", &node->id);
	json_put_string(w, "NodeName", node->name);
	json_put_string(w, "Kind", what_if_kind_names[kind]);
	put_outcomes(w, request, &result->items);
	put_items(w, request, result);
	put_failures(w, request, &result->failures);
	put_preempted(w, request, &result->preempted);
	json_end_object(w);
}

// Reads ?kind=, by default a drain. False with a reply.
static bool read_kind(const struct request *request, struct reply *reply, enum what_if_kind *kind)
{
	const char *name = request_parameter(request, "kind");
	*kind = WHAT_IF_DRAIN;
	if (!name || strcmp(name, what_if_kind_names[WHAT_IF_DRAIN]) == 0)
		return true;
	*kind = WHAT_IF_DOWN;
	if (strcmp(name, what_if_kind_names[WHAT_IF_DOWN]) == 0)
		return true;
	return reply_mistake(reply, "kind is \"%.32s\" but must be drain or down", name);
}

static void answer_what_if(struct request *request, struct reply *reply,
	const struct scheduler_view *view, const struct node *node, enum what_if_kind kind)
{
	struct api *api = request->api;
	struct what_if result;
	struct prng prng;
	pthread_mutex_lock(&api->prng_lock);
	prng_seed(&prng, prng_u64(&api->prng));
	pthread_mutex_unlock(&api->prng_lock);
	what_if(view, node, kind, &prng, (int64_t)time_wall_ns(api->settings.time), &result);
	put_what_if(reply_json(request, reply), request, node, kind, &result);
	what_if_release(&result);
}

static void work_out(struct request *request, struct reply *reply)
{
	struct state *state = request->api->settings.state;
	enum what_if_kind kind;
	if (!read_kind(request, reply, &kind))
		return;
	struct scheduler_view view = state_view_begin(state);
	const struct node *node = node_named(request);
	if (node)
		answer_what_if(request, reply, &view, node, kind);
	else
		reply_error(reply, MHD_HTTP_NOT_FOUND, "node not found");
	reply_index(reply, state_index(state));
	state_view_end();
}

void node_what_if(struct request *request, struct reply *reply)
{
	answer_in_background(request, reply, BACKGROUND_WORK, work_out);
}
