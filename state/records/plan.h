// What a scheduler proposes to change (docs/spec/objects.md), and what became of it. Built by a scheduler, decided
// by the applier: COMMAND_PLAN. Everything in it is owned by the plan (or is a counted reference), so it
// outlives the read section in which it was made.
#pragma once
#include "state/records/alloc_details.h"
#include "state/records/allocation.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/resources.h"

struct alloc_metrics;

// Why a plan ends or changes a living allocation; the texts are docs/spec/texts.md (allocation_end.c).
enum stop_cause {
	STOP_NOT_NEEDED,   // "alloc not needed due to job update"
	STOP_LOST,         // "alloc is lost since its node is down"; client status lost
	STOP_UPDATING,     // "alloc is being updated due to job update"
	STOP_MIGRATING,    // "alloc is being migrated"
	STOP_NODE_TAINTED, // "alloc not needed as node is tainted"
	STOP_RESCHEDULED,  // "alloc was rescheduled because it failed"
	STOP_RECONNECTED,  // "alloc not needed due to disconnected client reconnect"
	STOP_PREEMPTED,    // desired evict, "Preempted by alloc ID <id>"
	STOP_CAUSES
};

struct plan_stop { // NodeUpdate, NodePreemptions
	struct uuid id, node_id;
	uint32_t slot; // NODE_SLOT_NONE: the node is gone
	uint8_t cause; // enum stop_cause
	bool lost;     // also set client status lost
	bool failed;   // its client reported that already; only told, never stored
	struct uuid followup_eval;
	struct uuid preempted_by; // STOP_PREEMPTED
};

struct plan_placement { // a new allocation
	struct uuid id, node_id;
	uint32_t slot, generation; // of the node
	uint16_t group;            // of the plan's job version
	uint32_t name_index;
	uint64_t job_version; // modify index of the version; usually the plan's
	struct resources resources;
	struct device_set devices;
	double score;                  // normalised
	struct alloc_details *details; // a reference, or NULL
	struct alloc_report
		*report;  // a reference, or NULL: its first report, with handles of its tasks
	uint32_t metrics; // index into plan.metrics, or PLAN_NO_METRICS
};
#define PLAN_NO_METRICS 0xffffffffu

// A living allocation that goes on under another version of the job, or with other details (follow-up, unknown,
// reconnected). Resources are those after the change.
struct plan_update {
	struct uuid id, node_id;
	uint32_t slot;
	uint64_t job_version; // 0: as it was
	struct resources resources;
	struct device_set devices;
	struct alloc_details *details; // a reference; NULL: as they were
	uint8_t client_status;         // ALLOC_UNKNOWN, or PLAN_KEEP
	uint32_t metrics;              // PLAN_NO_METRICS: as they were
	bool attribute_only; // only a follow-up evaluation was noted (simulate prints these apart)
};
#define PLAN_KEEP 0xffu

// A change of status of a stored deployment.
struct deployment_update {
	struct uuid id;
	int status; // enum deployment_status
	char *description;
};

// DesiredTGUpdates, by group (annotations of a dry run).
struct desired_updates {
	char *group;
	int64_t ignore, place, migrate, stop, in_place_update, destructive_update, canary,
		preemptions;
};
extern const struct record_type desired_updates_description;

// A metrics object that placements share. score_metadata may be left empty: then each placement stands for
// {its node, "binpack": its score, its score}.
//
// They are kept as they are stored, since every allocation has some and few are ever looked at: it takes less memory,
// and nothing is left to encode. Instances that use up many values have long lists of what is filtered, each a little
// longer than the one before; so metrics may say only what differs from others, their base.
struct shared_metrics {
	_Atomic uint32_t references;
	uint32_t kept; // bytes
	// Metrics of a plan mostly differ in a few bytes. Those of another (a reference) that `bytes` differ from
	// (state/base/bytes_delta.h); NULL: `bytes` are of record_encode.
	struct shared_metrics *whole;
	uint8_t bases; // how many others are needed to read them
	bool is_sound; // record_is_sound
	bool rests;    // they need a base: behind the bytes is a struct metrics_rest
	uint8_t bytes[];
};
struct metrics_rest {
	struct shared_metrics *base; // a reference; NULL: none was given yet
	uint32_t back;               // alloc_metrics.back, which is not 0
};
// More bases than this are refused: each is decoded by whoever reads the metrics.
#define METRICS_BASES_MAX 64u

// base: NULL when metrics.back is 0. It has fewer than METRICS_BASES_MAX bases.
struct shared_metrics *shared_metrics_create(
	const struct alloc_metrics *, struct shared_metrics *base);
// The same for metrics that are most likely similar to those before them, which may be NULL: takes less memory.
struct shared_metrics *shared_metrics_create_after(const struct alloc_metrics *,
	struct shared_metrics *base, const struct shared_metrics *before);
struct shared_metrics *shared_metrics_share(struct shared_metrics *); // NULL is fine
void shared_metrics_release(struct shared_metrics *);                 // NULL is fine
// What they are, with all that their bases say; back is 0. The caller calls metrics_release.
void shared_metrics_read(const struct shared_metrics *, struct alloc_metrics *);
// Of record_encode, bytes.
static inline uint32_t shared_metrics_size(const struct shared_metrics *shared)
{
	return shared->whole ? shared->whole->kept : shared->kept;
}
// NULL: they rest on none, or none was given yet.
struct shared_metrics *shared_metrics_base(const struct shared_metrics *);
uint32_t shared_metrics_back(const struct shared_metrics *); // alloc_metrics.back
// The form of metrics_description in entries and snapshots. Decoding returns 0 and a reference, or -ERROR_… and NULL.
// What was decoded with a back is given its base before anybody reads it.
void shared_metrics_encode(const struct shared_metrics *, struct bytes_writer *);
int shared_metrics_decode(struct shared_metrics **, struct bytes_reader *);
int shared_metrics_decode_after(
	struct shared_metrics **, const struct shared_metrics *before, struct bytes_reader *);
// Takes a reference of the base. Returns 0, or -ERROR_CORRUPT when there are too many bases or one lacks its own.
int shared_metrics_rest_on(struct shared_metrics *, struct shared_metrics *base);

struct plan {
	struct uuid eval_id;
	uint64_t eval_token;
	int64_t priority;
	bool all_at_once;
	char *namespace_name, *job_id;
	uint64_t job_version; // modify index of the version it was made with; 0: the job is purged
	uint64_t snapshot_index;
	struct array stops, preemptions; // plan_stop, in the order in which they were planned
	struct array placements;         // plan_placement
	struct array updates;            // plan_update
	struct array metrics;            // struct shared_metrics *, a reference each
	// NULL; or a deployment that begins with this plan (its id is new); or one that replaces the stored one of the
	// same id, with the groups that were computed while it was initializing.
	struct deployment *deployment;
	struct array deployment_updates; // deployment_update
	bool annotate;
	struct array annotations; // desired_updates, by group
};

struct plan *plan_create(void);
void plan_free(struct plan *); // NULL is allowed
void plan_placement_release(struct plan_placement *);
// Nothing to change: no stops, placements, updates, deployment or deployment updates.
bool plan_is_no_op(const struct plan *);

struct plan_rejection {
	struct uuid node_id;
	const char *reason; // static: "node does not exist", "node is not ready for placements",
		// "node is not eligible", "cpu", "memory", "disk", "network: …", "devices: …"
};

// The applier commits a plan without the nodes that it rejects.
struct plan_result {
	uint64_t alloc_index; // at which it was committed; 0: nothing was
	// 0: the applier committed everything that still makes sense. Else the index that the next attempt must see:
	// nodes rejected a part, the quota had no room (then nothing was committed), allocations ended meanwhile, or
	// the plan was too large for one turn of the applier.
	uint64_t refresh_index;
	uint32_t placements_committed, placements_planned;
	uint32_t stops_committed, updates_committed, deployment_updates_committed;
	// New allocations that were committed, by group name (named_count): they reduce the queued counts.
	struct array placed_by_group;
	struct array rejections; // plan_rejection
	bool is_over_quota;
};
void plan_result_release(struct plan_result *);
