// GET /v1/berth/node/:id/drain: where the drain of a node stands, what is left, and what that waits for.
#include "placement/watch/drains/drain_status.h"
#include "tools/api/berth/routes.h"
#include "tools/api/nomad/nodes/nodes.h"
#include "tools/api/nomad/nodes/routes.h"
#include "tools/api/nomad/placements/routes.h"
#include "tools/forms/node_json.h"

static void put_left(struct json_writer *w, const struct array *left)
{
	char name[2 * NAME_BYTES_MAX + 32];
	json_write_key(w, "Remaining");
	json_begin_array(w);
	for (uint32_t i = 0; i < left->count; i++) {
		const struct drain_left *one = ARRAY_AT(left, struct drain_left, i);
		const struct allocation *a = one->allocation;
		json_begin_object(w);
		json_put_uuid(w, "ID", &a->id);
		json_put_string(w, "Name", allocation_name(a, name, sizeof name));
		json_put_string(w, "JobID", a->job->id);
		json_put_string(w, "Namespace", a->job->namespace_name);
		json_put_string(w, "JobType", job_type_names[a->job->type]);
		json_put_string(w, "ClientStatus", alloc_client_names[a->client_status]);
		json_put_bool(w, "Leaving", one->is_flagged);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_reasons(struct json_writer *w, const struct array *reasons)
{
	json_write_key(w, "Waiting");
	json_begin_array(w);
	for (uint32_t i = 0; i < reasons->count; i++) {
		const struct drain_reason *reason = ARRAY_AT(reasons, struct drain_reason, i);
		json_begin_object(w);
		json_put_string(w, "JobID", reason->job_id);
		json_put_string(w, "Namespace", reason->namespace_name);
		json_put_string(w, "Group", reason->group);
		json_put_u64(w, "Remaining", reason->left);
		json_put_u64(w, "Leaving", reason->flagged);
		json_put_string(w, "Reason", reason->text);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_status(
	struct json_writer *w, const struct node *node, const struct drain_status *status)
{
	json_begin_object(w);
	json_put_uuid(w, "NodeID", &node->id);
	json_put_string(w, "NodeName", node->name);
	json_put_string(w, "Phase", drain_phase_names[status->phase]);
	node_json_drain(w, node);
	put_left(w, &status->left);
	put_reasons(w, &status->reasons);
	json_end_object(w);
}

uint64_t node_drain_watched(const struct request *request)
{
	uint64_t node = node_watched(request), allocations = node_allocations_watched(request);
	return node > allocations ? node : allocations;
}

void node_drain_read(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	state_read_begin();
	const struct node *node = node_named(request);
	if (node) {
		struct drain_status status;
		drain_status_read(state, node, &status);
		put_status(reply_json(request, reply), node, &status);
		drain_status_release(&status);
		reply_index(reply, node_drain_watched(request));
	} else {
		reply_error(reply, MHD_HTTP_NOT_FOUND, "node not found");
		reply_index(reply, state_index(state));
	}
	state_read_end();
}
