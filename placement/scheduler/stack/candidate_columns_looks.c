// What nodes say of a group that evicts and asks for more than room: ports, devices, cores, a snapshot. Bounds are kept
// for a kind of group, whatever its job (placement/direct/victims), so each look is that of a stack whose plan is empty
// and whose job has nothing anywhere.
#include "placement/scheduler/node/fit.h"
#include "placement/scheduler/node/preempt.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "placement/scheduler/stack/stack.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

struct looker {
	struct stack *stack;
	struct plan *plan;
	struct job nobody;
	struct group_rules *rules;
};

struct looker *candidate_columns_open_looker(const struct candidate_columns *c)
{
	CHECK(c->evictions);
	struct looker *l = memory_take(sizeof *l);
	l->nobody = (struct job){
		.id = (char *)"", .namespace_name = (char *)"", .priority = c->s->job->priority};
	l->rules = c->g;
	l->plan = plan_create();
	l->stack = stack_create(c->s->kind, &c->s->view, l->plan);
	l->stack->job = &l->nobody;
	l->stack->algorithm = c->s->algorithm;
	return l;
}

void candidate_columns_close_looker(struct looker *l)
{
	if (!l)
		return;
	stack_destroy(l->stack);
	plan_free(l->plan);
	free(l);
}

static double victims_most(const struct stack *s, const struct stack_option *option)
{
	if (option->preempted_count == 0)
		return 0;
	return s->basis.groups ? s->basis.most
			       : preemption_score(option->preempted, option->preempted_count);
}

bool candidate_columns_look(void *context, uint32_t slot, struct victim_look *look)
{
	struct looker *l = context;
	const struct node *n = view_node_in_no_order(&l->stack->view, slot);
	struct stack_option option;
	if (!n)
		return false;
	option_begin(&option, n);
	if (!stack_fit(l->stack, l->rules, n, true, &option)) {
		look->refusal = option.reason;
		return true;
	}
	alloc_details_release(option.details);
	look->sum = option.scores[SCORE_BINPACK];
	look->scores = 1;
	if (option.recorded >> SCORE_DEVICES & 1) {
		look->sum += option.scores[SCORE_DEVICES];
		look->scores++;
	}
	look->victims = victims_most(l->stack, &option);
	if (l->rules->snapshot)
		look->tier = (uint8_t)stack_snapshot_tier(l->stack, l->rules, n);
	CHECK(look->victims >= 0);
	return true;
}
