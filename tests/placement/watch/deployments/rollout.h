// Rollouts for the deployment watcher: a controller without threads on a clock that stands still, its watchers, and
// plans as a scheduler would make them.
#pragma once
#include "placement/watch/watchers.h"
#include "state/records/alloc_details.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/job.h"
#include "tests/support/controller.h"

// Until the watcher asks for noted evaluations: a second for the job, and up to a quarter more for others.
#define BATCH_MS 1300u
#define PROGRESS_DEADLINE_S 600

struct rollout_world {
	struct controller controllers[2]; // one of them at a time
	struct controller *controller;
	struct watchers *watchers;
	uint64_t reports; // sequence of the nodes' reports
	uint32_t ids;     // counts ids of deployments and allocations
	struct node_registration node;
};

void rollout_init(struct rollout_world *);
void rollout_free(struct rollout_world *);
// Starts the process again from the log.
void rollout_restart(struct rollout_world *);
// Moves the clock in steps of 50 ms, and does the work that is due at each.
void rollout_advance(struct rollout_world *, uint64_t ms);
void rollout_settle(struct rollout_world *);

struct rollout_ask {
	const char *job;
	uint32_t groups; // "g0" …; 0: one
	int64_t count;   // instances of each
	int64_t canaries;
	bool auto_revert, auto_promote, no_progress_deadline;
	int64_t attempts; // of the reschedule policy; negative: unlimited
	int64_t priority; // of the deployment's evaluations; 0: the job's
	const char *version;
};
// Registers a version of the job and begins its deployment; places nothing yet.
struct uuid rollout_begin(struct rollout_world *, struct rollout_ask);
// Places one instance of the deployment.
struct uuid rollout_place(
	struct rollout_world *, const struct uuid *deployment, uint32_t group, bool canary);
// Act as a scheduler: stop the allocation; or let it wait for a follow-up that replaces it.
void rollout_stop(struct rollout_world *, const struct uuid *allocation);
void rollout_defer(struct rollout_world *, const struct uuid *allocation);
// Report for the node.
void rollout_report(struct rollout_world *, const struct uuid *allocation, enum alloc_client,
	struct optional_bool healthy);
void rollout_healthy(struct rollout_world *, const struct uuid *allocation);
void rollout_unhealthy(struct rollout_world *, const struct uuid *allocation); // and failed
// The scheduler is done: all evaluations of the job complete, having seen the present state.
void rollout_evaluate(struct rollout_world *, const char *job);
// Ends them with another status.
void rollout_end(struct rollout_world *, const char *job, enum eval_status);

enum command_outcome rollout_change(
	struct rollout_world *, const struct uuid *, enum deployment_action);
// A copy; the caller frees.
struct deployment *rollout_deployment(struct rollout_world *, const struct uuid *);
void expect_status(struct rollout_world *, const struct uuid *, enum deployment_status,
	const char *description);
bool rollout_may_be_replaced(struct rollout_world *, const struct uuid *allocation);
// Number of evaluations that the watcher has asked for.
uint32_t rollout_asked(struct rollout_world *, const char *job);
