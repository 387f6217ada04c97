// The inside of struct state, for state/ only. Fields marked "applier" belong to the applier's
// thread; what others read is behind RCU or atomic.
#pragma once
#include "state/log/command.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/scheduler_config.h"
#include "state/records/shared_strings.h"
#include "state/tables/alloc_table.h"
#include "state/tables/node_groups.h"
#include "state/tables/placer.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/vm_table.h"
#include <pthread.h>
#include <stdatomic.h>

// --- Jobs ----------------------------------------------------------------------------------------

// Per group name: the next number of an allocation's name, and the job's summary (state.h).
struct group_counter {
	uint32_t next;
	uint32_t name_at, name_size;         // in the characters of the keep
	uint32_t queued;                     // as its evaluations said last
	uint32_t clients[ALLOC_UNKNOWN + 1]; // allocations by enum alloc_client; ended ones stay in
};

// That something happened to nodes or allocations of a job after which its allocations have to be
// looked at: becomes an evaluation (marks.h).
struct job_mark {
	int64_t first_ns, newest_ns; // 0: there is none
	uint8_t trigger;             // enum eval_trigger
	uint8_t type;                // enum job_type
	int64_t priority;
	struct uuid node; // of the newest; zero: none
	uint64_t node_modify_index;
};

// What is kept of one job: the record that a job cell publishes. Holds a reference to each of its
// versions.
struct job_keep {
	struct record record; // first; deleted: purged or collected, without versions
	int status;         // enum job_status; derived, given to the newest version at publication
	int64_t stopped_ns; // when it was stopped or came to its end; 0: it goes on
	bool had_work;      // there was an evaluation of it once
	struct job_mark mark;
	struct job_notes *notes; // a reference; NULL: nothing to remember
	struct job_children children;
	uint8_t stable; // a bit for each version; given to them at publication
	uint32_t version_count;
	struct job *versions[JOB_VERSIONS_MAX]; // newest first
	// Groups of the kept versions. Where the counter of a group that is in no kept version has
	// been forgotten, floor is at least what it was, so that no living name is given twice.
	uint32_t counter_floor;
	uint32_t counter_count;
	uint32_t character_count;
	struct group_counter counters[]; // then the characters of the names
};

struct job_cell {
	struct job_keep *published; // RCU
	struct job_keep *working;   // applier
	char *namespace_name, *id;
	struct cds_lfht_node by_name;
	struct cds_list_head allocations; // struct alloc_cell.of_job; RCU list
	uint32_t allocation_count; // on the list, deleted ones that wait for their burial included
	_Atomic uint64_t allocations_index; // of the newest published change of one of them
	uint32_t present_count, live_count; // not deleted; not terminal
	uint32_t position;
	uint64_t index; // at which the cell was made; its key among jobs
	bool is_stopped_listed, is_buried;
	struct cds_list_head stopped;       // applier; jobs that wait for collection
	struct cds_list_head evaluations;   // struct eval_cell.of_job; RCU list
	uint32_t evaluation_count;          // on the list
	_Atomic uint64_t evaluations_index; // of the newest published change of one of them
	uint32_t evaluations_present, evaluations_live; // not deleted; not at their end
	struct cds_list_head blocked;                   // applier; struct eval_cell.blocked
	struct cds_list_head deployments;   // struct deployment_cell.of_job; RCU list, newest first
	uint32_t deployment_count;          // on the list
	uint32_t deployments_active;        // at most one
	_Atomic uint64_t deployments_index; // of the newest published change of one of them
	bool is_marked, is_system_listed;
	struct cds_list_head marked;   // applier; in the order of their first marks
	struct cds_list_head system;   // applier; jobs that want to be on every node
	struct cds_list_head children; // applier; job_cell.sibling of those that it made
	struct cds_list_head sibling;  // applier; of its parent, or of state.orphans
	struct job_cell *parent;       // that counts it; NULL: none that is there
	bool is_child;                 // it is on one of those lists
	uint8_t counted_child;         // with parent: enum job_status that it is counted in
	struct rcu_head rcu;
};

// --- Evaluations ---------------------------------------------------------------------------------

struct eval_cell {
	struct evaluation *published; // RCU
	struct evaluation *working;   // applier
	struct uuid id;
	struct job_cell *job_cell;
	struct cds_lfht_node by_id;
	struct cds_list_head of_job;  // RCU list
	struct cds_list_head blocked; // of its job, while it is blocked
	uint32_t position;
	uint32_t allocations; // that it made or changed last, deleted ones not
	struct rcu_head rcu;
};

// --- Deployments ---------------------------------------------------------------------------------

struct deployment_cell {
	struct deployment *published; // RCU
	struct deployment *working;   // applier
	struct uuid id;
	struct job_cell *job_cell;
	struct cds_lfht_node by_id;
	struct cds_list_head of_job; // RCU list
	uint32_t position;
	uint32_t living;  // allocations that belong to it and are not at their end
	uint32_t checked; // while the state is verified: where it is among those of its job
	struct rcu_head rcu;
};

// --- Clients and their requests ------------------------------------------------------------------

struct client {
	char *name;
	uint32_t number;
	uint64_t create_index;
	struct client *next;     // of its bucket
	struct sequence changes; // of its allocations, by modify index; applier
};

// What a client once asked and was answered; made once, forgotten once, never changed.
struct place_request {
	struct cds_lfht_node by_key;
	struct rcu_head rcu;
	uint64_t index;                   // at which it was answered
	_Atomic uint64_t forgotten_index; // 0: remembered
	int64_t issued_ms;
	uint64_t request;
	uint32_t client; // CLIENT_NONE when none
	uint32_t position;
	uint32_t nodes_feasible;
	uint8_t count;
	struct placed_item items[];
};

// --- Node classes --------------------------------------------------------------------------------

struct class_entry {
	struct node_class node_class;
	struct class_entry *next; // of its bucket
	struct rcu_head rcu;
	uint32_t bytes;
};

struct class_table {
	struct class_entry **by_id; // NULL: a hole
	uint32_t limit, capacity;
	uint32_t *free_ids;
	uint32_t free_count;
	struct class_entry **buckets;
	uint32_t bucket_count, count;
	uint64_t next_serial;
	uint64_t bytes;
};

// --- Changes that wait for publication -----------------------------------------------------------

enum change_kind {
	CHANGE_NODE,
	CHANGE_JOB,
	CHANGE_ALLOCATION,
	CHANGE_EVALUATION,
	CHANGE_CONFIG,
	CHANGE_REPORT,
	CHANGE_DEPLOYMENT,
	CHANGE_VM,
	CHANGE_VM_WORKER,
	CHANGE_CLUSTER_SETTINGS
};

struct change {
	enum change_kind kind;
	void *cell;
	struct record *record;
};

struct change_list {
	struct change *items;
	uint32_t count, capacity;
};

void change_add(struct change_list *, enum change_kind, void *cell, struct record *);

// Things that are deleted for readers but stay in the tables until no snapshot can need them.
enum grave_kind {
	GRAVE_ALLOCATION,
	GRAVE_JOB,
	GRAVE_VERSION,
	GRAVE_REQUEST,
	GRAVE_EVALUATION,
	GRAVE_DEPLOYMENT,
	GRAVE_VM,
	GRAVE_VM_WORKER
};

struct grave {
	enum grave_kind kind;
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

// Buckets of a hash table at first, and never less.
#define TABLE_BUCKETS_MIN 1024u

#define STATE_HASHES 10u

struct table_room {
	struct cds_lfht *table;
	_Atomic uint64_t wanted;  // buckets; by the applier
	_Atomic uint64_t buckets; // given, by who widens
};

// What the check of plans keeps from plan to plan. It is made where plans are checked, above the tables.
struct plan_memory {
	struct plan_checker *checker; // NULL: no plan was checked yet
	void (*free)(struct plan_checker *);
};

struct state {
	struct state_limits limits;
	uint32_t slots_max;
	struct node_table *node_table;
	struct node_cell *cells; // by slot
	struct cds_lfht *nodes, *jobs, *allocations, *requests, *evaluations, *deployments;
	struct table_room rooms[STATE_HASHES]; // in this order
	struct sequence job_order, version_order, allocation_order, request_order, eval_order,
		deployment_order;
	struct vm_tables vms;
	struct config_cell {
		struct scheduler_config *published; // RCU
		struct scheduler_config *working;   // applier
	} config;

	struct client **clients; // by number; entries below client_count are never changed
	_Atomic uint32_t client_count;
	struct client **client_buckets;

	struct class_table classes;      // applier, like the rest down to the next mark
	struct strings strings;          // of nodes
	struct node_groups *node_groups; // of those that are not forgotten, by slot
	// alloc_cell.terminal, oldest change first: of allocations that clients and schedulers placed
	struct cds_list_head terminal, planned_terminal;
	struct cds_list_head stopped; // job_cell.stopped, oldest stop first
	struct cds_list_head marked;  // job_cell.marked, oldest mark first
	struct cds_list_head system;  // job_cell.system
	struct cds_list_head orphans; // job_cell.sibling, of jobs whose parent is not there
	struct eval_cell *counting;   // whose allocation was counted last; NULL: none
	int64_t time_ns;              // at which the entry was decided that is being applied
	struct state_observer *observers;
	uint32_t block_count;        // blocks of slots that have an owner
	uint16_t *block_used;        // slots handed out of each
	struct slot_list free_slots; // of purged nodes, the oldest first; node_slots.h
	uint64_t index;              // of the newest applied entry
	uint64_t
		unpublished_from; // records of this index and above are not in anybody else's hands
	uint64_t term;
	int64_t forgotten_ms;    // newest issue time of a request that was forgotten
	uint64_t oldest_request; // no request of an index below this is remembered
	struct state_counts counts;
	uint64_t bytes_records; // of node records
	struct plan_memory *plan_memory;
	uint32_t allocations_coming;   // with a plan that waits for buckets
	struct change_list *changes;   // of the batch that is being decided
	const struct placer *placer;   // NULL during recovery
	struct state_change *observed; // scratch
	uint32_t observed_capacity;
	struct grave *graves;
	uint32_t grave_count, grave_capacity;

	// Published, relaxed or release; any thread reads.
	_Atomic uint64_t published_index;
	_Atomic uint64_t table_index[STATE_TABLES]; // newest change of each, since the start
	_Atomic uint32_t snapshots;                 // being read
	pthread_mutex_t summary_lock;
	struct summary published; // under the lock, where published_index is written too

	struct watch *watch;
};

// --- The tables' own functions, applier thread only ----------------------------------------------

// Applier: notes which hash tables need more buckets. True when tables_widen has something to do.
bool tables_want(struct state *);
// Applier: whether so many allocations more would crowd their table; the next tables_want() counts
// them in.
bool tables_lack(struct state *, uint32_t allocations);
// One thread at a time, registered with RCU and outside a read section. The applier may go on.
void tables_widen(struct state *);
// A thread that does it when kicked.
struct widener;
int widener_start(struct state *, struct widener **);
void widener_kick(struct widener *);
void widener_finish(struct widener *); // waits until it has nothing to do; outside a read section
void widener_stop(struct widener *);
// Whether the calling thread is in a read section.
bool state_is_reading(void);

void classes_init(struct class_table *);
void classes_destroy(struct class_table *);
// Finds or builds the class of a description (pairs sorted); a reference to be given back.
struct node_class *class_take(struct state *, const struct node_registration *);
struct node_class *class_share(struct node_class *); // one more reference
void class_release(struct state *, struct node_class *);

// What happened to a node, oldest first; the oldest makes room. And its drains, which are those of a record or of
// whoever changes them.
struct node_history {
	uint32_t count;
	struct node_event events[NODE_EVENTS_MAX];
	const struct drain_strategy *drain; // NULL: none
	const struct last_drain *last_drain;
};
struct node_history node_history_of(const struct node *); // of NULL: empty
void node_history_add(struct node_history *, enum node_message, int64_t time_ns, uint64_t index);
// A copy of it behind a record's struct, where there are so many bytes for it.
size_t node_history_bytes(const struct node_history *);
void node_history_place(struct node *, const struct node_history *);
// A node record built from a description; the caller fills the rest of it.
struct node *node_build(struct state *, const struct node_registration *, struct node_class *,
	const struct node_history *);
// A copy that may be changed until it is published.
struct node *node_revise(struct state *, struct node_cell *, uint64_t index);
// The same with another history, and with one more event.
struct node *node_revise_with_history(
	struct state *, struct node_cell *, uint64_t index, const struct node_history *);
struct node *node_revise_with_event(
	struct state *, struct node_cell *, uint64_t index, enum node_message, int64_t time_ns);
// Takes back what the record counted, then frees it after a grace period.
void node_retire(struct state *, struct node *);

void clients_init(struct state *);
void clients_destroy(struct state *);
struct client *client_find(const struct state *, struct text name);
struct client *client_add(struct state *, struct text name, uint64_t index);

struct job_cell *job_cell_find(const struct state *, struct text namespace_name, struct text id);
struct job_cell *job_cell_find_or_add(
	struct state *, struct text namespace_name, struct text id, uint64_t index);
// A copy of what is kept that may be changed until it is published.
struct job_keep *job_keep_revise(struct state *, struct job_cell *, uint64_t index);
void job_keep_retire(struct state *, struct job_keep *);
void job_keep_free(struct job_keep *); // that nobody sees; its versions are let go of before
// One of the kept versions is called stable, or is not any more.
void job_keep_set_stable(struct state *, struct job_cell *, uint64_t version, bool stable);
// The newest stable version, NULL: none is.
struct job *job_keep_newest_stable(const struct job_keep *);
// A kept version by its number, or NULL.
struct job *job_keep_version(const struct job_keep *, uint64_t version);
// NULL when the job is not there (any more).
static inline struct job_keep *job_cell_keep(const struct job_cell *cell)
{
	return cell->working && !cell->working->record.deleted ? cell->working : NULL;
}
struct job *job_version_find(const struct state *, uint64_t modify_index);
// The same, when its job is there and keeps it. Others may be known still, or not any more: how long
// depends on who reads.
struct job *job_version_kept(const struct state *, uint64_t modify_index, struct job_cell **);
void job_version_release(struct state *, struct job *);
// A keep of these versions with counters at 0, not yet in any cell.
struct job_keep *job_keep_build(struct job *const *versions, uint32_t version_count);
// Leaves a tombstone; its allocations, if there are any left, keep the cell in its place.
void job_cell_delete(struct state *, struct job_cell *, uint64_t index);
void job_cell_list_stopped(struct state *, struct job_cell *, bool stopped);
void job_cell_list_marked(struct state *, struct job_cell *, bool marked);
void job_cell_list_system(struct state *, struct job_cell *, bool wanted);
// The counter of a group's name, or NULL.
struct group_counter *job_keep_counter(struct job_keep *, struct text group);
struct text job_keep_counter_name(const struct job_keep *, uint32_t counter);
static inline const char *job_keep_characters(const struct job_keep *keep)
{
	return (const char *)&keep->counters[keep->counter_count];
}
// Takes the job over as newest version. Drops the oldest beyond the
// limit, and the counters of groups that no kept version has.
void job_keep_push(struct state *, struct job_cell *, struct job *, uint64_t index);
int job_status_of(const struct job_cell *, const struct job_keep *); // enum job_status
void job_cell_update_status(struct state *, struct job_cell *, uint64_t index);
// Nothing refers to a deleted job any more: it may be buried.
static inline bool job_cell_is_idle(const struct job_cell *cell)
{
	return cell->allocation_count == 0 && cell->evaluation_count == 0 &&
	       cell->deployment_count == 0 && !cell->is_marked;
}
// A place for allocations and evaluations of a job that is not there: deleted from the beginning.
struct job_cell *job_cell_find_or_add_deleted(
	struct state *, struct text namespace_name, struct text id, uint64_t index);

// What has ended goes two ways: the client's by COLLECT, the scheduler's by GC.
static inline struct cds_list_head *ended_list(struct state *state, const struct allocation *a)
{
	return uuid_is_zero(&a->eval_id) ? &state->terminal : &state->planned_terminal;
}

struct eval_cell *eval_cell_find(const struct state *, const struct uuid *);
// A new evaluation, or a new version of a known one; takes it over, with its indexes set.
struct eval_cell *eval_cell_put(struct state *, struct job_cell *, struct evaluation *);
struct eval_cell *eval_cell_load(struct state *, struct job_cell *, struct evaluation *);
// A version that may be changed until it is published; after the change eval_cell_changed().
struct evaluation *eval_cell_revise(struct state *, struct eval_cell *, uint64_t index);
// status_before: what it was. Keeps the counts and lists that hang on it.
void eval_cell_changed(struct state *, struct eval_cell *, int status_before);
void eval_cell_delete(struct state *, struct eval_cell *, uint64_t index);
// An allocation came, changed or went: its evaluation counts it.
void eval_follow_allocation(struct state *, struct alloc_cell *);
static inline bool eval_cell_is_there(const struct eval_cell *cell)
{
	return !cell->working->record.deleted;
}

struct deployment_cell *deployment_cell_find(const struct state *, const struct uuid *);
// The same, of one that is there and not at its end.
struct deployment_cell *deployment_cell_find_active(const struct state *, const struct uuid *);
// The cell of the very job that the deployment was made for, not of a later one of the same name; or NULL.
struct job_cell *deployment_job_cell(const struct state *, const struct deployment *);
// Whether an allocation of the job belongs to the deployment. An id is given once: nothing belongs to a
// deployment before it begins, or before its groups are known.
bool job_cell_has_members_of(const struct job_cell *, const struct uuid *deployment);
// A new one; takes it over, with its indexes set. To be published unless it was (of a snapshot).
struct deployment_cell *deployment_cell_put(struct state *, struct job_cell *, struct deployment *);
struct deployment_cell *deployment_cell_load(
	struct state *, struct job_cell *, struct deployment *);
// A version that may be changed until it is published. Its status is changed by the next one alone.
struct deployment *deployment_cell_revise(struct state *, struct deployment_cell *, uint64_t index);
// A version of the job whose deployment is successful is stable from then on.
void deployment_cell_set_status(
	struct state *, struct deployment_cell *, int status, struct text description);
void deployment_cell_delete(struct state *, struct deployment_cell *, uint64_t index);
// An allocation came, changed or went: its deployment counts the living ones.
void deployment_follow_allocation(struct state *, struct alloc_cell *);
// The same: it joined its deployment, or its node said something new of its health. before: its details
// before that; NULL: it is new.
void deployment_count_health(
	struct state *, const struct alloc_cell *, const struct alloc_details *before);
static inline bool deployment_cell_is_there(const struct deployment_cell *cell)
{
	return cell->working && !cell->working->record.deleted;
}
// Whether jobs and deployments count what their allocations say; of a state that was loaded.
bool job_counts_add_up(struct state *);
bool deployments_have_room(const struct state *, uint32_t count);
// What the tables rely on.
bool deployment_is_sound(const struct deployment *);

struct place_request *place_request_find(
	const struct state *, uint32_t client, int64_t issued_ms, uint64_t request);
void place_request_add(struct state *, struct place_request *);
void place_request_forget(struct state *, struct place_request *, uint64_t index);

// The instances that a group of the node's devices has, one bit each.
uint64_t node_instances(const struct node *, uint32_t group);
// They exist, and none of them is taken.
bool node_has_devices(const struct node_cell *, const struct device_set *);
// The slot is in use from now on. owner counts when it is the first of its block.
void node_slot_reserve(struct state *, uint32_t slot, uint16_t owner);
// The slot's cell, made ready for a node. owner counts when the slot is the first of its
// block.
struct node_cell *node_cell_open(
	struct state *, uint32_t slot, uint16_t owner, const struct uuid *id);
struct node_cell *node_cell_find(const struct state *, const struct uuid *);
void state_count_node(struct state *, const struct node *, int change);
struct summary state_summary_now(const struct state *); // of the working state
// Placement is told that a node's record or use changed.
void state_node_changed(struct state *, uint32_t slot);

struct watch *watch_create(void);
void watch_destroy(struct watch *);
void watch_wake(struct watch *);
