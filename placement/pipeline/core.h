// Evaluations of type _core (rows B13, B66): garbage collection. The housekeeping makes them; they are never stored.
// Their job id names the collection.
#pragma once
#include "placement/pipeline/pipeline_parts.h"

#define CORE_PRIORITY 32767

extern const char
	*const core_jobs[]; // "eval-gc", "job-gc", "deployment-gc", "node-gc", "acl-token-gc", NULL

struct evaluation *core_evaluation(const char *job, struct prng *); // caller frees
int core_process(struct pipeline *, const struct evaluation *);
