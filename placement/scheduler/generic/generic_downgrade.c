// While canaries try a version out, other instances are placed with the newest version that was promoted or that
// needed no canaries (row C31).
#include "placement/scheduler/generic/generic_attempt.h"
#include "state/base/check.h"
#include "state/base/text.h"

struct search {
	const struct job *job;
	struct text group;
	uint64_t min_version; // an older version would undo what was there already
	const struct deployment *best;
};

static bool look_at_deployment(const struct deployment *d, void *context)
{
	struct search *s = context;
	const struct deployment_group *group = deployment_group_of(d, s->group);
	bool tried = group && (group->promoted || group->desired_canaries == 0);
	if (tried && d->job_create_index == s->job->record.create_index &&
		d->job_version >= s->min_version &&
		(!s->best || d->job_version > s->best->job_version))
		s->best = d;
	CHECK(!s->best || s->best->job_version >= s->min_version);
	return true;
}

static const struct job *version_at(const struct generic_attempt *a, uint64_t version)
{
	CHECK(a->job);
	return a->view.job_version(a->view.context, a->job->namespace_name, a->job->id, version);
}

// The version, when it is stored and has the group.
static bool is_found(const struct generic_attempt *a, uint64_t version, struct text group,
	struct older_version *found)
{
	const struct job *job = version_at(a, version);
	int at = job ? job_group_index(job, group) : -1;
	if (at < 0)
		return false;
	*found = (struct older_version){.job = job, .group = (uint32_t)at};
	CHECK(found->group < found->job->task_groups.count);
	return true;
}

bool generic_older_version(const struct generic_attempt *a, const struct reconcile_place *wanted,
	struct older_version *found)
{
	CHECK(wanted->group < a->job->task_groups.count);
	CHECK(wanted->downgrade);
	struct text group =
		text_of(ARRAY_AT(&a->job->task_groups, struct task_group, wanted->group)->name);
	struct search search = {.job = a->job, .group = group, .min_version = wanted->min_version};
	a->view.job_deployments(
		a->view.context, a->job->namespace_name, a->job->id, look_at_deployment, &search);
	if (search.best && is_found(a, search.best->job_version, group, found)) {
		found->deployment = search.best->id;
		return true;
	}
	// No deployment tells how a version went, so the allocation's own one is the best that is known.
	return is_found(a, wanted->min_version, group, found);
}
