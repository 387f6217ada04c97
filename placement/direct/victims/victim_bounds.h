// How good the nodes of a fleet can be for one kind of group that evicts what is less important: an upper bound of each
// node's score, and how many nodes take no instance for which reason, whoever makes room. Kept by changes. Holds for
// nodes that hold nothing of the job and that its plan does not touch. Where a group asks for room alone, sums of
// victims say it all; else somebody looks at each node, once and whenever what is on it changes.
#pragma once
#include "placement/direct/classes/class_set.h"
#include "placement/direct/classes/score_trees.h"
#include "placement/direct/victims/victims.h"

enum victim_outcome {
	VICTIMS_NOT_ASKED, // the node is not ready, or refused
	VICTIMS_SUFFICE,   // or are not needed
	VICTIMS_REFUSED,   // and the number of the reason
};
// Numbers of reasons: first enum fit_shortage, then those that looks gave.
#define VICTIM_REASONS_MAX 32u
#define VICTIM_REASON_NONE UINT32_MAX

// What a node says of an instance, but for what its class decides.
struct victim_look {
	const char *refusal; // NULL: it takes one; valid until the next look
	double sum;          // of the scores
	uint32_t scores;     // how many
	double victims;      // no score of its victims is above; 0: it needs none
	uint8_t tier;        // a node of a higher one is better whatever its score
};
// What the group asks of single nodes, always the same for one set.
struct victim_ask {
	// False: the node is gone. NULL: room says it all.
	bool (*look)(void *context, uint32_t slot, struct victim_look *);
	void *look_context;
	// The affinity of a node, asked for again when the node is described anew; NULL: that of its class.
	double (*affinity)(void *context, uint32_t slot);
	void *affinity_context;
};

struct victim_bounds {
	struct score_trees trees;
	uint8_t *outcomes;                                // by slot
	uint32_t *classes;                                // by slot, of a node that was asked
	double *affinities;                               // by slot; NULL: classes have them
	uint32_t (*refused)[VICTIM_REASONS_MAX];          // nodes by tally of the set, and reason
	uint32_t (*refused_of_class)[VICTIM_REASONS_MAX]; // if the set has values; by class
	char *reasons[VICTIM_REASONS_MAX];                // that looks gave
	uint32_t reason_count;
	bool has_too_many_reasons;      // then nothing holds
	struct victim_look_kept *looks; // by slot; NULL: room says it all
	uint32_t look_count;
	uint64_t seen;      // readings of victims
	uint64_t described; // changes of the index whose nodes were asked for their affinity
	uint64_t judged;    // classes by the set
	struct victims *victims;
};

// The bounds that belong to a set, up to date with it and with victims, always of one priority; valid until the set is
// given back.
struct victim_bounds *victim_bounds_of(
	struct class_set *, const struct fit_index *, struct victims *, const struct victim_ask *);
// Why the node takes no instance; VICTIM_REASON_NONE: it does, or was not asked.
uint32_t victim_bounds_reason(const struct victim_bounds *, uint32_t slot);
