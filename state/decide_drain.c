#include "state/decide.h"

enum command_outcome decide_node_drain(struct decider *d, struct command_node_drain *c)
{
	return OUTCOME_NOT_NOW;
}
