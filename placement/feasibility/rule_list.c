#include "placement/feasibility/rule_list.h"
#include "placement/feasibility/condition.h"
#include "state/base/check.h"
#include "state/records/job_traits.h"
#include <stdio.h>

void rule_list_add(struct rule_list *list, const struct job *job, const struct array *constraints)
{
	for (uint32_t i = 0; i < constraints->count; i++) {
		const struct constraint *c = ARRAY_AT(constraints, struct constraint, i);
		if (constraint_is_distinct(c->operand) && !job_is_direct(job))
			continue;
		struct compiled_rule *rule = &list->items[list->count++];
		*rule = (struct compiled_rule){
			.condition = condition_compile(job, c->l_target, c->operand, c->r_target),
			.source = c};
		list->escapes |= rule->condition && constraint_is_node_unique(rule->condition);
	}
	CHECK(list->count == 0 || list->items);
}

void rule_list_release(struct rule_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		constraint_free(list->items[i].condition);
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

void compiled_rule_print(const struct compiled_rule *rule, char text[RULE_TEXT_BYTES])
{
	const struct constraint *c = rule->source;
	snprintf(text, RULE_TEXT_BYTES, "%s %s %s", or_empty(c->l_target), or_empty(c->operand),
		or_empty(c->r_target));
}

bool compiled_rule_refuses(
	const struct compiled_rule *rule, const struct node *n, enum rule_scope scope)
{
	bool is_unique = rule->condition && constraint_is_node_unique(rule->condition);
	bool is_in_scope = scope == RULES_ALL || is_unique == (scope == RULES_OF_NODE);
	return is_in_scope && (!rule->condition || !constraint_matches_node(rule->condition, n));
}

uint32_t rule_list_refused(
	const struct rule_list *list, const struct node *n, enum rule_scope scope)
{
	CHECK(n->node_class);
	uint32_t i = 0;
	while (i < list->count && !compiled_rule_refuses(&list->items[i], n, scope))
		i++;
	return i;
}
