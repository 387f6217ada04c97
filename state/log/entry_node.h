// Entries of nodes: bodies of entries as entry.h tells. The bytes are documented at the top of entry.c.
#pragma once
#include "state/base/time_units.h"
#include "state/log/coder.h"
#include "state/records/nodes/drain_meta.h"
#include "state/records/nodes/node_description.h"

enum node_status_cause {
	NODE_CAUSE_EXPIRED,
	NODE_CAUSE_RETURNED,
	NODE_CAUSE_GOODBYE,
	NODE_CAUSE_REVOKED, // its key counts no more
	NODE_CAUSES,
	NODE_CAUSE_NONE = 0xff, // it registered
};

// Of NODE_AWAITED and of NODE_REGISTER, whose is_awaited is false.
struct entry_node_register {
	uint32_t slot, generation;
	uint16_t owner; // worker of the slot's block
	// node, sequence, texts, device groups and pairs sorted; the rest of it is not used here
	struct node_registration *description;
	bool readiness; // probes count
	bool is_awaited; // a new node is initializing and a known one keeps its status, until a heartbeat comes
	struct bytes_reader stored; // the description, where the entry was decoded
	uint64_t class_hash;        // of the description (node_class.h); 0: nobody has found it yet
};

struct entry_node_status {
	uint32_t slot, generation;
	uint8_t status; // enum node_status
	uint8_t cause;  // enum node_status_cause
	bool readiness; // probes count
};

struct entry_node_eligibility {
	uint32_t slot, generation;
	uint8_t eligibility; // enum node_eligibility, or one of the next
};
// The node is ineligible because it rejected too many plans.
#define NODE_INELIGIBLE_REJECTING 2u
// It is more than its rule of admission allows.
#define NODE_INELIGIBLE_NOT_ADMITTED 3u

// Forgets the node and frees its slot. Its allocations are on no node from then on; those of direct jobs are lost,
// schedulers decide about all others.
struct entry_node_purge {
	uint32_t slot, generation;
};

// A drain begins, changes or ends (command_node_drain). Deadlines are limited: nobody waits longer, and the end of a
// longer one would not be a time.
#define DRAIN_DEADLINE_MAX_NS (100 * 365 * 24 * NS_PER_HOUR)
struct entry_node_drain {
	uint32_t slot, generation;
	uint8_t end; // enum drain_end
	bool ignore_system_jobs, mark_eligible;
	int64_t deadline_ns;
	struct drain_meta meta; // taken over by apply, freed by entry_release otherwise
};

extern const struct record_type entry_node_status_description, entry_node_eligibility_description,
	entry_node_purge_description;
coder_function entry_node_register_code, entry_node_awaited_code, entry_node_drain_code;
void entry_node_drain_release(void *body);

// A node's description, whole or a part of a registration, as it is stored here and in snapshots; reading checks only
// the form.
coder_function node_description_code;
