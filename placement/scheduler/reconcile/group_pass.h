// State that the steps of the reconciler share (docs/spec/reconciler.md): the job's part, and the group that is worked
// out. Each step moves allocations from one set to another; no step looks at what a later one does.
#pragma once
#include "placement/scheduler/reconcile/id_set.h"
#include "placement/scheduler/reconcile/name_index.h"
#include "placement/scheduler/reconcile/reconciliation.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"

#define SAME_TIME_NS NS_PER_S // due within it is due now (row C24)

enum member_set {
	SET_UNTAINTED, // counts as it is
	SET_MIGRATE,
	SET_LOST,
	SET_DISCONNECTING,
	SET_RECONNECTING,
	SET_RESCHEDULE, // to be replaced now: it failed, or its client is cut off
	SET_NONE        // stopped, or does not matter any more
};

// What a deployment knows of a member.
enum member_health { HEALTH_NOT_ASKED, HEALTH_UNKNOWN, HEALTH_GOOD, HEALTH_BAD };

// An allocation of the group, with what most steps ask of it: a job has many, and their records are far apart.
struct member {
	const struct allocation *allocation;
	uint32_t index;        // the number in its name
	uint8_t client_status; // enum alloc_client
	uint8_t set;           // enum member_set
	uint8_t health;        // enum member_health, by the deployment of this version
	bool is_current;       // of the job's specification
	bool canary;           // of the active deployment, on a sound node
	bool destructive;
	bool later;   // failed: replaced when it is due
	bool unknown; // becomes unknown in this pass
	bool stopped; // in this pass
	bool is_back; // its client is, and it stays
};

// A member that something is due for at a time.
struct due_member {
	int64_t due_ns;
	struct member *member;
};

// The members of one group.
struct member_span {
	const char *group;
	uint32_t first, count;
};

struct reconciler {
	const struct reconcile_ask *ask;
	struct reconciliation *result;
	const struct job *job;
	struct deployment
		*deployment; // owned: that of this version, as it is changed here; or NULL
	const struct deployment *former; // of an older version, or at its end; or NULL
	bool is_new;                     // the deployment begins in this pass
	bool paused, failed;
	// Ids of placed canaries: those of the deployment, and those of former or failed deployments, which will never
	// be promoted.
	struct id_set canaries, unneeded;
	struct member *members; // by group name, number in the name, id
	uint32_t member_count;
	struct uuid *followups;    // by member; NULL: none was created
	struct member_span *spans; // by group name
	uint32_t span_count, next_span;
};

struct group_pass {
	struct reconciler *r;
	const char *name;
	const struct task_group *group; // NULL: the job has no group of this name any more
	uint32_t number;                // of the group in the job
	struct member *members;
	uint32_t count;
	struct desired_updates *desired, unshown; // in the result, or here if nobody asks
	struct deployment_group *dstate, fresh;
	bool had_dstate, had_version; // had_version: an allocation has this version of the job
	struct name_index names;
	bool waits; // for a client to surely stop lost allocations: nothing is placed (row C17)
	bool requires_canaries;
	uint32_t destructive_count, in_place_count, later_count;
	uint32_t seen;                           // a bit for each set that a member was put into
	bool has_canaries;                       // a member was found to be one
	struct array later;                      // due_member: those that may be replaced later
	int64_t limit;                           // how many may be replaced now (row C47)
	struct array place;                      // reconcile_place: missing instances
	uint32_t first_destructive, first_place; // of this group in the result
};

#define FOR_MEMBERS(m, g) \
	for (struct member *m = (g)->members, *end_##m = m + (g)->count; m < end_##m; m++)

// Doubles the room; every item of the array must be added this way.
static inline void *reconcile_append(struct array *a, size_t bytes_each)
{
	CHECK(bytes_each > 0);
	if ((a->count & (a->count - 1)) == 0)
		a->items = memory_resize(a->items, (a->count ? 2 * a->count : 1) * bytes_each);
	return memset((char *)a->items + (size_t)a->count++ * bytes_each, 0, bytes_each);
}
#define APPEND(array, type) ((type *)reconcile_append((array), sizeof(type)))

static inline bool update_is_empty(const struct update_strategy *update)
{
	return !update || update->max_parallel == 0;
}
static inline const struct uuid *followup_of(const struct allocation *a)
{
	static const struct uuid none;
	return a->details ? &a->details->followup_eval : &none;
}
static inline bool was_replaced(const struct allocation *a)
{
	return a->details && !uuid_is_zero(&a->details->next_allocation);
}
static inline bool is_canary(const struct allocation *a)
{
	const struct alloc_deployment_status *health = allocation_health(a);
	return health && health->canary;
}
static inline bool is_of_deployment(const struct allocation *a, const struct deployment *d)
{
	return d && a->details && uuid_equal(&a->details->deployment_id, &d->id);
}
static inline bool is_wished(const struct optional_bool *transition)
{
	return transition->set && transition->value;
}
// True when the deployment takes placements: it is neither paused nor failed, and tries no canaries out.
bool is_place_ready(const struct group_pass *);
// An evaluation that was itself delayed makes no follow-ups (row C18).
static inline bool is_delayed(const struct reconcile_ask *ask)
{
	return ask->eval->wait_until_ns != 0;
}
// Canaries are there or wanted, and are not promoted.
static inline bool is_canarying(const struct group_pass *g)
{
	CHECK(g->dstate);
	return g->dstate->desired_canaries != 0 && !g->dstate->promoted;
}
static inline bool is_unknown(const struct member *m)
{
	return m->unknown || m->client_status == ALLOC_UNKNOWN;
}
static inline void put_member(struct group_pass *g, struct member *m, enum member_set set)
{
	m->set = (uint8_t)set;
	g->seen |= 1u << set;
}
// False: no member is in the set. A step that is only about such members need not look at any.
static inline bool may_have(const struct group_pass *g, enum member_set set)
{
	return g->seen & 1u << set;
}
// Zero: none.
static inline struct uuid member_followup(const struct reconciler *r, const struct member *m)
{
	return r->followups ? r->followups[m - r->members] : (struct uuid){0};
}
uint32_t member_count_of(const struct group_pass *, enum member_set);

void reconcile_members(struct reconciler *);
void reconcile_members_release(struct reconciler *);
// Goes through the groups of the job and of the allocations in the order of their names; *group_pass is zeroed before
// the first. Returns false after the last. The groups of a stopped job count as removed.
bool next_group(struct reconciler *, struct group_pass *);

void cancel_unneeded_deployment(struct reconciler *);
void compute_deployment_paused(struct reconciler *);
void compute_deployment_updates(struct reconciler *, bool complete);

void filter_and_stop_all(struct group_pass *);
void initialize_deployment_state(struct group_pass *);
void filter_old_terminal(struct group_pass *);
void cancel_unneeded_canaries(struct group_pass *);
void split_by_taint(struct group_pass *);
void reconcile_reconnecting(struct group_pass *);
void reconcile_disconnecting(struct group_pass *);
void create_lost_later_evals(struct group_pass *);
void create_reschedule_later_evals(struct group_pass *);
void index_names(struct group_pass *);
void compute_stop(struct group_pass *);
void compute_updates(struct group_pass *);
void compute_canaries(struct group_pass *);
void compute_under_provisioned_by(struct group_pass *);
void compute_placements(struct group_pass *);
void compute_replacements(struct group_pass *);
void compute_destructive_updates(struct group_pass *);
void compute_migrations(struct group_pass *);
void repair_names(struct group_pass *);
void note_follow_ups(struct group_pass *);
void create_deployment(struct group_pass *);
bool is_deployment_complete(const struct group_pass *);

// True when the allocation was told to stop, and has ended or is on a lost node, which will never report its end.
bool allocation_is_over(const struct group_pass *, const struct allocation *);
// True when another allocation was placed in its stead since it became unknown.
bool was_replaced_since(const struct group_pass *, const struct allocation *);
// Stops a member.
void note_stop(struct group_pass *, struct member *, enum stop_cause);
// Stops a member and takes it out of every set.
void stop_member(struct group_pass *, struct member *, enum stop_cause);
// Replaces a failed or disconnected member now, or keeps it in the count; then it may be replaced when it is due.
void reschedule_member(struct group_pass *, struct member *);
// Creates evaluations for the times of members, in batches, and sets the followup of each member. Sorts the members.
void create_follow_ups(struct group_pass *, struct array *due_members, enum eval_trigger trigger,
	const char *description);
