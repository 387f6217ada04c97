// The scheduler of service and batch jobs.
#pragma once
#include "placement/scheduler/common/planner.h"

// As scheduler_process() of scheduler.h, for evaluations of these types alone.
int generic_scheduler_process(const struct scheduler_settings *, const struct evaluation *);
