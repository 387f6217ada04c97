// The parts of state_verify(). For verify*.c only.
#pragma once
#include "state/tables/tables.h"

struct verifier {
	struct state *state;
	state_violation *report;
	void *context;
	uint32_t violations;
	uint32_t *class_nodes; // found, by class id
	uint32_t allocations, terminal, evaluated, deployed;
	struct state_counts standing; // found: how nodes stand, and how many run something
	uint32_t grouped;             // nodes that are in a group
};

// Reports a violation unless it holds.
__attribute__((format(printf, 3, 4))) void expect(
	struct verifier *, bool holds, const char *format, ...);

// Ports and cores of a node are held by one living allocation each.
void verify_ports_cores(struct verifier *, const struct node_cell *);
// How a node stands, its group, and whether it is busy; after its use.
void verify_standing(struct verifier *, const struct node_cell *);
// After all nodes: what is counted of them.
void verify_standings(struct verifier *);
// No two living allocations of a job have one name on one node.
void verify_names(struct verifier *, const struct job_cell *);
// Of a job that is there: its summary is what its allocations are.
void verify_summary(struct verifier *, const struct job_cell *);
// Jobs that it made: who they are, and what it counts of them.
void verify_children(struct verifier *, const struct job_cell *);
// Its list of evaluations, and what is counted of them.
void verify_job_evaluations(struct verifier *, const struct job_cell *);
// Its list of deployments, what is counted of them, and what they count of its allocations.
void verify_job_deployments(struct verifier *, const struct job_cell *);
void verify_deployments(struct verifier *);
// All of them, each for itself, and the configuration of the schedulers.
void verify_evaluations(struct verifier *);
// Virtual machines, their workers and the settings of their placement.
void verify_vms(struct verifier *);
