#include "state/decide.h"

enum command_outcome decide_job_child(struct decider *d, struct command_job_child *c)
{
	return OUTCOME_NOT_NOW;
}
