// The constraints of a job, or of a group with its tasks, in order (rows A43–A46).
#pragma once
#include "placement/constraint/constraint.h"
#include "state/records/job.h"

struct compiled_rule {
	struct compiled_constraint *condition; // NULL: no node meets it
	const struct constraint *source;
	const char *text; // of whoever says it; NULL: nobody did yet
};

struct rule_list {
	struct compiled_rule *items;
	uint32_t count;
	bool escapes; // a rule looks at what is unique to a node, so nodes of one class may differ
};

// The rule as people read it: "${attr.arch} = arm64"; longer ones are cut.
#define RULE_TEXT_BYTES 2400u
void compiled_rule_print(const struct compiled_rule *, char text[RULE_TEXT_BYTES]);

enum rule_scope {
	RULES_ALL,
	RULES_OF_CLASS, // those that are the same for all nodes of a class
	RULES_OF_NODE,  // the others
};

// Adds a rule for each constraint but distinct_hosts and distinct_property, which are about allocations; items has room
// for all. What condition_compile() refuses no node meets.
void rule_list_add(struct rule_list *, const struct job *, const struct array *constraints);
void rule_list_release(struct rule_list *); // not the items

// Whether the rule is in the scope and the node does not meet it. For RULES_OF_CLASS a node that has nothing but its
// class will do. Under read lock, or on the applier's thread.
bool compiled_rule_refuses(const struct compiled_rule *, const struct node *, enum rule_scope);
// The number of the first rule that refuses the node; the count of rules: none does.
uint32_t rule_list_refused(const struct rule_list *, const struct node *, enum rule_scope);
