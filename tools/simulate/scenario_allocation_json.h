// An allocation as Nomad's API writes it down, with JobID and JobVersion in place of the job.
#pragma once
#include "state/records/alloc_details.h"
#include "tools/json/json_reader.h"

struct said_task_cpu {
	int64_t shares;
	struct array reserved_cores; // int64_t
};
struct said_task_memory {
	int64_t mb, max_mb;
};
struct said_task { // AllocatedResources.Tasks
	char *name;
	struct said_task_cpu cpu;
	struct said_task_memory memory;
	struct array networks, devices; // allocated_network, allocated_device
};
struct said_lifecycle { // AllocatedResources.TaskLifecycles
	char *task, *hook;
	bool sidecar;
};
struct said_shared {
	int64_t disk_mb;
	struct array networks, ports; // allocated_network, allocated_port
};
struct said_allocated {
	struct array tasks, lifecycles; // said_task, said_lifecycle
	struct said_shared shared;
};
struct said_tracker {
	struct array events; // reschedule_event
};

struct said_allocation {
	struct uuid id, eval_id, node_id;
	char *namespace_name, *name, *job_id, *task_group;
	uint64_t job_version;
	struct said_allocated *allocated; // NULL: what the group asks for
	int desired, client_status;
	char *client_description;
	struct alloc_details details; // but for what the resources hold
	struct said_tracker *tracker;
	struct array task_states; // task_state
	uint64_t create_index, modify_index, alloc_modify_index;
	int64_t create_time_ns, modify_time_ns;
};

extern const struct record_type said_allocation_description;
