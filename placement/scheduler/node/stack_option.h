// What a node has for an instance: whether it takes the instance, why not, and how good it is (rows A55, A56).
#pragma once
#include "state/records/allocation.h"
#include "state/records/job.h"
#include "state/records/metrics.h"
#include "state/records/nodes/node.h"

enum stack_kind { STACK_SYSTEM, STACK_GENERIC };

enum stack_outcome {
	STACK_FITS,
	STACK_FILTERED, // reason: "missing drivers", "${attr.arch} = arm64", …
	STACK_EXHAUSTED // reason: "cpu", "network: reserved port collision http=80", …
};
#define STACK_OUTCOMES (STACK_EXHAUSTED + 1)

struct stack_option {
	uint32_t slot;           // NODE_SLOT_NONE: none
	uint32_t claims_seen;    // before the node was looked at (claims.h)
	const struct node *node; // NULL: none
	enum stack_outcome outcome;
	const char *reason; // of a refusal; lives as long as the stack; "" otherwise
	double score;       // normalised: the mean of the recorded scores
	double scores[SCORE_KINDS];
	uint8_t recorded; // bits of the kinds that are in the mean
	uint8_t shown;    // kinds that belong in the metadata; some are shown even when 0
	struct resources resources;
	struct device_set devices;
	// Ports, devices and cores; NULL: none. The caller gets the only reference and may change them.
	struct alloc_details *details;
	const struct allocation **preempted; // victims, owned by the stack until its next select
	uint32_t preempted_count;
};

// What stack_select looks for.
struct stack_request {
	uint32_t group, name_index;
	uint32_t preferred_slot; // tried alone first if usable (row A61); NODE_SLOT_NONE: none
	const struct uuid *penalty_nodes; // of a rescheduled instance (row A57)
	uint32_t penalty_count;
};

void option_begin(struct stack_option *, const struct node *);
void option_record(struct stack_option *, enum score_kind, double score);
// Sets the score to the mean of the recorded scores.
void option_settle(struct stack_option *);
// Compares by the snapshot, then by the score; not by the slot.
bool option_is_better(const struct stack_option *, const struct stack_option *than);
// Keeps the best options in the metadata; among equals, the first ones.
void option_keep_scores(const struct stack_option *, struct array *kept);

// Adds one examined node to metrics (evaluated; filtered or exhausted, or its scores).
void stack_count(const struct stack_option *, struct alloc_metrics *);
// True when the placement's metrics say no more than its score: nodes_evaluated is 1 and the scores are {"binpack":
// score}. Such placements can share one metrics object without score_metadata.
bool stack_option_is_plain(const struct stack_option *);
// Adds what the group asks of the dimensions that metrics call exhausted (ResourcesExhausted); once for each instance
// that could not be placed.
void stack_count_exhausted(const struct task_group *, int64_t instances, struct alloc_metrics *);
