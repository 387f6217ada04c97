// The scheduler of system and sysbatch jobs.
#pragma once
#include "placement/scheduler/common/planner.h"

// As scheduler_process() of scheduler.h, for evaluations of these types alone.
int system_scheduler_process(const struct scheduler_settings *, const struct evaluation *);
