// Nodes and jobs for benchmarks of service and batch jobs: four sizes of nodes in racks of 40 with eight kinds of
// storage, one of which has GPUs beside it, another a host volume and another cores to reserve; jobs of one group with
// or without preferences, a static port, a GPU, a core, the volume, or something that is asked of the names of nodes,
// and the same for the plain reference.
#pragma once
#include "bench/harness/census.h"
#include "bench/harness/controller.h"
#include "bench/naive/naive_service.h"
#include "state/records/job.h"

// Nodes that the reference may look at in one round, so that it ends.
#define SERVICE_LOOKS_MOST 20000000u

struct service_shape {
	const char *name;
	bool affinity, spread, distinct, port, device, volume, unique, likes_device, likes_node,
		core, snapshot;
	bool by_name; // spread and distinct are about the names of nodes, not about racks
};
#define SERVICE_SHAPES 16u
#define SERVICE_PORT 8080 // that a job with a port asks for
extern const struct service_shape service_shapes[SERVICE_SHAPES];

// The nodes, with what a node's commands need, by slot.
struct service_fleet {
	uint32_t nodes, racks;
	uint32_t *generations;
	uint64_t *reports; // of each node so far
	struct naive_service *naive;
};
// Registers the nodes; returns when all are durable.
void service_fleet_open(struct service_fleet *, struct controller *, uint32_t nodes);
// The same with nodes of which each differs from all others in an attribute that is not unique to nodes.
void service_fleet_open_own_classes(struct service_fleet *, struct controller *, uint32_t nodes);
void service_fleet_close(struct service_fleet *);

// Every node reports its allocations, a frame's worth at a time: new ones run, and with healthy they are healthy;
// those that stop are at their end. Returns when all reports are durable.
void service_fleet_report(struct service_fleet *, struct controller *, const struct census_note *,
	uint32_t count, bool healthy);
// The same with what describe makes for each allocation: its tasks.
struct alloc_report;
void service_fleet_report_with(struct service_fleet *, struct controller *,
	const struct census_note *, uint32_t count, bool healthy,
	struct alloc_report *describe(void));
// Reports that nodes went silent, or came back.
void service_fleet_tell(struct service_fleet *, struct controller *, enum command_type,
	const uint32_t *slots, uint32_t count);

// A job of one group, "g", of count small instances.
struct job *service_fleet_job(const struct service_fleet *, const struct service_shape *,
	const char *id, int type, uint32_t count);
// Prepares the reference to place instances of such a job.
void service_fleet_ask(const struct service_fleet *, const struct service_shape *, uint32_t count);
// Places as many instances as the reference has time for, at most count, on an empty fleet; returns how many per
// second.
double service_fleet_reference(const struct service_fleet *, uint32_t count);
uint32_t service_fleet_reference_count(const struct service_fleet *, uint32_t count);
