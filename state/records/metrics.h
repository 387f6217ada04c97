// What one attempt to place an instance saw: how many nodes it looked at, filtered and found exhausted, and the
// scores of the best. Field names of the JSON form are Nomad's AllocMetric (docs/spec/objects.md); described in
// metrics.c.
#pragma once
#include "state/base/schema.h"
#include "state/base/uuid.h"

struct exhausted_resources { // FIELD_STRUCT_MAP, by task
	char *task;
	int64_t cpu, memory_mb;
};
// In the order in which they are recorded.
enum score_kind {
	SCORE_BINPACK,
	SCORE_DEVICES,
	SCORE_ANTI_AFFINITY,
	SCORE_RESCHEDULE_PENALTY,
	SCORE_AFFINITY,
	SCORE_SPREAD,
	SCORE_PREEMPTION,
	SCORE_SNAPSHOT, // comes before all others and is not in their mean
	SCORE_KINDS
};
// In the order of their names, and the place of each kind among them.
extern const char
	*const score_names[SCORE_KINDS + 1]; // "allocation-spread" "binpack" …; NULL ends them
extern const uint8_t score_places[SCORE_KINDS];
struct node_score {
	struct uuid node_id;
	struct numbers scores; // of score_names
	double norm_score;
};
static inline void node_score_put(struct node_score *of, enum score_kind kind, double score)
{
	of->scores.there |= 1ull << score_places[kind];
	of->scores.at[score_places[kind]] = score;
}
// 0 when it is not there.
static inline double node_score_get(const struct node_score *of, enum score_kind kind)
{
	return of->scores.at[score_places[kind]];
}

// The best that are kept of each placement (row A65).
#define SCORES_KEPT 5u

struct alloc_metrics {
	int64_t nodes_evaluated, nodes_filtered, nodes_in_pool;
	struct array nodes_available;                     // named_count, by datacenter
	struct array class_filtered, constraint_filtered; // named_count
	int64_t nodes_exhausted;
	struct array class_exhausted, dimension_exhausted; // named_count
	struct array quota_exhausted;                      // char *
	struct array resources_exhausted;                  // exhausted_resources
	struct array score_metadata; // node_score, best first, at most SCORES_KEPT
	int64_t allocation_time_ns, coalesced_failures;
	// 0: all is said here. Else constraint_filtered has only what differs from the metrics that stand so many
	// before these in their plan; the count of a name that is no longer there is 0.
	int64_t back;
};

extern const struct record_type node_score_description, metrics_description;

// Deep; to is overwritten.
void metrics_copy(struct alloc_metrics *to, const struct alloc_metrics *from);
void metrics_release(struct alloc_metrics *);

// Adds to the count of a name in a map of named_count, keeping it sorted.
void count_add(struct array *counts, const char *name, int64_t by);
int64_t count_get(const struct array *counts, const char *name); // 0 when absent
