// What entries do to the working state: the same for a decision just made and for one that is
// replayed.
#pragma once
#include "state/log/entry.h"
#include "state/tables/tables.h"

// The most that one COLLECT entry deletes of each kind: what is left waits for the next, so that
// nobody waits for all of it.
#define COLLECT_ITEMS_MAX 16384u

// Whether the entry may be applied to the working state as it is. Returns 0, -ERROR_CORRUPT, or
// -ERROR_TABLE_FULL when a configured limit is in the way.
int entry_check(const struct state *, const struct entry *);
// After entry_check: changes the working state, advances its index, takes over what the entry owns.
void entry_apply(struct state *, struct entry *);

// Replay: opens a stored batch, checks, applies and publishes. A batch that the state has already
// is skipped. After an error the state may only be destroyed.
int batch_apply(struct state *, uint64_t first_index, const void *batch, uint32_t size);

// Status descriptions, by enum node_status_cause; static. NODE_CAUSE_NONE has none.
const char *node_cause_text(uint8_t cause);
uint8_t node_cause_of(const struct node *);
// What the tables rely on. That a job makes sense was checked before it was submitted.
bool job_is_sound(const struct job *);

// By kind of thing; called by the two above.
int node_register_check(const struct state *, const struct entry_node_register *);
void node_register_apply(struct state *, const struct entry_node_register *, int64_t time_ns);
int node_status_check(const struct state *, const struct entry_node_status *);
void node_status_apply(struct state *, const struct entry_node_status *, int64_t time_ns);
int job_register_check(const struct state *, const struct entry_job_register *);
void job_register_apply(struct state *, struct entry_job_register *, int64_t time_ns);
int job_deregister_check(const struct state *, const struct entry_job_deregister *);
void job_deregister_apply(struct state *, const struct entry_job_deregister *, int64_t time_ns);
int client_check(const struct state *, const struct entry_client *);
int alloc_place_check(const struct state *, const struct entry_alloc_place *);
void alloc_place_apply(struct state *, const struct entry_alloc_place *, int64_t time_ns);
int place_request_check(const struct state *, const struct entry_place_request *);
void place_request_apply(struct state *, const struct entry_place_request *, uint64_t index);
int alloc_release_check(const struct state *, const struct entry_alloc_release *);
void alloc_release_apply(struct state *, const struct entry_alloc_release *, int64_t time_ns);
bool collect_finds(struct state *, const struct entry_collect *);
void collect_apply(struct state *, const struct entry_collect *);
// What the tables rely on.
bool evaluation_is_sound(const struct evaluation *);
bool evaluations_have_room(const struct state *, uint32_t count);
