// Deployments as schedulers begin them, and what nodes and operators say of them.
#pragma once
#include "state/records/alloc_details.h"
#include "state/records/deployment.h"
#include "tests/state/plans.h"

#define DEADLINE_NS (600ll * 1000000000)

// A service job with two groups, "g0" and "g1"; the caller's until registered.
struct job *build_deployed_job(const char *id, int64_t priority);
// The same, registered: with another priority it is another version.
struct planned_job deployed_job(struct controller *, const char *id, int64_t priority);
// Of the newest version of the job, not yet in any plan: both groups want three, and "g0" as many canaries.
struct deployment *build_deployment(
	const struct controller *, const char *job, uint32_t number, int64_t canaries);
// A plan that begins it.
struct plan *plan_deployment(const struct planned_job *, struct deployment *);
// A placement of "g0" that belongs to the deployment.
struct plan_placement *plan_deployed(
	struct plan *, uint32_t id, uint32_t node, uint32_t deployment, bool canary);
void plan_deployment_status(
	struct plan *, uint32_t number, enum deployment_status, const char *text);
// What is published, as a copy; NULL: it is not there.
struct deployment *published_deployment(const struct controller *, uint32_t number);
// One group of it: of the copy.
struct deployment_group *group_of(const struct deployment *, const char *group);
// The node at slot (generation 1) says what became of the allocation, and of its health.
enum command_outcome report_as(struct controller *, uint32_t slot, const struct uuid *,
	enum alloc_client, struct optional_bool healthy);
// The same: it runs.
enum command_outcome report_health(
	struct controller *, uint32_t slot, uint32_t id, struct optional_bool healthy);
// Without result: the caller's command goes through.
enum command_outcome change_deployment(
	struct controller *, uint32_t number, enum deployment_action, struct command_deployment *);
// The same, with everything left at 0 that is not the action.
enum command_outcome ask_deployment(struct controller *, uint32_t number, enum deployment_action);
void expect_status(const struct controller *, uint32_t number, enum deployment_status,
	const char *description);
bool version_is_stable(const struct controller *, const char *job, uint64_t version);
