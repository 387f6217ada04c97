// Entries about single allocations that no plan makes: what their node says of them, and what
// operators ask of schedulers. The bytes are documented at the top of entry.c.
#pragma once
#include "state/base/bytes.h"
#include "state/base/uuid.h"
#include "state/records/alloc_details.h"
#include <stdbool.h>
#include <stdint.h>

struct state;

// The most that one entry is about.
#define ENTRY_ALLOCS_MAX 65536u

struct reported_alloc {
	struct uuid id;
	uint8_t client_status; // pending, running, complete or failed
	struct optional_bool healthy;
	bool flaky, unready;         // command.h
	struct alloc_report *report; // a reference; NULL: as it was
};
struct entry_alloc_update {
	uint32_t slot, generation;
	uint64_t sequence; // of the node's reports
	bool readiness;    // probes count
	uint32_t count;
	struct reported_alloc *items; // the entry's own; by ascending id
};

struct alloc_transition {
	struct uuid id;
	struct desired_transition transition; // what is not set stays
};
struct entry_alloc_transition {
	uint32_t count;
	struct alloc_transition *items; // the entry's own; by ascending id
};

void entry_alloc_update_encode(const struct entry_alloc_update *, struct bytes_writer *);
int entry_alloc_update_decode(struct entry_alloc_update *, uint8_t version, struct bytes_reader *);
void entry_alloc_update_release(struct entry_alloc_update *);
void entry_alloc_transition_encode(const struct entry_alloc_transition *, struct bytes_writer *);
int entry_alloc_transition_decode(struct entry_alloc_transition *, struct bytes_reader *);
void entry_alloc_transition_release(struct entry_alloc_transition *);

struct node;
// Not while it is thought to be away.
bool node_may_report(const struct node *);
// It is there, and on the node at this slot.
bool allocation_is_reported_by(const struct state *, const struct uuid *, uint32_t slot);
int alloc_update_check(const struct state *, const struct entry_alloc_update *);
void alloc_update_apply(struct state *, struct entry_alloc_update *, int64_t time_ns);
int alloc_transition_check(const struct state *, const struct entry_alloc_transition *);
void alloc_transition_apply(struct state *, struct entry_alloc_transition *, int64_t time_ns);
