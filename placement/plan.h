// Everything that was worked out for one group of one job, kept between its decisions: verdicts by class,
// verdicts by node where constraints need them, the shortlist, and the counts behind a refusal. Each call
// first catches up with the fleet's changes.
#pragma once
#include "placement/feasibility.h"
#include "placement/fit_index.h"

// Where records come from; NULL for a hole.
struct plan_source {
	const struct node_class *(*class_at)(void *context, uint32_t node_class);
	const struct node *(*node_at)(void *context, uint32_t slot);
	void *context;
};

struct plan;

// index, source and job must outlive it.
struct plan *plan_create(
	struct fit_index *, const struct plan_source *, const struct job *, uint32_t group);
void plan_destroy(struct plan *);

// The best node for one more instance. False: there is none.
bool plan_best(struct plan *, struct fit_candidate *);
// Ready nodes that pass every filter, whether they have room or not.
uint32_t plan_feasible(struct plan *);
// Why there is none; after plan_best was false.
void plan_refusal(struct plan *, struct place_refusal *);
// Instances for the group's device asks on a node that plan_best chose.
bool plan_devices(const struct plan *, uint32_t slot, const struct device_set *free,
	struct device_set *chosen);
// How often all nodes were looked at one by one since the last call.
uint32_t plan_take_scans(struct plan *);
