// Machines that ask for the same resources, cpu, memory, labels, architecture and runtime have one shape. A worker
// without room for one of them has none for the others, until something on it is released.
#pragma once
#include "state/records/nodes/vm.h"

struct vm_shape {
	uint32_t machines;
	bool is_exhausted;          // no worker takes it now
	uint64_t *lacks, *refusals; // one bit per worker; NULL: none
};
struct vm_shapes {
	struct vm_shape *shapes;
	uint32_t count, words; // words per bit map
};

// Writes the shape of each machine to numbers.
void vm_shapes_find(struct vm_shapes *, const struct vm *const *vms, uint32_t count,
	uint32_t worker_count, uint32_t *numbers);
void vm_shapes_free(struct vm_shapes *);

bool vm_shape_is_out(const struct vm_shape *, uint32_t worker);
void vm_shape_lacks(struct vm_shapes *, struct vm_shape *, uint32_t worker);
void vm_shape_refused(struct vm_shapes *, struct vm_shape *, uint32_t worker);
// The worker has room again.
void vm_shapes_room(struct vm_shapes *, uint32_t worker);
