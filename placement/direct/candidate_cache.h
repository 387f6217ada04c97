// Everything that was worked out for one group of one job, kept between its decisions: verdicts by class,
// verdicts by node where constraints need them, the shortlist, and the counts behind a refusal. Each call
// first catches up with the fleet's changes.
#pragma once
#include "placement/direct/feasibility.h"
#include "placement/direct/fit_index.h"

// Where records come from; NULL for a hole.
struct prospect_source {
	const struct node_class *(*class_at)(void *context, uint32_t node_class);
	const struct node *(*node_at)(void *context, uint32_t slot);
	void *context;
};

struct prospect;

// index, source and job must outlive it.
struct prospect *prospect_create(
	struct fit_index *, const struct prospect_source *, const struct job *, uint32_t group);
void prospect_destroy(struct prospect *);

// The best node for one more instance. False: there is none.
bool prospect_best(struct prospect *, struct fit_candidate *);
// Ready nodes that pass every filter, whether they have room or not.
uint32_t prospect_feasible(struct prospect *);
// Why there is none; after prospect_best was false.
void prospect_refusal(struct prospect *, struct place_refusal *);
// Instances for the group's device asks on a node that prospect_best chose.
bool prospect_devices(const struct prospect *, uint32_t slot, const struct device_set *free,
	struct device_set *chosen);
// How often all nodes were looked at one by one since the last call.
uint32_t prospect_take_scans(struct prospect *);
