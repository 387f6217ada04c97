// Everything Berth knows: nodes, jobs, allocations, remembered placement requests. One writer (the
// applier's thread), many readers under RCU (urcu-qsbr).
#pragma once
#include "state/base/text.h"
#include "state/base/uuid.h"
#include "state/records/allocation.h"
#include "state/records/job.h"
#include "state/records/nodes/node.h"
#include "state/records/nodes/node_standing.h"
#include "state/records/state_table.h"
#include "state/tables/node_table.h"
#include <stdbool.h>
#include <stdint.h>
#include <urcu/rculfhash.h>
#include <urcu/rculist.h>

struct state;
struct node_report;

struct state_limits { // each at most the maximum in limits.h
	uint32_t nodes, jobs, allocations, place_requests, clients;
	uint32_t evaluations;                         // 0: the maximum
	uint32_t deployments;                         // the same
	uint32_t vms, vm_workers;                     // the same
	uint32_t node_pools;                          // the same
	uint32_t acl_policies, acl_roles, acl_tokens; // the same
	uint32_t quotas, namespaces;                  // the same
	uint32_t senders, admit_rules, refused_nodes; // the same
	uint32_t variables;                           // the same
};

// What allocations hold of a node until they have ended and, if it is a worker, its virtual machines. An allocation
// that replaces one on its node shares the node with it until the old one has ended, so a node may hold more than it
// has.
struct node_use {
	struct resources used;
	struct resources machines; // the part of used that machines hold
	struct device_set devices;
	uint32_t with_details; // allocations that hold ports, devices or cores by their details
	uint32_t living;       // living allocations; 0: the node is idle
};

// What few slots need: nodes with devices, workers of machines, nodes that are probed, slots that are free. A slot has
// its own once it needed one, for as long as the state is there. Of the applier but for what is published.
struct node_extra {
	struct device_set devices_used;
	// By published records: state_node_use().
	struct device_set published_devices;
	struct resources published_machines;
	// The newest answer of the node's probe, and the registration of the node that gave it; not stored.
	uint64_t probe_sequence, probe_register_index;
	struct node *gone;       // tombstone of a free slot (node_slots.h); else NULL
	_Atomic bool is_resting; // the slot may not be used again yet
};

// What is kept per slot, in two lines of the cache, which are fetched together. `used`, `stopping`, `with_details` and
// `living` are working values, the applier's only; others read what published records use.
struct node_cell {
	struct node *published;    // RCU
	struct node *working;      // applier only
	struct resources used;     // by allocations that have not ended, and machines
	struct resources stopping; // the part of used that is held by allocations that are to stop
	uint32_t with_details, living;
	// By published records: state_node_use().
	struct {
		struct resources used;
		uint32_t with_details, living;
	} published_use;
	// On the list, terminal ones included. Written by the applier, read relaxed by others.
	_Atomic uint32_t allocation_count;
	struct cds_list_head allocations;   // struct alloc_cell.on_node; RCU list
	struct node_report *report;         // RCU; NULL: none yet
	struct node_report *report_working; // applier
	struct cds_lfht_node by_id;         // the id is that of the record
	struct node_extra *extra;           // written once, by the applier; NULL: all of it is zero
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct node_cell) == 128, "a node's cell is two lines of the cache");

struct state *state_create(const struct state_limits *); // NULL when memory is short
void state_destroy(struct state *);                      // when no reader and no applier is left

// For any thread; the first use registers it with RCU. Pointers stay valid between begin and end; do not block there,
// do not nest. A thread outside of them is offline and delays nobody.
void state_read_begin(void);
void state_read_end(void);

// Instead of begin and end, for threads that read all the time (dataplane workers): the thread stays online, calls
// quiescent once per burst while it holds no pointer, and is offline around naps.
void state_reader_online(void);
void state_reader_quiescent(void);
void state_reader_offline(void);

uint64_t state_index(const struct state *); // newest published index
// Waits until state_index() > index, at most timeout_ms. Not inside a read section. Returns the
// index.
uint64_t state_wait(struct state *, uint64_t index, uint32_t timeout_ms);
// An eventfd that becomes readable after publications (coalesced), for event loops. Caller closes.
int state_watch_fd(struct state *);
void state_unwatch_fd(struct state *, int fd);

// The index of the newest published change of any record of a table since the process started, for callers that wait
// for changes of a list; 0 when there was none. Nobody is told of changes of reports, job versions and placement
// requests.
uint64_t state_table_index(const struct state *, enum state_table);
// The same for one job (its status included), and for its allocations, evaluations and deployments since the process
// started. 0 when there is no such job, or no such change. Under read lock.
uint64_t state_job_index(const struct state *, struct text namespace_name, struct text id);
uint64_t state_job_index_of(
	const struct state *, enum state_table, struct text namespace_name, struct text id);

struct node_table *state_node_table(struct state *); // the packet path's arrays
uint32_t state_node_slots(const struct state *);     // slots 0 … n-1 may hold nodes
// Published record or NULL. Under read lock.
const struct node *state_node_at(const struct state *, uint32_t slot);
// The index at which a node of this state last reported about its allocations; 0: never.
uint64_t state_node_report_index(const struct state *, const struct node *);
// Prefetches the next nodes, in a scan in the order of slots. Records lie anywhere in memory, so a scan of a large
// fleet waits for little else. Under read lock.
void state_node_prefetch(const struct state *, uint32_t slot);
// Fetches, of a node looked at in no order, the cell; some steps later, with is_near, the record.
void state_node_prefetch_one(const struct state *, uint32_t slot, bool is_near);
const struct node *state_node_by_id(const struct state *, const struct uuid *);
// Fetches what state_node_by_id() and a look at the record will read, and does not wait for the record: a walk in
// another order calls it for the next nodes first. Under read lock.
void state_node_prefetch_id(const struct state *, const struct uuid *);
const struct job *state_job(const struct state *, struct text namespace_name, struct text id);
// Whether all instances that the job asks for of the fleet as it is could be known at once (limits.allocations); if
// not, says why. Any thread.
bool state_can_hold(const struct state *, const struct job *, char *why, size_t size);
const struct job *state_job_version(
	const struct state *, struct text namespace_name, struct text id, uint64_t version);
const struct allocation *state_allocation(const struct state *, const struct uuid *);
// Walks a table but that of nodes in creation order from *cursor (start with 0; cursors only grow). NULL at the end. A
// cursor stays valid between read sections; what comes or goes meanwhile may or may not be seen. Under read lock.
const void *state_next(const struct state *, enum state_table, uint64_t *cursor);
// The record of an id, of a table that has ids. Under read lock.
const void *state_record(const struct state *, enum state_table, const struct uuid *id);
// The greatest such cursor of a record that is less than `cursor`, for walks back; 0: there is none. Its record may not
// be published.
uint64_t state_key_before(const struct state *, enum state_table, uint64_t cursor);
// The cursor of a published allocation, evaluation or deployment; 0: there is none.
uint64_t state_key_of(const struct state *, enum state_table, const struct uuid *);
// Calls back for each published allocation of a node or job, under read lock; stops on false.
typedef bool state_allocation_visit(const struct allocation *, void *context);
void state_node_allocations(
	const struct state *, uint32_t slot, state_allocation_visit *, void *context);
void state_job_allocations(const struct state *, struct text namespace_name, struct text id,
	state_allocation_visit *, void *context);
const char *state_client_name(const struct state *, uint32_t client);

// Evaluations, as jobs and allocations above. Under read lock.
struct evaluation;
struct scheduler_config;
const struct evaluation *state_evaluation(const struct state *, const struct uuid *);
typedef bool state_evaluation_visit(const struct evaluation *, void *context);
void state_job_evaluations(const struct state *, struct text namespace_name, struct text id,
	state_evaluation_visit *, void *context);
// Deployments, as evaluations above; those of a job newest first. The latest is the one with the greatest create
// index; NULL: the job has none.
struct deployment;
const struct deployment *state_deployment(const struct state *, const struct uuid *);
typedef bool state_deployment_visit(const struct deployment *, void *context);
void state_job_deployments(const struct state *, struct text namespace_name, struct text id,
	state_deployment_visit *, void *context);
const struct deployment *state_latest_deployment(
	const struct state *, struct text namespace_name, struct text id);
// What is remembered of a job beside its versions; NULL: nothing yet.
const struct job_notes *state_job_notes(
	const struct state *, struct text namespace_name, struct text id);
// Jobs that a periodic or parameterized job made, by their status.
struct job_children {
	int64_t pending, running, dead;
};
struct job_children state_job_children(
	const struct state *, struct text namespace_name, struct text id);
// Never NULL.
const struct scheduler_config *state_scheduler_config(const struct state *);
// Virtual machines and their workers, as evaluations above. Settings are never NULL.
struct vm;
struct vm_worker;
struct cluster_settings;
const struct vm *state_vm(const struct state *, struct text name);
const struct vm *state_vm_by_instance(const struct state *, const struct uuid *);
const struct vm_worker *state_vm_worker(const struct state *, struct text name);
const struct vm_worker *state_vm_worker_of_node(const struct state *, const struct uuid *node);
// Visits the machines that are scheduled on the worker and have an instance there; stops on false. index (may be NULL):
// the newest change of one of them, or of the set.
typedef bool state_vm_visit(const struct vm *, void *context);
void state_worker_vms(
	const struct state *, struct text worker, uint64_t *index, state_vm_visit *, void *context);
const struct cluster_settings *state_cluster_settings(const struct state *);
// Pools that operators described; NULL: the pool is a name and nothing else.
struct node_pool;
const struct node_pool *state_node_pool(const struct state *, struct text name);
// Namespaces that operators described; NULL: there is none of the name, or it is "default" without a description.
struct job_namespace;
const struct job_namespace *state_namespace(const struct state *, struct text name);
bool state_has_namespace(const struct state *, struct text name); // "default" is always there
// Quotas; and what the living allocations of their namespaces use, which may be of a little later than what is
// published. Free the amount.
struct quota;
struct quota_amount;
const struct quota *state_quota(const struct state *, struct text name);
void state_quota_used(const struct state *, struct text name, struct quota_amount *used);
// The name of the quota that has no room for a change in a namespace, with a text (char *, to be freed) for each
// dimension. change NULL: of the quota that limits the namespace, whatever it has. NULL: none.
const char *state_quota_lacks(const struct state *, struct text namespace_name,
	const struct quota_amount *change, struct array *texts);
// Access control: by their names and ids, and a token by what its secret hashes to. An expired token is there until it
// is collected.
struct acl_policy;
struct acl_role;
struct acl_secret_hash;
struct acl_token;
struct acl_bootstrap;
const struct acl_policy *state_acl_policy(const struct state *, struct text name);
const struct acl_role *state_acl_role(const struct state *, const struct uuid *id);
const struct acl_role *state_acl_role_by_name(const struct state *, struct text name);
const struct acl_token *state_acl_token(const struct state *, const struct uuid *accessor);
// Looks at all tokens (acl_token_is_account).
const struct acl_token *state_acl_account(const struct state *, struct text name);
const struct acl_token *state_acl_token_by_secret(
	const struct state *, const struct acl_secret_hash *);
// Never NULL.
const struct acl_bootstrap *state_acl_bootstrap(const struct state *);
// Whether there ever was a first token.
bool state_acl_is_bootstrapped(const struct state *);
// What operators said of a sender of the wire (records/nodes/sender.h); NULL: nothing.
struct sender;
const struct sender *state_sender(const struct state *, struct text name);
// A variable by its name (state/records/variable.h). Its items are encrypted.
struct variable;
const struct variable *state_variable(const struct state *, struct text name);
// What an operator set of a node's metadata; NULL: nothing. It is published beside the node's record: one of both may
// be a change older than the other.
struct node_metadata;
const struct node_metadata *state_node_metadata(const struct state *, const struct uuid *node);
// What published allocations and machines hold of a node (display, schedulers). Each number is of one moment, all
// together need not be.
struct node_use state_node_use(const struct state *, uint32_t slot);
// Which nodes' records or use changed, or the version of a job that holds some of it, in the order of publication, for
// a reader that keeps something of each: begin with the head, look at all nodes, then read on. What is read of a node
// after its entry is at least as new as that.
// Fills in at most `wanted` slots, each maybe more than once, and moves *seen on. Returns how many, 0 at the end, or
// NODE_FEED_LOST when the reader is too far behind and has to begin again. Any thread.
#define NODE_FEED_LOST UINT32_MAX
uint64_t state_node_feed_head(const struct state *);
uint32_t state_node_feed_read(
	const struct state *, uint64_t *seen, uint32_t *slots, uint32_t wanted);
// Allocations of a node, ended ones included (display).
uint32_t state_node_allocation_count(const struct state *, uint32_t slot);
// Allocations of a job's group by client status, and what its evaluations left waiting (job summary). Under
// read lock. False when there is no such job.
struct task_group_summary {
	const char *group;
	int64_t queued, complete, failed, running, starting, lost, unknown;
};
bool state_job_summary(const struct state *, struct text namespace_name, struct text id,
	struct task_group_summary *groups, uint32_t *count); // count: in room, out used

// Called on the applier's thread after each publication, except during recovery. `before` is NULL for a new record;
// `after` has record.deleted set for a deleted one. Both are valid during the call only. The callee must be quick and
// must not wait for anything that waits for the applier.
struct state_change {
	enum state_table table;
	const struct record *before,
		*after; // struct node, job (newest version), allocation, evaluation, scheduler_config, deployment, vm …
	bool shown_anew; // before and after are one record, of which something that is kept beside it changed
};
struct state_observer {
	void (*changed)(
		void *context, const struct state_change *changes, uint32_t count, uint64_t index);
	void *context;
	struct state_observer *next; // of the state
};
// Before the applier starts, or on its thread. The observer is the caller's and must outlive the applier.
void state_observe(struct state *, struct state_observer *);

struct state_counts {
	uint32_t nodes[NODE_STATUSES]; // by status
	uint32_t nodes_ineligible;
	uint32_t jobs, allocations, allocations_terminal, place_requests, clients, node_classes;
	uint32_t evaluations, evaluations_pending, evaluations_blocked;
	uint32_t deployments, deployments_active, nodes_draining;
	uint32_t jobs_by_status[JOB_DEAD + 1];   // by enum job_status
	uint32_t jobs_marked;                    // jobs for which an evaluation is to be made
	uint32_t nodes_standing[NODE_STANDINGS]; // by enum node_standing
	uint32_t nodes_lost, nodes_flaky, nodes_unready; // of the suspended nodes
	uint32_t nodes_running;                          // nodes that something runs on (row E28)
	uint32_t vms[3], vm_workers;                     // by enum vm_status
	uint32_t variables;
	uint64_t bytes_nodes; // memory of cells, records, classes and strings of nodes
};
void state_counts(const struct state *, struct state_counts *);

struct node_cell *state_node_cell(struct state *, uint32_t slot);
// Node classes by dense id; NULL for a hole. Valid until the applier's next command.
struct node_class *state_class(struct state *, uint32_t id);

// Checks every invariant: use sums, no over-commitment, unique slots, list membership, index order. No applier may run.
// Reports each violation and returns their number.
typedef void state_violation(const char *text, void *context);
uint32_t state_verify(struct state *, state_violation *, void *context);
