// Which allocations make room (rows A62, A63): victims on one node are added to s->victims. False: there are no
// sufficient ones.
#pragma once
#include "placement/scheduler/node/stack_state.h"

bool preempt_for_resources(struct stack *, const struct node *, const struct resources *used,
	const struct resources *ask);
// s->ports says what is taken now.
bool preempt_for_ports(struct stack *, const struct node *, const struct network_ask *);
bool preempt_for_task_ports(struct stack *, const struct node *, const struct network_ask *);
bool preempt_for_devices(struct stack *, const struct node *, const struct device_need *,
	const struct device_set *free);
// How little the victims matter, from 0 to 1.
double preemption_score(const struct allocation *const *victims, uint32_t count);
