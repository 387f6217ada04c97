#include "placement/direct/verdicts.h"
#include "state/base/check.h"

void verdicts_begin(struct verdicts *v, const struct job *job, uint32_t group)
{
	*v = (struct verdicts){.job = job};
	v->room = ARRAY_AT(&job->asks, struct group_ask, group)->resources;
	node_needs_of_job(&v->of_job, job, &v->memory);
	node_needs_of_group(&v->of_group, job, group, &v->memory);
	CHECK(verdicts_constraints(v) <= JOB_CONSTRAINTS_MAX);
}

void verdicts_release(struct verdicts *v)
{
	node_needs_release(&v->of_job);
	node_needs_release(&v->of_group);
	arena_release(&v->memory);
}

uint32_t verdicts_constraints(const struct verdicts *v)
{
	return v->of_job.rules.count + v->of_group.rules.count;
}

bool verdicts_are_of_nodes(const struct verdicts *v)
{
	return v->of_job.rules.escapes || v->of_group.rules.escapes;
}

static uint8_t find_verdict(const struct verdicts *v, const struct node *n, enum rule_scope scope)
{
	struct unmet_need unmet = node_needs_unmet(&v->of_job, n, scope);
	uint32_t rules_before = 0;
	if (unmet.kind == UNMET_NONE) {
		unmet = node_needs_unmet(&v->of_group, n, scope);
		rules_before = v->of_job.rules.count;
	}
	if (unmet.kind == UNMET_NONE)
		return VERDICT_PASS;
	if (unmet.kind == UNMET_RULE)
		return (uint8_t)(VERDICT_CONSTRAINT + rules_before + unmet.rule);
	CHECK(unmet.kind == UNMET_DEVICE); // direct jobs have no other needs
	return VERDICT_DEVICE;
}

uint8_t verdict_of_class(const struct verdicts *v, const struct node_class *node_class)
{
	const struct node any = {.node_class = (struct node_class *)node_class};
	if (!job_takes_datacenter(v->job, node_class->datacenter))
		return VERDICT_DATACENTER;
	if (!job_takes_pool(v->job, node_class->pool))
		return VERDICT_POOL;
	return find_verdict(v, &any, RULES_OF_CLASS);
}

uint8_t verdict_of_node(const struct verdicts *v, const struct node *n, uint8_t of_class)
{
	if (of_class == VERDICT_DATACENTER || of_class == VERDICT_POOL)
		return of_class;
	// The constraint that fails first counts, and all come before devices.
	uint8_t own = find_verdict(v, n, RULES_OF_NODE);
	bool is_first = own != VERDICT_PASS && (of_class < VERDICT_CONSTRAINT || own < of_class);
	return is_first ? own : of_class;
}
