// The fleet simulator's command line.
#pragma once
#include "tools/fleet/faults.h"
#include "tools/fleet/net/http.h"
#include "tools/fleet/nodes/shape.h"
#include "tools/fleet/placing.h"
#include "tools/options/flags.h"

enum fleet_exit {
	FLEET_SEEN = 0,   // the run reached all that was asked for
	FLEET_UNSEEN = 1, // it did not: standard error says what is missing
	FLEET_USAGE = 2,  // the command line is wrong
	FLEET_FAILED = 3, // could not start, or could not go on
};

#define FAULTS_MAX (7 * FLAG_LIST_MAX)

struct fleet_options {
	const char *server, *source, *vdev, *address, *eal;
	uint32_t sockets;
	const char *key_file;
	uint32_t nodes;
	uint64_t first, seed;
	uint32_t cpu_mhz, memory_mb, disk_mb, attributes;
	const char *class_name, *datacenter, *name_prefix;
	struct flag_list shape, silence, crash, leave, back, flap, unready, broken, bad_version;
	double register_rate, send_rate, loss_percent;
	double duration_s;
	bool until_registered, goodbye, quiet;
	const char *place, *namespace_name, *client;
	uint32_t count, instances, window;
	double rate, repeat_percent, release_percent;
	bool run, no_run;
	double run_for_s, fail_percent, start_delay_s;
	uint32_t workers, worker_default_cpu, worker_default_memory_mib;
	struct flag_list worker_resources, worker_labels;
	const char *write_pcap, *json, *trace;
	struct api_access api;
	// read from the above
	struct shapes shapes;
	struct fault faults[FAULTS_MAX];
	uint32_t fault_count;
	struct text job, group;
};

// Returns false when the process is to exit with *exit_code.
bool fleet_options_read(int argc, char **argv, struct fleet_options *, int *exit_code);
