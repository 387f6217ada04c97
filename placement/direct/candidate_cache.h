// All results for one group of one job, kept between its decisions: verdicts by class, verdicts by node where
// constraints need them, the shortlist, and the counts of a refusal. Each call first catches up with the fleet's
// changes.
#pragma once
#include "placement/direct/fit_index.h"
#include "state/records/job.h"

// Where records come from; both return NULL for a hole.
struct candidate_source {
	const struct node_class *(*class_at)(void *context, uint32_t node_class);
	const struct node *(*node_at)(void *context, uint32_t slot);
	void *context;
};

struct candidate_cache;

// index, source and job must outlive the cache.
struct candidate_cache *candidate_cache_create(
	struct fit_index *, const struct candidate_source *, const struct job *, uint32_t group);
void candidate_cache_destroy(struct candidate_cache *);

// The best node for one more instance. False: there is none.
bool candidate_cache_best(struct candidate_cache *, struct fit_candidate *);
// Number of ready nodes that pass every filter, with or without room.
uint32_t candidate_cache_feasible(struct candidate_cache *);
// Why no node fits; call after candidate_cache_best returned false.
void candidate_cache_refusal(struct candidate_cache *, struct place_refusal *);
// Chooses instances for the group's device asks on a node that candidate_cache_best chose.
bool candidate_cache_devices(const struct candidate_cache *, uint32_t slot,
	const struct device_set *free, struct device_set *chosen);
// How often all nodes were looked at one by one since the last call.
uint32_t candidate_cache_take_scans(struct candidate_cache *);
