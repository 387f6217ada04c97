// Changes that an operator makes to a node.
#include "tools/api/nomad/nodes/nodes.h"
#include "tools/api/nomad/nodes/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include "tools/forms/eval_made_json.h"

static bool read_eligibility(struct request *request, bool *eligible, struct reply *reply)
{
	json_t *body = body_read(request, reply);
	bool fits = body && body_names(request, body, "NodeID", "Node ID", reply);
	const char *text = json_string_value(json_object_get(body, "Eligibility"));
	*eligible = text && strcmp(text, "eligible") == 0;
	if (fits && !*eligible && !(text && strcmp(text, "ineligible") == 0)) {
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"invalid scheduling eligibility \"%.64s\"; it must be \"eligible\" or "
			"\"ineligible\"",
			text ? text : "");
		fits = false;
	}
	json_decref(body);
	return fits;
}

void node_set_eligibility(struct request *request, struct reply *reply)
{
	struct uuid id;
	bool eligible;
	if (!path_uuid(request, "node", &id, reply) || !read_eligibility(request, &eligible, reply))
		return;
	struct command *command = submission_one(request, COMMAND_NODE_ELIGIBILITY, NULL);
	command->node_eligibility =
		(struct command_node_eligibility){.node = id, .eligible = eligible};
}

void node_eligibility_set(struct request *request, struct reply *reply)
{
	const struct command *command;
	struct json_writer *w = done_begin(request, reply, &command);
	if (!w)
		return;
	json_put_u64(w, "NodeModifyIndex", command->index);
	evals_made_json(w, request->api->settings.state, &command->node_eligibility.made);
	json_put_u64(w, "Index", command->index);
	done_end(w, reply, command);
}

static void submit_named(struct request *request, struct reply *reply, enum command_type type)
{
	struct uuid id;
	if (!path_uuid(request, "node", &id, reply))
		return;
	struct command *command = submission_one(request, type, NULL);
	command->node_named = (struct command_node_named){.node = id};
}

void node_evaluate(struct request *request, struct reply *reply)
{
	submit_named(request, reply, COMMAND_NODE_EVALUATE);
}

void node_purge(struct request *request, struct reply *reply)
{
	submit_named(request, reply, COMMAND_NODE_PURGE);
}

// "" of a node that was purged.
static void put_eligibility(struct json_writer *w, const struct state *state, const struct uuid *id)
{
	state_read_begin();
	const struct node *node = state_node_by_id(state, id);
	json_put_string(
		w, "SchedulingEligibility", node ? node_eligibility_names[node->eligibility] : "");
	state_read_end();
}

void node_evaluated(struct request *request, struct reply *reply)
{
	const struct command *command;
	struct json_writer *w = done_begin(request, reply, &command);
	if (!w)
		return;
	bool purged = command->type == COMMAND_NODE_PURGE;
	json_put_u64(w, "HeartbeatTTL", 0);
	evals_made_json(w, request->api->settings.state, &command->node_named.made);
	json_put_u64(w, "NodeModifyIndex", purged ? command->index : 0);
	json_put_u64(w, "Features", 0);
	json_put_string(w, "LeaderRPCAddr", "");
	json_put_u64(w, "NumNodes", 0);
	put_eligibility(w, request->api->settings.state, &command->node_named.node);
	json_put_null(w, "Servers");
	write_meta_json(w, command->index);
	done_end(w, reply, command);
}
