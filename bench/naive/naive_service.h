// The reference of the service benchmark: the least work of placing instances of a service job, done in the plainest
// way. It looks at every node for every instance, with the same scores in the same order, and answers exactly as the
// scheduler does.
#pragma once
#include "state/records/resources.h"
#include <stdbool.h>
#include <stdint.h>

struct naive_service_node {
	struct resources capacity, used;
	uint32_t rack;
	bool preferred; // by the job's affinity
	uint32_t devices, cores;
	bool has_volume, is_named;
	uint32_t instances;
};

struct naive_service {
	struct naive_service_node *nodes; // by slot
	uint32_t node_count, rack_count;
	uint32_t *of_value; // instances, by rack or slot
	// The job.
	uint32_t count;
	struct resources ask;
	bool affinity, spread;
	bool by_name;         // spread and distinct_property are about single nodes, not racks
	uint32_t value_limit; // of distinct_property; 0: none
	bool port, device,
		core; // an instance takes the port of its node, or one of its devices or cores
	bool volume, unique; // nodes without the volume will not do, or the one that is named
	bool snapshot;       // idle nodes come first
	bool likes_device, likes_node; // the devices of all nodes, or the node that is named
};

struct naive_service *naive_service_create(uint32_t nodes, uint32_t racks);
void naive_service_destroy(struct naive_service *);
// Undoes every placement.
void naive_service_reset(struct naive_service *);
// Places one more instance on the best node and returns its slot; node_count: no node takes it.
uint32_t naive_service_place(struct naive_service *);
