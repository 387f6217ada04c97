// Entries of what operators do to nodes, and what they do. The bytes are documented at the top of
// entry.c.
#pragma once
#include "state/base/time_units.h"
#include "state/records/drain_meta.h"
#include <stdint.h>

struct state;

struct entry_node_eligibility {
	uint32_t slot, generation;
	uint8_t eligibility; // enum node_eligibility, or that of a node that rejects plans
};
// It became ineligible because it rejected too many plans.
#define NODE_INELIGIBLE_REJECTING 2u

// The node is forgotten and its slot free. Allocations that were on it are on no node from then on;
// those of direct jobs are lost, for all others their scheduler decides.
struct entry_node_purge {
	uint32_t slot, generation;
};

// A drain begins, changes or ends (command_node_drain).
// Longer deadlines are none that anybody waits for, and their end would not be a time.
#define DRAIN_DEADLINE_MAX_NS (100ll * 365 * 24 * 3600 * NS_PER_S)
struct entry_node_drain {
	uint32_t slot, generation;
	uint8_t end; // enum drain_end
	bool ignore_system_jobs, mark_eligible;
	int64_t deadline_ns;
	struct drain_meta meta; // taken over by apply, freed by entry_release otherwise
};

void entry_node_drain_encode(const struct entry_node_drain *, struct bytes_writer *);
int entry_node_drain_decode(struct entry_node_drain *, struct bytes_reader *);
int node_drain_check(const struct state *, const struct entry_node_drain *);
void node_drain_apply(struct state *, struct entry_node_drain *, int64_t time_ns);
int node_eligibility_check(const struct state *, const struct entry_node_eligibility *);
void node_eligibility_apply(struct state *, const struct entry_node_eligibility *, int64_t time_ns);
int node_purge_check(const struct state *, const struct entry_node_purge *);
void node_purge_apply(struct state *, const struct entry_node_purge *, int64_t time_ns);
