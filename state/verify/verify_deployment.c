// Deployments, and what they count of their allocations: from the records.
#include "state/apply/apply.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/job_allocations.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include "state/verify/verifier.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

// What the remaining allocations say of one group of a deployment. The deployment still counts allocations that were
// collected or joined a later one.
struct said {
	int64_t placed, healthy, unhealthy, canaries;
};

static void listen_to(struct verifier *v, struct said *said, const struct deployment_group *g,
	const struct allocation *a)
{
	const struct alloc_deployment_status *status = allocation_health(a);

	said->placed++;
	said->canaries += deployment_group_has_canary(g, &a->id);
	if (status && status->healthy.set)
		*(status->healthy.value ? &said->healthy : &said->unhealthy) += 1;
	expect(v, !status || !status->canary || deployment_group_has_canary(g, &a->id),
		"group %s: a canary of it is not among those that its deployment placed", g->group);
}

static void check_group(struct verifier *v, const struct deployment_cell *cell,
	const struct deployment_group *g, const struct said *said)
{
	char id[UUID_TEXT_BYTES];

	uuid_format(&cell->id, id);
	expect(v,
		said->placed <= g->placed_allocs && said->healthy <= g->healthy_allocs &&
			said->unhealthy <= g->unhealthy_allocs,
		"deployment %s: group %s: allocations say more than it counts", id, g->group);
	expect(v,
		g->healthy_allocs >= 0 && g->unhealthy_allocs >= 0 &&
			g->healthy_allocs + g->unhealthy_allocs <= g->placed_allocs &&
			g->placed_canaries.count <= g->placed_allocs,
		"deployment %s: group %s: counts do not fit together", id, g->group);
	expect(v,
		(g->placed_allocs > 0 && g->progress_deadline_ns != 0) ==
			(g->require_progress_by_ns != 0),
		"deployment %s: group %s: a deadline without a placement, or none with one", id,
		g->group);
	// When all placed allocations are still there, nothing else may be counted.
	if (said->placed == g->placed_allocs)
		expect(v,
			said->healthy == g->healthy_allocs &&
				said->unhealthy == g->unhealthy_allocs &&
				said->canaries == g->placed_canaries.count,
			"deployment %s: group %s: counts do not add up", id, g->group);
}

// One for each deployment of a job, newest first.
struct tally {
	const struct deployment_cell *cell;
	struct said *groups;
	uint32_t living;
};

static struct tally *take_tallies(const struct job_cell *job)
{
	struct tally *tallies = memory_take_array(job->deployment_count + 1, sizeof *tallies);
	struct deployment_cell *cell;
	uint32_t count = 0;

	cds_list_for_each_entry_rcu (cell, &job->deployments, of_job) {
		if (count == job->deployment_count)
			break;
		cell->checked = count;
		tallies[count].cell = cell;
		tallies[count++].groups =
			memory_take_array(cell->working->groups.count + 1, sizeof(struct said));
	}
	return tallies;
}

static void free_tallies(struct tally *tallies, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		free(tallies[i].groups);
	free(tallies);
}

static void hear_allocation(struct verifier *v, struct tally *tallies, const struct job_cell *job,
	const struct allocation *a)
{
	const struct deployment_cell *cell =
		deployment_cell_find(v->state, &a->details->deployment_id);

	if (!cell || cell->job_cell != job || !deployment_cell_is_there(cell) ||
		cell->checked >= job->deployment_count)
		return;
	struct tally *tally = &tallies[cell->checked];
	const struct deployment_group *g =
		deployment_group_of(cell->working, text_of(allocation_group(a)->name));
	tally->living += !allocation_is_terminal(a);
	if (g)
		listen_to(v,
			&tally->groups[g - (struct deployment_group *)cell->working->groups.items],
			g, a);
}

static void check_counts(struct verifier *v, const struct job_cell *job)
{
	struct tally *tallies = take_tallies(job);
	const struct alloc_cell *alloc;

	FOR_ALLOCATIONS_OF(alloc, job)
	{
		const struct allocation *a = alloc->working;
		if (!a->record.deleted && a->details && a->group < a->job->asks.count)
			hear_allocation(v, tallies, job, a);
	}
	for (uint32_t i = 0; i < job->deployment_count && tallies[i].cell; i++) {
		const struct deployment *d = tallies[i].cell->working;
		for (uint32_t j = 0; j < d->groups.count && !d->record.deleted; j++)
			check_group(v, tallies[i].cell,
				ARRAY_AT(&d->groups, struct deployment_group, j),
				&tallies[i].groups[j]);
		expect(v, tallies[i].living == tallies[i].cell->living,
			"job %s: a deployment has %u living allocations, %u counted", d->job_id,
			tallies[i].living, tallies[i].cell->living);
	}
	free_tallies(tallies, job->deployment_count);
}

void verify_job_deployments(struct verifier *v, const struct job_cell *job)
{
	const struct deployment_cell *cell;
	uint32_t count = 0, active = 0;
	uint64_t newer = UINT64_MAX;

	cds_list_for_each_entry_rcu (cell, &job->deployments, of_job) {
		const struct deployment *d = cell->working;
		count++;
		expect(v,
			cell->job_cell == job &&
				strcmp(d->namespace_name, job->namespace_name) == 0 &&
				strcmp(d->job_id, job->id) == 0,
			"job %s: a deployment of another job is on its list", job->id);
		expect(v, d->record.create_index < newer,
			"job %s: its deployments are not in order", job->id);
		newer = d->record.create_index;
		if (d->record.deleted)
			continue;
		active += deployment_is_active(d);
	}
	expect(v,
		count == job->deployment_count && active == job->deployments_active && active <= 1,
		"job %s: counts of deployments do not add up", job->id);
	if (job->deployment_count > 0)
		check_counts(v, job);
}

bool job_counts_add_up(struct state *state)
{
	struct verifier v = {.state = state};
	uint64_t cursor = 0;
	const struct job_cell *job;

	while ((job = sequence_next(&state->tables[STATE_JOBS].order, &cursor))) {
		verify_job_deployments(&v, job);
		verify_children(&v, job);
		if (job_cell_keep(job))
			verify_summary(&v, job);
	}
	return v.violations == 0;
}

void verify_deployments(struct verifier *v)
{
	const struct state *state = v->state;
	const struct deployment_cell *cell;
	uint32_t present = 0, active = 0;
	uint64_t cursor = 0, living = 0;

	while ((cell = sequence_next(&state->tables[STATE_DEPLOYMENTS].order, &cursor))) {
		const struct deployment *d = cell->working;
		living += cell->living;
		if (d->record.deleted)
			continue;
		expect(v, d->create_time_ns <= d->modify_time_ns,
			"job %s: a deployment was changed before it was made", d->job_id);
		present++;
		active += deployment_is_active(cell->working);
	}
	expect(v,
		present == state->counts.deployments && active == state->counts.deployments_active,
		"counts of deployments do not add up");
	expect(v, living == v->deployed,
		"%lu living allocations are counted by deployments, %u are", living, v->deployed);
}
