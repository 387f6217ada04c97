// All nodes are forgotten between any two reads of them in an evaluation, which must come to an end all the same.
#include "state/base/memory.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/committer.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LOOKS_MAX = 2000 };

static int evaluate(struct committer *c, const struct job *job)
{
	struct evaluation *eval = evaluation_for(job, TRIGGER_JOB_REGISTER);
	int result = committer_run(c, eval);
	evaluation_free(eval);
	return result;
}

// Of four nodes one is full, and two have the job's former version: one instance stays in place, one no longer meets
// the constraints. False: the evaluation ended before so many reads.
static bool ends_after(const char *words, uint32_t looks)
{
	struct world *world = world_create();
	struct committer committer;

	committer_init(&committer, world);
	world_node(world, "attr.arch=amd64");
	world_node(world, "attr.arch=arm64");
	struct job *job = world_job(world, words);
	assert_int_equal(evaluate(&committer, job), 0);
	world_node(world, "attr.arch=amd64");
	world_node(world, "attr.arch=amd64 cpu=100");
	job = world_job_version(world, job);
	constrain(&job->constraints, "${attr.arch}", "=", "amd64");
	world_job_changed(job);
	world->looks_left = looks;
	assert_int_equal(evaluate(&committer, job), 0);
	bool reached = world->is_deserted;
	committer_release(&committer);
	world_destroy(world);
	return reached;
}

static void every_evaluation_ends(const char *words)
{
	uint32_t looks = 1;

	while (ends_after(words, looks))
		assert_true(++looks < LOOKS_MAX);
	assert_true(looks > 4); // it did read the nodes
}

static void system_jobs(void **state)
{
	every_evaluation_ends("system web cpu=1000");
}

static void service_jobs(void **state)
{
	every_evaluation_ends("service web cpu=1000 count=5");
}

static void batch_jobs(void **state)
{
	every_evaluation_ends("batch web cpu=1000 count=5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(system_jobs),
		cmocka_unit_test(service_jobs),
		cmocka_unit_test(batch_jobs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
