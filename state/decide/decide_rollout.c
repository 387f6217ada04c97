// Jobs of several regions (row C37): a version's deployment exists, and waits, before any allocation is placed.
#include "state/base/check.h"
#include "state/decide/decide.h"
#include "state/records/job_traits.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/job_cell.h"
#include <urcu-qsbr.h>

bool job_begins_rollout(const struct job *job)
{
	return job->multiregion && job_traits_of(job)->has_rollouts && job_has_scheduler(job);
}

static void cancel_active(struct decider *d, const struct job_cell *job)
{
	const struct deployment_cell *cell, *next;

	// The active deployment is among the newest; at most one is active.
	cds_list_for_each_entry_safe (cell, next, &job->deployments, of_job) {
		if (!deployment_cell_is_there(cell) || !deployment_is_active(cell->working))
			continue;
		struct entry e = {.kind = ENTRY_DEPLOYMENT,
			.deployment = {.change = DEPLOYMENT_CHANGES_STATUS,
				.id = cell->id,
				.status = DEPLOYMENT_CANCELLED,
				.description = TEXT(DEPLOYMENT_TEXT_NEWER_JOB)}};
		CHECK(decider_commit(d, &e) == 0);
		return;
	}
}

void decider_begin_rollout(struct decider *d, const struct job_cell *cell, int64_t eval_priority)
{
	const struct job *job = job_cell_keep(cell)->versions[0];

	cancel_active(d, cell);
	struct deployment *begins = deployment_create();
	begins->id = prng_uuid(&d->prng);
	begins->namespace_name = text_copy(text_of(job->namespace_name));
	begins->job_id = text_copy(text_of(job->id));
	begins->job_version = job->version;
	begins->job_modify_index = job->record.modify_index;
	begins->job_spec_modify_index = job->job_modify_index;
	begins->job_create_index = job->record.create_index;
	begins->is_multiregion = true;
	begins->status = DEPLOYMENT_INITIALIZING;
	begins->eval_priority = eval_priority ? eval_priority : job->priority;
	CHECK(decider_put(d, STATE_DEPLOYMENTS, begins) == 0);
}
