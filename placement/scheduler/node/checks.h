// Whether a node may run a group at all (rows A41–A51), room aside: why it cannot; NULL when it can.
#pragma once
#include "placement/scheduler/node/stack_state.h"

extern const char reason_class_ineligible[], reason_distinct_hosts[];

// By what does not depend on the plan.
const char *stack_check_static(
	struct stack *, const struct group_rules *, const struct node *, uint32_t name_index);
// By distinct properties alone.
const char *stack_check_properties(struct stack *, struct group_rules *, const struct node *);
// By everything that depends on the plan: distinct hosts and properties.
const char *stack_check_distinct(struct stack *, struct group_rules *, const struct node *);
