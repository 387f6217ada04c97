// The entry that changes a virtual machine: the body of an entry as entry.h tells. The bytes are documented at the top
// of entry.c.
#pragma once
#include "state/log/coder.h"
#include "state/records/nodes/vm.h"
#include "state/records/resources.h"

enum vm_change { // stored: numbers are never given again
	VM_CHANGES_POWER,
	VM_IS_REPORTED,
	VM_IS_JUDGED,
	VM_IS_ASSIGNED,
	VM_CHANGES_SPEC, // this and the next one are noted entries alone
	VM_IS_TOLD,
	VM_CHANGES
};

// The parts of a report about a machine; a part that is missing changes nothing.
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
	uint8_t change; // enum vm_change
	bool is_noted;  // the machine's own events tell of it; said by the kind of the entry
	struct text name;
	uint8_t power_state, verdict;
	bool suspendable, net_softnet;                    // CHANGES_SPEC, as power_state and
	struct text net_softnet_allow, net_softnet_block; // JSON
	struct text told;                                 // IS_TOLD: events (vm_events.h)
	struct vm_report report;
	// IS_ASSIGNED
	struct text worker;
	struct uuid instance;
	struct resources holds; // of the worker's node
};

coder_function entry_vm_code, entry_vm_noted_code;
