// A request to bring the allocations of a job in line with the job. A change of a job, a node or an allocation makes
// it, a scheduler works it off. Fields and names are Nomad's (docs/spec/objects.md); described in evaluation.c.
#pragma once
#include "state/records/metrics.h"
#include "state/records/record.h"

enum eval_status {
	EVAL_PENDING,
	EVAL_BLOCKED,
	EVAL_COMPLETE,
	EVAL_FAILED,
	EVAL_CANCELED,
	EVAL_STATUSES
};
enum eval_trigger {
	TRIGGER_JOB_REGISTER,
	TRIGGER_JOB_DEREGISTER,
	TRIGGER_PERIODIC_JOB,
	TRIGGER_NODE_DRAIN,
	TRIGGER_NODE_UPDATE,
	TRIGGER_ALLOC_STOP,
	TRIGGER_SCHEDULED,
	TRIGGER_ROLLING_UPDATE,
	TRIGGER_DEPLOYMENT_WATCHER,
	TRIGGER_FAILED_FOLLOW_UP,
	TRIGGER_MAX_PLAN_ATTEMPTS,
	TRIGGER_ALLOC_FAILURE,
	TRIGGER_QUEUED_ALLOCS,
	TRIGGER_PREEMPTION,
	TRIGGER_JOB_SCALING,
	TRIGGER_MAX_DISCONNECT_TIMEOUT,
	TRIGGER_RECONNECT,
	EVAL_TRIGGERS
};
// Which scheduler works it off. The first four are those of enum job_type.
enum eval_type { EVAL_SERVICE, EVAL_BATCH, EVAL_SYSTEM, EVAL_SYSBATCH, EVAL_CORE, EVAL_TYPES };
extern const char
	*const eval_status_names[]; // "pending" "blocked" "complete" "failed" "canceled" NULL
extern const char *const eval_trigger_names[]; // "job-register", …, NULL
extern const char *const eval_type_names[];    // "service" "batch" "system" "sysbatch" "_core" NULL

struct failed_group { // FIELD_STRUCT_MAP, by group
	char *group;
	struct alloc_metrics metrics;
};

struct evaluation {
	struct record record; // first
	struct uuid id;
	char *namespace_name, *job_id;
	int64_t priority;
	int type;         // enum eval_type
	int triggered_by; // enum eval_trigger
	uint64_t job_modify_index;
	struct uuid node_id;
	uint64_t node_modify_index;
	struct uuid deployment_id;
	int status; // enum eval_status
	char *status_description;
	int64_t wait_ns;       // from its creation
	int64_t wait_until_ns; // unix; 0: none
	struct uuid next_eval, previous_eval, blocked_eval;
	struct array failed_groups; // failed_group
	struct array
		class_eligibility; // named_count: computed class → 1 eligible, 0 not (FIELD_FLAG_MAP)
	char *quota_limit_reached;
	bool escaped_computed_class, annotate_plan;
	struct array queued; // named_count, by group
	uint64_t snapshot_index;
	int64_t create_time_ns, modify_time_ns;
};

extern const struct record_type evaluation_description;

struct evaluation *evaluation_create(void); // zeros; caller frees with evaluation_free
void evaluation_free(struct evaluation *);  // NULL is allowed
struct evaluation *evaluation_copy(const struct evaluation *); // the record's links not
static inline bool evaluation_is_terminal(const struct evaluation *e)
{
	return e->status >= EVAL_COMPLETE;
}
