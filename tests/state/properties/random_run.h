// A random life of a controller, from one seed, checked against the model as it goes.
#pragma once
#include "state/base/prng.h"
#include "tests/state/properties/model.h"
#include "tests/state/properties/work_run.h"

struct random_run {
	struct controller controller;
	struct model *model;
	struct prng prng;
	uint64_t sequence; // of the newest registration
	uint64_t request;
	struct work_run work;
};

void random_run_init(struct random_run *, uint64_t seed);
void random_run_free(struct random_run *);
// A few commands in one batch, then their answers against the model.
void random_run_step(struct random_run *);
