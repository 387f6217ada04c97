#include "state/tables/jobs/job_allocations.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

#define CAPACITY_MIN 2u   // most jobs are small
#define HOLES_SHARE 4u    // an array with so many places for each allocation is made smaller
#define REPACKED_FROM 64u // places

// Moves what is left, without the holes, into an array with half as much room again: the adds and removals since the
// last repack pay for it.
static void repack_allocations(struct job_cell *job)
{
	struct alloc_array *old = job->allocations;
	uint32_t capacity = CAPACITY_MIN + job->allocation_count + job->allocation_count / 2;
	struct alloc_array *new =
		memory_take(sizeof *new + (size_t)capacity * sizeof new->cells[0]);
	uint32_t count = 0;

	new->capacity = capacity;
	for (uint32_t i = 0; old && i < old->count; i++) {
		struct alloc_cell *cell = old->cells[i];
		if (!cell)
			continue;
		new->cells[count] = cell;
		cell->of_job = count++;
	}
	new->count = count;
	CHECK(count == job->allocation_count && count < capacity);
	publish_pointer((void **)&job->allocations, new);
	if (old)
		call_rcu(&old->rcu, rcu_free);
}

void job_allocations_add(struct job_cell *job, struct alloc_cell *cell)
{
	if (!job->allocations || job->allocations->count == job->allocations->capacity)
		repack_allocations(job);

	struct alloc_array *a = job->allocations;
	uint32_t at = a->count;
	atomic_store_explicit(&a->cells[at], cell, memory_order_release);
	cell->of_job = at;
	job->allocation_count++;
	atomic_store_explicit(&a->count, at + 1, memory_order_release);
	CHECK(job->allocation_count <= a->count && a->count <= a->capacity);
}

void job_allocations_remove(struct job_cell *job, struct alloc_cell *cell)
{
	struct alloc_array *a = job->allocations;

	CHECK(job_allocations_hold(job, cell) && job->allocation_count > 0);
	atomic_store_explicit(&a->cells[cell->of_job], NULL, memory_order_relaxed);
	job->allocation_count--;
	if (a->capacity > REPACKED_FROM && job->allocation_count < a->capacity / HOLES_SHARE)
		repack_allocations(job);
}

void job_allocations_release(struct job_cell *job)
{
	free(job->allocations);
	job->allocations = NULL;
}

bool job_allocations_hold(const struct job_cell *job, const struct alloc_cell *cell)
{
	const struct alloc_array *a = job->allocations;
	return a && cell->of_job < a->count && a->cells[cell->of_job] == cell;
}
