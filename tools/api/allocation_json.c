#include "tools/api/allocation_json.h"
#include "tools/api/job_json.h"
#include <stdio.h>

static const struct task_group *group_of(const struct allocation *a)
{
	return ARRAY_AT(&a->job->task_groups, struct task_group, a->group);
}

// The node where it runs, or NULL when that is gone.
static const struct node *node_of(const struct state *state, const struct allocation *a)
{
	const struct node *node = state_node_at(state, a->node_slot);
	return node && uuid_equal(&node->id, &a->node_id) ? node : NULL;
}

static void put_name(struct json_writer *w, const struct allocation *a)
{
	char name[2 * NAME_BYTES_MAX + 32];
	snprintf(name, sizeof name, "%s.%s[%u]", a->job->id, group_of(a)->name, a->index);
	json_put_string(w, "Name", name);
}

static void put_legacy(struct json_writer *w, const char *key, uint64_t cpu, uint64_t memory,
	uint64_t memory_max, uint64_t disk)
{
	json_write_key(w, key);
	json_begin_object(w);
	json_put_u64(w, "CPU", cpu);
	json_put_u64(w, "Cores", 0);
	json_put_u64(w, "MemoryMB", memory);
	json_put_u64(w, "MemoryMaxMB", memory_max);
	json_put_u64(w, "DiskMB", disk);
	json_put_u64(w, "IOPS", 0);
	json_put_null(w, "Networks");
	json_put_null(w, "Devices");
	json_end_object(w);
}

static bool has_devices(const struct allocation *a)
{
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		if (a->devices.groups[i])
			return true;
	return false;
}

static void put_device_group(
	struct json_writer *w, const struct device_group *group, uint64_t instances)
{
	json_begin_object(w);
	json_put_string(w, "Vendor", group->vendor);
	json_put_string(w, "Type", group->type);
	json_put_string(w, "Name", group->name);
	json_write_key(w, "DeviceIDs");
	json_begin_array(w);
	for (uint32_t i = 0; i < NODE_DEVICES_MAX; i++)
		if (instances >> i & 1) {
			char id[8];
			snprintf(id, sizeof id, "%u", i);
			json_write_string(w, id);
		}
	json_end_array(w);
	json_end_object(w);
}

// The instances are chosen for the allocation as a whole; they are shown with the first task that
// asks.
static void put_devices(
	struct json_writer *w, const struct state *state, const struct allocation *a)
{
	const struct node *node = node_of(state, a);
	json_write_key(w, "Devices");
	if (!node || !has_devices(a)) {
		json_write_null(w);
		return;
	}
	json_begin_array(w);
	for (uint32_t i = 0; i < node->node_class->device_count; i++)
		if (a->devices.groups[i])
			put_device_group(w, &node->node_class->devices[i], a->devices.groups[i]);
	json_end_array(w);
}

static void put_task(struct json_writer *w, const struct state *state, const struct allocation *a,
	const struct task *task, bool shows_devices)
{
	json_write_key(w, task->name);
	json_begin_object(w);
	json_write_key(w, "Cpu");
	json_begin_object(w);
	json_put_i64(w, "CpuShares", task->resources.cpu);
	json_put_null(w, "ReservedCores");
	json_end_object(w);
	json_write_key(w, "Memory");
	json_begin_object(w);
	json_put_i64(w, "MemoryMB", task->resources.memory_mb);
	json_put_i64(w, "MemoryMaxMB", task->resources.memory_max_mb);
	json_end_object(w);
	json_put_null(w, "Networks");
	if (shows_devices)
		put_devices(w, state, a);
	else
		json_put_null(w, "Devices");
	json_end_object(w);
}

static void put_allocated(
	struct json_writer *w, const struct state *state, const struct allocation *a)
{
	const struct array *tasks = &group_of(a)->tasks;
	json_write_key(w, "AllocatedResources");
	json_begin_object(w);
	json_write_key(w, "Tasks");
	json_begin_object(w);
	bool shown = false;
	for (uint32_t i = 0; i < tasks->count; i++) {
		const struct task *task = ARRAY_AT(tasks, struct task, i);
		bool asks = !shown && task->resources.devices.count > 0;
		put_task(w, state, a, task, asks);
		shown = shown || asks;
	}
	json_end_object(w);
	json_write_key(w, "TaskLifecycles");
	json_begin_object(w);
	for (uint32_t i = 0; i < tasks->count; i++)
		json_put_null(w, ARRAY_AT(tasks, struct task, i)->name);
	json_end_object(w);
	json_write_key(w, "Shared");
	json_begin_object(w);
	json_put_null(w, "Networks");
	json_put_u64(w, "DiskMB", a->resources.disk_mb);
	json_put_null(w, "Ports");
	json_end_object(w);
	json_end_object(w);
}

static void put_task_resources(struct json_writer *w, const struct allocation *a)
{
	const struct array *tasks = &group_of(a)->tasks;
	json_write_key(w, "TaskResources");
	json_begin_object(w);
	for (uint32_t i = 0; i < tasks->count; i++) {
		const struct task *task = ARRAY_AT(tasks, struct task, i);
		put_legacy(w, task->name, (uint64_t)task->resources.cpu,
			(uint64_t)task->resources.memory_mb,
			(uint64_t)task->resources.memory_max_mb, 0);
	}
	json_end_object(w);
}

static void put_status(struct json_writer *w, const struct allocation *a)
{
	json_put_string(w, "DesiredStatus", alloc_desired_names[a->desired]);
	json_put_string(w, "DesiredDescription", a->desired_description);
	json_put_string(w, "ClientStatus", alloc_client_names[a->client_status]);
	json_put_string(w, "ClientDescription", a->client_description);
	json_write_key(w, "DesiredTransition");
	json_begin_object(w);
	json_put_null(w, "Migrate");
	json_put_null(w, "Reschedule");
	json_put_null(w, "ForceReschedule");
	json_end_object(w);
	json_put_null(w, "TaskStates");
	json_put_null(w, "DeploymentStatus");
	json_put_string(w, "FollowupEvalID", "");
	json_put_null(w, "RescheduleTracker");
	json_put_null(w, "PreemptedAllocations");
	json_put_string(w, "PreemptedByAllocation", "");
	json_put_u64(w, "CreateIndex", a->record.create_index);
	json_put_u64(w, "ModifyIndex", a->record.modify_index);
	json_put_i64(w, "CreateTime", a->create_time_ns);
	json_put_i64(w, "ModifyTime", a->modify_time_ns);
}

static void put_identity(
	struct json_writer *w, const struct state *state, const struct allocation *a)
{
	const struct node *node = node_of(state, a);
	json_put_uuid(w, "ID", &a->id);
	json_put_string(w, "EvalID", "");
	put_name(w, a);
	json_put_string(w, "Namespace", a->job->namespace_name);
	json_put_uuid(w, "NodeID", &a->node_id);
	json_put_string(w, "NodeName", node ? node->name : "");
	json_put_string(w, "JobID", a->job->id);
	json_put_string(w, "TaskGroup", group_of(a)->name);
}

void allocation_json_stub(struct json_writer *w, const struct state *state,
	const struct allocation *a, bool resources)
{
	json_begin_object(w);
	put_identity(w, state, a);
	json_put_string(w, "JobType", job_type_names[a->job->type]);
	json_put_u64(w, "JobVersion", a->job->version);
	if (resources)
		put_allocated(w, state, a);
	else
		json_put_null(w, "AllocatedResources");
	put_status(w, a);
	json_end_object(w);
}

static void put_score(struct json_writer *w, const struct allocation *a)
{
	json_write_key(w, "ScoreMetaData");
	json_begin_array(w);
	json_begin_object(w);
	json_put_uuid(w, "NodeID", &a->node_id);
	json_write_key(w, "Scores");
	json_begin_object(w);
	json_put_f64(w, "binpack", a->score);
	json_end_object(w);
	json_put_f64(w, "NormScore", a->score);
	json_end_object(w);
	json_end_array(w);
}

static void put_metrics(struct json_writer *w, const struct allocation *a)
{
	static const char *const counted_in_refusals[] = {"NodesAvailable", "ClassFiltered",
		"ConstraintFiltered", "ClassExhausted", "DimensionExhausted", "QuotaExhausted",
		"ResourcesExhausted", "Scores"};
	json_write_key(w, "Metrics");
	json_begin_object(w);
	json_put_u64(w, "NodesEvaluated", a->nodes_evaluated);
	json_put_u64(w, "NodesFiltered", 0);
	json_put_u64(w, "NodesExhausted", 0);
	json_put_u64(w, "NodesFeasible", a->nodes_feasible);
	for (size_t i = 0; i < sizeof counted_in_refusals / sizeof counted_in_refusals[0]; i++)
		json_put_null(w, counted_in_refusals[i]);
	put_score(w, a);
	json_put_u64(w, "AllocationTime", 0);
	json_put_u64(w, "CoalescedFailures", 0);
	json_end_object(w);
}

static void put_berth(struct json_writer *w, const struct state *state, const struct allocation *a)
{
	const char *client = a->client == CLIENT_NONE ? "" : state_client_name(state, a->client);
	json_write_key(w, "Berth");
	json_begin_object(w);
	json_put_string(w, "Client", client);
	json_put_u64(w, "NodeSlot", a->node_slot);
	json_put_f64(w, "Score", a->score);
	json_end_object(w);
}

void allocation_json(struct json_writer *w, const struct state *state, const struct allocation *a)
{
	json_begin_object(w);
	put_identity(w, state, a);
	json_write_key(w, "Job");
	job_json(w, a->job);
	put_legacy(w, "Resources", a->resources.cpu_mhz, a->resources.memory_mb,
		a->resources.memory_mb, a->resources.disk_mb);
	put_legacy(w, "SharedResources", 0, 0, 0, a->resources.disk_mb);
	put_task_resources(w, a);
	put_allocated(w, state, a);
	put_metrics(w, a);
	put_status(w, a);
	json_put_string(w, "DeploymentID", "");
	json_put_string(w, "PreviousAllocation", "");
	json_put_string(w, "NextAllocation", "");
	json_put_u64(w, "AllocModifyIndex", a->alloc_modify_index);
	put_berth(w, state, a);
	json_end_object(w);
}
