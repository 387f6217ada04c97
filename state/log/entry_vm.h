// Entries of virtual machines, of their workers and of the settings of their placement. The bytes are documented at the
// top of entry.c.
#pragma once
#include "state/base/bytes.h"
#include "state/records/resources.h"
#include "state/records/vm.h"

struct state;

enum vm_change { // stored: numbers are never given again
	VM_COMES,
	VM_GOES,
	VM_CHANGES_POWER,
	VM_IS_REPORTED,
	VM_IS_JUDGED,
	VM_IS_ASSIGNED,
	VM_CHANGES
};

// What is said of a machine; of what is not said nothing changes.
#define VM_REPORT_STATUS 1u
#define VM_REPORT_MESSAGE 2u
#define VM_REPORT_GENERATION 4u
#define VM_REPORT_PARTS 7u
#define VM_REPORT_CONDITIONS_MAX 8u
struct vm_report {
	uint8_t parts;
	uint8_t status; // enum vm_status
	struct text message;
	uint64_t observed_generation;
	uint8_t condition_count;
	struct vm_condition conditions[VM_REPORT_CONDITIONS_MAX];
};

struct entry_vm {
	uint8_t change;   // enum vm_change
	struct vm *vm;    // COMES: the entry's own, without indexes
	struct text name; // of the others
	uint8_t power_state, verdict;
	struct vm_report report;
	// IS_ASSIGNED
	struct text worker;
	struct uuid instance;
	struct resources holds; // of the worker's node
};

enum vm_worker_change { // stored: numbers are never given again
	VM_WORKER_IS_DESCRIBED,
	VM_WORKER_IS_SEEN,
	VM_WORKER_IS_PAUSED,
	VM_WORKER_GOES,
	VM_WORKER_CHANGES
};

struct entry_vm_worker {
	uint8_t change;           // enum vm_worker_change
	struct vm_worker *worker; // IS_DESCRIBED: the entry's own, without indexes
	struct text name;         // of the others
	int64_t last_seen_ns;     // IS_SEEN
	bool flag;                // IS_SEEN: it beats; IS_PAUSED
};

struct entry_cluster_settings {
	struct cluster_settings *settings; // the entry's own
};

void entry_vm_encode(const struct entry_vm *, struct bytes_writer *);
// Each returns 0, -ERROR_CORRUPT or -ERROR_VERSION; then nothing is left to release.
int entry_vm_decode(struct entry_vm *, struct bytes_reader *);
void entry_vm_release(struct entry_vm *);
void entry_vm_worker_encode(const struct entry_vm_worker *, struct bytes_writer *);
int entry_vm_worker_decode(struct entry_vm_worker *, struct bytes_reader *);
void entry_vm_worker_release(struct entry_vm_worker *);
void entry_cluster_settings_encode(const struct entry_cluster_settings *, struct bytes_writer *);
int entry_cluster_settings_decode(struct entry_cluster_settings *, struct bytes_reader *);
void entry_cluster_settings_release(struct entry_cluster_settings *);

// --- What they do (apply_vm.c) -------------------------------------------------------------------

int vm_entry_check(const struct state *, const struct entry_vm *);
void vm_entry_apply(struct state *, struct entry_vm *, int64_t time_ns);
int vm_worker_entry_check(const struct state *, const struct entry_vm_worker *);
void vm_worker_entry_apply(struct state *, struct entry_vm_worker *);
int cluster_settings_check(const struct entry_cluster_settings *);
void cluster_settings_apply(struct state *, struct entry_cluster_settings *);
// The node is forgotten, and with it the worker that it is.
void vm_worker_forget_node(struct state *, const struct uuid *node);
