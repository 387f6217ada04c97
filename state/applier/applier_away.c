// While a log that other machines keep does not answer.
#include "state/applier/applier_private.h"
#include "state/base/time_units.h"

// An append that takes longer is not waited for by who can come again.
#define LOG_PATIENCE_NS NS_PER_S

// Nothing that is decided now becomes durable soon.
static bool log_is_away(const struct applier *a)
{
	uint64_t began_ns = applier_append_began_ns(a);

	return a->settings.log.is_remote && began_ns != 0 &&
	       time_monotonic_ns(a->settings.time) > began_ns + LOG_PATIENCE_NS;
}

// Who asks again does no harm. What schedulers, watchers and the sweep say stays in its order.
static bool may_come_again(const struct command *c)
{
	switch (c->type) {
	case COMMAND_NODE_EXPIRED:
	case COMMAND_NODE_RETURNED:
	case COMMAND_NODE_GOODBYE:
	case COMMAND_COLLECT:
	case COMMAND_EVALUATIONS:
	case COMMAND_PLAN:
	case COMMAND_NODE_EVALUATE:
	case COMMAND_GC:
	case COMMAND_DEPLOYMENT:
	case COMMAND_ALLOC_TRANSITIONS:
	case COMMAND_JOB_CHILD:
	case COMMAND_NODE_STANDING:
	case COMMAND_VM_HEALTH:
	case COMMAND_VM_ASSIGN: return false;
	default: return true;
	}
}

bool applier_sends_away(const struct applier *a, struct command *c)
{
	if (!may_come_again(c) || !log_is_away(a))
		return false;
	c->outcome = OUTCOME_LOG_AWAY;
	return true;
}
