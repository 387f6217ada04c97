// One row per field of an allocation, named as in Nomad's API. Fields that no scheduler reads are accepted, but not
// kept.
#include "tools/simulate/scenario_allocation_json.h"
#include "state/base/schema_table.h"

#define NOT_KEPT(name) ALWAYS(name, NULL)

// Like alloc_desired_names and alloc_client_names, NULL-ended.
static const char *const desired_statuses[] = {"run", "stop", "evict", NULL};
static const char *const client_statuses[] = {
	"pending", "running", "complete", "failed", "lost", "unknown", NULL};

static const struct field scenario_task_cpu_json_fields[] = {
	{"CpuShares", FIELD_I64, OF(scenario_task_cpu_json, shares)},
	{"ReservedCores", FIELD_INTEGERS, OF(scenario_task_cpu_json, reserved_cores)},
};
static DESCRIBE(scenario_task_cpu_json_description, scenario_task_cpu_json);

static const struct field scenario_task_memory_json_fields[] = {
	{"MemoryMB", FIELD_I64, OF(scenario_task_memory_json, mb)},
	{"MemoryMaxMB", FIELD_I64, OF(scenario_task_memory_json, max_mb)},
};
static DESCRIBE(scenario_task_memory_json_description, scenario_task_memory_json);

static const struct field scenario_task_json_fields[] = {
	{"Name", FIELD_STRING, OF(scenario_task_json, name)},
	{"Cpu", FIELD_STRUCT, OF(scenario_task_json, cpu), &scenario_task_cpu_json_description},
	{"Memory", FIELD_STRUCT, OF(scenario_task_json, memory),
		&scenario_task_memory_json_description},
	{"Networks", FIELD_ARRAY, OF(scenario_task_json, networks), &allocated_network_description},
	{"Devices", FIELD_ARRAY, OF(scenario_task_json, devices), &allocated_device_description},
};
static DESCRIBE(scenario_task_json_description, scenario_task_json);

static const struct field scenario_lifecycle_json_fields[] = {
	{"Task", FIELD_STRING, OF(scenario_lifecycle_json, task)},
	{"Hook", FIELD_STRING, OF(scenario_lifecycle_json, hook)},
	{"Sidecar", FIELD_BOOL, OF(scenario_lifecycle_json, sidecar)},
};
static DESCRIBE(scenario_lifecycle_json_description, scenario_lifecycle_json);

static const struct field scenario_shared_json_fields[] = {
	{"DiskMB", FIELD_I64, OF(scenario_shared_json, disk_mb)},
	{"Networks", FIELD_ARRAY, OF(scenario_shared_json, networks),
		&allocated_network_description},
	{"Ports", FIELD_ARRAY, OF(scenario_shared_json, ports), &allocated_port_description},
};
static DESCRIBE(scenario_shared_json_description, scenario_shared_json);

static const struct field scenario_allocated_json_fields[] = {
	{"Tasks", FIELD_STRUCT_MAP, OF(scenario_allocated_json, tasks),
		&scenario_task_json_description},
	{"TaskLifecycles", FIELD_STRUCT_MAP, OF(scenario_allocated_json, lifecycles),
		&scenario_lifecycle_json_description},
	{"Shared", FIELD_STRUCT, OF(scenario_allocated_json, shared),
		&scenario_shared_json_description},
};
static DESCRIBE(scenario_allocated_json_description, scenario_allocated_json);

static const struct field scenario_tracker_json_fields[] = {
	{"Events", FIELD_ARRAY, OF(scenario_tracker_json, events), &reschedule_event_description},
};
static DESCRIBE(scenario_tracker_json_description, scenario_tracker_json);

static const struct field scenario_allocation_json_fields[] = {
	{"ID", FIELD_UUID, OF(scenario_allocation_json, id)},
	{"EvalID", FIELD_UUID, OF(scenario_allocation_json, eval_id)},
	{"NodeID", FIELD_UUID, OF(scenario_allocation_json, node_id)},
	{"Namespace", FIELD_STRING, OF(scenario_allocation_json, namespace_name)},
	{"Name", FIELD_STRING, OF(scenario_allocation_json, name)},
	{"JobID", FIELD_STRING, OF(scenario_allocation_json, job_id)},
	{"TaskGroup", FIELD_STRING, OF(scenario_allocation_json, task_group)},
	{"JobVersion", FIELD_U64, OF(scenario_allocation_json, job_version)},
	{"AllocatedResources", FIELD_OPTIONAL, OF(scenario_allocation_json, allocated),
		&scenario_allocated_json_description},
	{"DesiredStatus", FIELD_ENUM, OF(scenario_allocation_json, desired), NULL,
		desired_statuses},
	{"ClientStatus", FIELD_ENUM, OF(scenario_allocation_json, client_status), NULL,
		client_statuses},
	{"ClientDescription", FIELD_STRING, OF(scenario_allocation_json, client_description)},
	{"PreviousAllocation", FIELD_UUID,
		OF(scenario_allocation_json, details.previous_allocation)},
	{"NextAllocation", FIELD_UUID, OF(scenario_allocation_json, details.next_allocation)},
	{"FollowupEvalID", FIELD_UUID, OF(scenario_allocation_json, details.followup_eval)},
	{"PreemptedByAllocation", FIELD_UUID, OF(scenario_allocation_json, details.preempted_by)},
	{"DeploymentID", FIELD_UUID, OF(scenario_allocation_json, details.deployment_id)},
	{"DesiredTransition", FIELD_STRUCT, OF(scenario_allocation_json, details.transition),
		&desired_transition_description},
	{"AllocStates", FIELD_ARRAY, OF(scenario_allocation_json, details.states),
		&alloc_state_description},
	{"PreemptedAllocations", FIELD_UUIDS, OF(scenario_allocation_json, details.preempted)},
	{"DeploymentStatus", FIELD_OPTIONAL,
		OF(scenario_allocation_json, details.deployment_status),
		&alloc_deployment_status_description},
	{"RescheduleTracker", FIELD_OPTIONAL, OF(scenario_allocation_json, tracker),
		&scenario_tracker_json_description},
	{"TaskStates", FIELD_STRUCT_MAP, OF(scenario_allocation_json, task_states),
		&task_state_description},
	{"Metrics", FIELD_OPTIONAL, OF(scenario_allocation_json, metrics), &metrics_description},
	{"CreateIndex", FIELD_U64, OF(scenario_allocation_json, create_index)},
	{"ModifyIndex", FIELD_U64, OF(scenario_allocation_json, modify_index)},
	{"AllocModifyIndex", FIELD_U64, OF(scenario_allocation_json, alloc_modify_index)},
	{"CreateTime", FIELD_I64, OF(scenario_allocation_json, create_time_ns)},
	{"ModifyTime", FIELD_I64, OF(scenario_allocation_json, modify_time_ns)},
	NOT_KEPT("NodeName"),
	NOT_KEPT("DesiredDescription"),
	NOT_KEPT("Job"),
	NOT_KEPT("JobType"),
	NOT_KEPT("Resources"),
	NOT_KEPT("SharedResources"),
	NOT_KEPT("TaskResources"),
	NOT_KEPT("Services"),
	NOT_KEPT("NetworkStatus"),
};
DESCRIBE(scenario_allocation_json_description, scenario_allocation_json);
