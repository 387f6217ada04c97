// Counts of preempted allocations by group.
#include "placement/scheduler/node/victim_counts.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/world.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void victims_are_counted_by_job_and_group(void **state)
{
	struct world *w = world_create();
	struct victim_counts counts = {0};
	char words[32];
	world_node(w, "");
	for (uint32_t i = 0; i < 40; i++) {
		snprintf(words, sizeof words, "batch job%u", i / 2);
		struct job *job = world_job(w, words); // every second time another version
		victim_counts_add(&counts, world_allocate(w, job, 0, 0, i));
	}
	for (const struct world_allocation *a = w->allocations; a; a = a->next)
		assert_int_equal(victim_counts_of(&counts, &a->record), 2);
	struct job *job = world_job(w, "batch job0");
	add_task(add_group(job, "b"), "t");
	world_job_changed(job);
	assert_int_equal(victim_counts_of(&counts, world_allocate(w, job, 1, 0, 0)), 0);
	victim_counts_release(&counts);
	world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(victims_are_counted_by_job_and_group),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
