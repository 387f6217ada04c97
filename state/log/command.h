// A request to change the state (or to read it in order with changes). Commands are what other
// threads hand to the applier; the applier decides each one into zero or more log entries
// (state/log/entry.h), which hold everything that was decided (time, ids, chosen nodes) and are what is
// stored and replayed.
//
// Ownership: the submitter owns a command until `done` is called, on the applier thread, once its
// outcome is durable (or it was refused). `done` must be quick and must not block; after it the
// applier does not touch the command again.
#pragma once
#include "state/base/limits.h"
#include "state/base/schema.h"
#include "state/base/text.h"
#include "state/base/uuid.h"
#include "state/records/nodes/node_description.h"
#include "state/records/resources.h"
#include <stdbool.h>
#include <stdint.h>

enum command_type {
	COMMAND_NODE_REGISTER,
	COMMAND_NODE_EXPIRED,  // silent past its time to live
	COMMAND_NODE_RETURNED, // a valid heartbeat of a node that was down
	COMMAND_NODE_GOODBYE,
	COMMAND_PLACE,
	COMMAND_RELEASE,
	COMMAND_STATUS, // of a client's allocations; changes nothing
	COMMAND_JOB_REGISTER,
	COMMAND_JOB_DEREGISTER,
	// Drop terminal allocations, stopped jobs and remembered requests that are past their time.
	COMMAND_COLLECT,
	COMMAND_EVALUATIONS,  // store evaluations: new ones and new versions of known ones
	COMMAND_PLAN,         // what a scheduler proposes
	COMMAND_ALLOC_UPDATE, // a node tells what became of its allocations
	COMMAND_ALLOC_STOP,   // flag an allocation to be stopped and replaced, with its evaluation
	COMMAND_NODE_ELIGIBILITY, // an operator's word on whether a node takes new work
	COMMAND_NODE_EVALUATE,    // evaluations for everything that a node concerns
	COMMAND_NODE_PURGE,       // forget a node
	COMMAND_JOB_EVALUATE,     // an evaluation for a job
	COMMAND_SCHEDULER_CONFIG,
	COMMAND_GC, // forget evaluations, allocations, jobs and nodes that are past their time
	COMMAND_DEPLOYMENT,        // what an operator, a peer or the watcher wants of a deployment
	COMMAND_ALLOC_TRANSITIONS, // flag many allocations, with an evaluation for each job
	COMMAND_NODE_DRAIN,
	COMMAND_JOB_REVERT,
	COMMAND_JOB_STABLE,
	COMMAND_JOB_SCALE,
	COMMAND_JOB_CHILD,     // a child of a periodic or parameterized job
	COMMAND_NODE_STANDING, // a node's standing beside its status: offlined, ready, lost, flaky
	COMMAND_VM_CREATE,
	COMMAND_VM_POWER,
	COMMAND_VM_DELETE,
	COMMAND_VM_TELL,
	COMMAND_VM_REPORT, // over HTTP; reports of nodes come as ALLOC_UPDATE
	COMMAND_VM_HEALTH, // a health pass over some machines
	COMMAND_VM_ASSIGN, // what a scheduling pass proposes
	COMMAND_VM_WORKER, // a worker that is kept by hand: registered or seen again
	COMMAND_VM_WORKER_PAUSE,
	COMMAND_VM_WORKER_DELETE,
	COMMAND_CLUSTER_SETTINGS,
	COMMAND_NODE_POOL, // describe a pool anew, or as it is from now on
	COMMAND_NODE_POOL_DELETE,
	COMMAND_NODE_METADATA,      // set or take away metadata of a node, over what the node says
	COMMAND_EVALUATIONS_DELETE, // an operator's, while the broker is paused
	COMMAND_ACL_POLICY,         // describe a policy anew, or as it is from now on
	COMMAND_ACL_POLICY_DELETE,
	COMMAND_ACL_ROLE, // a new one, or the next version of one that is there
	COMMAND_ACL_ROLE_DELETE,
	COMMAND_ACL_TOKEN, // as roles
	COMMAND_ACL_TOKEN_DELETE,
	COMMAND_ACL_BOOTSTRAP, // the first token
	COMMAND_NAMESPACE,     // describe a namespace anew, or as it is from now on
	COMMAND_NAMESPACE_DELETE,
	COMMAND_SENDER,     // revoke a node or a client, take it back, or give it another key
	COMMAND_ADMIT_RULE, // what nodes may claim: a new rule, or as it is from now on
	COMMAND_ADMIT_RULE_DELETE,
	COMMAND_VARIABLE, // a new one, or all that one holds from now on
	COMMAND_VARIABLE_DELETE,
	COMMAND_QUOTA, // describe a quota anew, or as it is from now on
	COMMAND_QUOTA_DELETE,
	COMMAND_QUARANTINE_CLEAR, // of a node that has a clone
	COMMAND_TYPES,
};

// Why a command was refused. Counted by the applier, one counter per type and outcome.
enum command_outcome {
	OUTCOME_DONE,
	OUTCOME_STALE_GENERATION,
	OUTCOME_STALE_REGISTRATION,
	OUTCOME_BAD_DESCRIPTION,
	OUTCOME_PART_STORED, // a part of a registration; no reply
	OUTCOME_UNKNOWN_NODE,
	OUTCOME_UNKNOWN_JOB,
	OUTCOME_UNKNOWN_GROUP,
	OUTCOME_NOT_DIRECT,
	OUTCOME_JOB_STOPPED,
	OUTCOME_NO_NODE,
	OUTCOME_TOO_OLD,
	OUTCOME_CONFLICT, // JOB_REGISTER: enforce_index does not match; EVALUATIONS: known already
	OUTCOME_UNKNOWN_ALLOCATION,
	OUTCOME_NODE_NOT_ALLOWED, // ALLOC_UPDATE of a node that is down or disconnected
	OUTCOME_DRAINING,         // NODE_ELIGIBILITY: not while it drains
	OUTCOME_REJECTED,         // JOB_REGISTER: the scheduler configuration refuses new jobs
	OUTCOME_UNKNOWN_DEPLOYMENT,
	OUTCOME_UNKNOWN_VERSION, // JOB_REVERT, JOB_STABLE
	OUTCOME_TERMINAL,        // DEPLOYMENT: it is at its end
	OUTCOME_NOT_NOW, // DEPLOYMENT: not in its status; message says why. JOB_SCALE: an active deployment
	OUTCOME_UNKNOWN_VM,
	OUTCOME_UNKNOWN_WORKER,
	OUTCOME_UNKNOWN_POOL,
	OUTCOME_UNKNOWN_POLICY,
	OUTCOME_UNKNOWN_ROLE,
	OUTCOME_UNKNOWN_TOKEN,
	OUTCOME_UNKNOWN_VARIABLE,
	OUTCOME_TABLE_FULL,
	OUTCOME_STORE_FULL,
	OUTCOME_STOPPING,
	OUTCOME_UNKNOWN_NAMESPACE,
	OUTCOME_UNKNOWN_QUOTA,
	OUTCOME_CLIENT_NOT_ALLOWED, // PLACE: the job names other clients
	OUTCOME_REVOKED,            // its sender
	OUTCOME_NOT_ADMITTED,       // NODE_REGISTER: beyond its rule, or no rule names it
	OUTCOME_UNKNOWN_SENDER,
	OUTCOME_UNKNOWN_RULE,
	OUTCOME_QUOTA_EXHAUSTED,
	OUTCOME_QUARANTINED, // NODE_REGISTER: another agent has the node, and this one is its clone
	OUTCOME_UNKNOWN_QUARANTINE,
	OUTCOME_LOG_AWAY, // the log lies elsewhere and does not answer: nothing is decided meanwhile
	COMMAND_OUTCOMES,
};
struct command_outcome_row {
	const char *name; // "done", "stale-generation", …
	const char *text; // what the requester is told
};
extern const struct command_outcome_row command_outcomes[];

struct command_node { // EXPIRED, RETURNED, GOODBYE
	uint32_t slot, generation;
	// EXPIRED, from a sender that watches no heartbeats: a node that is not disconnected (any more) stays as it is.
	bool if_disconnected;
	uint32_t silent_ms; // EXPIRED: the node was not heard for at least so long
};

struct place_refusal { // see placer.h
	uint32_t nodes_seen, nodes_not_ready;
	uint32_t filtered_datacenter, filtered_class, filtered_device; // class: node class or pool
	uint32_t exhausted_cpu, exhausted_memory, exhausted_disk, exhausted_device;
	uint32_t constraint_count;
	uint32_t filtered_constraint[JOB_CONSTRAINTS_MAX]; // job's, then group's, then each task's
};

struct placed_item {
	struct uuid allocation, node;
	uint32_t node_slot;
	double score;
};

struct command_place {
	struct text client;
	int64_t issued_ms;
	uint64_t request;
	uint8_t count;
	struct text namespace_name, job, group;
	// result: fewer than count when the fleet ran out; then refusal tells why for the next one
	uint8_t placed;
	uint8_t requested; // by the first that came under this name
	uint32_t nodes_feasible;
	struct placed_item items[PLACE_COUNT_MAX];
	struct place_refusal refusal;
};

enum release_result { RELEASE_DONE, RELEASE_ALREADY, RELEASE_UNKNOWN };

struct command_release {
	struct text client; // "" with any_client: an operator's release
	bool any_client;
	uint8_t count;
	struct uuid ids[PLACE_COUNT_MAX];
	uint8_t results[PLACE_COUNT_MAX]; // result
};

struct status_item {
	struct uuid allocation;
	uint64_t modify_index;
	uint32_t node_slot;
	uint8_t desired, client_status;
	bool known;
};

struct command_status {
	struct text client;
	bool changes; // else by ids
	uint8_t count;
	uint64_t since;
	struct uuid ids[PLACE_COUNT_MAX];
	// result
	uint8_t found;
	bool more;
	uint64_t index;
	struct status_item items[PLACE_COUNT_MAX];
};

struct job;

// The applier takes evaluations over (sets the pointers to NULL) unless it refuses them. An evaluation whose id is
// known becomes its new version and keeps create_index and create time. When one is refused by itself, those before it
// are stored.
struct evaluation;
struct command_evaluations {
	struct evaluation **items;
	uint32_t count;
	bool create_only; // refuse (CONFLICT) when one of them is known already
};

struct plan;
struct plan_result;
struct command_plan {
	struct plan *plan;          // the submitter's, before and after
	struct plan_result *result; // filled; release with plan_result_release
};

// Client status of allocations, as their node reports it. All of one node. Idempotent: a report whose sequence
// is not above the newest of its node changes nothing and is answered DONE.
struct alloc_report;
struct alloc_update_item {
	struct uuid allocation;
	uint8_t client_status;        // enum alloc_client: pending, running, complete or failed
	struct optional_bool healthy; // verdict on its deployment health
	bool flaky; // with its end: it failed by its node's infrastructure, not by itself (row E25)
	bool unready; // with its end: the node's probe says that it is not ready any more (row E24)
	struct alloc_report *report; // taken over; NULL: as it was
	bool known;                  // result
};
struct command_alloc_update {
	uint32_t slot, generation;
	uint64_t sequence;
	uint32_t count;
	struct alloc_update_item *items;
};

// The outcome of commands that make evaluations: the id of the (first) one and where it was made.
struct eval_made {
	struct uuid id; // zero: none was needed
	uint64_t index;
	uint32_t count;
};
struct command_alloc_stop {
	struct uuid allocation;
	bool no_shutdown_delay;
	struct eval_made made; // result
};
struct command_node_eligibility {
	struct uuid node;
	bool eligible;
	struct eval_made made; // result
};
struct command_node_named { // NODE_EVALUATE, NODE_PURGE, QUARANTINE_CLEAR
	struct uuid node;
	struct eval_made made; // result
};
struct command_job_evaluate {
	struct text namespace_name, id;
	bool force_reschedule;
	struct eval_made made; // result
};
struct scheduler_config;
struct command_scheduler_config {
	struct scheduler_config *config; // the submitter's
	bool cas;
	uint64_t modify_index; // with cas: must match
	bool updated;          // result
};
struct command_gc {
	bool force; // ages do not count
	int64_t evals_before_ns, batch_evals_before_ns, jobs_before_ns, nodes_before_ns;
	int64_t deployments_before_ns, acl_tokens_before_ns;
	uint32_t collected; // result
};

// What the submitter wants of a deployment, checked against its status (docs/spec/states.md).
enum deployment_action {
	DEPLOYMENT_PAUSE,
	DEPLOYMENT_RESUME,
	DEPLOYMENT_FAIL,    // with the description; may revert
	DEPLOYMENT_PROMOTE, // groups; none: all of them
	DEPLOYMENT_UNBLOCK, // blocked → unblocking → successful
	DEPLOYMENT_RUN,     // pending → running
	DEPLOYMENT_CANCEL,
	DEPLOYMENT_SET_HEALTH, // of allocations
	DEPLOYMENT_ACTIONS
};
struct command_deployment {
	struct uuid id;
	enum deployment_action action;
	const char *description; // FAIL, CANCEL: static; a text about a revert is added to it
	// FAIL: registers the newest stable version again, in the same batch, when a group asks for it (auto_revert).
	bool revert;
	const struct text *groups; // PROMOTE
	uint32_t group_count;
	const struct uuid *healthy, *unhealthy; // SET_HEALTH
	uint32_t healthy_count, unhealthy_count;
	// result
	struct eval_made made;
	uint64_t modify_index;                // of the deployment
	struct optional_i64 reverted_version; // now current again under a new number
	char message[256]; // of NOT_NOW, TERMINAL: as clients know it (docs/spec/texts.md)
};
// Adds the flags to the allocations (what is not set stays) and passes over allocations that are not there. Makes one
// evaluation for each job, of this trigger. At most ENTRY_ALLOCS_MAX allocations.
struct desired_transition;
struct command_alloc_transitions {
	const struct uuid *ids;
	uint32_t count;
	const struct desired_transition *transition;
	int trigger;            // enum eval_trigger
	int64_t eval_priority;  // 0: the job's
	struct uuid deployment; // of the evaluations; zero: none
	struct eval_made made;  // result
};
// An operator begins, changes or ends a drain; the drainer ends it.
enum drain_end { DRAIN_GOES_ON, DRAIN_CANCELED, DRAIN_COMPLETE, DRAIN_DEADLINE_REACHED };
struct command_node_drain {
	struct uuid node;
	uint8_t end;         // enum drain_end; DRAIN_GOES_ON: it begins or changes
	int64_t deadline_ns; // how long it may take: 0 for ever, negative: at once
	bool ignore_system_jobs;
	bool mark_eligible; // with DRAIN_CANCELED: the node takes new work again
	uint32_t meta_count;
	const struct node_pair *meta; // names and values alone
	struct eval_made made;        // result; evaluations come from the marks of jobs
};
struct command_job_revert {
	struct text namespace_name, id;
	uint64_t version;
	struct optional_i64 enforce_prior;          // the current version must be this one
	uint64_t current_version, job_modify_index; // result
	struct eval_made made;                      // result
};
struct command_job_stable {
	struct text namespace_name, id;
	uint64_t version;
	bool stable;
	uint64_t job_modify_index; // result
};
struct command_job_scale {
	struct text namespace_name, id, group;
	struct optional_i64 count; // not set: an event is noted and nothing changes
	struct text message;
	bool error;
	struct text meta; // JSON object as text, "": none
	bool enforce_index;
	uint64_t job_modify_index; // with enforce_index; result: after it
	char message_out[160];     // of BAD_DESCRIPTION, NOT_NOW: why
	struct eval_made made;     // result
};
// Periodic: "<id>/periodic-<unix seconds>", launched for that time; dispatch:
// "<id>/dispatch-[<prefix>-]<unix>-<8 hex>".
struct command_job_child {
	struct text namespace_name, parent;
	bool dispatch;
	int64_t launch_ns; // periodic
	bool unless_one_is_alive; // periodic with prohibit_overlap: NOT_NOW while a child lives; the launch is noted
	struct text payload; // dispatch: as it is, not base64
	const struct node_pair *meta;
	uint32_t meta_count;
	struct text idempotency_token; // "": none
	struct text prefix; // dispatch: stands before the time in the child's id; "": none
	// result
	char child_id[STORED_NAME_BYTES_MAX];
	uint64_t child_index;
	struct eval_made made;
	char message[256]; // of BAD_DESCRIPTION: why
};

// Rows E1 to E33.
enum standing_action {
	STANDING_OFFLINE, // by an operator; refused (NOT_NOW, with a message) unless the node is healthy or offlined
	STANDING_ONLINE, // the same
	STANDING_PROBED, // a node's probe answered
	STANDING_SWEEP,  // decides again what is due for these nodes and does it
	STANDING_ACTIONS
};
struct command_node_standing {
	enum standing_action action;
	const struct uuid
		*nodes; // a node that is not there: UNKNOWN_NODE, but a SWEEP passes over it
	uint32_t count; // 1, in a SWEEP at most NODE_SWEEP_MAX
	uint32_t slot, generation; // PROBED: instead of nodes
	// PROBED: grows together with the sequence of ALLOC_UPDATE; a sequence that is not above the newest changes
	// nothing.
	uint64_t sequence;
	bool ready;         // PROBED
	int64_t backoff_ns; // PROBED: not ready and 0: the probe is not asked again
	// result
	uint32_t changed;
	char message[160];
	struct eval_made made;
};

// Virtual machines (state/records/nodes/vm.h). Names are views that must stay valid until done.
struct vm;
struct vm_worker;
struct cluster_settings;
struct command_vm_create {
	struct vm *vm;     // as it was asked for; taken over (set to NULL) unless refused
	char message[160]; // of BAD_DESCRIPTION, CONFLICT
};
struct command_vm_power {
	struct text name;
	int power_state;   // enum vm_power
	char message[160]; // of NOT_NOW
	// What else its user changes; not set, or NULL: as it was. The submitter's.
	struct optional_bool suspendable, net_softnet;
	const char *net_softnet_allow, *net_softnet_block;
};
struct command_vm_tell {
	struct text name;
	struct text
		told; // events of its worker (state/records/nodes/vm_events.h), at most VM_TOLD_MAX
};
struct command_vm_named { // DELETE of a machine or a worker, PAUSE
	struct text name;
	bool paused; // VM_WORKER_PAUSE
};
// A worker's report about one of its machines.
struct command_vm_report {
	struct text name, uid;
	struct optional_i64 status; // enum vm_status
	const char *status_message; // NULL: as it was
	struct array conditions;    // vm_condition: these are set; the submitter's
	struct optional_i64 observed_generation;
};
struct command_vm_health { // names of machines; each is judged as it is by then
	const struct text *names;
	uint32_t count;   // at most VM_ASSIGN_MAX
	uint32_t changed; // result
};
enum vm_assign_result {
	VM_ASSIGNED,
	VM_SKIPPED,        // row D12: to be tried another time
	VM_WORKER_SKIPPED, // row D13: to be tried with another worker
};
struct vm_assign_item {
	struct text vm, uid;
	struct text worker;
	uint64_t worker_modify_index; // of the worker's version that it was chosen by
	uint8_t result;               // enum vm_assign_result
};
struct command_vm_assign {
	struct vm_assign_item *items;
	uint32_t count;    // at most VM_ASSIGN_MAX
	uint32_t assigned; // result
};
struct command_vm_worker {
	struct vm_worker
		*worker; // taken over (set to NULL) unless refused; CONFLICT: another machine id
	bool only_seen;  // the worker is there already: only when it was seen changes
};
struct command_cluster_settings {
	struct cluster_settings *settings; // taken over (set to NULL) unless refused
};

struct node_pool;
struct command_evaluations_delete {
	struct uuid *ids; // the submitter's; sorted by the applier
	uint32_t count;
	bool leaves_others; // leave those that are gone or may not go, instead of a refusal for all
	// result
	uint32_t deleted;
	char message[160]; // of CONFLICT
};

struct command_node_pool {
	struct node_pool *pool; // taken over (set to NULL) unless refused
};
struct command_node_pool_delete {
	struct text name;         // a view that must stay valid until done
	bool has_jobs, has_nodes; // of CONFLICT: who uses the pool
};

struct job_namespace;
struct command_namespace {
	struct job_namespace *described; // taken over (set to NULL) unless refused
};
struct quota;
struct command_quota {
	struct quota *quota; // taken over (set to NULL) unless refused
};
struct command_quota_delete {
	struct text name; // a view that must stay valid until done. CONFLICT: namespaces name it
};
struct command_namespace_delete {
	// A view that must stay valid until done. CONFLICT: jobs are in it; NOT_NOW: variables are.
	struct text name;
};

struct metadata_change;
struct command_node_metadata {
	struct uuid node;
	const struct metadata_change *changes; // the submitter's; each of another name
	uint32_t count;
};

// Access control. What is described is taken over (set to NULL) unless refused.
struct acl_policy;
struct acl_role;
struct acl_token;
struct command_acl_policy {
	struct acl_policy *policy;
};
struct command_acl_policy_delete {
	struct text name; // a view that must stay valid until done
};
struct command_acl_role {
	struct acl_role *role; // an id of zero: a new one. CONFLICT: another one has its name
	// result
	struct uuid id;
	char missing[160]; // of UNKNOWN_POLICY: its name
};
struct command_acl_token { // ACL_TOKEN, ACL_BOOTSTRAP
	// An accessor of zero: a new one, with its times; CONFLICT: another one has its secret. Else the token of that
	// accessor keeps its secret, its times, and whether it is global. CONFLICT also: another account has its name.
	struct acl_token *token;
	uint64_t reset_index; // ACL_BOOTSTRAP: a first token once more, after the one of this index
	// result
	struct uuid accessor;
	uint64_t done_index; // of NOT_NOW: of the first token that there is
};
struct command_acl_delete { // of a role or a token
	struct uuid id;
};

// Senders of the wire (state/records/nodes/sender.h).
enum sender_action {
	SENDER_REVOKE,
	SENDER_RESTORE, // UNKNOWN_SENDER: it is not revoked
	SENDER_REKEY,   // from now on its next key counts, and no earlier one ever again
	SENDER_ACTIONS
};
struct command_sender {
	struct text name; // a view that must stay valid until done, as reason
	struct text reason;
	enum sender_action action;
	// result
	int64_t key_generation;
	bool went_down; // the node
};
struct admit_rule;
struct command_admit_rule {
	struct admit_rule *rule; // taken over (set to NULL) unless refused
};
struct command_admit_rule_delete {
	struct text pattern; // a view that must stay valid until done
};

struct variable;
struct command_variable {
	struct variable
		*variable; // its name and what it holds; taken over (set to NULL) unless refused
	bool cas;
	uint64_t modify_index; // with cas: of the version that is there, 0 if none; else CONFLICT
	// result
	uint64_t create_index;
	int64_t create_time_ns, modify_time_ns;
};
struct command_variable_delete {
	struct text name; // a view that must stay valid until done
	bool cas;
	uint64_t modify_index; // as above
};

struct command_job_register {
	struct job *job; // validated; the applier takes it over (sets it to NULL) unless refused
	bool enforce_index;
	uint64_t job_modify_index;     // with enforce_index: 0 must not exist, else must match
	int64_t eval_priority;         // 0: the job's
	bool preserve_counts;          // of groups that exist already
	uint64_t current_modify_index; // result of CONFLICT
	bool existed;                  // result
	char message[160];             // result of BAD_DESCRIPTION: why, or ""
	struct eval_made made;         // result; none for direct, periodic and parameterized jobs
};

struct command_job_deregister {
	struct text namespace_name, id;
	bool purge;
	// Stops the job in all its regions: the others are told, and a purge is done here after they were.
	bool everywhere;
	// Not 0: when (unix) another region stopped the job. A job that was submitted later, or is stopped (unless this
	// is a purge), is left alone.
	int64_t before_ns;
	int64_t eval_priority; // 0: the job's
	struct eval_made made; // result
};

struct command {
	enum command_type type;
	enum command_outcome outcome;
	uint64_t index; // result: state index at which it took effect
	void (*done)(struct command *);
	void *context;         // the submitter's
	uint64_t submitted_ns; // monotonic; for the latency histogram
	union {
		struct node_registration *node_register; // large: allocated by the submitter
		struct command_node node;
		struct command_place *place;
		struct command_release *release;
		struct command_status *status;
		struct command_job_register job_register;
		struct command_job_deregister job_deregister;
		struct command_evaluations evaluations;
		struct command_plan plan;
		struct command_alloc_update *alloc_update;
		struct command_alloc_stop alloc_stop;
		struct command_node_eligibility node_eligibility;
		struct command_node_named node_named;
		struct command_job_evaluate job_evaluate;
		struct command_scheduler_config scheduler_config;
		struct command_gc gc;
		struct command_deployment *deployment; // the submitter's, as the next ones
		struct command_alloc_transitions *alloc_transitions;
		struct command_node_drain *node_drain;
		struct command_job_revert job_revert;
		struct command_job_stable job_stable;
		struct command_job_scale *job_scale;
		struct command_job_child *job_child;
		struct command_node_standing *standing;
		struct command_vm_create *vm_create;
		struct command_vm_power *vm_power;
		struct command_vm_named vm_named;
		struct command_vm_tell vm_tell;
		struct command_vm_report *vm_report;
		struct command_vm_health vm_health;
		struct command_vm_assign vm_assign;
		struct command_vm_worker vm_worker;
		struct command_cluster_settings cluster_settings;
		struct command_evaluations_delete *evaluations_delete; // the submitter's
		struct command_node_pool node_pool;
		struct command_node_pool_delete node_pool_delete;
		struct command_node_metadata node_metadata;
		struct command_acl_policy acl_policy;
		struct command_acl_policy_delete acl_policy_delete;
		struct command_acl_role *acl_role;   // the submitter's
		struct command_acl_token *acl_token; // the submitter's
		struct command_acl_delete acl_delete;
		struct command_namespace namespace;
		struct command_namespace_delete namespace_delete;
		struct command_sender *sender; // the submitter's
		struct command_admit_rule admit_rule;
		struct command_admit_rule_delete admit_rule_delete;
		struct command_variable *variable; // the submitter's
		struct command_variable_delete variable_delete;
		struct command_quota quota;
		struct command_quota_delete quota_delete;
	};
};
