// Checks jobs, their versions and their allocations.
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/client.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_allocations.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/jobs/job_table.h"
#include "state/tables/kind.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include "state/verify/verifier.h"
#include <urcu-qsbr.h>

static void check_counter(struct verifier *v, struct job_keep *keep, const struct allocation *a)
{
	const struct task_group *group = allocation_group(a);
	const struct group_counter *counter = job_keep_counter(keep, text_of(group->name));
	uint32_t next = counter ? counter->next : keep->counter_floor;

	expect(v, a->index < next, "job %s: number %u of group %s may be given again", a->job->id,
		a->index, group->name);
}

static void check_job_allocations(struct verifier *v, const struct job_cell *cell)
{
	const struct alloc_cell *alloc;
	uint32_t count = 0, present = 0, live = 0;

	FOR_ALLOCATIONS_OF(alloc, cell)
	{
		const struct allocation *a = alloc->working;
		count++;
		expect(v,
			alloc->job_cell == cell && job_allocations_hold(cell, alloc) &&
				strcmp(a->job->namespace_name, cell->namespace_name) == 0 &&
				strcmp(a->job->id, cell->id) == 0,
			"job %s: an allocation of another job is on its list", cell->id);
		if (a->record.deleted)
			continue;
		present++;
		if (allocation_is_terminal(a))
			continue;
		live++;
		if (!job_is_direct(a->job))
			continue;
		expect(v, job_cell_keep(cell) != NULL, "job %s: deleted, but its allocations live",
			cell->id);
		if (job_cell_keep(cell) && a->group < a->job->asks.count)
			check_counter(v, job_cell_keep(cell), a);
	}
	expect(v,
		count == cell->allocation_count && present == cell->present_count &&
			live == cell->live_count,
		"job %s: counts of allocations do not add up", cell->id);
	verify_names(v, cell);
}

static void check_versions(
	struct verifier *v, const struct job_cell *cell, const struct job_keep *keep)
{
	expect(v, keep->version_count > 0 && keep->version_count <= JOB_VERSIONS_MAX,
		"job %s: %u versions", cell->id, keep->version_count);
	for (uint32_t i = 0; i < keep->version_count; i++) {
		const struct job *job = keep->versions[i];
		expect(v, job_version_find(v->state, job->record.modify_index) == job,
			"job %s: version %lu is not in the table", cell->id, job->version);
		expect(v, job->references > 0 && job->asks.count == job->task_groups.count,
			"job %s: version %lu: bad record", cell->id, job->version);
		expect(v, job->record.create_index == keep->record.create_index,
			"job %s: version %lu is of a former job", cell->id, job->version);
		if (i > 0)
			expect(v, job->version < keep->versions[i - 1]->version,
				"job %s: versions out of order", cell->id);
	}
	expect(v,
		keep->status == job_status_of(cell, keep) &&
			keep->versions[0]->status == keep->status,
		"job %s: wrong status", cell->id);
	const struct job *newest = keep->versions[0];
	expect(v, (newest->stop && job_is_direct(newest)) == cell->is_stopped_listed,
		"job %s: wrongly listed as stopped", cell->id);
	expect(v, (!newest->stop && job_traits_of(newest)->follows_nodes) == cell->is_system_listed,
		"job %s: wrongly listed as one for every node", cell->id);
}

void verify_jobs(struct verifier *v)
{
	struct state *state = v->state;
	uint64_t cursor = 0;
	uint32_t jobs = 0, marked = 0, by_status[JOB_DEAD + 1] = {0};
	struct job_cell *cell;

	while ((cell = sequence_next(&state->tables[STATE_JOBS].order, &cursor))) {
		const struct job_keep *keep = job_cell_keep(cell);
		expect(v, cell->published == cell->working, "job %s: a change was never published",
			cell->id);
		expect(v,
			job_cell_find(state, text_of(cell->namespace_name), text_of(cell->id)) ==
				cell,
			"job %s: its name does not lead to it", cell->id);
		expect(v, sequence_holds(&state->tables[STATE_JOBS].order, cell, cell->index),
			"job %s: out of place", cell->id);
		if (keep)
			check_versions(v, cell, keep);
		check_job_allocations(v, cell);
		if (keep)
			verify_summary(v, cell);
		verify_job_evaluations(v, cell);
		verify_job_deployments(v, cell);
		verify_children(v, cell);
		expect(v,
			cell->is_marked == (cell->working->mark.first_ns != 0) &&
				cell->is_urgent == job_mark_is_urgent(&cell->working->mark),
			"job %s: wrongly listed as marked", cell->id);
		marked += cell->is_marked;
		jobs += keep != NULL;
		if (keep && keep->status <= JOB_DEAD)
			by_status[keep->status]++;
	}
	expect(v,
		jobs == state->counts.jobs && marked == state->counts.jobs_marked &&
			memcmp(by_status, state->counts.jobs_by_status, sizeof by_status) == 0,
		"counts of jobs do not add up");
}

static void check_allocation(struct verifier *v, const struct alloc_cell *cell)
{
	const struct state *state = v->state;
	const struct allocation *a = cell->working;
	const struct record *r = &a->record;
	char id[UUID_TEXT_BYTES];

	uuid_format(&a->id, id);
	expect(v, cell->published == a, "allocation %s: a change was never published", id);
	expect(v, alloc_cell_find(state, &a->id) == cell,
		"allocation %s: its id does not lead to it", id);
	expect(v, r->create_index <= r->modify_index && r->modify_index <= state->index,
		"allocation %s: indexes out of order", id);
	expect(v, sequence_holds(&state->tables[STATE_ALLOCATIONS].order, cell, r->create_index),
		"allocation %s: out of place", id);
	expect(v,
		a->node_slot == NODE_SLOT_NONE || (a->node_slot < state_node_slots(state) &&
							  state->cells[a->node_slot].working),
		"allocation %s: no node at slot %u", id, a->node_slot);
	expect(v,
		a->group < a->job->asks.count &&
			job_version_find(state, a->job->record.modify_index) == a->job,
		"allocation %s: no such job version or group", id);
	expect(v, (a->end_cause != END_NONE) == (a->desired != ALLOC_RUN),
		"allocation %s: its states and descriptions disagree", id);
	expect(v,
		cell->is_ended == allocation_is_terminal(a) &&
			(cell->room != ROOM_NONE) == allocation_holds_room(a) &&
			(cell->room == ROOM_LIVING) ==
				(allocation_holds_room(a) && !allocation_is_terminal(a)),
		"allocation %s: holds its node, or not, against its state", id);
	if (r->deleted)
		return;
	expect(v,
		a->client == CLIENT_NONE ||
			(a->client < state->client_count &&
				sequence_holds(&state->clients[a->client]->changes, cell,
					r->modify_index)),
		"allocation %s: not among the changes of its client", id);
	expect(v, cell->counted_status == a->client_status + 1,
		"allocation %s: counted in another state", id);
	expect(v, !cell->eval_cell || uuid_equal(&cell->eval_cell->id, &a->eval_id),
		"allocation %s: counted by another evaluation", id);
	v->evaluated += cell->eval_cell != NULL;
	v->deployed += cell->deployment_cell != NULL;
	v->allocations++;
	v->terminal += allocation_is_terminal(a);
}

static uint32_t count_ended(struct verifier *v, const struct cds_list_head *list, bool of_clients)
{
	const struct alloc_cell *cell;
	uint32_t listed = 0;

	cds_list_for_each_entry (cell, list, terminal) {
		expect(v,
			allocation_is_terminal(cell->working) &&
				uuid_is_zero(&cell->working->eval_id) == of_clients,
			"an allocation is listed as ended that is not, or is another's");
		listed++;
	}
	return listed;
}

void verify_allocations(struct verifier *v)
{
	struct state *state = v->state;
	const struct alloc_cell *cell;
	uint64_t cursor = 0;

	while ((cell = sequence_next(&state->tables[STATE_ALLOCATIONS].order, &cursor)))
		check_allocation(v, cell);
	uint32_t listed = count_ended(v, &state->terminal, true) +
			  count_ended(v, &state->planned_terminal, false);
	expect(v, listed == v->terminal, "%u allocations ended, %u are listed", v->terminal,
		listed);
	expect(v,
		v->allocations == state->counts.allocations &&
			v->terminal == state->counts.allocations_terminal,
		"counts of allocations do not add up");
}
