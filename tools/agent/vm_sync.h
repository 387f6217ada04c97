// Asks the controller which virtual machines this node must run: page by page, at once when something may have changed,
// and every few seconds. The list is complete: the node ends every machine that it does not name.
#pragma once
#include "dataplane/wire/wire_vm.h"
#include "state/base/time_units.h"
#include "tools/agent/runner.h"

#define VM_SYNC_PERIOD_NS (5 * NS_PER_S)
#define VM_SYNC_COLLECT_NS (60 * NS_PER_MIN)

struct vm_sync {
	bool is_worker;             // else it never asks
	bool wants;                 // asks for a list now
	uint64_t index;             // of allocations, at the newest list
	uint64_t asked_index;       // of allocations, at the list that is coming
	int64_t collect_ns;         // unix; when to look for what was suspended long ago
	uint64_t next_ns;           // when to ask for the next list
	uint64_t version;           // of the list that is coming
	struct wire_vm_item *items; // its pages so far
	uint32_t count, capacity;
};

void vm_sync_stop(struct vm_sync *);
// The node has registered: it asks for the whole list again.
void vm_sync_registered(struct vm_sync *);
// When the next question is due; UINT64_MAX: never. allocs_index comes from the newest heartbeat's answer.
uint64_t vm_sync_next_ns(const struct vm_sync *, uint64_t allocs_index);
struct wire_vms vm_sync_ask(struct vm_sync *, uint64_t allocs_index);
// True when the list is whole; the caller then calls vm_sync_settle.
bool vm_sync_take(struct vm_sync *, const struct wire_vms_reply *, uint64_t now_ns);
// Ends the machines that the list does not want, and calls want for each machine whose description is needed. Every
// hour also removes what was suspended here and is wanted no more.
void vm_sync_settle(struct vm_sync *, struct runner *,
	void (*want)(void *context, const struct wire_vm_item *), void *context);
