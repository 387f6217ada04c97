// What the tasks of a group ask of a node's devices, and which instances they get (row A49).
#pragma once
#include "placement/constraint/constraint.h"
#include "placement/scheduler/rules/task_room.h"

struct device_affinity {
	struct compiled_constraint *condition; // NULL: no device meets it
	int64_t weight;
};

struct device_need {
	const struct device_ask *ask;
	uint32_t task;                            // of the group
	struct compiled_constraint **constraints; // NULL: no device meets it
	struct device_affinity *affinities;
	double weights; // of its affinities, without sign
};

// One per device ask of a task, in order.
struct device_needs {
	struct device_need *items;
	uint32_t count;
	double weights; // of all needs
};

void device_needs_compile(struct device_needs *, const struct task_group *);
void device_needs_release(struct device_needs *);

// For each need the device group that serves it, by the group's place in the class.
#define DEVICE_NEEDS_MAX 256u
struct device_choice {
	uint8_t groups[DEVICE_NEEDS_MAX];
	double matched; // of the affinities that the chosen groups meet
};

bool device_need_matches(
	const struct device_need *, const struct node_class *, uint32_t device_group);
// All device instances of a class's nodes.
struct device_set device_set_of_class(const struct node_class *);
// Gives each need a device group with enough free instances, preferring what it likes better. False: all needs cannot
// be served.
bool device_needs_choose(const struct device_needs *, const struct node_class *,
	const struct device_set *free, struct device_choice *);
// The same without the choice. *score: of affinities, as a share of the weights; 0 when there are none.
bool device_needs_score(const struct device_needs *, const struct node_class *,
	const struct device_set *free, double *score);
// Writes the chosen instances into taken, and into the entries of their tasks.
void device_needs_assign(const struct device_needs *, const struct task_group *,
	const struct node_class *, const struct device_set *free, const struct device_choice *,
	struct device_set *taken, struct task_room *);
