// What allocations up to one priority hold of each node, all of whom may have to make room for more important ones.
// Kept by changes; one thread.
#pragma once
#include "state/records/allocation.h"
#include "state/tables/state.h"

struct victims_of_node {
	struct resources capacity, used; // by all
	struct amounts_held {
		uint64_t cpu_mhz, memory_mb, disk_mb;
	} held;                // by those up to the priority
	struct resources most; // that one of those holds
	int64_t least;         // priority of those
	uint32_t count;        // of those
};

// Where nodes are read from. Both are about the present view.
struct victims_source {
	// False: there is no node.
	bool (*use)(
		void *context, uint32_t slot, struct resources *capacity, struct resources *used);
	void (*allocations)(
		void *context, uint32_t slot, state_allocation_visit *, void *visit_context);
	void *context;
};

struct victims;

struct victims *victims_create(int64_t priority);
void victims_destroy(struct victims *); // NULL is fine
int64_t victims_priority(const struct victims *);
// From now on of another priority; every node is touched.
void victims_turn_to(struct victims *, int64_t priority);

// The node, or what is on it, may have changed.
void victims_touch(struct victims *, uint32_t slot);
// Reads what was touched, and slots that are new, up to 0 … slots-1.
void victims_catch_up(struct victims *, const struct victims_source *, uint32_t slots);

uint32_t victims_slots(const struct victims *);
const struct victims_of_node *victims_at(const struct victims *, uint32_t slot);

// Readings are numbered from 0; the newest VICTIMS_LOG of them say of which slot they were.
#define VICTIMS_LOG 65536u
uint64_t victims_head(const struct victims *);
uint32_t victims_reading(const struct victims *, uint64_t number);
