// The rollout of one version of a service job, group by group: how many of its allocations were placed, and what
// their nodes said of their health. Fields and names are Nomad's (docs/spec/objects.md); described in deployment.c.
#pragma once
#include "state/base/schema.h"
#include "state/base/text.h"
#include "state/base/uuid.h"
#include "state/records/record.h"

enum deployment_status {
	DEPLOYMENT_RUNNING,
	DEPLOYMENT_PAUSED,
	DEPLOYMENT_FAILED,
	DEPLOYMENT_SUCCESSFUL,
	DEPLOYMENT_CANCELLED,
	DEPLOYMENT_INITIALIZING,
	DEPLOYMENT_PENDING,
	DEPLOYMENT_BLOCKED,
	DEPLOYMENT_UNBLOCKING,
	DEPLOYMENT_STATUSES
};
extern const char *const deployment_status_names[]; // "running" "paused" … NULL

// Descriptions that several files write or compare (docs/spec/texts.md).
#define DEPLOYMENT_TEXT_RUNNING "Deployment is running"
#define DEPLOYMENT_TEXT_NEEDS_PROMOTION "Deployment is running but requires manual promotion"
#define DEPLOYMENT_TEXT_AUTO_PROMOTION "Deployment is running pending automatic promotion"
#define DEPLOYMENT_TEXT_PAUSED "Deployment is paused"
#define DEPLOYMENT_TEXT_SUCCESSFUL "Deployment completed successfully"
#define DEPLOYMENT_TEXT_STOPPED_JOB "Cancelled because job is stopped"
#define DEPLOYMENT_TEXT_NEWER_JOB "Cancelled due to newer version of job"
#define DEPLOYMENT_TEXT_UNHEALTHY "Failed due to unhealthy allocations"
#define DEPLOYMENT_TEXT_DEADLINE "Failed due to progress deadline"
#define DEPLOYMENT_TEXT_FAILED_BY_USER "Deployment marked as failed"
#define DEPLOYMENT_TEXT_FAILED_BY_PEER "Failed because of an error in peer region"
#define DEPLOYMENT_TEXT_BLOCKED "Deployment is complete but waiting for peer region"
#define DEPLOYMENT_TEXT_UNBLOCKING "Deployment is unblocking remaining regions"
#define DEPLOYMENT_TEXT_PENDING "Deployment is pending, waiting for peer region"

struct deployment_group { // FIELD_STRUCT_MAP, by group ("dstate" where a task group is near)
	char *group;
	bool auto_revert, auto_promote;
	int64_t progress_deadline_ns;
	int64_t require_progress_by_ns; // unix; 0: nothing was placed yet
	bool promoted;
	struct array placed_canaries; // struct uuid, in the order of placement
	int64_t desired_canaries, desired_total;
	int64_t placed_allocs, healthy_allocs, unhealthy_allocs;
};

struct deployment {
	struct record record; // first
	struct uuid id;
	char *namespace_name, *job_id;
	uint64_t job_version, job_modify_index, job_spec_modify_index, job_create_index;
	bool is_multiregion;
	struct array groups; // deployment_group
	int status;          // enum deployment_status
	char *status_description;
	int64_t eval_priority;                  // 0: the job's
	int64_t create_time_ns, modify_time_ns; // unix
};

extern const struct record_type deployment_description, deployment_group_description;

struct deployment *deployment_create(void); // zeros; caller frees with deployment_free
void deployment_free(struct deployment *);  // NULL is allowed
struct deployment *deployment_copy(const struct deployment *); // the record's links not
// NULL when the deployment has no such group.
struct deployment_group *deployment_group_of(const struct deployment *, struct text group);

bool deployment_group_has_canary(const struct deployment_group *, const struct uuid *);
// The time by which the group must make progress, counted from now_ns; never 0.
int64_t deployment_deadline_ns(const struct deployment_group *, int64_t from_ns);

// Running, paused, blocked, unblocking, initializing or pending: not at its end.
static inline bool deployment_is_active(const struct deployment *d)
{
	return d->status != DEPLOYMENT_FAILED && d->status != DEPLOYMENT_SUCCESSFUL &&
	       d->status != DEPLOYMENT_CANCELLED;
}
// Running, and some group has canaries that nobody promoted yet.
bool deployment_requires_promotion(const struct deployment *);
// The same, and every such group asks for automatic promotion.
bool deployment_has_auto_promote(const struct deployment *);
// Whether an active deployment may go from one status to another.
bool deployment_may_become(int from, int to);
bool deployment_description_is_sound(struct text);
