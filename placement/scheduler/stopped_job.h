// What service and batch evaluations do about a job that is stopped or purged, whatever its type was: every
// allocation that still lives is stopped (semantics §5.7 step 1, row B62).
#pragma once
#include "placement/scheduler/scheduler.h"

// -ERROR_UNSUPPORTED when the job is there and not stopped.
int stopped_job_process(const struct scheduler_settings *, const struct evaluation *);
