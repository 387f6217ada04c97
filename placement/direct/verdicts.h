// Where a direct job's group may run, as numbers: datacenter, pool, constraints, devices; room is checked elsewhere.
// Everything but what is unique to a node is decided once per node class.
#pragma once
#include "placement/feasibility/node_needs.h"

// A verdict is one byte, so that a column of them is small. From VERDICT_CONSTRAINT on it is the number of
// the constraint that failed first, in the order of struct place_refusal.
enum {
	VERDICT_UNKNOWN,
	VERDICT_PASS,
	VERDICT_DATACENTER,
	VERDICT_POOL,
	VERDICT_DEVICE,
	VERDICT_CONSTRAINT,
	VERDICTS = VERDICT_CONSTRAINT + JOB_CONSTRAINTS_MAX,
};

struct verdicts {
	const struct job *job;
	struct node_needs of_job, of_group;
	struct resources room;
	struct arena memory; // of the needs
};

// The job must outlive them, but for their release.
void verdicts_begin(struct verdicts *, const struct job *, uint32_t group);
void verdicts_release(struct verdicts *);

uint32_t verdicts_constraints(const struct verdicts *);
// True when some constraint looks at what is unique to a node: then verdict_of_node is needed.
bool verdicts_are_of_nodes(const struct verdicts *);

// The verdict on all nodes of a class, as far as they do not differ.
uint8_t verdict_of_class(const struct verdicts *, const struct node_class *);
// The verdict on a node whose class has the verdict of_class.
uint8_t verdict_of_node(const struct verdicts *, const struct node *, uint8_t of_class);
