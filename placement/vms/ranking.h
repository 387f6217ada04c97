// Workers in the order of trial: by number of machines, then by name (rows D8 and D9). A worker whose number changes
// moves to its new place without another sort.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct vm_ranking {
	uint32_t *order; // worker numbers, first tried first
	uint32_t size;
	uint32_t *machines; // per worker, ordered or not
	bool fewest_first;
};

// Sorts the order; its members and machines are set.
void vm_ranking_sort(struct vm_ranking *);
// Adds `by` (1 or -1) to the machines of a worker in the order.
void vm_ranking_move(struct vm_ranking *, uint32_t worker, int by);
