// What the tasks of a group ask of a node's devices, and which device groups serve them (row A49).
#pragma once
#include "placement/constraint/constraint.h"
#include "state/base/arena/arena.h"
#include "state/records/job.h"

struct device_affinity {
	struct compiled_constraint *condition; // NULL: no device meets it
	int64_t weight;
};

struct device_need {
	const struct device_ask *ask;
	uint32_t task; // of the group
	uint32_t constraint_count, affinity_count;
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

// They end with the memory; what their conditions hold beside it must be released before, when the job may be gone.
void device_needs_compile(
	struct device_needs *, const struct job *, const struct task_group *, struct arena *memory);
void device_needs_release(struct device_needs *);

bool device_need_matches(
	const struct device_need *, const struct node_class *, uint32_t device_group);
// Which device groups of a class match each need, as bits by the group's place in the class.
void device_needs_match(const struct device_needs *, const struct node_class *, uint8_t *matches);

// All device instances of a class's nodes, and how many instances of each group are in a set.
struct device_set device_set_of_class(const struct node_class *);
void device_counts(const struct device_set *, uint8_t counts[NODE_DEVICE_GROUPS_MAX]);

// For each need the device group that serves it, by the group's place in the class.
#define DEVICE_NEEDS_MAX (NODE_DEVICE_GROUPS_MAX * NODE_DEVICES_MAX) // as job_derive() allows
struct device_choice {
	uint8_t groups[DEVICE_NEEDS_MAX];
	double matched; // of the affinities that the chosen groups meet
};

// Gives each need a device group with enough free instances, preferring what it likes better; without a class nothing
// is preferred. matches: as device_needs_match() fills them; NULL: the class is asked. False: all needs cannot be
// served.
bool device_needs_choose(const struct device_needs *, const struct node_class *,
	const uint8_t *matches, const uint8_t free[NODE_DEVICE_GROUPS_MAX], struct device_choice *);
// The same without the choice. *score: of affinities, as a share of the weights; 0 when there are none.
bool device_needs_score(const struct device_needs *, const struct node_class *,
	const uint8_t free[NODE_DEVICE_GROUPS_MAX], double *score);
// Takes the lowest instance of a device group out of the set, which has one.
uint32_t device_set_take_lowest(struct device_set *, uint32_t group);
// The choice as instances: of each group the lowest free ones.
void device_choice_take(const struct device_needs *, const struct device_choice *,
	const struct device_set *free, struct device_set *taken);

// name is "type", "vendor/type" or "vendor/type/name".
bool device_is_named(const struct device_group *, const char *name);
