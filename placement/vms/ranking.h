// Workers in the order in which they are tried: by how many machines they have, then by name (rows D8 and D9). A worker
// whose number changes is moved to where it belongs; nothing is sorted again.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct vm_ranking {
	uint32_t *order; // numbers of workers, the first to be tried first
	uint32_t size;
	uint32_t *machines; // of each worker, also of those that are not in the order
	bool fewest_first;
};

// machines and the order's members are set; they are put in order.
void vm_ranking_sort(struct vm_ranking *);
// One machine more or less on a worker that is in the order.
void vm_ranking_move(struct vm_ranking *, uint32_t worker, int by);
