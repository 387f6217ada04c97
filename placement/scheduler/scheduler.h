// A scheduler turns one evaluation into plans (rows A1–A40 for system and sysbatch, C1–C50 for service and batch).
#pragma once
#include "placement/scheduler/common/planner.h"

// Works off one evaluation: submits plans, creates follow-up and blocked evaluations, and at last updates the
// evaluation to its final status. Returns 0 (the worker acks) or a negative error (it nacks). -ERROR_UNSUPPORTED: the
// evaluation's type has no scheduler.
int scheduler_process(const struct scheduler_settings *, const struct evaluation *);
