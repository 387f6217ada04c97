// How many allocations of each group the plan already preempts (docs/spec/scoring.md, "Victims").
#pragma once
#include "state/records/allocation.h"
#include "state/records/job.h"

struct victim_count {
	const struct allocation *of; // one of the group's victims; NULL: free
	uint32_t count;
};

struct victim_counts {
	struct victim_count *buckets; // open addressing by job and group
	uint32_t mask, used;
	uint8_t *
		order; // of each victim, in the order in which they were added, its victim_group_bit()
	uint32_t count, room;
};

void victim_counts_release(struct victim_counts *);
void victim_counts_add(struct victim_counts *, const struct allocation *);
uint32_t victim_counts_of(const struct victim_counts *, const struct allocation *);
// A number below 64 for the allocation's group, which other groups may share.
uint8_t victim_group_bit(const struct allocation *);
