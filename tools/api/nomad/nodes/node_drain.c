// PUT /v1/node/:id/drain: an operator begins, changes or ends a drain.
#include "tools/api/nomad/nodes/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include "tools/api/server/request.h"
#include "tools/api/server/submission.h"
#include "tools/forms/eval_made_json.h"
#include "tools/json/duration.h"

// Names in the metadata of a drain.
#define META_MAX 64u

// Reads nanoseconds, or text like "1h". False with a reply.
static bool read_deadline(json_t *spec, int64_t *deadline_ns, struct reply *reply)
{
	json_t *value = json_object_get(spec, "Deadline");
	*deadline_ns = json_integer_value(value);
	if (json_is_absent(value) || json_is_integer(value))
		return true;
	const char *text = json_string_value(value);
	if (text && duration_parse(text, deadline_ns))
		return true;
	return reply_mistake(
		reply, "DrainSpec.Deadline: nanoseconds are expected, or text like \"1h\"");
}

// True when the body begins, changes or ends a drain; else the reply names the mistake.
static bool spec_is_fit(json_t *body, int64_t *deadline_ns, struct reply *reply)
{
	json_t *spec = json_object_get(body, "DrainSpec");
	if (!spec && json_object_size(body) == 0)
		reply_mistake(reply, "DrainSpec is missing; null ends a drain");
	else if (!json_is_absent(spec) && !json_is_object(spec))
		reply_mistake(reply, "DrainSpec: an object is expected, or null to end a drain");
	else if (!json_is_object(spec) || read_deadline(spec, deadline_ns, reply))
		return meta_is_fit(json_object_get(body, "Meta"), META_MAX, reply);
	return false;
}

static void submit_drain(
	struct request *request, const struct uuid *id, json_t *body, int64_t deadline_ns)
{
	json_t *spec = json_object_get(body, "DrainSpec");
	struct command *command = submission_one(request, COMMAND_NODE_DRAIN, NULL);
	struct command_node_drain *drain = submission_take(request, sizeof *drain);
	*drain = (struct command_node_drain){
		.node = *id,
		.end = json_is_object(spec) ? DRAIN_GOES_ON : DRAIN_CANCELED,
		.deadline_ns = deadline_ns,
		.ignore_system_jobs = json_is_true(json_object_get(spec, "IgnoreSystemJobs")),
		.mark_eligible = json_is_true(json_object_get(body, "MarkEligible")),
	};
	drain->meta = command_meta(request, json_object_get(body, "Meta"), &drain->meta_count);
	command->node_drain = drain;
}

void node_set_drain(struct request *request, struct reply *reply)
{
	struct uuid id;
	int64_t deadline_ns = 0;
	if (!path_uuid(request, "node", &id, reply))
		return;
	json_t *body = body_read(request, reply);
	if (body && body_names(request, body, "NodeID", "Node ID", reply) &&
		spec_is_fit(body, &deadline_ns, reply))
		submit_drain(request, &id, body, deadline_ns);
	json_decref(body);
}

void node_drain_set(struct request *request, struct reply *reply)
{
	const struct command *command;
	struct json_writer *w = done_begin(request, reply, &command);
	if (!w)
		return;
	json_put_u64(w, "NodeModifyIndex", command->index);
	evals_made_json(w, request->api->settings.state, &command->node_drain->made);
	json_put_u64(w, "Index", command->index);
	done_end(w, reply, command);
}
