// What a turn of the placement of virtual machines looks at: all of them and all workers, at one time. Records are the
// caller's.
#pragma once
#include "state/records/nodes/vm.h"

#define VM_ROSTER_NONE UINT32_MAX

struct vm_roster {
	const struct vm *const *vms;
	uint32_t vm_count;
	const struct vm_worker **workers;
	uint32_t worker_count;
	int64_t now_ns, offline_after_ns;
	uint32_t *worker_of; // the roster's: what vm_roster_order() found
};

// Brings the workers into the order of their names, and finds the one that each machine names.
void vm_roster_order(struct vm_roster *);
void vm_roster_free(struct vm_roster *); // what vm_roster_order() took
// The number of a machine's worker, or VM_ROSTER_NONE. A machine that got a worker since is not looked at again.
static inline uint32_t vm_roster_worker(const struct vm_roster *r, uint32_t vm)
{
	return r->worker_of[vm];
}

// A health pass (rows D19 to D25): those of which something is to be written, in their order. Room for vm_count.
struct vm_finding {
	uint32_t vm; // its number in the roster
	enum vm_verdict verdict;
};
uint32_t vm_roster_health(const struct vm_roster *, struct vm_finding *);
