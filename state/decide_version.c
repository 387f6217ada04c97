// Versions of jobs: going back to one, calling one stable, another number of instances.
#include "state/decide.h"

enum command_outcome decide_job_revert(struct decider *d, struct command_job_revert *c)
{
	return OUTCOME_NOT_NOW;
}

enum command_outcome decide_job_stable(struct decider *d, struct command_job_stable *c)
{
	return OUTCOME_NOT_NOW;
}

enum command_outcome decide_job_scale(struct decider *d, struct command_job_scale *c)
{
	return OUTCOME_NOT_NOW;
}

enum command_outcome decider_store_version(
	struct decider *d, struct job_cell *cell, uint64_t version)
{
	return OUTCOME_UNKNOWN_VERSION;
}
