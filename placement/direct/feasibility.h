// Where a job's group may run: datacenter, pool, constraints, devices; room is checked elsewhere. Everything but what
// is unique to a node is decided once per node class.
#pragma once
#include "placement/constraint/constraint.h"
#include "state/records/job.h"
#include "state/records/nodes/node.h"

// A verdict is one byte, so that a column of them is small. From VERDICT_CONSTRAINT on it is the number of
// the constraint that failed first, in the order of struct place_refusal.
enum {
	VERDICT_UNKNOWN,
	VERDICT_PASS,
	VERDICT_DATACENTER,
	VERDICT_POOL,
	VERDICT_DEVICE,
	VERDICT_CONSTRAINT,
	VERDICTS = VERDICT_CONSTRAINT + JOB_CONSTRAINTS_MAX,
};

// The device groups of a class that serve each ask, as bits by group number.
struct device_matches {
	uint8_t groups[NODE_DEVICE_GROUPS_MAX];
};

struct feasibility;

// The job must outlive it. No node meets a constraint that does not compile: job_check refuses such jobs, so another
// version stored this one.
struct feasibility *feasibility_create(const struct job *, uint32_t group);
void feasibility_destroy(struct feasibility *);

const struct group_ask *feasibility_ask(const struct feasibility *);
uint32_t feasibility_constraints(const struct feasibility *);
// True when some constraint looks at what is unique to a node: then feasibility_of_node is needed.
bool feasibility_is_node_unique(const struct feasibility *);

// The verdict on all nodes of a class; fills matches when the group asks for devices.
uint8_t feasibility_of_class(
	const struct feasibility *, const struct node_class *, struct device_matches *matches);
// The verdict on a node whose class has the verdict of_class.
uint8_t feasibility_of_node(const struct feasibility *, const struct node *, uint8_t of_class);

// Chooses free instances for every ask. False when there are not enough.
bool devices_choose(const struct group_ask *, const struct device_matches *,
	const struct device_set *free, struct device_set *chosen);
// The same by free counts only.
bool devices_suffice(const struct group_ask *, const struct device_matches *,
	const uint8_t free[NODE_DEVICE_GROUPS_MAX]);

// name is "type", "vendor/type" or "vendor/type/name".
bool device_is_named(const struct device_group *, const char *name);
