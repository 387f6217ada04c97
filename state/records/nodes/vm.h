// Virtual machines, the workers that run them, and the settings of their placement (rows D1 to D29). Fields have
// Orchard's names (docs/spec/vms.md); described in vm.c. A worker is a node whose agent said so at its registration, or
// one that is kept by hand over HTTP.
#pragma once
#include "state/base/schema.h"
#include "state/base/text.h"
#include "state/base/time_units.h"
#include "state/base/uuid.h"
#include "state/records/record.h"
#include "state/records/resources.h"

enum vm_status { VM_PENDING, VM_RUNNING, VM_FAILED };
enum vm_power { VM_POWER_RUNNING, VM_POWER_STOPPED, VM_POWER_SUSPENDED };
enum vm_restart { VM_RESTART_NEVER, VM_RESTART_ON_FAILURE };
enum vm_condition_type {
	VM_CONDITION_SCHEDULED,
	VM_CONDITION_RUNNING,
	VM_CONDITION_CLONING,
	VM_CONDITION_SUSPENDING,
	VM_CONDITION_STOPPING
};
extern const char *const vm_status_names[];         // "pending" "running" "failed" NULL
extern const char *const vm_power_names[];          // "running" "stopped" "suspended" NULL
extern const char *const vm_restart_names[];        // "Never" "OnFailure" NULL
extern const char *const vm_condition_type_names[]; // "scheduled" …
extern const char
	*const vm_condition_state_names[]; // "false" "true" NULL: the state is a bool as a number

#define VM_RESOURCE_TART "org.cirruslabs.tart-vms"
// Resources of these names are memory and cores of the worker's node, if that is known: virtual machines and
// allocations share them, so neither gets what the other holds.
#define VM_RESOURCE_CORES "org.cirruslabs.logical-cores"
#define VM_RESOURCE_MEMORY "org.cirruslabs.memory-mib"

#define VM_PROFILE_OPTIMIZE "optimize-utilization" // also what no profile, or an unknown one, means
#define VM_PROFILE_DISTRIBUTE "distribute-load"

#define VM_DEFAULT_CPU 4u
#define VM_DEFAULT_MEMORY_MIB 8192u
#define VM_OFFLINE_AFTER_NS (3 * NS_PER_MIN)
#define VM_RESTART_DELAY_NS (15 * NS_PER_S)
#define VM_EVENTS_MAX 32u // of its life kept with each, oldest dropped
// What workers tell of a machine, such as the lines that its script writes: kept with each, oldest dropped.
#define VM_TOLD_MAX 256u
#define VM_TOLD_BYTES_MAX (32u * 1024)
#define VM_EVENT_BYTES_MAX 512u // of the text of an event

#define VM_TEXT_WORKER_GONE "VM is assigned to a worker that doesn't exist anymore"
#define VM_TEXT_WORKER_LOST "VM is assigned to a worker that lost connection with the controller"
#define VM_TEXT_RESTARTED "VM restarted"
#define VM_TEXT_ENDED "VM ended on its worker"

struct vm_condition {
	int type;  // enum vm_condition_type
	int state; // 1 true, 0 false
};
struct vm_event {
	int64_t time_ns;
	char *message;
	char *kind; // as its worker says; "": of the machine's own life
};

struct vm {
	struct record record; // first
	char *name, *uid;
	char *image, *image_pull_policy;
	char *os, *arch, *runtime;              // "": any
	uint64_t cpu, memory_mib, disk_size_gb; // 0: not said
	bool headless, nested, suspendable;
	char *username, *password;
	char *startup_script, *host_dirs; // JSON, kept as given
	struct array resources;           // named_count, never negative
	struct array labels;              // string_pair
	int restart_policy;
	int status;
	char *status_message;
	char *worker; // its name, "": none
	uint64_t assigned_cpu, assigned_memory_mib;
	int power_state;
	char *local_name;
	struct array conditions; // vm_condition, each type at most once
	int64_t created_at_ns, scheduled_at_ns, started_at_ns, restarted_at_ns; // unix; 0: never
	uint64_t restart_count, generation, observed_generation;
	struct array events;                         // vm_event, oldest first
	bool net_softnet;                            // isolated by Softnet
	char *net_softnet_allow, *net_softnet_block; // JSON, kept as given: lists of networks
	char *net_bridged;                           // the interface of the worker; "": none
	bool random_serial;
	// Not shown:
	struct uuid instance;   // names one assignment to a worker; zero: none
	struct resources holds; // of its worker's node, while it is scheduled
	uint32_t holds_slot;    // of that node
	uint64_t holds_index;   // the index at which it began to hold; 0: it holds nothing
};

struct vm_worker {
	struct record record; // first
	char *name, *machine_id;
	char *arch, *runtime; // "": not said
	bool scheduling_paused;
	struct array resources;                   // named_count: all that it has
	struct array labels;                      // string_pair
	uint64_t default_cpu, default_memory_mib; // 0: VM_DEFAULT_…
	struct uuid node;                         // zero: none, it is kept by hand
	int64_t last_seen_ns;                     // unix; while it beats: when it began to beat
	bool beats; // its node beats, so it is online whatever last_seen_ns is
	// The node that made it, also after that node left it; zero: its node, or it is kept by hand. No other node may
	// have it (row D28).
	struct uuid owner;
	int64_t created_at_ns; // unix; 0: by a program that did not note it
};

// What machines may have of their worker's files.
struct host_dir_policy {
	char *path_prefix;
	bool read_only;
};

struct cluster_settings {
	struct record record;           // first
	char *scheduler_profile;        // "": optimize-utilization
	struct array host_dir_policies; // host_dir_policy; a directory needs one that allows it
	bool count_assigned;            // shares of machines take room of their workers (row D16)
};

// The cpu and memory of a machine as its worker gives them (rows D14 to D16), whatever it asks for by name.
struct vm_share {
	int64_t cpu, memory_mib; // each at most VM_SHARE_MOST, so that sums do not overflow
};
#define VM_SHARE_MOST (1ll << 40)

extern const struct record_type vm_description, vm_worker_description, cluster_settings_description,
	vm_condition_description, vm_event_description, host_dir_policy_description;

struct vm *vm_create(void);            // zeros; caller frees with vm_free
void vm_free(struct vm *);             // NULL is allowed, as in the others
struct vm *vm_copy(const struct vm *); // the record's links not
struct vm_worker *vm_worker_create(void);
void vm_worker_free(struct vm_worker *);
struct vm_worker *vm_worker_copy(const struct vm_worker *);

bool vm_is_scheduled(const struct vm *);                              // D6
const struct vm_condition *vm_condition(const struct vm *, int type); // NULL: it has none
void vm_set_condition(struct vm *, int type, bool state);
static inline bool vm_is_failed(const struct vm *vm)
{
	return vm->status == VM_FAILED;
}
// Waits for a worker: unscheduled, not failed, to be running (D12, D26).
bool vm_wants_worker(const struct vm *);
// Whether a registration of the node may have the worker (row D28).
bool vm_worker_is_of(const struct vm_worker *, const struct uuid *node);
bool vm_worker_is_offline(
	const struct vm_worker *, int64_t now_ns, int64_t offline_after_ns); // D23
// Whether two descriptions of a worker agree; pauses and the time when it was seen do not count.
bool vm_worker_is_described_as(const struct vm_worker *, const struct vm_worker *before);
// Whether the worker suits the machine in what does not change with use: labels, arch, runtime (D10).
bool vm_suits_worker(const struct vm *, const struct vm_worker *);
// request ≤ max(0, total − used) for each named resource; an absent name counts as 0 (D11).
bool vm_fits(const struct array *request, const struct array *total, const struct array *used);
// What is left of one resource: 0 when it is absent or overused.
int64_t vm_resource_left(const struct array *total, const struct array *used, const char *name);
void vm_resources_add(struct array *used, const struct array *request);
void vm_resources_remove(struct array *used, const struct array *request);

// What a health pass does with a machine: the first rule of D19 to D25 (docs/spec/vms.md) that applies. worker NULL:
// no worker has that name. Machines that are not scheduled are restarted too.
enum vm_verdict {
	VM_HEALTHY, // nothing is written
	VM_RESTART,
	VM_WORKER_GONE,
	VM_WORKER_LOST,
	VM_STOPPED,
	VM_FAILED_FREED,
};
enum vm_verdict vm_health(
	const struct vm *, const struct vm_worker *, int64_t now_ns, int64_t offline_after_ns);
// The caller sets instance and holds, here and in an assignment.
void vm_apply_verdict(struct vm *, enum vm_verdict, int64_t now_ns);
struct vm_share vm_share_assigned(const struct vm *);
struct vm_share vm_share_on(const struct vm *, const struct vm_worker *); // if it were assigned
struct vm_share vm_share_plus(struct vm_share, struct vm_share);
struct vm_share vm_share_minus(struct vm_share, struct vm_share);
// D11, and D16 with the shares of the worker's machines; held NULL: shares take no room. A share takes room only of
// what the worker names: VM_RESOURCE_CORES, VM_RESOURCE_MEMORY.
bool vm_has_room(const struct vm *, const struct vm_worker *, const struct array *used,
	const struct vm_share *held);
// D14 to D16.
void vm_assign(struct vm *, const struct vm_worker *, int64_t now_ns);
// D28: fills defaults. False, with a reason, when a value is missing or names nothing that exists.
bool vm_complete(struct vm *, const char *uid, int64_t now_ns, char *message, uint32_t size);
// D29. False, with a reason, when the change is not allowed.
bool vm_set_power(struct vm *, int power_state, char *message, uint32_t size);
bool vm_has_softnet(const struct vm *); // asked for in any of three ways
// Whether the runtime that it names can do all that it asks for. False, with a reason, when it cannot.
bool vm_runtime_is_able(const struct vm *, char *message, uint32_t size);
// What its user may change of it.
struct vm_spec {
	int power_state;
	bool suspendable, net_softnet;
	const char *net_softnet_allow, *net_softnet_block; // the machine's, or the caller's
};
struct vm_spec vm_spec_of(const struct vm *);
// Also counts a change in generation. False, with a reason, when the change is not allowed.
bool vm_set_spec(struct vm *, const struct vm_spec *, char *message, uint32_t size);
void vm_note(struct vm *, const char *message, int64_t now_ns);
void vm_tell(struct vm *, struct text kind, struct text message, int64_t time_ns);
void vm_drop_events(struct vm *);
