// Validation of a submitted job: all mistakes at once, in the order of the specification.
#pragma once
#include "state/records/job.h"
#include <stdint.h>

// Sets what the specification leaves open to the defaults of the job's type, and hands what the job
// says for all its groups down to them. Before check; a second time changes nothing.
void job_canonicalize(struct job *);

typedef void job_mistake(const char *text, void *context);
// Calls back once per mistake with a sentence that names the place ("group \"web\" task \"a\": …").
// Returns how many. Also compiles every constraint. A job without mistakes can be derived
// (state/records/job.h).
uint32_t job_check(const struct job *, job_mistake *, void *context);

// The rules for a version that replaces another: what a job is may not change.
uint32_t job_check_update(
	const struct job *before, const struct job *after, job_mistake *, void *context);
