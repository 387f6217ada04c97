#include "placement/watch/drains/drain_survey.h"
#include "state/records/alloc_details.h"
#include "state/records/job_traits.h"
#include <stdlib.h>

enum drain_kind drain_kind_of(const struct allocation *a)
{
	return job_traits_of(a->job)->drain;
}

bool allocation_is_flagged(const struct allocation *a)
{
	return a->details && a->details->transition.migrate.set &&
	       a->details->transition.migrate.value;
}

bool allocation_is_draining(const struct state *state, const struct allocation *a)
{
	const struct node *node =
		a->node_slot == NODE_SLOT_NONE ? NULL : state_node_at(state, a->node_slot);
	return node && node->drain && uuid_equal(&node->id, &a->node_id);
}

struct surveying {
	const struct state *state;
	const struct job *job;
	struct drain_survey *out;
};

// The group of an allocation in the job's newest version; NULL: that version does not have the group.
static struct drain_group *group_of(const struct surveying *s, const struct allocation *a)
{
	if (s->out->groups.count == 0)
		return NULL;
	int index = a->group;
	if (a->job != s->job)
		index = job_group_index(s->job, text_of(allocation_group(a)->name));
	return index < 0 ? NULL : ARRAY_AT(&s->out->groups, struct drain_group, index);
}

static void survey_living(struct drain_group *g, const struct allocation *a, bool is_draining)
{
	const struct alloc_deployment_status *said = allocation_health(a);

	if (allocation_is_flagged(a)) {
		g->leaving++;
		return;
	}
	g->healthy += said && said->healthy.set;
	if (is_draining)
		*(struct uuid *)array_append(&g->drainable, sizeof a->id) = a->id;
}

static bool survey_allocation(const struct allocation *a, void *context)
{
	struct surveying *s = context;
	struct drain_group *g = group_of(s, a);
	bool is_draining = !allocation_has_ended(a) && allocation_is_draining(s->state, a);

	s->out->draining += is_draining;
	if (!g)
		return true;
	g->draining += is_draining;
	if (!allocation_is_terminal(a))
		survey_living(g, a, is_draining);
	return true;
}

void drain_survey(const struct state *state, const struct job *job, struct drain_survey *out)
{
	struct surveying s = {state, job, out};
	bool migrates = job_traits_of(job)->drain == DRAIN_MIGRATES && !job->stop;

	*out = (struct drain_survey){0};
	for (uint32_t i = 0; migrates && i < job->task_groups.count; i++) {
		const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		struct drain_group *g = array_append(&out->groups, sizeof *g);
		*g = (struct drain_group){.group = group, .count = group->count};
		g->max_parallel = group->migrate ? group->migrate->max_parallel : 1;
	}
	state_job_allocations(
		state, text_of(job->namespace_name), text_of(job->id), survey_allocation, &s);
}

void drain_survey_release(struct drain_survey *survey)
{
	for (uint32_t i = 0; i < survey->groups.count; i++)
		free(ARRAY_AT(&survey->groups, struct drain_group, i)->drainable.items);
	free(survey->groups.items);
	*survey = (struct drain_survey){0};
}

uint32_t drain_group_allowance(const struct drain_group *g)
{
	int64_t spare = (int64_t)g->healthy - (g->count - g->max_parallel);

	if (spare <= 0)
		return 0;
	return spare < g->drainable.count ? (uint32_t)spare : g->drainable.count;
}

int64_t drain_deadline(const struct drain_strategy *drain)
{
	if (drain->deadline_ns < 0)
		return 0;
	return drain->force_deadline_ns > 0 ? drain->force_deadline_ns : INT64_MAX;
}
