// One instance of a task group on one node.
#pragma once
#include "state/base/check.h"
#include "state/base/uuid.h"
#include "state/records/alloc_details.h"
#include "state/records/job.h"
#include "state/records/record.h"
#include "state/records/resources.h"
#include <stddef.h>
#include <stdint.h>

enum alloc_desired { ALLOC_RUN, ALLOC_STOP, ALLOC_EVICT };
enum alloc_client {
	ALLOC_PENDING,
	ALLOC_RUNNING,
	ALLOC_COMPLETE,
	ALLOC_FAILED,
	ALLOC_LOST,
	ALLOC_UNKNOWN
};
extern const char *const alloc_desired_names[]; // "run" "stop" "evict"
extern const char
	*const alloc_client_names[]; // "pending" "running" "complete" "failed" "lost" "unknown"

#define NODE_SLOT_NONE 0xffffffffu

struct shared_metrics;

struct allocation {
	struct record record; // first
	struct uuid id;
	struct uuid node_id;
	uint32_t node_slot; // NODE_SLOT_NONE: the node was purged
	uint32_t client;    // index of the placing client, CLIENT_NONE when none
	struct job *job;    // the version it was placed with; a counted reference
	uint16_t group;     // index in job->task_groups
	uint8_t desired, client_status;
	uint32_t index; // the number in its name "<job>.<group>[<index>]"
	struct resources resources;
	// Why it is to run no more (enum end_cause), and what was concluded of its state without its node (enum
	// client_text): see allocation_desired_description() and allocation_client_description().
	uint8_t end_cause, client_text;
	const struct device_set
		*devices; // its own; NULL: none, as most have; read it with allocation_devices()
	double score;
	uint32_t nodes_evaluated, nodes_feasible;
	uint64_t alloc_modify_index; // server-side changes
	int64_t create_time_ns, modify_time_ns;
	struct uuid eval_id; // zero: placed by a client
	// What was said of its health since it was placed; read it with allocation_health(). Details that it was placed
	// with are shared with others.
	struct alloc_deployment_status health;
	struct alloc_details *details;  // a reference; NULL: none
	struct alloc_report *report;    // a reference; NULL: its node said nothing yet
	struct shared_metrics *metrics; // a reference; NULL: placed by a client
};

#define CLIENT_NONE 0xffffffffu

// The allocation's group, in the job version that the allocation was placed with.
static inline const struct task_group *allocation_group(const struct allocation *a)
{
	CHECK(a->group < a->job->task_groups.count);
	return ARRAY_AT(&a->job->task_groups, struct task_group, a->group);
}

// The device instances that it holds of its node; never NULL.
static inline const struct device_set *allocation_devices(const struct allocation *a)
{
	static const struct device_set none;
	return a->devices ? a->devices : &none;
}

// Its health in its deployment, and whether it is a canary there; NULL: nothing is known.
static inline const struct alloc_deployment_status *allocation_health(const struct allocation *a)
{
	if (a->health.is_there)
		return &a->health;
	return a->details ? a->details->deployment_status : NULL;
}

// It no longer runs: its node reported that, or it was concluded without the node.
static inline bool allocation_has_ended(const struct allocation *a)
{
	return a->client_status == ALLOC_COMPLETE || a->client_status == ALLOC_FAILED ||
	       a->client_status == ALLOC_LOST;
}

static inline bool allocation_is_terminal(const struct allocation *a)
{
	return a->desired != ALLOC_RUN || allocation_has_ended(a);
}

// An allocation that is to stop still runs, and keeps its room on the node, until it has ended (row A47).
static inline bool allocation_holds_room(const struct allocation *a)
{
	return !a->record.deleted && a->node_slot != NODE_SLOT_NONE && !allocation_has_ended(a);
}

// "<job id>.<group>[<index>]"; of system and sysbatch jobs "<job name>.<group>[<index>]". Returns
// buffer.
const char *allocation_name(const struct allocation *, char *buffer, size_t size);
// Why the allocation is to run no more, or "". Returns buffer or a static string.
#define DESIRED_DESCRIPTION_BYTES 80u
const char *allocation_desired_description(
	const struct allocation *, char buffer[static DESIRED_DESCRIPTION_BYTES]);
// What the allocation's node said of its state, or what the controller concluded without the node; or "". Valid as
// long as the allocation.
const char *allocation_client_description(const struct allocation *);
