// Validation of a submitted job: all mistakes at once, in the order of the specification.
#pragma once
#include "state/job.h"
#include <stdint.h>

// Sets what the specification leaves open to the defaults of the job's type (semantics §1.3). Before check.
void job_canonicalize(struct job *);

typedef void job_mistake(const char *text, void *context);
// Calls back once per mistake with a sentence that names the place ("group \"web\" task \"a\": …").
// Returns how many. Also compiles every constraint.
uint32_t job_check(const struct job *, job_mistake *, void *context);
