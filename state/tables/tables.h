// The inside of struct state, for state/ only. Fields marked "applier" belong to the applier's
// thread; what others read is behind RCU or atomic.
#pragma once
#include "state/records/shared_strings.h"
#include "state/tables/class_table.h"
#include "state/tables/kind.h"
#include "state/tables/nodes/node_feed.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include <pthread.h>
#include <stdatomic.h>

struct client;
struct eval_cell;
struct id_order;
struct index_wait;
struct job_cell;
struct node_groups;
struct placer;

// The first and least number of buckets of a hash table.
#define TABLE_BUCKETS_MIN 1024u

struct table_hash {
	struct cds_lfht *buckets; // NULL: the kind has none
	_Atomic uint64_t wanted;  // buckets; set by the applier
	_Atomic uint64_t given;   // buckets; set by the widening thread
};

struct table {
	const struct kind *kind;
	struct table_hash hash, other; // by key; kind->has_other_hash
	struct gathered *gathered; // entries that are not in hash yet; NULL: each is added at once
	struct sequence order;     // of cells, by cell.index
	struct cell *one;          // KEY_ONE
	struct id_order *ids;      // kind->has_ids
	uint32_t coming;           // allocations of a plan that waits for buckets
};

// Changes that wait for publication. A cell begins with its published and its working record.
struct change {
	enum state_table table;
	void *cell;
	struct record *record;
};
struct change_list {
	struct change *items;
	uint32_t count, capacity;
};

// An item that is deleted for readers but stays in the tables until no snapshot can need it.
struct grave {
	enum state_table table;
	void *item;
};

struct slot_list {
	uint32_t *slots;
	uint32_t count, capacity;
};

// What is known of a state without looking into its tables.
struct summary {
	struct state_counts counts;
	int64_t forgotten_ms;
};

// What the check of plans keeps from plan to plan. The check makes it, above the tables.
struct plan_memory {
	struct plan_checker *checker; // NULL: no plan was checked yet
	void (*free)(struct plan_checker *);
};

struct state {
	struct state_limits limits;
	uint32_t slots_max;
	struct node_table *node_table;
	struct node_cell *cells; // by slot
	struct table tables[STATE_TABLES];

	struct client **clients; // by number; entries below client_count are never changed
	_Atomic uint32_t client_count;
	struct client **client_buckets;

	struct class_table classes;      // applier, like the rest down to the next mark
	struct strings strings;          // of nodes
	struct node_groups *node_groups; // of nodes that are not forgotten, by slot
	// alloc_cell.terminal, oldest change first: of allocations that clients and schedulers placed
	struct cds_list_head terminal, planned_terminal;
	struct cds_list_head stopped;         // job_cell.stopped, oldest stop first
	struct cds_list_head marked;          // job_cell.marked, oldest mark first
	struct cds_list_head marked_urgently; // the same, of marks that are urgent
	// When nodes last changed, and since when they do without a pause of MARK_OLDEST_NS.
	int64_t nodes_changed_ns, nodes_stir_ns;
	struct cds_list_head system;  // job_cell.system
	struct cds_list_head orphans; // job_cell.sibling, of jobs whose parent is not there
	struct eval_cell *counting;   // evaluation that counted last; NULL: none
	int64_t time_ns;              // when the entry that is being applied was decided
	struct state_observer *observers;
	uint32_t block_count;        // blocks of slots that have an owner
	uint16_t *block_used;        // slots handed out of each block
	struct slot_list free_slots; // of purged nodes, the oldest first; node_slots.h
	uint64_t index;              // of the newest applied entry
	uint64_t unpublished_from;   // only the applier has records of this index and above
	uint64_t term;
	int64_t forgotten_ms;    // newest issue time of a forgotten request
	uint64_t oldest_request; // no request of an index below this is remembered
	struct state_counts counts;
	uint64_t bytes_records; // of node records, and of what few cells have besides
	struct plan_memory *plan_memory;
	struct change_list *changes;   // of the batch that is being decided
	const struct placer *placer;   // NULL during recovery
	struct state_change *observed; // scratch
	uint32_t observed_capacity;
	bool is_unsettled; // something of the batch that is being published has to be settled (kind.settled)
	struct publication_checks *checks; // publication_check.h; NULL: not kept
	struct grave *graves;
	uint32_t grave_count, grave_capacity;

	// Published, relaxed or release; any thread reads.
	_Atomic uint64_t published_index;
	_Atomic uint64_t table_index[STATE_TABLES]; // newest change of each, since the start
	_Atomic uint32_t snapshots;                 // that are being read
	pthread_mutex_t summary_lock;
	struct summary published; // under the lock, where published_index is written too

	struct index_wait *index_wait;
	struct node_feed node_feed;
};

struct summary state_summary_now(const struct state *); // of the working state
// Whether the calling thread is in a read section.
bool state_is_reading(void);

// The working record of the node at a slot; NULL: there is none, or no such slot. Applier thread only.
static inline const struct node *node_working(const struct state *state, uint32_t slot)
{
	return slot < state_node_slots(state) ? state->cells[slot].working : NULL;
}

// Ended allocations go two ways: those of clients by COLLECT, those of schedulers by GC.
static inline struct cds_list_head *ended_list(struct state *state, const struct allocation *a)
{
	return uuid_is_zero(&a->eval_id) ? &state->terminal : &state->planned_terminal;
}
// Whether the counts of jobs and deployments are right in a loaded state.
bool job_counts_add_up(struct state *);
