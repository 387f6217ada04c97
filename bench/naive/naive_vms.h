// The reference of the vms benchmark: placing virtual machines in the plainest way. It sorts the workers again for
// each machine and asks one after the other; it answers exactly as the placement does. In memory alone: it looks at
// nothing again and writes nothing down.
#pragma once
#include "state/records/nodes/vm.h"

#define NAIVE_VM_WAITS UINT32_MAX

struct naive_vms {
	const struct vm *const *vms; // the oldest first
	uint32_t vm_count;
	const struct vm_worker *const *workers; // in the order of their names
	uint32_t worker_count;
	uint32_t *on; // the worker of each machine, or NAIVE_VM_WAITS
	bool fewest_first;
};
// Places the machines that wait. Returns how many found a worker.
uint32_t naive_vms_place(struct naive_vms *);
