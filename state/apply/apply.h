// What entries do to the working state, alike for a new decision and for replay.
#pragma once
#include "state/log/entry.h"
#include "state/tables/tables.h"

struct alloc_cell;

// The most items of each kind that one COLLECT entry deletes. The rest waits for the next, so that no command waits
// for all of it.
#define COLLECT_ITEMS_MAX 16384u

// Whether the entry may be applied to the working state as it is. Returns 0, -ERROR_CORRUPT, or
// -ERROR_TABLE_FULL when a configured limit is in the way.
int entry_check(const struct state *, const struct entry *);
// After entry_check: changes the working state, advances its index, takes over what the entry owns.
void entry_apply(struct state *, struct entry *);

// The status message of a node by enum node_status_cause, and back; NODE_REGISTERED for NODE_CAUSE_NONE.
enum node_message node_cause_message(uint8_t cause);
uint8_t node_cause_of(const struct node *);
// Whether the job has what the tables rely on. That it makes sense was checked before it was submitted.
bool job_is_sound(const struct job *);

// The functions of each entry kind (rows in apply.c): one checks, one applies. They get the entry's body.
typedef int entry_body_check(const struct state *, const void *body);
typedef void entry_body_apply(struct state *, void *body, int64_t time_ns);
entry_body_check node_register_check, node_status_check, node_standing_check,
	node_eligibility_check, node_drain_check, node_purge_check, job_register_check,
	job_deregister_check, job_stable_check, job_note_check, client_check, alloc_place_check,
	place_request_check, alloc_release_check, alloc_update_check, alloc_transition_check,
	plan_entry_check, deployment_entry_check, vm_entry_check, record_put_check,
	record_delete_check, gc_check;
entry_body_apply node_register_apply, node_status_apply, node_standing_apply,
	node_eligibility_apply, node_drain_apply, node_purge_apply, job_register_apply,
	job_deregister_apply, job_stable_apply, job_note_apply, client_apply, alloc_place_apply,
	place_request_apply, alloc_release_apply, collect_apply, alloc_update_apply,
	alloc_transition_apply, plan_apply, deployment_entry_apply, vm_entry_apply,
	record_put_apply, record_delete_apply, gc_apply;
// Remembers a request and its answer of that index; also used by snapshots.
void place_request_remember(struct state *, const struct entry_place_request *, uint64_t index);
bool collect_finds(struct state *, const struct entry_collect *);
// Whether the table has room for so many more allocations.
bool plan_has_room(const struct state *, uint32_t placements);
void plan_deployments_apply(struct state *, const struct entry_plan *);
// Whether the node may report: it is not believed to be away.
bool node_may_report(const struct node *);
// Whether the allocation exists and is on the node at this slot.
bool allocation_is_reported_by(const struct state *, const struct uuid *, uint32_t slot);
// Whether the allocation exists and belongs to the deployment.
bool allocation_is_of_deployment(
	const struct state *, const struct uuid *id, const struct uuid *deployment);
// Whether a living canary of the deployment was reported healthy; the cell may be NULL.
bool canary_is_healthy(const struct alloc_cell *, const struct uuid *deployment);
// Forgets a purged node's worker.
void vm_worker_forget_node(struct state *, const struct uuid *node);

// Changes of node standing while another entry is applied.

// Sets the standing of a newly built or revised record that is not counted yet, and its group. True: the node becomes
// healthy.
bool node_stands(struct state *, struct node *, const struct standing *);
// Sets the snapshot that such a record's node ran last.
void node_set_snapshot(struct state *, struct node *, const char *snapshot);
// The node registered or is heard again; or it went away.
bool node_announced(struct state *, struct node *, bool readiness);
void node_went_away(struct state *, struct node *, int64_t time_ns);
// Work begins on the node of this slot; work of it ended, in the order of its reports.
void node_task_scheduled(struct state *, uint32_t slot, const struct task_group *);
struct task_end {
	bool flaky, unready;
	bool readiness; // probes count
};
void node_task_ended(struct state *, struct node_cell *, const struct task_end *, int64_t time_ns);
