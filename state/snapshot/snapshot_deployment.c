#include "state/snapshot/snapshot_deployment.h"
#include "state/base/error.h"
#include "state/tables/publish.h"
#include <urcu-qsbr.h>

const struct deployment *deployment_at(const struct deployment_cell *cell, uint64_t index)
{
	const struct deployment *d = __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE);
	return (const struct deployment *)state_version_at((const struct record *)d, index);
}

bool job_has_deployments_at(const struct job_cell *job, uint64_t index)
{
	const struct deployment_cell *cell;

	cds_list_for_each_entry_rcu (cell, &job->deployments, of_job) {
		if (deployment_at(cell, index))
			return true;
	}
	return false;
}

// One of a job is active at most.
static int check(const struct state *state, const struct deployment *d)
{
	if (!deployment_is_sound(d) || deployment_cell_find(state, &d->id) ||
		d->record.create_index <= sequence_last_key(&state->deployment_order) ||
		d->record.create_index > d->record.modify_index ||
		d->record.modify_index > state->index || d->create_time_ns > d->modify_time_ns)
		return -ERROR_CORRUPT;
	const struct job_cell *job =
		job_cell_find(state, text_of(d->namespace_name), text_of(d->job_id));
	if (!job || (deployment_is_active(d) && job->deployments_active > 0))
		return -ERROR_CORRUPT;
	return deployments_have_room(state, 1) ? 0 : -ERROR_TABLE_FULL;
}

int deployment_item_load(struct state *state, struct bytes_reader *r)
{
	struct deployment *d = deployment_create();
	int error = record_decode(&deployment_description, d, r);

	if (!error)
		error = check(state, d);
	if (error) {
		deployment_free(d);
		return error;
	}
	struct job_cell *job = job_cell_find(state, text_of(d->namespace_name), text_of(d->job_id));
	publish_loaded(&deployment_cell_load(state, job, d)->published, d);
	return 0;
}
