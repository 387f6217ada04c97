#include "placement/scheduler/node/checks.h"
#include "state/base/check.h"
#include <stdio.h>
#include <string.h>

const char reason_class_ineligible[] = "computed class ineligible";
const char reason_distinct_hosts[] = "distinct_hosts";
static const char reason_volumes[] = "missing compatible host volumes";

static const char *text_of_rule(struct stack *s, struct compiled_rule *rule)
{
	char text[RULE_TEXT_BYTES];
	if (!rule->text) {
		compiled_rule_print(rule, text);
		rule->text = reasons_keep(&s->reasons, text);
	}
	return rule->text;
}

static const char *text_of_port(
	struct stack *s, const struct unmet_need *unmet, const struct node *n)
{
	char id[UUID_TEXT_BYTES];
	const struct port *port = unmet->port;
	const char *label = port->label ? port->label : "";
	if (unmet->kind == UNMET_PORT_TEMPLATE)
		return reasons_format(&s->reasons,
			"invalid host network \"%s\" template for port \"%s\"", port->host_network,
			label);
	return reasons_format(&s->reasons, "missing host network \"%s\" for port \"%s\"",
		port_host_network(n, port->host_network, id), label);
}

static const char *check_needs(
	struct stack *s, const struct node_needs *needs, const struct node *n)
{
	struct unmet_need unmet = node_needs_unmet(needs, n, RULES_ALL);
	switch (unmet.kind) {
	case UNMET_NONE: return NULL;
	case UNMET_DRIVER: return "missing drivers";
	case UNMET_RULE: return text_of_rule(s, &needs->rules.items[unmet.rule]);
	case UNMET_DEVICE: return "missing devices";
	case UNMET_NETWORK: return "missing network";
	case UNMET_PORT_TEMPLATE:
	case UNMET_PORT_NETWORK: return text_of_port(s, &unmet, n);
	}
	return NULL;
}

// known: the memo's verdict on the class; NULL: nodes of the class may differ.
static const char *check_level(
	uint8_t *known, struct stack *s, const struct node_needs *needs, const struct node *n)
{
	CHECK(!known || *known <= CLASS_INELIGIBLE);
	if (known && *known == CLASS_ELIGIBLE)
		return NULL;
	if (known && *known == CLASS_INELIGIBLE)
		return reason_class_ineligible;
	const char *refusal = check_needs(s, needs, n);
	if (known)
		*known = refusal ? CLASS_INELIGIBLE : CLASS_ELIGIBLE;
	return refusal;
}

const char *stack_check_static(
	struct stack *s, const struct group_rules *g, const struct node *n, uint32_t name_index)
{
	CHECK(g->number < s->group_count);
	struct remembered_class *memo = class_memo_of(&s->classes, n->node_class);
	uint8_t *of_job = s->job_rules.needs.rules.escapes ? NULL : &memo->job;
	uint8_t *of_group = g->needs.rules.escapes ? NULL : &memo->groups[g->number];
	const char *refusal = check_level(of_job, s, &s->job_rules.needs, n);
	if (!refusal)
		refusal = check_level(of_group, s, &g->needs, n);
	if (!refusal && !node_needs_volumes_met(&g->needs, n, name_index))
		refusal = reason_volumes;
	return refusal;
}

const char *stack_check_class(
	struct stack *s, const struct group_rules *g, const struct node *any, bool *by_job)
{
	const struct node_needs *of_job = &s->job_rules.needs;
	const char *refusal = of_job->rules.escapes ? NULL : check_needs(s, of_job, any);
	*by_job = refusal != NULL;
	return refusal || g->needs.rules.escapes ? refusal : check_needs(s, &g->needs, any);
}

const char *stack_check_own(struct stack *s, const struct group_rules *g, const struct node *n,
	uint32_t name_index, bool *by_job)
{
	const struct node_needs *of_job = &s->job_rules.needs;
	const char *refusal = of_job->rules.escapes ? check_needs(s, of_job, n) : NULL;
	*by_job = refusal != NULL;
	if (!refusal && g->needs.rules.escapes)
		refusal = check_needs(s, &g->needs, n);
	return refusal || node_needs_volumes_met(&g->needs, n, name_index) ? refusal
									   : reason_volumes;
}

struct collision_search {
	const struct stack *s;
	const struct group_rules *g;
	bool found;
};

static bool is_collision(const struct proposed_allocation *a, void *context)
{
	struct collision_search *search = context;
	const struct job *job = search->s->job;
	if (strcmp(a->job->id, job->id) != 0 ||
		strcmp(a->job->namespace_name, job->namespace_name) != 0)
		return true;
	const struct task_group *group =
		ARRAY_AT(&a->job->task_groups, struct task_group, a->group);
	search->found = search->s->job_rules.distinct.hosts ||
			strcmp(group->name, search->g->group->name) == 0;
	return !search->found;
}

static bool has_collision(const struct stack *s, const struct group_rules *g, const struct node *n)
{
	CHECK(n->slot != NODE_SLOT_NONE);
	struct collision_search search = {s, g, false};
	proposal_walk(&s->proposal, n->slot, is_collision, &search);
	return search.found;
}

const char *stack_check_property(
	struct stack *s, const struct property_set *set, const struct node *n)
{
	CHECK(!set->usable || set->limit >= 0);
	char id[UUID_TEXT_BYTES];
	const char *value = property_set_value(set, n, id);
	if (!set->usable)
		return reasons_format(&s->reasons,
			"distinct_property: the limit for %s is no number", set->attribute);
	if (!value)
		return reasons_format(&s->reasons, "missing property \"%s\"", set->attribute);
	int64_t used = property_set_used(set, value);
	if (used < set->limit)
		return NULL;
	return reasons_format(&s->reasons, "distinct_property: %s=%s used by %lld allocs",
		set->attribute, value, (long long)used);
}

static const char *check_properties(
	struct stack *s, const struct distinct_rules *distinct, const struct node *n)
{
	const char *refusal = NULL;
	for (uint32_t i = 0; i < distinct->property_count && !refusal; i++)
		refusal = stack_check_property(s, &distinct->properties[i], n);
	return refusal;
}

const char *stack_check_properties(struct stack *s, struct group_rules *g, const struct node *n)
{
	CHECK(g->job == s->job);
	const char *refusal = check_properties(s, &s->job_rules.distinct, n);
	return refusal ? refusal : check_properties(s, &g->distinct, n);
}

const char *stack_check_distinct(struct stack *s, struct group_rules *g, const struct node *n)
{
	CHECK(g->job == s->job);
	bool hosts = s->kind == STACK_GENERIC && (s->job_rules.distinct.hosts || g->distinct.hosts);
	if (hosts && has_collision(s, g, n))
		return reason_distinct_hosts;
	return stack_check_properties(s, g, n);
}
