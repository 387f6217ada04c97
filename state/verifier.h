// The parts of state_verify(). For verify*.c only.
#pragma once
#include "state/tables.h"

struct verifier {
	struct state *state;
	state_violation *report;
	void *context;
	uint32_t violations;
	uint32_t *class_nodes; // found, by class id
	uint32_t allocations, terminal, evaluated;
};

// Reports a violation unless it holds.
__attribute__((format(printf, 3, 4))) void expect(
	struct verifier *, bool holds, const char *format, ...);

// Ports and cores of a node are held by one living allocation each.
void verify_holdings(struct verifier *, const struct node_cell *);
// No two living allocations of a job have one name on one node.
void verify_names(struct verifier *, const struct job_cell *);
