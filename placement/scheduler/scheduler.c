#include "placement/scheduler/scheduler.h"
#include "placement/scheduler/generic/generic.h"
#include "placement/scheduler/system/system.h"
#include "state/base/check.h"
#include "state/base/error.h"

typedef int process(const struct scheduler_settings *, const struct evaluation *);

static process *const processes[EVAL_TYPES] = {
	[EVAL_SERVICE] = generic_scheduler_process,
	[EVAL_BATCH] = generic_scheduler_process,
	[EVAL_SYSTEM] = system_scheduler_process,
	[EVAL_SYSBATCH] = system_scheduler_process,
};

int scheduler_process(const struct scheduler_settings *settings, const struct evaluation *eval)
{
	CHECK(settings && eval);
	if (eval->type < 0 || eval->type >= EVAL_TYPES || !processes[eval->type])
		return -ERROR_UNSUPPORTED;
	return processes[eval->type](settings, eval);
}
