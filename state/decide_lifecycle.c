// Where a node stands beside its status (rows E1 to E33).
#include "state/decide.h"

enum command_outcome decide_node_lifecycle(struct decider *d, struct command_node_lifecycle *c)
{
	(void)d;
	(void)c;
	return OUTCOME_REJECTED;
}
