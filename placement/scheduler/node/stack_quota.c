#include "placement/scheduler/node/stack_quota.h"
#include "placement/scheduler/node/stack_state.h"
#include "state/base/check.h"

static const struct group_ask *ask_of(const struct job *job, uint32_t group)
{
	CHECK(group < job->asks.count);
	return ARRAY_AT(&job->asks, struct group_ask, group);
}

void stack_quota_stop(struct stack *s, const struct allocation *a, int64_t by)
{
	if (s->quota.is_limited && !allocation_is_terminal(a))
		quota_amount_add(&s->quota.planned, a->resources, ask_of(a->job, a->group), by);
}

void stack_quota_begin(struct stack *s)
{
	const struct scheduler_view *view = &s->view;
	const struct array *stops = &s->plan->stops;

	s->quota.is_limited = view->quota_lacks && s->plan->namespace_name &&
			      view->quota_lacks(view->context, s->plan->namespace_name, NULL, NULL);
	for (uint32_t i = 0; s->quota.is_limited && i < stops->count; i++) {
		const struct plan_stop *stop = ARRAY_AT(stops, struct plan_stop, i);
		const struct allocation *a = view->allocation(view->context, &stop->id);
		if (a)
			stack_quota_stop(s, a, -1);
	}
}

void stack_quota_release(struct stack *s)
{
	quota_amount_free(&s->quota.planned);
	CHECK(s->quota.planned.instances == 0);
}

void stack_quota_place(
	struct stack *s, const struct job *job, uint32_t group, struct resources resources)
{
	if (s->quota.is_limited)
		quota_amount_add(&s->quota.planned, resources, ask_of(job, group), 1);
}

const char *stack_quota_lacks(struct stack *s, uint32_t group, struct array *texts)
{
	const struct group_ask *ask;
	struct quota_amount change = {0};

	if (!s->quota.is_limited)
		return NULL;
	CHECK(s->job);
	ask = ask_of(s->job, group);
	quota_amount_merge(&change, &s->quota.planned, 1);
	quota_amount_add(&change, ask->resources, ask, 1);
	const char *name =
		s->view.quota_lacks(s->view.context, s->plan->namespace_name, &change, texts);
	quota_amount_free(&change);
	return name;
}
