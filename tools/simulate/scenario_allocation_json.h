// An allocation as Nomad's API writes it, with JobID and JobVersion instead of the job.
#pragma once
#include "state/records/alloc_details.h"
#include "state/records/metrics.h"
#include "tools/json/json_reader.h"

struct scenario_task_cpu_json {
	int64_t shares;
	struct array reserved_cores; // int64_t
};
struct scenario_task_memory_json {
	int64_t mb, max_mb;
};
struct scenario_task_json { // AllocatedResources.Tasks
	char *name;
	struct scenario_task_cpu_json cpu;
	struct scenario_task_memory_json memory;
	struct array networks, devices; // allocated_network, allocated_device
};
struct scenario_lifecycle_json { // AllocatedResources.TaskLifecycles
	char *task, *hook;
	bool sidecar;
};
struct scenario_shared_json {
	int64_t disk_mb;
	struct array networks, ports; // allocated_network, allocated_port
};
struct scenario_allocated_json {
	struct array tasks, lifecycles; // scenario_task_json, scenario_lifecycle_json
	struct scenario_shared_json shared;
};
struct scenario_tracker_json {
	struct array events; // reschedule_event
};

struct scenario_allocation_json {
	struct uuid id, eval_id, node_id;
	char *namespace_name, *name, *job_id, *task_group;
	uint64_t job_version;
	struct scenario_allocated_json *allocated; // NULL: what the group asks for
	int desired, client_status;
	char *client_description;
	struct alloc_details details; // except what the resources hold
	struct scenario_tracker_json *tracker;
	struct array task_states;      // task_state
	struct alloc_metrics *metrics; // of its placement; NULL: none
	uint64_t create_index, modify_index, alloc_modify_index;
	int64_t create_time_ns, modify_time_ns;
};

extern const struct record_type scenario_allocation_json_description;
