// GET /v1/berth/node/:id/drain: a node's drain, the allocations that are left, and what they wait for.
#include "placement/watch/drains/drain_status.h"
#include "tools/api/berth/routes.h"
#include "tools/api/nomad/nodes/nodes.h"
#include "tools/api/nomad/nodes/routes.h"
#include "tools/api/nomad/placements/routes.h"
#include "tools/api/server/access.h"
#include "tools/api/server/one_record.h"
#include "tools/forms/node_json.h"

static void put_left(struct json_writer *w, const struct request *request, const struct array *left)
{
	char name[2 * NAME_BYTES_MAX + 32];
	json_open_array(w, "Remaining");
	for (uint32_t i = 0; i < left->count; i++) {
		const struct drain_left *one = ARRAY_AT(left, struct drain_left, i);
		const struct allocation *a = one->allocation;
		if (!request_may(request, a->job->namespace_name, ACL_READ_JOB))
			continue;
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

static void put_reasons(
	struct json_writer *w, const struct request *request, const struct array *reasons)
{
	json_open_array(w, "Waiting");
	for (uint32_t i = 0; i < reasons->count; i++) {
		const struct drain_reason *reason = ARRAY_AT(reasons, struct drain_reason, i);
		if (!request_may(request, reason->namespace_name, ACL_READ_JOB))
			continue;
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

static void put_status(struct json_writer *w, const struct request *request,
	const struct node *node, const struct drain_status *status)
{
	json_begin_object(w);
	json_put_uuid(w, "NodeID", &node->id);
	json_put_string(w, "NodeName", node->name);
	json_put_string(w, "Phase", drain_phase_names[status->phase]);
	node_json_drain(w, node);
	put_left(w, request, &status->left);
	put_reasons(w, request, &status->reasons);
	json_end_object(w);
}

static uint64_t drain_watched(const struct request *request)
{
	const struct node *node = node_named(request);
	uint64_t change = node ? node->record.modify_index : 0;
	uint64_t allocations = node_allocations_watched(request);
	return change > allocations ? change : allocations;
}

static void write_drain(struct json_writer *w, const struct request *request, const void *record)
{
	struct drain_status status;
	drain_status_read(request->api->settings.state, record, &status);
	put_status(w, request, record, &status);
	drain_status_release(&status);
}

const struct one_record node_drain_by_id = {
	.noun = "node", .table = STATE_NODES, .write = write_drain, .watched = drain_watched};
