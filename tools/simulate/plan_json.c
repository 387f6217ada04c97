#include "tools/simulate/plan_json.h"
#include "state/base/memory.h"
#include "state/tables/jobs/alloc_table.h"
#include "tools/forms/allocated_json.h"
#include "tools/forms/task_state_json.h"
#include "tools/json/json_record.h"
#include <stdio.h>
#include <stdlib.h>

// The version of the plan's job that a change names.
static struct job *version_of(
	const struct scenario *s, const struct plan *plan, uint64_t modify_index)
{
	return (struct job *)scenario_version(s, plan->namespace_name, plan->job_id, modify_index);
}

static void put_node(
	struct json_writer *w, const struct scenario *s, const struct uuid *id, uint32_t slot)
{
	const struct scenario_node *node = scenario_node_at(s, slot);
	json_put_uuid(w, "NodeID", id);
	if (node)
		json_put_string(w, "NodeName", node->record.name);
}

static void put_name(struct json_writer *w, const struct allocation *a)
{
	char name[2 * NAME_BYTES_MAX + 32];
	json_put_string(w, "Name", allocation_name(a, name, sizeof name));
	json_put_string(w, "TaskGroup", allocation_group(a)->name);
	json_put_u64(w, "JobVersion", a->job->version);
}

static void put_stop(struct json_writer *w, const struct scenario *s, const struct plan_stop *stop)
{
	const struct allocation *a = scenario_allocation_find(s, &stop->id);
	json_begin_object(w);
	json_put_uuid(w, "ID", &stop->id);
	put_name(w, a);
	put_node(w, s, &stop->node_id, stop->slot);
	json_put_string(w, "DesiredStatus", alloc_desired_names[ALLOC_STOP]);
	json_put_string(w, "DesiredDescription", end_cause_text(end_cause_of_stop(stop->cause)));
	if (stop->lost || stop->failed)
		json_put_string(w, "ClientStatus",
			alloc_client_names[stop->lost ? ALLOC_LOST : ALLOC_FAILED]);
	// The evaluation that the allocation waited for before stays.
	json_put_uuid(w, "FollowupEvalID",
		uuid_is_zero(&stop->followup_eval) ? &a->details->followup_eval
						   : &stop->followup_eval);
	json_end_object(w);
}

static void put_preemption(
	struct json_writer *w, const struct scenario *s, const struct plan_stop *stop)
{
	char id[UUID_TEXT_BYTES], text[DESIRED_DESCRIPTION_BYTES];
	snprintf(text, sizeof text, "%s %s", end_cause_text(end_cause_of_stop(STOP_PREEMPTED)),
		uuid_format(&stop->preempted_by, id));
	json_begin_object(w);
	json_put_uuid(w, "ID", &stop->id);
	put_name(w, scenario_allocation_find(s, &stop->id));
	put_node(w, s, &stop->node_id, stop->slot);
	json_put_string(w, "DesiredStatus", alloc_desired_names[ALLOC_EVICT]);
	json_put_string(w, "DesiredDescription", text);
	json_put_uuid(w, "PreemptedByAllocation", &stop->preempted_by);
	json_end_object(w);
}

// Writes the metrics that placements share, with this placement's score if they hold none.
static void put_metrics(
	struct json_writer *w, const struct plan *plan, const struct plan_placement *p)
{
	struct node_score score = {.node_id = p->node_id, .norm_score = p->score};
	if (p->metrics == PLAN_NO_METRICS)
		return;
	struct alloc_metrics metrics, shown;
	shared_metrics_read(
		*ARRAY_AT(&plan->metrics, struct shared_metrics *, p->metrics), &metrics);
	shown = metrics;
	node_score_put(&score, SCORE_BINPACK, p->score);
	if (!shown.score_metadata.count)
		shown.score_metadata = (struct array){&score, 1};
	json_write_key(w, "Metrics");
	json_record(w, &metrics_description, &shown);
	metrics_release(&metrics);
}

static void put_uuids(struct json_writer *w, const char *key, const struct array *ids)
{
	json_open_array(w, key);
	for (uint32_t i = 0; i < ids->count; i++)
		json_write_uuid(w, ARRAY_AT(ids, struct uuid, i));
	json_end_array(w);
}

static void hide_dynamic(struct array *networks)
{
	for (uint32_t i = 0; i < networks->count; i++) {
		struct array *ports =
			&ARRAY_AT(networks, struct allocated_network, i)->dynamic_ports;
		for (uint32_t k = 0; k < ports->count; k++)
			ARRAY_AT(ports, struct port, k)->value = 0;
	}
}

static bool is_static(const struct array *networks, const struct allocated_port *port)
{
	for (uint32_t i = 0; i < networks->count; i++) {
		const struct array *ports =
			&ARRAY_AT(networks, struct allocated_network, i)->reserved_ports;
		for (uint32_t k = 0; k < ports->count; k++)
			if (text_equal(text_of(ARRAY_AT(ports, struct port, k)->label),
				    text_of(port->label)))
				return true;
	}
	return false;
}

// Gives instances of devices the ids of the scenario.
static void name_devices(const struct scenario_node *node, struct array *devices)
{
	for (uint32_t i = 0; i < devices->count; i++) {
		struct array *ids = &ARRAY_AT(devices, struct allocated_device, i)->device_ids;
		for (uint32_t k = 0; k < ids->count; k++) {
			char **id = ARRAY_AT(ids, char *, k);
			uint32_t group, instance;
			if (sscanf(*id, "%u-%u", &group, &instance) != 2)
				continue;
			const char *name = scenario_device_id(node, group, instance);
			free(*id);
			*id = text_copy(text_of(name ? name : ""));
		}
	}
}

// Details without the numbers of dynamic ports, because any free ones would do.
static struct alloc_details *shown_details(
	const struct scenario_node *node, const struct alloc_details *from)
{
	struct alloc_details *details = alloc_details_copy(from);
	hide_dynamic(&details->networks);
	for (uint32_t i = 0; i < details->tasks.count; i++) {
		struct allocated_task *task = ARRAY_AT(&details->tasks, struct allocated_task, i);
		hide_dynamic(&task->networks);
		name_devices(node, &task->devices);
	}
	for (uint32_t i = 0; i < details->ports.count; i++) {
		struct allocated_port *port = ARRAY_AT(&details->ports, struct allocated_port, i);
		if (!is_static(&details->networks, port))
			port->value = 0;
	}
	return details;
}

static void put_reschedules(struct json_writer *w, const struct alloc_details *details)
{
	if (!details->reschedule_events.count)
		return;
	json_open_object(w, "RescheduleTracker");
	json_open_array(w, "Events");
	for (uint32_t i = 0; i < details->reschedule_events.count; i++)
		json_record(w, &reschedule_event_description,
			ARRAY_AT(&details->reschedule_events, struct reschedule_event, i));
	json_end_array(w);
	json_end_object(w);
}

// Writes the allocation's history.
static void put_history(struct json_writer *w, const struct alloc_details *details)
{
	json_put_uuid(w, "PreviousAllocation", &details->previous_allocation);
	json_put_uuid(w, "DeploymentID", &details->deployment_id);
	json_put_bool(
		w, "Canary", details->deployment_status && details->deployment_status->canary);
	put_reschedules(w, details);
	put_uuids(w, "PreemptedAllocations", &details->preempted);
}

static void put_placement(struct json_writer *w, const struct scenario *s, const struct plan *plan,
	const struct plan_placement *p)
{
	const struct scenario_node *node = scenario_node_at(s, p->slot);
	struct alloc_details *details = shown_details(node, p->details);
	struct allocation a = {.id = p->id,
		.job = version_of(s, plan, p->job_version),
		.group = p->group,
		.index = p->name_index,
		.node_slot = p->slot,
		.resources = p->resources,
		.devices = &p->devices,
		.details = details,
		.report = p->report};
	json_begin_object(w);
	json_put_uuid(w, "ID", &p->id);
	put_name(w, &a);
	put_node(w, s, &p->node_id, p->slot);
	json_put_string(w, "DesiredStatus", alloc_desired_names[ALLOC_RUN]);
	json_put_string(w, "ClientStatus", alloc_client_names[ALLOC_PENDING]);
	put_history(w, details);
	if (p->report)
		task_states_json(w, &a);
	allocated_json_on(w, &node->record, &a);
	put_metrics(w, plan, p);
	json_end_object(w);
	alloc_details_release(details);
}

static void put_states(struct json_writer *w, const struct alloc_details *details)
{
	json_open_array(w, "AllocStates");
	for (uint32_t i = 0; i < details->states.count; i++)
		json_record(w, &alloc_state_description,
			ARRAY_AT(&details->states, struct alloc_state, i));
	json_end_array(w);
}

static void put_update(struct json_writer *w, const struct scenario *s, const struct plan *plan,
	const struct plan_update *update)
{
	struct allocation a = *scenario_allocation_find(s, &update->id);
	const char *group = ARRAY_AT(&a.job->task_groups, struct task_group, a.group)->name;
	if (update->job_version) {
		a.job = version_of(s, plan, update->job_version);
		a.group = (uint16_t)job_group_index(a.job, text_of(group));
	}
	a.resources = update->resources;
	a.devices = &update->devices;
	if (update->details)
		a.details = update->details;
	json_begin_object(w);
	json_put_uuid(w, "ID", &update->id);
	put_name(w, &a);
	put_node(w, s, &update->node_id, update->slot);
	if (update->client_status != PLAN_KEEP)
		json_put_string(w, "ClientStatus", alloc_client_names[update->client_status]);
	json_put_uuid(w, "DeploymentID", &a.details->deployment_id);
	json_put_uuid(w, "FollowupEvalID", &a.details->followup_eval);
	put_states(w, a.details);
	const struct scenario_node *node = scenario_node_at(s, update->slot);
	if (node) // without the node, the allocation holds nothing
		allocated_json_on(w, &node->record, &a);
	json_end_object(w);
}

// Counts are unsigned in the result: a negative count wraps around.
static void put_desired(struct json_writer *w, const struct desired_updates *d)
{
	json_open_object(w, d->group);
	json_put_u64(w, "Ignore", (uint64_t)d->ignore);
	json_put_u64(w, "Place", (uint64_t)d->place);
	json_put_u64(w, "Migrate", (uint64_t)d->migrate);
	json_put_u64(w, "Stop", (uint64_t)d->stop);
	json_put_u64(w, "InPlaceUpdate", (uint64_t)d->in_place_update);
	json_put_u64(w, "DestructiveUpdate", (uint64_t)d->destructive_update);
	json_put_u64(w, "Canary", (uint64_t)d->canary);
	json_put_u64(w, "Preemptions", (uint64_t)d->preemptions);
	json_end_object(w);
}

static void put_updates(struct json_writer *w, const struct scenario *s, const struct plan *plan,
	const char *key, bool attribute_only)
{
	json_open_array(w, key);
	for (uint32_t i = 0; i < plan->updates.count; i++) {
		const struct plan_update *update = ARRAY_AT(&plan->updates, struct plan_update, i);
		if (update->attribute_only == attribute_only)
			put_update(w, s, plan, update);
	}
	json_end_array(w);
}

static void put_stops(struct json_writer *w, const struct scenario *s, const struct plan *plan)
{
	json_open_array(w, "NodeUpdate");
	for (uint32_t i = 0; i < plan->stops.count; i++)
		put_stop(w, s, ARRAY_AT(&plan->stops, struct plan_stop, i));
	json_end_array(w);
	json_open_array(w, "NodePreemptions");
	for (uint32_t i = 0; i < plan->preemptions.count; i++)
		put_preemption(w, s, ARRAY_AT(&plan->preemptions, struct plan_stop, i));
	json_end_array(w);
}

// Leaves zeros out, as a scenario does.
static void put_without_zeros(
	struct json_writer *w, const struct record_type *of, const void *record)
{
	struct record_type type = *of;
	struct field *fields = memory_take_array(of->field_count, sizeof *fields);
	for (uint32_t i = 0; i < of->field_count; i++) {
		fields[i] = of->fields[i];
		fields[i].flags |= FIELD_OMIT_EMPTY;
	}
	type.fields = fields;
	json_record(w, &type, record);
	free(fields);
}

static void put_deployment(struct json_writer *w, const struct plan *plan)
{
	if (plan->deployment) {
		json_write_key(w, "Deployment");
		put_without_zeros(w, &deployment_description, plan->deployment);
	}
	json_open_array(w, "DeploymentUpdates");
	for (uint32_t i = 0; i < plan->deployment_updates.count; i++) {
		const struct deployment_update *update =
			ARRAY_AT(&plan->deployment_updates, struct deployment_update, i);
		json_begin_object(w);
		json_put_uuid(w, "DeploymentID", &update->id);
		json_put_string(w, "Status", deployment_status_names[update->status]);
		json_put_string(w, "StatusDescription", update->description);
		json_end_object(w);
	}
	json_end_array(w);
}

void plan_json(struct json_writer *w, const struct scenario *s, const struct plan *plan)
{
	json_begin_object(w);
	put_stops(w, s, plan);
	json_open_array(w, "Placements");
	for (uint32_t i = 0; i < plan->placements.count; i++)
		put_placement(w, s, plan, ARRAY_AT(&plan->placements, struct plan_placement, i));
	json_end_array(w);
	put_updates(w, s, plan, "InplaceUpdates", false);
	put_updates(w, s, plan, "AttributeUpdates", true);
	put_deployment(w, plan);
	json_open_object(w, "DesiredTGUpdates");
	for (uint32_t i = 0; i < plan->annotations.count; i++)
		put_desired(w, ARRAY_AT(&plan->annotations, struct desired_updates, i));
	json_end_object(w);
	json_end_object(w);
}
