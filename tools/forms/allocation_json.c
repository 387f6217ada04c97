#include "tools/forms/allocation_json.h"
#include "state/records/alloc_details.h"
#include "state/records/plan.h"
#include "tools/forms/allocated_json.h"
#include "tools/forms/job_json.h"
#include "tools/forms/task_state_json.h"
#include "tools/json/json_record.h"

static const struct alloc_details no_details;

static const struct alloc_details *details_of(const struct allocation *a)
{
	return a->details ? a->details : &no_details;
}

static void put_name(struct json_writer *w, const struct allocation *a)
{
	char name[2 * NAME_BYTES_MAX + 32];
	json_put_string(w, "Name", allocation_name(a, name, sizeof name));
}

static void put_reschedule(struct json_writer *w, const struct alloc_details *details)
{
	if (!json_open_object_if(w, "RescheduleTracker", details->reschedule_events.count > 0))
		return;
	json_put_records(w, "Events", &reschedule_event_description, &details->reschedule_events);
	json_end_object(w);
}

static const struct field preempted_ids = {.kind = FIELD_UUIDS, .flags = FIELD_NULL_EMPTY};

static void put_status(struct json_writer *w, const struct allocation *a)
{
	const struct alloc_details *details = details_of(a);
	char description[DESIRED_DESCRIPTION_BYTES];
	json_put_string(w, "DesiredStatus", alloc_desired_names[a->desired]);
	json_put_string(w, "DesiredDescription", allocation_desired_description(a, description));
	json_put_string(w, "ClientStatus", alloc_client_names[a->client_status]);
	json_put_string(w, "ClientDescription", allocation_client_description(a));
	json_put_record(
		w, "DesiredTransition", &desired_transition_description, &details->transition);
	task_states_json(w, a);
	json_put_record(
		w, "DeploymentStatus", &alloc_deployment_status_description, allocation_health(a));
	json_put_uuid(w, "FollowupEvalID", &details->followup_eval);
	json_put_uuid(w, "NextAllocation", &details->next_allocation);
	put_reschedule(w, details);
	json_write_key(w, "PreemptedAllocations");
	json_write_field(w, &preempted_ids, &details->preempted);
	json_put_uuid(w, "PreemptedByAllocation", &details->preempted_by);
	json_put_u64(w, "CreateIndex", a->record.create_index);
	json_put_u64(w, "ModifyIndex", a->record.modify_index);
	json_put_i64(w, "CreateTime", a->create_time_ns);
	json_put_i64(w, "ModifyTime", a->modify_time_ns);
}

static void put_identity(
	struct json_writer *w, const struct state *state, const struct allocation *a)
{
	const struct node *node = state_node_at(state, a->node_slot);
	bool there = node && uuid_equal(&node->id, &a->node_id);
	json_put_uuid(w, "ID", &a->id);
	json_put_uuid(w, "EvalID", &a->eval_id);
	put_name(w, a);
	json_put_string(w, "Namespace", a->job->namespace_name);
	json_put_uuid(w, "NodeID", &a->node_id);
	json_put_string(w, "NodeName", there ? node->name : "");
	json_put_string(w, "JobID", a->job->id);
	json_put_string(w, "TaskGroup", allocation_group(a)->name);
}

void allocation_json_stub(struct json_writer *w, const struct state *state,
	const struct allocation *a, bool resources)
{
	json_begin_object(w);
	put_identity(w, state, a);
	json_put_string(w, "JobType", job_type_names[a->job->type]);
	json_put_u64(w, "JobVersion", a->job->version);
	if (resources)
		allocated_json(w, state, a);
	else
		json_put_null(w, "AllocatedResources");
	put_status(w, a);
	json_end_object(w);
}

// Adds the placement's own score to metrics without scores, which many placements share.
static void put_metrics_with_score(
	struct json_writer *w, const struct alloc_metrics *shared, const struct allocation *a)
{
	struct node_score score = {.node_id = a->node_id, .norm_score = a->score};
	struct alloc_metrics metrics = *shared;
	node_score_put(&score, SCORE_BINPACK, a->score);
	if (!metrics.score_metadata.count)
		metrics.score_metadata = (struct array){&score, 1};
	json_record_members(w, &metrics_description, &metrics, 0);
}

static void put_metrics(struct json_writer *w, const struct allocation *a)
{
	struct alloc_metrics metrics = {.nodes_evaluated = a->nodes_evaluated};
	if (a->metrics)
		shared_metrics_read(a->metrics, &metrics);
	json_open_object(w, "Metrics");
	put_metrics_with_score(w, &metrics, a);
	metrics_release(&metrics);
	if (!a->metrics)
		json_put_u64(w, "NodesFeasible", a->nodes_feasible);
	json_end_object(w);
}

static void put_berth(struct json_writer *w, const struct state *state, const struct allocation *a)
{
	const char *client = a->client == CLIENT_NONE ? "" : state_client_name(state, a->client);
	json_open_object(w, "Berth");
	json_put_string(w, "Client", client);
	json_put_u64(w, "NodeSlot", a->node_slot);
	json_put_f64(w, "Score", a->score);
	json_end_object(w);
}

static void put_states(struct json_writer *w, const struct alloc_details *details)
{
	if (!json_open_array_if(w, "AllocStates", details->states.count > 0))
		return;
	for (uint32_t i = 0; i < details->states.count; i++) {
		const struct alloc_state *state = ARRAY_AT(&details->states, struct alloc_state, i);
		json_begin_object(w);
		// The client's status is the only field, and Nomad's number of it is 0.
		json_put_u64(w, "Field", 0);
		json_put_string(w, "Value", state->value);
		json_write_key(w, "Time");
		json_write_time(w, state->time_ns);
		json_end_object(w);
	}
	json_end_array(w);
}

// Tasks are in the network of their node: none was made for them.
static void put_network_status(struct json_writer *w)
{
	json_open_object(w, "NetworkStatus");
	json_put_string(w, "InterfaceName", "");
	json_put_string(w, "Address", "");
	json_put_null(w, "DNS");
	json_end_object(w);
}

static void put_members(
	struct json_writer *w, const struct state *state, const struct allocation *a)
{
	const struct alloc_details *details = details_of(a);
	put_identity(w, state, a);
	allocated_json_legacy(w, a);
	allocated_json(w, state, a);
	put_metrics(w, a);
	put_status(w, a);
	put_states(w, details);
	put_network_status(w);
	json_put_uuid(w, "DeploymentID", &details->deployment_id);
	json_put_uuid(w, "PreviousAllocation", &details->previous_allocation);
	json_put_string(w, "SigningKeyID", "");
	json_put_u64(w, "AllocModifyIndex", a->alloc_modify_index);
	put_berth(w, state, a);
}

void allocation_json(struct json_writer *w, const struct state *state, const struct allocation *a)
{
	json_begin_object(w);
	json_write_key(w, "Job");
	job_json(w, a->job);
	put_members(w, state, a);
	json_end_object(w);
}

void allocation_json_without_job(
	struct json_writer *w, const struct state *state, const struct allocation *a)
{
	json_begin_object(w);
	put_members(w, state, a);
	json_end_object(w);
}
