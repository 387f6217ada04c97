// Whether a node may run a group at all (rows A41–A51), room aside. Each check returns why it may not; NULL when it
// may.
#pragma once
#include "placement/scheduler/node/stack_state.h"

extern const char reason_class_ineligible[], reason_distinct_hosts[];

// Checks everything that does not depend on the plan.
const char *stack_check_static(
	struct stack *, const struct group_rules *, const struct node *, uint32_t name_index);
// What is the same for all nodes of a class, without the memo, by the node that speaks for it; one that has nothing
// but its class will do if the group has no network. A level with a constraint on what is unique to a node is left out,
// and so are volumes. by_job: the job's own constraints refuse it.
const char *stack_check_class(
	struct stack *, const struct group_rules *, const struct node *, bool *by_job);
// What stack_check_class() leaves out, for one node. by_job: the job's own constraints refuse it, which comes before
// what the group asks of its class.
const char *stack_check_own(struct stack *, const struct group_rules *, const struct node *,
	uint32_t name_index, bool *by_job);
// Checks distinct properties alone.
const char *stack_check_property(struct stack *, const struct property_set *, const struct node *);
const char *stack_check_properties(struct stack *, struct group_rules *, const struct node *);
// Checks everything that depends on the plan: distinct hosts and properties.
const char *stack_check_distinct(struct stack *, struct group_rules *, const struct node *);
