// Which device instances the tasks of a group get (row A49).
#pragma once
#include "placement/feasibility/device_needs.h"
#include "placement/scheduler/rules/task_room.h"

// Writes the chosen instances into taken, and into the entries of their tasks.
void device_needs_assign(const struct device_needs *, const struct task_group *,
	const struct node_class *, const struct device_set *free, const struct device_choice *,
	struct device_set *taken, struct task_room *);
