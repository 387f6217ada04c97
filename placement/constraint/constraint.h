// A compiled constraint of a job: job validation checks it, and placement tests nodes with it. Semantics are Nomad's
// (targets, missing values, order of comparison).
#pragma once
#include "placement/constraint/constraint_error.h"
#include "state/records/nodes/node.h"
#include <stdbool.h>

struct compiled_constraint;

// l_target and r_target: "${node.datacenter}", "${attr.cpu.arch}", "${meta.rack}", … or a literal;
// in a constraint of a device ask also "${device.type}", "${device.vendor}", "${device.model}" and
// "${device.attr.memory}", whose values compare as quantities ("11 GiB" is more than "8192 MiB").
// NULL counts as "". Returns NULL and fills error when it is refused; the caller frees with
// constraint_free. One thread at a time per compiled constraint.
struct compiled_constraint *constraint_compile(const char *l_target, const char *r_target,
	const char *operand, struct constraint_error *error);
void constraint_free(struct compiled_constraint *); // NULL is fine

// True for distinct_hosts and distinct_property, which are about allocations: they do not compile. NULL is fine.
bool constraint_is_distinct(const char *operand);

// True when the constraint tests what differs between nodes of one class ("${node.unique.…}", "${attr.unique.…}",
// "${meta.unique.…}"): then only constraint_matches_node decides it.
bool constraint_is_node_unique(const struct compiled_constraint *);

// True when its work depends on a pattern that its author chose. The applier, for which all wait, has no time for that.
bool constraint_searches(const struct compiled_constraint *);

// Under read lock, or on the applier's thread. A node that has nothing but its class will do for a constraint that does
// not test what is unique to a node.
bool constraint_matches_node(const struct compiled_constraint *, const struct node *);
bool constraint_matches_device(
	const struct compiled_constraint *, const struct node_class *, const struct device_group *);

// The value of a target on a node, without a comparison ("${meta.rack}" of a spread).
struct node_property;

struct node_property *node_property_compile(const char *target); // never NULL
void node_property_free(struct node_property *);                 // NULL is fine
// True when nodes of one class may differ in it.
bool node_property_is_node_unique(const struct node_property *);
// NULL: missing. id is room for the text of a node's id.
const char *node_property_value(
	const struct node_property *, const struct node *, char id[UUID_TEXT_BYTES]);
