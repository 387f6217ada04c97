// A scheduler turns one evaluation into plans (rows A1–A40 for system and sysbatch, C1–C50 for service and batch).
#pragma once
#include "placement/scheduler/common/planner.h"

// Works off one evaluation: plans are submitted, follow-up and blocked evaluations created, and at last the
// evaluation is updated to its final status. Returns 0 (the worker acks) or a negative error (it nacks).
// -ERROR_UNSUPPORTED: no scheduler for its type.
int scheduler_process(const struct scheduler_settings *, const struct evaluation *);
