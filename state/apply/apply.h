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

// Replay: opens a stored batch, checks, applies and publishes it. Skips a batch that the state already has. After an
// error the state may only be destroyed.
int batch_apply(struct state *, uint64_t first_index, const void *batch, uint32_t size);

// Status descriptions, by enum node_status_cause; static. NODE_CAUSE_NONE has none.
const char *node_cause_text(uint8_t cause);
uint8_t node_cause_of(const struct node *);
// Whether the job has what the tables rely on. That it makes sense was checked before it was submitted.
bool job_is_sound(const struct job *);

// The functions of each entry kind (rows in apply.c): one checks, one applies. They get the entry's body.
int node_register_check(const struct state *, const void *body);
void node_register_apply(struct state *, void *body, int64_t time_ns);
int node_status_check(const struct state *, const void *body);
void node_status_apply(struct state *, void *body, int64_t time_ns);
int node_standing_check(const struct state *, const void *body);
void node_standing_apply(struct state *, void *body, int64_t time_ns);
int node_eligibility_check(const struct state *, const void *body);
void node_eligibility_apply(struct state *, void *body, int64_t time_ns);
int node_drain_check(const struct state *, const void *body);
void node_drain_apply(struct state *, void *body, int64_t time_ns);
int node_purge_check(const struct state *, const void *body);
void node_purge_apply(struct state *, void *body, int64_t time_ns);
int job_register_check(const struct state *, const void *body);
void job_register_apply(struct state *, void *body, int64_t time_ns);
int job_deregister_check(const struct state *, const void *body);
void job_deregister_apply(struct state *, void *body, int64_t time_ns);
int job_stable_check(const struct state *, const void *body);
void job_stable_apply(struct state *, void *body, int64_t time_ns);
int job_note_check(const struct state *, const void *body);
void job_note_apply(struct state *, void *body, int64_t time_ns);
int client_check(const struct state *, const void *body);
void client_apply(struct state *, void *body, int64_t time_ns);
int alloc_place_check(const struct state *, const void *body);
void alloc_place_apply(struct state *, void *body, int64_t time_ns);
int place_request_check(const struct state *, const void *body);
void place_request_apply(struct state *, void *body, int64_t time_ns);
int alloc_release_check(const struct state *, const void *body);
void alloc_release_apply(struct state *, void *body, int64_t time_ns);
void collect_apply(struct state *, void *body, int64_t time_ns);
int alloc_update_check(const struct state *, const void *body);
void alloc_update_apply(struct state *, void *body, int64_t time_ns);
int alloc_transition_check(const struct state *, const void *body);
void alloc_transition_apply(struct state *, void *body, int64_t time_ns);
int plan_entry_check(const struct state *, const void *body);
void plan_apply(struct state *, void *body, int64_t time_ns);
int deployment_entry_check(const struct state *, const void *body);
void deployment_entry_apply(struct state *, void *body, int64_t time_ns);
int vm_entry_check(const struct state *, const void *body);
void vm_entry_apply(struct state *, void *body, int64_t time_ns);
int record_put_check(const struct state *, const void *body);
void record_put_apply(struct state *, void *body, int64_t time_ns);
int record_delete_check(const struct state *, const void *body);
void record_delete_apply(struct state *, void *body, int64_t time_ns);
int gc_check(const struct state *, const void *body);
void gc_apply(struct state *, void *body, int64_t time_ns);
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
