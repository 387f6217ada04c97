// Refused nodes by reason and node class name, as metrics want them.
#pragma once
#include "placement/scheduler/node/stack_option.h"

struct refusal_count { // nodes refused for one reason, of one node class name
	const char *reason, *class_name;
	enum stack_outcome outcome;
	int64_t count;
};

struct refusal_counts {
	struct refusal_count *items;
	uint32_t *sorted; // their numbers, by reason
	uint32_t count, room;
	uint32_t *buckets; // open addressing: numbers, counted from 1
	uint32_t mask;
};

// Counts refused nodes, or takes some off when `by` is negative. The reason is kept once (struct reasons), and the
// class name outlives the counts.
void refusal_counts_add(struct refusal_counts *, const char *reason, const char *class_name,
	enum stack_outcome, int64_t by);
void refusal_counts_release(struct refusal_counts *);
// Adds all counts to metrics.
void refusal_counts_report(const struct refusal_counts *, struct alloc_metrics *);
