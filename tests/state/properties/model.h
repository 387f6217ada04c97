// A naive model of what a controller has to answer: plain arrays, searched from end to end. It is
// told each command after it was done, in the order in which they were, and fails the test when the
// controller's answer is not its own.
#pragma once
#include "tests/support/controller.h"

enum {
	MODEL_NODES = 40,
	MODEL_NODES_MAX = 32, // limit of the table: some stay outside
	MODEL_JOBS = 4,
	MODEL_GROUPS = 2,
	MODEL_CLIENTS = 3,
	MODEL_ALLOCATIONS = 30000,
	MODEL_REQUESTS = 10000,
};

struct model_node {
	bool is_known, is_ready, is_ineligible;
	bool is_new; // no heartbeat came since it registered
	uint32_t slot, generation;
	uint64_t sequence;
	struct resources total, used;
	uint32_t gpus;
	uint64_t gpus_used;
	bool has_other_devices; // a group that sorts before the gpus
};

struct model_job {
	bool exists, is_stopped;
	uint64_t version;
	int64_t stopped_ms;
	struct resources asks[MODEL_GROUPS];
	uint32_t gpus[MODEL_GROUPS];
	uint32_t clients; // that may place: a bit for each
};

struct model_allocation {
	struct uuid id;
	uint32_t node, job, client;
	struct resources resources;
	uint64_t gpus;
	uint8_t desired, client_status;
	bool is_collected;
	bool is_off_node; // its node was purged
	bool is_news;     // changed since its client last asked for changes
	int64_t ended_ms;
};

struct model_request {
	uint32_t client;
	int64_t issued_ms;
	uint64_t request;
	uint8_t count;
	bool is_forgotten;
	struct placed_item items[PLACE_COUNT_MAX];
};

struct model {
	int64_t now_ms, forgotten_ms;
	uint64_t asked_at[MODEL_CLIENTS]; // index of the last answer to "what changed"
	struct model_node nodes[MODEL_NODES];
	struct model_job jobs[MODEL_JOBS];
	uint32_t allocation_count, request_count;
	struct model_allocation allocations[MODEL_ALLOCATIONS];
	struct model_request requests[MODEL_REQUESTS];
};

extern const char *const model_jobs[MODEL_JOBS], *const model_clients[MODEL_CLIENTS];

static inline bool model_is_living(const struct model_allocation *a)
{
	return !a->is_collected && a->desired == ALLOC_RUN && a->client_status == ALLOC_PENDING;
}

// node: index of the node that registered, gpus: instances of its "gpu" group.
void model_register(struct model *, uint32_t node, uint32_t gpus, const struct command *);
void model_node_status(struct model *, const struct command *);
void model_eligibility(struct model *, uint32_t node, const struct command *);
void model_purge(struct model *, uint32_t node, const struct command *);
void model_place(
	struct model *, uint32_t job, uint32_t group, uint32_t client, const struct command *);
void model_release(struct model *, uint32_t client, const struct command *);
// The node reports that the allocation is complete.
void model_report(struct model *, uint32_t node, const struct command *);
void model_status(struct model *, uint32_t client, const struct command *);
// asks, gpus: of the specification that was submitted.
// clients: those that may place its instances, a bit for each.
void model_job_register(struct model *, uint32_t job, uint32_t clients,
	const struct resources *asks, const uint32_t *gpus, const struct command *);
void model_job_stop(struct model *, uint32_t job, const struct command *);
void model_collect(struct model *, const struct command *);
// Stopped jobs that nothing is left of are forgotten, whatever their age.
void model_drop_stopped(struct model *);
// Every record that readers see against the model.
void model_compare(const struct model *, const struct state *);
