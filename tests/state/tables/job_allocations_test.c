// The allocations of a job, compared with a plain list of them.
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/tables/jobs/job_allocations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CELLS = 3000, AHEAD = 5 };

struct model {
	struct job_cell job;
	struct alloc_cell *cells[CELLS]; // in their order; NULL: not there
	uint32_t count;                  // ever added
};

static void check_walk(const struct model *m)
{
	const struct alloc_cell *cell;
	uint32_t at = 0, there = 0;

	FOR_ALLOCATIONS_OF(cell, &m->job)
	{
		while (at < m->count && !m->cells[at])
			at++;
		assert_true(at < m->count);
		assert_ptr_equal(cell, m->cells[at++]);
		assert_true(job_allocations_hold(&m->job, cell));
		const struct alloc_cell *ahead = alloc_walk_ahead(&alloc_walk, AHEAD);
		assert_true(!ahead || ahead->of_job == alloc_walk.at + AHEAD);
		there++;
	}
	while (at < m->count)
		assert_null(m->cells[at++]);
	assert_int_equal(m->job.allocation_count, there);
}

static void add(struct model *m)
{
	struct alloc_cell *cell = memory_take(sizeof *cell);

	job_allocations_add(&m->job, cell);
	m->cells[m->count++] = cell;
}

static void take_out(struct model *m, uint32_t at)
{
	struct alloc_cell *cell = m->cells[at];

	if (!cell)
		return;
	job_allocations_remove(&m->job, cell);
	assert_false(job_allocations_hold(&m->job, cell));
	m->cells[at] = NULL;
	free(cell);
}

// At first nearly all stay, then hardly any.
static void keeps_order_through_holes(void **unused)
{
	struct model *m = memory_take(sizeof *m);
	struct prng prng;

	prng_seed(&prng, 7);
	state_read_begin();
	check_walk(m);
	for (uint32_t i = 0; i < CELLS; i++) {
		add(m);
		if (prng_below(&prng, CELLS) < i)
			take_out(m, (uint32_t)prng_below(&prng, m->count));
		if (i < 20 || i % 100 == 0)
			check_walk(m);
	}
	for (uint32_t i = 0; i < CELLS; i++) {
		take_out(m, i);
		if (i % 100 == 0)
			check_walk(m);
	}
	check_walk(m);
	state_read_end();
	job_allocations_release(&m->job);
	free(m);
}

// A walk that began before goes on in the array that it began with.
static void a_walk_outlives_what_it_walks(void **unused)
{
	struct model *m = memory_take(sizeof *m);
	uint32_t seen = 0;

	state_read_begin();
	add(m);
	add(m);
	struct alloc_walk walk = alloc_walk_begin(&m->job);
	assert_ptr_equal(alloc_walk_next(&walk), m->cells[0]);
	while (m->count < 100)
		add(m);
	assert_ptr_equal(alloc_walk_next(&walk), m->cells[1]);
	assert_null(alloc_walk_next(&walk));
	for (walk = alloc_walk_begin(&m->job); alloc_walk_next(&walk); seen++)
		if (walk.at < m->count)
			take_out(m, walk.at);
	assert_int_equal(seen, 50);
	state_read_end();
	for (uint32_t i = 0; i < m->count; i++)
		free(m->cells[i]);
	job_allocations_release(&m->job);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_order_through_holes),
		cmocka_unit_test(a_walk_outlives_what_it_walks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
