// Appends to the plan so that everything that counts sees it from then on (row A47). Allocations are valid until the
// view ends.
#pragma once
#include "placement/scheduler/common/view.h"
#include "placement/scheduler/node/stack_option.h"
#include "placement/scheduler/rules/property_set.h"
#include "state/records/plan.h"

struct stack;

void stack_plan_stop(struct stack *, const struct allocation *, enum stop_cause, bool lost,
	const struct uuid *followup_eval); // followup_eval may be NULL
void stack_plan_preempt(struct stack *, const struct allocation *, const struct uuid *by);
// What was claimed of a node so far; read it before the node is looked at.
uint32_t stack_claims_seen(const struct stack *, uint32_t slot);
// Claims the option's node for the instance that is placed next. False: another scheduler claimed something of the node
// since it was looked at, so the option no longer holds: it has no details any more, and the node is looked at again.
bool stack_claim(struct stack *, struct stack_option *);
// Takes over the placement's references for the plan. The result is valid until the next call.
struct plan_placement *stack_plan_place(struct stack *, const struct plan_placement *);
void stack_plan_update(struct stack *, const struct plan_update *);
// Takes back the stop of this allocation (in-place try, failed destructive update).
void stack_plan_unstop(struct stack *, const struct uuid *);

// Adds the changes planned so far to a set that counts existing allocations.
void stack_count_planned(struct stack *, struct property_set *);
