// A naive model of what plans, reports and stops do: plain arrays, searched from end to end. It is told each command
// after it was done and fails the test when the answer is not its own.
#pragma once
#include "tests/state/plans.h"

enum {
	PLAN_NODES = 10, // ids; their slots are what registration gave them
	PLAN_JOBS = 3,
	PLAN_ALLOCATIONS = 12000,
	PLAN_ADDRESSES = 2,
};

struct plan_model_node {
	bool exists;
	uint32_t slot, generation;
	uint8_t status;
	bool is_eligible;
	struct resources total;
	uint32_t gpus, cores;
	uint64_t report_sequence;
};

struct plan_model_job {
	bool exists, shares_names; // versions of it may have one name on one node
	uint64_t version;          // modify index of the newest, also when it is gone
	struct planned_job planned;
};

struct plan_model_alloc {
	struct uuid id;
	uint32_t node; // PLAN_NODES: its node was forgotten
	uint32_t job, name_index;
	uint64_t version;
	struct resources resources;
	uint64_t gpus;
	int64_t port, core; // -1: none; the port of the address that is its parity
	uint8_t desired, client_status;
	bool migrate;
	struct uuid preempted_by, next;
	bool is_collected;
};

struct plan_model {
	struct plan_model_node nodes[PLAN_NODES];
	struct plan_model_job jobs[PLAN_JOBS];
	struct plan_model_alloc allocations[PLAN_ALLOCATIONS];
	uint32_t count;
	uint64_t rejected, committed, preempted; // seen so far
};

static inline bool plan_model_lives(const struct plan_model_alloc *a)
{
	return !a->is_collected && a->desired == ALLOC_RUN &&
	       (a->client_status < ALLOC_COMPLETE || a->client_status == ALLOC_UNKNOWN);
}

// What is to stop is on its node until it has ended.
static inline bool plan_model_holds(const struct plan_model_alloc *a)
{
	return !a->is_collected && a->node != PLAN_NODES &&
	       (a->client_status < ALLOC_COMPLETE || a->client_status == ALLOC_UNKNOWN);
}

struct plan_model_alloc *plan_model_find(struct plan_model *, const struct uuid *);
const char *plan_model_address(int64_t port);
struct alloc_details *plan_model_details(int64_t port, int64_t core); // NULL: neither
// job: of all placements. ports, cores: of each placement, -1: none. Before the plan is freed.
void plan_model_decide(struct plan_model *, const struct plan *, uint32_t job, const int64_t *ports,
	const int64_t *cores, const struct plan_result *);
void plan_model_report(struct plan_model *, uint32_t node, const struct command *);
// The node has fewer devices than before: those that held one of them are lost.
void plan_model_devices(struct plan_model *, uint32_t node, uint32_t gpus);
void plan_model_forget(struct plan_model *, uint32_t node);
// Everything that readers see of allocations against the model.
void plan_model_compare(const struct plan_model *, const struct state *);
