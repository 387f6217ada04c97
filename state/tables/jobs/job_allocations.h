// The allocations of one job in the order in which they came: an array of their cells, with holes. Who walks it can
// fetch ahead, which a list does not allow. For state/ only.
#pragma once
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/job_cell.h"
#include <stdatomic.h>

struct alloc_array {
	struct rcu_head rcu;
	uint32_t capacity;
	_Atomic uint32_t count; // places, holes included; below it everything is written
	_Atomic(struct alloc_cell *) cells[]; // NULL: a hole
};

// Applier thread only. They count the job's allocations.
void job_allocations_add(struct job_cell *, struct alloc_cell *);
void job_allocations_remove(struct job_cell *, struct alloc_cell *);
void job_allocations_release(struct job_cell *); // no readers any more
// Whether the allocation is at its place; for checking.
bool job_allocations_hold(const struct job_cell *, const struct alloc_cell *);

// Under read lock, or on the applier's thread. What is added after it began is not seen.
struct alloc_walk {
	const struct alloc_array *array;
	uint32_t at, count;
};

static inline struct alloc_walk alloc_walk_begin(const struct job_cell *job)
{
	const struct alloc_array *array = __atomic_load_n(&job->allocations, __ATOMIC_ACQUIRE);
	uint32_t count = array ? atomic_load_explicit(&array->count, memory_order_acquire) : 0;
	return (struct alloc_walk){array, 0, count};
}
// NULL at the end.
static inline struct alloc_cell *alloc_walk_next(struct alloc_walk *w)
{
	struct alloc_cell *cell = NULL;
	while (!cell && w->at < w->count)
		cell = atomic_load_explicit(&w->array->cells[w->at++], memory_order_acquire);
	return cell;
}
// So many places behind the next one; NULL: nothing is there.
static inline struct alloc_cell *alloc_walk_ahead(const struct alloc_walk *w, uint32_t places)
{
	uint32_t at = w->at + places;
	return at < w->count ? atomic_load_explicit(&w->array->cells[at], memory_order_acquire)
			     : NULL;
}

#define FOR_ALLOCATIONS_OF(cell, job)                              \
	for (struct alloc_walk alloc_walk = alloc_walk_begin(job); \
		((cell) = alloc_walk_next(&alloc_walk));)
