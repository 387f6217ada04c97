// A recorded cluster: the machines and pods of an openb trace (openb_node_list_all_node.csv and
// openb_pod_list_default.csv) become nodes, direct jobs (one for each distinct shape of pod) and a sequence of
// placements. A ledger finds over-commitment in the controller's answers.
#pragma once
#include "tools/fleet/net/http.h"
#include "tools/fleet/placing.h"

#define TRACE_DISK_MB 1000000u // the trace has no disk sizes; pods ask for none

struct trace_shape { // of a pod
	uint32_t cpu_mhz, memory_mb, gpus;
	char gpu_spec[64]; // models joined by '|'; "": any
	char job[40];      // its job's id
};

struct trace_use {
	uint32_t cpu_mhz, memory_mb, gpus;
};

struct trace {
	struct shapes shapes; // of the machines: of_node points to node_shapes
	uint32_t nodes, pods;
	uint16_t *node_shapes;
	struct uuid *node_ids;
	uint32_t *node_by_id; // ring for lookups, node + 1
	uint32_t node_mask;
	struct trace_use *used; // by node
	uint32_t pod_shape_count;
	struct trace_shape *pod_shapes;
	uint32_t *pod_shape; // by pod
	uint32_t next_pod;
	// results
	uint32_t placed, refused;
	uint32_t refused_by[WIRE_REFUSED_REASONS];
	uint32_t unknown_nodes, overcommitted, wrong_model;
};

// Returns 0, or -errno / -ERROR_CORRUPT and a sentence. The nodes' ids depend on seed.
int trace_load(
	struct trace *, const char *folder, uint64_t seed, char *message, uint32_t message_size);
void trace_free(struct trace *);
// Registers one direct job per shape of pod. Returns 0, or a negative error and a sentence.
int trace_register_jobs(
	const struct trace *, const struct api_access *, char *message, uint32_t message_size);
// For placing.h: gives the pods in the trace's order.
struct placing_source trace_source(struct trace *);

struct trace_totals {
	uint64_t cpu_mhz, memory_mb, gpus;
};
void trace_totals(const struct trace *, struct trace_totals *capacity, struct trace_totals *used);
