// One row per field of an allocation, named as in Nomad's API. What schedulers do not look at is known, but not
// kept.
#include "tools/simulate/scenario_allocation_json.h"

#define OF(type, member) offsetof(struct type, member)
#define FLAGS(flags) NULL, NULL, flags
#define DESCRIBE(variable, type)                                                        \
	const struct record_type variable = {#type, sizeof(struct type), type##_fields, \
		sizeof type##_fields / sizeof type##_fields[0], NULL}

#define NOT_KEPT(name)                              \
	{                                           \
		name, FIELD_FIXED, 0, NULL, NULL, 0 \
	}

// As alloc_desired_names and alloc_client_names, with an end.
static const char *const desired_statuses[] = {"run", "stop", "evict", NULL};
static const char *const client_statuses[] = {
	"pending", "running", "complete", "failed", "lost", "unknown", NULL};

static const struct field said_task_cpu_fields[] = {
	{"CpuShares", FIELD_I64, OF(said_task_cpu, shares)},
	{"ReservedCores", FIELD_INTEGERS, OF(said_task_cpu, reserved_cores)},
};
static DESCRIBE(said_task_cpu_description, said_task_cpu);

static const struct field said_task_memory_fields[] = {
	{"MemoryMB", FIELD_I64, OF(said_task_memory, mb)},
	{"MemoryMaxMB", FIELD_I64, OF(said_task_memory, max_mb)},
};
static DESCRIBE(said_task_memory_description, said_task_memory);

static const struct field said_task_fields[] = {
	{"Name", FIELD_STRING, OF(said_task, name)},
	{"Cpu", FIELD_STRUCT, OF(said_task, cpu), &said_task_cpu_description},
	{"Memory", FIELD_STRUCT, OF(said_task, memory), &said_task_memory_description},
	{"Networks", FIELD_ARRAY, OF(said_task, networks), &allocated_network_description},
	{"Devices", FIELD_ARRAY, OF(said_task, devices), &allocated_device_description},
};
static DESCRIBE(said_task_description, said_task);

static const struct field said_lifecycle_fields[] = {
	{"Task", FIELD_STRING, OF(said_lifecycle, task)},
	{"Hook", FIELD_STRING, OF(said_lifecycle, hook)},
	{"Sidecar", FIELD_BOOL, OF(said_lifecycle, sidecar)},
};
static DESCRIBE(said_lifecycle_description, said_lifecycle);

static const struct field said_shared_fields[] = {
	{"DiskMB", FIELD_I64, OF(said_shared, disk_mb)},
	{"Networks", FIELD_ARRAY, OF(said_shared, networks), &allocated_network_description},
	{"Ports", FIELD_ARRAY, OF(said_shared, ports), &allocated_port_description},
};
static DESCRIBE(said_shared_description, said_shared);

static const struct field said_allocated_fields[] = {
	{"Tasks", FIELD_STRUCT_MAP, OF(said_allocated, tasks), &said_task_description},
	{"TaskLifecycles", FIELD_STRUCT_MAP, OF(said_allocated, lifecycles),
		&said_lifecycle_description},
	{"Shared", FIELD_STRUCT, OF(said_allocated, shared), &said_shared_description},
};
static DESCRIBE(said_allocated_description, said_allocated);

static const struct field said_tracker_fields[] = {
	{"Events", FIELD_ARRAY, OF(said_tracker, events), &reschedule_event_description},
};
static DESCRIBE(said_tracker_description, said_tracker);

static const struct field said_allocation_fields[] = {
	{"ID", FIELD_UUID, OF(said_allocation, id)},
	{"EvalID", FIELD_UUID, OF(said_allocation, eval_id)},
	{"NodeID", FIELD_UUID, OF(said_allocation, node_id)},
	{"Namespace", FIELD_STRING, OF(said_allocation, namespace_name)},
	{"Name", FIELD_STRING, OF(said_allocation, name)},
	{"JobID", FIELD_STRING, OF(said_allocation, job_id)},
	{"TaskGroup", FIELD_STRING, OF(said_allocation, task_group)},
	{"JobVersion", FIELD_U64, OF(said_allocation, job_version)},
	{"AllocatedResources", FIELD_OPTIONAL, OF(said_allocation, allocated),
		&said_allocated_description},
	{"DesiredStatus", FIELD_ENUM, OF(said_allocation, desired), NULL, desired_statuses},
	{"ClientStatus", FIELD_ENUM, OF(said_allocation, client_status), NULL, client_statuses},
	{"ClientDescription", FIELD_STRING, OF(said_allocation, client_description)},
	{"PreviousAllocation", FIELD_UUID, OF(said_allocation, details.previous_allocation)},
	{"NextAllocation", FIELD_UUID, OF(said_allocation, details.next_allocation)},
	{"FollowupEvalID", FIELD_UUID, OF(said_allocation, details.followup_eval)},
	{"PreemptedByAllocation", FIELD_UUID, OF(said_allocation, details.preempted_by)},
	{"DeploymentID", FIELD_UUID, OF(said_allocation, details.deployment_id)},
	{"DesiredTransition", FIELD_STRUCT, OF(said_allocation, details.transition),
		&desired_transition_description},
	{"AllocStates", FIELD_ARRAY, OF(said_allocation, details.states), &alloc_state_description},
	{"PreemptedAllocations", FIELD_UUIDS, OF(said_allocation, details.preempted)},
	{"DeploymentStatus", FIELD_OPTIONAL, OF(said_allocation, details.deployment_status),
		&alloc_deployment_status_description},
	{"RescheduleTracker", FIELD_OPTIONAL, OF(said_allocation, tracker),
		&said_tracker_description},
	{"TaskStates", FIELD_STRUCT_MAP, OF(said_allocation, task_states), &task_state_description},
	{"CreateIndex", FIELD_U64, OF(said_allocation, create_index)},
	{"ModifyIndex", FIELD_U64, OF(said_allocation, modify_index)},
	{"AllocModifyIndex", FIELD_U64, OF(said_allocation, alloc_modify_index)},
	{"CreateTime", FIELD_I64, OF(said_allocation, create_time_ns)},
	{"ModifyTime", FIELD_I64, OF(said_allocation, modify_time_ns)},
	NOT_KEPT("NodeName"),
	NOT_KEPT("DesiredDescription"),
	NOT_KEPT("Job"),
	NOT_KEPT("JobType"),
	NOT_KEPT("Metrics"),
	NOT_KEPT("Resources"),
	NOT_KEPT("SharedResources"),
	NOT_KEPT("TaskResources"),
	NOT_KEPT("Services"),
	NOT_KEPT("NetworkStatus"),
};
DESCRIBE(said_allocation_description, said_allocation);
