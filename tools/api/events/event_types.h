// What events are about and what happened, by the names that streams give them.
#pragma once
#include "state/records/nodes/vm.h"

enum event_topic {
	TOPIC_NODE,
	TOPIC_JOB,
	TOPIC_EVALUATION,
	TOPIC_ALLOCATION,
	TOPIC_DEPLOYMENT,
	TOPIC_VM,
	TOPIC_VM_WORKER,
	TOPIC_LIVENESS,
	TOPIC_NODE_POOL,
	TOPIC_ACL_TOKEN,
	TOPIC_ACL_POLICY,
	TOPIC_ACL_ROLE,
	TOPIC_AUDIT, // not in the log of events (tools/api/audit/audit_ring.h)
	TOPIC_ADMISSION,
	EVENT_TOPICS
};
extern const char *const event_topic_names[]; // "Node" "Job" … "VM" "VMWorker" NULL
enum event_type {
	EVENT_NODE_REGISTRATION,
	EVENT_NODE_DEREGISTRATION,
	EVENT_NODE_ELIGIBILITY,
	EVENT_NODE_DRAIN,
	EVENT_NODE_STREAM_EVENT,
	EVENT_JOB_REGISTERED,
	EVENT_JOB_DEREGISTERED,
	EVENT_EVALUATION_UPDATED,
	EVENT_PLAN_RESULT,
	EVENT_ALLOCATION_UPDATED,
	EVENT_ALLOCATION_UPDATE_DESIRED_STATUS,
	EVENT_DEPLOYMENT_STATUS_UPDATE,
	EVENT_DEPLOYMENT_PROMOTION,
	EVENT_DEPLOYMENT_ALLOC_HEALTH,
	EVENT_VM_CREATED,
	EVENT_VM_DELETED,
	EVENT_VM_SCHEDULED,
	EVENT_VM_RESTARTED,
	EVENT_VM_STARTED,
	EVENT_VM_FAILED,
	EVENT_VM_WORKER_LOST,
	EVENT_VM_RELEASED,
	EVENT_VM_POWER,
	EVENT_VM_SPEC,
	EVENT_VM_UPDATED,
	EVENT_VM_WORKER_REGISTRATION,
	EVENT_VM_WORKER_DEREGISTRATION,
	EVENT_VM_WORKER_PAUSE,
	EVENT_VM_WORKER_UPDATED,
	EVENT_EXPIRY_HELD,
	EVENT_EXPIRY_RELEASED,
	EVENT_NODE_POOL_UPSERTED,
	EVENT_NODE_POOL_DELETED,
	EVENT_ACL_TOKEN_UPSERTED,
	EVENT_ACL_TOKEN_DELETED,
	EVENT_ACL_POLICY_UPSERTED,
	EVENT_ACL_POLICY_DELETED,
	EVENT_ACL_ROLE_UPSERTED,
	EVENT_ACL_ROLE_DELETED,
	EVENT_REQUEST_ENDED,
	EVENT_NODE_REFUSED,
	EVENT_NODE_QUARANTINED,
	EVENT_TYPES
};
extern const char *const event_type_names[]; // "NodeRegistration" …

// What happened to a machine between two published records, in the order in which it happens. Returns how many, at
// least one.
#define EVENT_TYPES_AT_ONCE 8u
uint32_t event_types_of_vm(const struct vm *before, const struct vm *after,
	enum event_type types[EVENT_TYPES_AT_ONCE]);
// The same of a worker. EVENT_TYPES: it was only seen again, which is no event.
enum event_type event_type_of_vm_worker(
	const struct vm_worker *before, const struct vm_worker *after);
