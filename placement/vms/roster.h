// What a turn of the placement of virtual machines looks at: all of them and all workers, at one time. Records are the
// caller's.
#pragma once
#include "state/vm.h"

#define VM_ROSTER_NONE UINT32_MAX

struct vm_roster {
	const struct vm *const *vms;
	uint32_t vm_count;
	const struct vm_worker **workers; // in the order of their names: vm_roster_order()
	uint32_t worker_count;
	int64_t now_ns, offline_after_ns;
};

void vm_roster_order(struct vm_roster *);
// The number of a worker, or VM_ROSTER_NONE.
uint32_t vm_roster_worker(const struct vm_roster *, const char *name);

// A health pass (rows D19 to D25): those of which something is to be written, in their order. Room for vm_count.
struct vm_finding {
	uint32_t vm; // its number in the roster
	enum vm_verdict verdict;
};
uint32_t vm_roster_health(const struct vm_roster *, struct vm_finding *);
