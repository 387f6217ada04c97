#include "state/decide.h"

enum command_outcome decide_deployment(struct decider *d, struct command_deployment *c)
{
	return OUTCOME_NOT_NOW;
}

enum command_outcome decide_alloc_transitions(
	struct decider *d, struct command_alloc_transitions *c)
{
	return OUTCOME_NOT_NOW;
}
