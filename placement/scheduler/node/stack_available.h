// Which nodes a job targets, and how many there are, for metrics before any node is looked at.
#pragma once
#include "state/records/job.h"
#include "state/records/metrics.h"
#include "state/records/nodes/node.h"

struct stack;

// True when the node is in one of the datacenters of the stack's job (globs) and in its pool. The answer is remembered
// by class.
bool stack_targets_node(struct stack *, const struct node *);
// Counts usable nodes by datacenter of the job (NodesAvailable), and in its pool. The list is lent by the stack, until
// its job changes.
void stack_nodes_available(struct stack *, struct alloc_metrics *);

// For a caller that knows the numbers, once for each datacenter after the first call.
void stack_forget_available(struct stack *);
void stack_note_available(struct stack *, const char *datacenter, uint32_t nodes);

// Counts nodes while a caller looks at them; neighbours are mostly of one datacenter.
struct availability {
	struct stack *s;
	const char *datacenter; // of the nodes counted in run
	uint32_t run;
};
void availability_begin(struct availability *, struct stack *);
void availability_add(struct availability *, const struct node *);
void availability_end(struct availability *);
