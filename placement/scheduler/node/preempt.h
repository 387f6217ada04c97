// Chooses allocations that make room on a node (rows A62, A63) and adds them to s->victims. False: no victims suffice.
#pragma once
#include "placement/scheduler/node/stack_state.h"

// Only jobs whose priority is at least this much lower make room.
#define PRIORITY_DELTA 10

bool preempt_for_resources(struct stack *, const struct node *, const struct resources *used,
	const struct resources *ask);
// s->ports holds the ports that are taken now.
bool preempt_for_ports(struct stack *, const struct node *, const struct network_ask *);
bool preempt_for_task_ports(struct stack *, const struct node *, const struct network_ask *);
bool preempt_for_devices(struct stack *, const struct node *, const struct device_need *,
	const struct device_set *free);
// How unimportant the victims are, from 0 to 1.
double preemption_score(const struct allocation *const *victims, uint32_t count);
