// What placing instances of a service job takes at the least, done in the plainest way: the reference of the service
// benchmark. Every node is looked at for every instance, with the same scores in the same order; it answers exactly
// as the scheduler does.
#pragma once
#include "state/records/resources.h"
#include <stdbool.h>
#include <stdint.h>

struct naive_service_node {
	struct resources capacity, used;
	uint32_t rack;
	bool preferred; // by the job's affinity
	uint32_t instances;
};

struct naive_service {
	struct naive_service_node *nodes; // by slot
	uint32_t node_count, rack_count;
	uint32_t *of_rack; // instances
	// The job.
	uint32_t count;
	struct resources ask;
	bool affinity, spread;
	uint32_t rack_limit; // of distinct_property; 0: none
};

struct naive_service *naive_service_create(uint32_t nodes, uint32_t racks);
void naive_service_destroy(struct naive_service *);
// As it was before anything was placed.
void naive_service_reset(struct naive_service *);
// The slot of the best node, which takes one more instance; node_count: there is none.
uint32_t naive_service_place(struct naive_service *);
