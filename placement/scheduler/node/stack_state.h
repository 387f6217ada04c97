// What one attempt at an evaluation knows of nodes: the inside of a stack, for code that looks at a node.
#pragma once
#include "placement/direct/placement.h"
#include "placement/scheduler/node/class_memo.h"
#include "placement/scheduler/node/ports.h"
#include "placement/scheduler/node/proposal.h"
#include "placement/scheduler/node/stack_option.h"
#include "placement/scheduler/node/victim_counts.h"
#include "placement/scheduler/rules/rules.h"
#include "state/base/arena/arena.h"
#include "state/records/namespaces/quota.h"

// An allocation of another job that a node holds, while victims are looked for.
struct candidate {
	const struct allocation *allocation;
	const struct alloc_details *details; // as they are now: an update may have changed them
	struct resources resources;
	int64_t priority;
	bool preemptible; // by its priority
	bool chosen;
};

// What the newest choice of victims for cpu, memory and disk rests on, besides the node.
struct victim_basis {
	uint64_t
		groups; // victim_group_bit(): victims of these in the plan may change the choice; 0: it stands
	double most; // no choice scores more
};

// What the plan brings and takes of the quota of its namespace, if there is one.
struct stack_quota {
	bool is_limited;             // a quota limits the namespace
	struct quota_amount planned; // what the plan brings, and takes
};

struct candidate_columns;
struct neighbour_counts;

struct stack {
	enum stack_kind kind;
	struct scheduler_view view;
	struct plan *plan;
	uint32_t stop_room, preemption_room, placement_room, update_room; // of the plan's arrays
	const struct job *job;
	const struct array
		*allocations; // const struct allocation *; all of the job; NULL: the view is asked
	enum placement_algorithm algorithm;
	bool preemption;     // enabled for jobs of this type
	uint32_t first_slot; // of equal nodes those from this slot on go first
	struct proposal proposal;
	struct stack_quota quota;
	struct reasons reasons;
	struct class_memo classes;
	bool is_job_judged; // some group's columns know what the job itself asks of every class
	struct job_rules job_rules;
	struct group_rules **groups;         // by number; NULL: not used yet
	struct candidate_columns **columns;  // the same; used by stack_select
	struct candidate_columns **evicting; // the same, with victims
	struct neighbour_counts **near;      // the same; NULL: looked up at each node
	struct candidate_columns
		*counted; // what the newest metrics tell of; NULL: of other things, or as the first
	uint32_t group_count;
	uint32_t gathered; // how often columns took a look at all nodes
	struct victim_counts victim_counts;
	// Scratch, for one node after the other.
	uint8_t *strict; // a bit per slot where a plan was refused; NULL: none
	struct port_index ports;
	struct candidate *candidates;
	uint32_t candidate_count, candidate_room;
	bool candidates_known; // of the node that is looked at
	const struct allocation **victims;
	uint32_t victim_count, victim_room;
	struct victim_basis basis;
	const struct allocation **best_victims; // of the best node so far
	uint32_t best_victim_room;
	struct arena memory; // of the stack itself, and of what lives as long
	struct arena of_job; // what is known of the job's groups
	struct arena lent;   // what metrics name, until the next selection
	// Usable nodes, for metrics; counted once a caller looks at all nodes.
	struct array available; // named_count, by datacenter; in memory
	int64_t available_in_pool;
	bool available_known;
	uint32_t *changed_slots; // touched by the plan since columns were last brought up to date
	uint32_t changed_count, changed_room;
};

// Whether a node comes before an equally good one.
static inline bool stack_is_first(const struct stack *s, uint32_t slot, uint32_t other)
{
	return slot - s->first_slot < other - s->first_slot; // slots below the first one wrap round
}

// True when an earlier attempt's plan was refused on the node. Slots of nodes that came after the stack was made are
// beyond its map.
static inline bool stack_is_strict(const struct stack *s, uint32_t slot)
{
	return s->strict && slot < s->proposal.slots && s->strict[slot / 8] >> slot % 8 & 1;
}
