// The agent's command line. Every option NAME may also be given in the environment as BERTH_AGENT_NAME;
// the command line wins.
#pragma once
#include "tools/options/flags.h"

struct agent_options {
	const char *server, *source;
	const char *state_dir, *key_file, *data_dir;
	const char *name, *datacenter, *class_name, *pool;
	uint32_t cpu_mhz, reserved_cpu_mhz, reserved_memory_mb, reserved_disk_mb;
	struct flag_list meta;    // "NAME=VALUE"
	struct flag_list volumes; // "NAME=PATH[:ro]"
	const char *reserved_ports, *dynamic_ports, *reservable_cores;
	bool no_raw_exec;
	bool no_exec;
	uint32_t artifact_max_mb, artifact_max_files, artifact_timeout_s;
	const char *cgroup_parent, *denied_users, *allow_caps;
	uint32_t task_pids; // 0: any number
	const char *docker_socket, *podman_socket, *container_caps;
	bool container_privileged, container_volumes;
	const char *probe;
	uint32_t probe_backoff_ms, probe_timeout_ms;
	bool worker;                       // the node runs virtual machines
	struct flag_list worker_resources; // "NAME=NUMBER"
	struct flag_list worker_labels;    // "NAME=VALUE"
	const char *worker_ports;          // that the controller may reach; NULL: none
	const char *worker_runtime, *worker_machine_id;
	uint32_t worker_default_cpu, worker_default_memory_mib;
	const char *vm_driver, *vm_user, *vm_network, *vm_acceleration;
	uint32_t vm_suspended_days; // 0: for ever
	const char *vm_images;      // NULL: below the data directory
	const char *dial;           // NULL: where the controller is
	const char *log_level;
	bool log_json;
	bool print_id, print_fingerprint;
};

enum agent_exit {
	AGENT_LEFT = 0,        // the controller acknowledged the goodbye, or --print-… is done
	AGENT_FAILED = 1,      // could not start, or could not go on
	AGENT_USAGE = 2,       // the command line is wrong
	AGENT_UNCONFIRMED = 3, // stopped, but no controller confirmed the goodbye
};

// Returns false when the process is to exit with *exit_code (--help, --version, a mistake).
bool agent_options_read(int argc, char **argv, struct agent_options *, int *exit_code);
