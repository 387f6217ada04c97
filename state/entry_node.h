// Entries of what operators do to nodes, and what they do. The bytes are documented at the top of
// entry.c.
#pragma once
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

int node_eligibility_check(const struct state *, const struct entry_node_eligibility *);
void node_eligibility_apply(struct state *, const struct entry_node_eligibility *, int64_t time_ns);
int node_purge_check(const struct state *, const struct entry_node_purge *);
void node_purge_apply(struct state *, const struct entry_node_purge *, int64_t time_ns);
