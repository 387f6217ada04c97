// The parts of state_verify(). For verify*.c only.
#pragma once
#include "state/tables/tables.h"

struct verifier {
	struct state *state;
	state_violation *report;
	void *context;
	uint32_t violations;
	uint32_t *class_nodes; // nodes found, by class id
	uint32_t allocations, terminal, evaluated, deployed;
	struct state_counts standing; // found: how nodes stand, and how many run something
	uint32_t grouped;             // nodes that are in a group
};

// Reports a violation unless `holds`.
__attribute__((format(printf, 3, 4))) void expect(
	struct verifier *, bool holds, const char *format, ...);

// Checks each node, and what is counted and listed of all.
void verify_nodes(struct verifier *);
// Checks each job with its versions and its list of allocations.
void verify_jobs(struct verifier *);
// Checks each allocation, the lists of ended ones and the counts.
void verify_allocations(struct verifier *);
// One living allocation at most holds each port and core of the node.
void verify_ports_cores(struct verifier *, const struct node_cell *);
// Checks a node's standing, its group, and whether it is busy, after its use was checked.
void verify_standing(struct verifier *, const struct node_cell *);
// Checks the counts of nodes, after all nodes.
void verify_standings(struct verifier *);
// No two living allocations of a job have one name on one node.
void verify_names(struct verifier *, const struct job_cell *);
// The summary of a job that is there matches its allocations.
void verify_summary(struct verifier *, const struct job_cell *);
// Checks a job's children and its counts of them.
void verify_children(struct verifier *, const struct job_cell *);
// Checks a job's list of evaluations and its counts of them.
void verify_job_evaluations(struct verifier *, const struct job_cell *);
// Checks a job's list of deployments, its counts of them, and their counts of its allocations.
void verify_job_deployments(struct verifier *, const struct job_cell *);
void verify_deployments(struct verifier *);
// Checks each evaluation by itself, and the counts of all.
void verify_evaluations(struct verifier *);
// Checks virtual machines and their workers.
void verify_vms(struct verifier *);
// Checks what namespaces and quotas have.
void verify_namespaces(struct verifier *);
// Checks roles, tokens and the mark of the first token.
void verify_acl(struct verifier *);
