#include "state/plan/plan_deployment.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/tables.h"

bool plan_deployment_update_holds(const struct state *state, const struct entry_plan *e, uint32_t i)
{
	const struct deployment_update *u =
		ARRAY_AT(&e->deployment_updates, struct deployment_update, i);
	const struct deployment_cell *cell = deployment_cell_find_active(state, &u->id);

	for (uint32_t j = 0; j < i; j++)
		if (uuid_equal(&u->id,
			    &ARRAY_AT(&e->deployment_updates, struct deployment_update, j)->id))
			return false;
	return cell && deployment_may_become(cell->working->status, u->status) &&
	       deployment_description_is_sound(text_of(u->description));
}

static uint32_t count_ended(
	const struct state *state, const struct entry_plan *e, const struct job_cell *job)
{
	uint32_t ended = 0;

	for (uint32_t i = 0; i < e->deployment_updates.count; i++) {
		const struct deployment_update *u =
			ARRAY_AT(&e->deployment_updates, struct deployment_update, i);
		struct deployment after = {.status = u->status};
		if (plan_deployment_update_holds(state, e, i) && !deployment_is_active(&after))
			ended += deployment_cell_find(state, &u->id)->job_cell == job;
	}
	return ended;
}

bool plan_deployment_is_stale(const struct state *state, const struct entry_plan *e)
{
	const struct deployment *d = e->deployment;

	if (!d)
		return false;
	const struct job_cell *job = deployment_is_sound(d) ? deployment_job_cell(state, d) : NULL;
	if (!job || !deployment_is_active(d) || job_cell_has_members_of(job, &d->id))
		return true;
	const struct deployment_cell *known = deployment_cell_find(state, &d->id);
	if (known)
		return !deployment_cell_is_there(known) || known->job_cell != job ||
		       known->working->status != DEPLOYMENT_INITIALIZING;
	return count_ended(state, e, job) != job->deployments_active;
}

bool plan_deployment_has_room(const struct state *state, const struct entry_plan *e)
{
	return !e->deployment || deployment_cell_find(state, &e->deployment->id) ||
	       deployments_have_room(state, 1);
}
