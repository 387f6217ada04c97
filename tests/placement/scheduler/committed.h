// A world, and a scheduler whose plans are committed into it: the base of tests of both schedulers.
#pragma once
#include "tests/placement/scheduler/committer.h"

struct fixture {
	struct world *world;
	struct committer committer;
};

int committed_set_up(void **state);
int committed_tear_down(void **state);
void nodes(struct fixture *, uint32_t count, const char *words);
// Works off a new evaluation of the job, with the job's type.
int run(struct fixture *, const struct job *, enum eval_trigger);
// Expects this end of the newest evaluation.
void expect_end(struct fixture *, enum eval_status, const char *description);
// Living allocations of one version of a job.
uint32_t of_version(const struct world *, const struct job *);
