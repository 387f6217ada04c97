// Entries about allocations outside of plans: what their node reports, and what operators ask of schedulers. Bodies of
// entries as entry.h tells. The bytes are documented at the top of entry.c.
#pragma once
#include "state/base/uuid.h"
#include "state/log/coder.h"
#include "state/records/alloc_details.h"
#include <stdbool.h>
#include <stdint.h>

// The most allocations of one entry.
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

coder_function entry_alloc_update_code, entry_alloc_transition_code;
void entry_alloc_update_release(void *body);
void entry_alloc_transition_release(void *body);
