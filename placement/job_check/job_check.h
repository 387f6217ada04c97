// Validates a submitted job: reports all mistakes, in the order of the specification.
#pragma once
#include "state/records/job.h"
#include <stdint.h>

// Sets fields that the specification leaves out to the defaults of the job's type, and hands the job's blocks for all
// groups down to them. Call before job_check; a second call changes nothing.
void job_canonicalize(struct job *);

typedef void job_mistake(const char *text, void *context);
// Calls back once per mistake with a sentence that names the place ("group \"web\" task \"a\": …").
// Returns how many. Also compiles every constraint. A job without mistakes can be derived
// (state/records/job.h).
uint32_t job_check(const struct job *, job_mistake *, void *context);

// Checks a version that replaces another: the job's kind may not change.
uint32_t job_check_update(
	const struct job *before, const struct job *after, job_mistake *, void *context);
