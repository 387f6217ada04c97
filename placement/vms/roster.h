// The input of one turn of placing virtual machines: all machines and all workers at one time. The caller owns the
// records.
#pragma once
#include "state/records/nodes/vm.h"

#define VM_ROSTER_NONE UINT32_MAX

struct vm_roster {
	const struct vm *const *vms;
	uint32_t vm_count;
	const struct vm_worker **workers;
	uint32_t worker_count;
	int64_t now_ns, offline_after_ns;
	uint32_t *worker_of; // the roster's own: set by vm_roster_order()
};

// Sorts the workers by name, and finds the worker that each machine names.
void vm_roster_order(struct vm_roster *);
void vm_roster_free(struct vm_roster *); // what vm_roster_order() took
// The number of a machine's worker, or VM_ROSTER_NONE. Not updated when the machine gets a worker later.
static inline uint32_t vm_roster_worker(const struct vm_roster *r, uint32_t vm)
{
	return r->worker_of[vm];
}

// A health pass (rows D19 to D25): finds the machines of which something is to be written, in roster order. Needs
// room for vm_count findings.
struct vm_finding {
	uint32_t vm; // its number in the roster
	enum vm_verdict verdict;
};
uint32_t vm_roster_health(const struct vm_roster *, struct vm_finding *);
