// Rollouts for the deployment watcher: a controller without threads on a clock that stands still, the watchers beside
// it, and plans as a scheduler would make them.
#pragma once
#include "placement/watch/watchers.h"
#include "state/records/alloc_details.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/job.h"
#include "tests/support/controller.h"

// When what was noted is asked for: a second of the job, and what others may add in a quarter of one.
#define BATCH_MS 1300u
#define PROGRESS_DEADLINE_S 600

struct rollout_world {
	struct controller controllers[2]; // one of them at a time
	struct controller *controller;
	struct watchers *watchers;
	uint64_t reports; // sequence of the reports of nodes
	uint32_t ids;     // given to deployments and allocations
	struct node_registration node;
};

void rollout_init(struct rollout_world *);
void rollout_free(struct rollout_world *);
// The process begins anew with what is in the log.
void rollout_restart(struct rollout_world *);
// The clock goes on in steps of 50 ms; whatever is due is done.
void rollout_advance(struct rollout_world *, uint64_t ms);
void rollout_settle(struct rollout_world *);

struct rollout_ask {
	const char *job;
	uint32_t groups; // "g0" …; 0: one
	int64_t count;   // instances of each
	int64_t canaries;
	bool auto_revert, auto_promote, no_progress_deadline;
	int64_t attempts; // of the reschedule policy; negative: as many as it takes
	int64_t priority; // of the deployment's evaluations; 0: the job's
	const char *version;
};
// Registers a version of the job and begins its deployment; nothing is placed yet.
struct uuid rollout_begin(struct rollout_world *, struct rollout_ask);
// One instance of the deployment.
struct uuid rollout_place(
	struct rollout_world *, const struct uuid *deployment, uint32_t group, bool canary);
// By a scheduler: it is told to stop; or it waits for a follow-up that places it anew.
void rollout_stop(struct rollout_world *, const struct uuid *allocation);
void rollout_defer(struct rollout_world *, const struct uuid *allocation);
// Reported by the node.
void rollout_report(struct rollout_world *, const struct uuid *allocation, enum alloc_client,
	struct optional_bool healthy);
void rollout_healthy(struct rollout_world *, const struct uuid *allocation);
void rollout_unhealthy(struct rollout_world *, const struct uuid *allocation); // and failed
// The scheduler is done with everything: all evaluations are complete, having seen the present state.
void rollout_evaluate(struct rollout_world *, const char *job);
// The same with another end.
void rollout_end(struct rollout_world *, const char *job, enum eval_status);

enum command_outcome rollout_change(
	struct rollout_world *, const struct uuid *, enum deployment_action);
// A copy; the caller frees.
struct deployment *rollout_deployment(struct rollout_world *, const struct uuid *);
void expect_status(struct rollout_world *, const struct uuid *, enum deployment_status,
	const char *description);
bool rollout_may_be_replaced(struct rollout_world *, const struct uuid *allocation);
// Evaluations that the watcher asked for so far.
uint32_t rollout_asked(struct rollout_world *, const char *job);
