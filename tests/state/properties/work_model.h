// The part of the naive model that is about schedulers: jobs that have one, their evaluations, what
// they are marked for, and the allocations that plans make. It shares nodes with the rest.
#pragma once
#include "state/records/evaluation.h"
#include "tests/state/properties/model.h"

enum {
	WORK_JOBS = 4,
	WORK_EXPECTED = 64,
	WORK_EVALS = 20000,
	WORK_ALLOCATIONS = 20000,
};

struct work_job {
	bool exists, is_stopped, had_work;
	uint32_t incarnation, version;
	int64_t priority;
	uint64_t modify_index; // of its newest version
	// The mark: 0, or when it was set first and last.
	int64_t marked_ms, marked_last_ms;
	int mark_trigger; // enum eval_trigger
};

struct work_eval {
	struct uuid id;
	uint32_t job;
	int triggered_by, status;
	bool is_gone, leaves_failed;
};

struct work_allocation {
	struct uuid id;
	uint32_t job, node, eval;
	uint64_t create_index;
	uint8_t desired, client_status;
	bool is_gone, is_off_node;
};

struct work {
	struct work_job jobs[WORK_JOBS];
	uint32_t eval_count, allocation_count;
	struct work_eval evals[WORK_EVALS];
	struct work_allocation allocations[WORK_ALLOCATIONS];
	// Evaluations that the controller must have made by itself, with ids of its own choice.
	struct expected_eval {
		uint32_t job;
		int triggered_by;
	} expected[WORK_EXPECTED];
	uint32_t expected_count;
	uint32_t node_kinds[MODEL_NODES]; // what placement looks at
	bool rejects_jobs;
};

extern const char *const work_jobs[WORK_JOBS];
extern const enum job_type work_types[WORK_JOBS];
#define WORK_ASK ((struct resources){200, 300, 20})

static inline bool work_is_living(const struct work_allocation *a)
{
	return !a->is_gone && a->desired == ALLOC_RUN && a->client_status != ALLOC_COMPLETE &&
	       a->client_status != ALLOC_FAILED;
}

// What is to stop is on its node until it has ended.
static inline bool work_is_held(const struct work_allocation *a)
{
	return !a->is_gone && !a->is_off_node && a->client_status != ALLOC_COMPLETE &&
	       a->client_status != ALLOC_FAILED;
}

// A batch begins: marks that are due become evaluations.
void work_begin(struct work *, const struct model *);
// After the rest of the model was told of the same command. was_ready, was_known: before it.
void work_node_registered(
	struct work *, const struct model *, uint32_t node, const struct command *, bool was_known);
void work_node_status(
	struct work *, const struct model *, uint32_t node, const struct command *, bool was_ready);
void work_eligibility(struct work *, const struct model *, uint32_t node, bool was_ineligible);
// was_usable: it took new work. Its allocations are on no node from now on.
void work_purge(struct work *, const struct model *, uint32_t node, bool was_usable);
void work_job_register(struct work *, uint32_t job, int64_t priority, const struct command *);
void work_job_stop(struct work *, uint32_t job, const struct command *);
void work_job_evaluate(struct work *, uint32_t job, const struct command *);
void work_node_evaluate(struct work *, const struct model *, uint32_t node, const struct command *);
// eval: index of a known one, or eval_count: a new one of this job and id.
void work_store(struct work *, uint32_t eval, uint32_t job, const struct uuid *id, int status,
	bool leaves_failed, const struct command *);
void work_config(struct work *, bool rejects_jobs, const struct command *);
// A plan with one placement on a node, or one stop.
void work_placed(struct work *, struct model *, uint32_t job, uint32_t incarnation, uint32_t node,
	uint32_t eval, const struct uuid *id, const struct command *);
void work_stopped(struct work *, uint32_t allocation, const struct command *);
void work_reported(struct work *, struct model *, uint32_t allocation, const struct command *);
void work_collected(struct work *, struct model *, const struct command *);
// After a batch: learns the ids of what the controller made, and compares everything.
void work_learn(struct work *, const struct state *);
void work_compare(const struct work *, const struct model *, const struct state *);
