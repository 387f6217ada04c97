// Evaluations, and what jobs keep count of: from the records.
#include "state/apply/apply.h"
#include "state/base/memory.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_allocations.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include "state/verify/verifier.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

// Checks the counts of living allocations only: ended ones stay counted after they are collected.
void verify_summary(struct verifier *v, const struct job_cell *cell)
{
	struct job_keep *keep = cell->working;
	static const uint8_t statuses[] = {ALLOC_PENDING, ALLOC_RUNNING, ALLOC_UNKNOWN};
	uint32_t(*counted)[ALLOC_UNKNOWN + 1] =
		memory_take_array(keep->counter_count, sizeof counted[0]);
	const struct alloc_cell *alloc;

	FOR_ALLOCATIONS_OF(alloc, cell)
	{
		const struct allocation *a = alloc->working;
		if (a->record.deleted || a->group >= a->job->asks.count)
			continue;
		const struct group_counter *row =
			job_keep_counter(keep, text_of(allocation_group(a)->name));
		if (row)
			counted[row - keep->counters][a->client_status]++;
	}
	// A group whose row was forgotten for a while counts only what came after that.
	for (uint32_t i = 0; i < keep->counter_count && keep->counter_floor == 0; i++)
		for (uint32_t j = 0; j < sizeof statuses; j++)
			expect(v, counted[i][statuses[j]] == keep->counters[i].clients[statuses[j]],
				"job %s: summary of group %u does not add up", cell->id, i);
	free(counted);
}

static bool is_child_of(const struct job_cell *child, const struct job_cell *cell)
{
	const struct job_keep *keep = job_cell_keep(child);

	return keep && child->parent == cell && child->is_child &&
	       strcmp(keep->versions[0]->parent_id, cell->id) == 0 &&
	       strcmp(child->namespace_name, cell->namespace_name) == 0;
}

// Some of the dead children may be gone.
void verify_children(struct verifier *v, const struct job_cell *cell)
{
	const struct job_keep *keep = job_cell_keep(cell);
	int64_t counted[JOB_DEAD + 1] = {0};
	const struct job_cell *child;
	uint32_t children = 0;

	cds_list_for_each_entry (child, &cell->children, sibling) {
		bool is_sound = is_child_of(child, cell);
		children++;
		expect(v, is_sound, "job %s: another's child is among its own", cell->id);
		if (is_sound)
			counted[child->working->status]++;
	}
	if (!keep) {
		expect(v, children == 0, "job %s: gone, but it has children", cell->id);
		return;
	}
	expect(v,
		counted[JOB_PENDING] == keep->children.pending &&
			counted[JOB_RUNNING] == keep->children.running &&
			counted[JOB_DEAD] <= keep->children.dead,
		"job %s: counts of children do not add up", cell->id);
}

void verify_job_evaluations(struct verifier *v, const struct job_cell *cell)
{
	const struct eval_cell *eval;
	uint32_t count = 0, present = 0, live = 0, blocked = 0, listed = 0;

	cds_list_for_each_entry_rcu (eval, &cell->evaluations, of_job) {
		const struct evaluation *e = eval->working;
		count++;
		expect(v,
			eval->job_cell == cell &&
				strcmp(e->namespace_name, cell->namespace_name) == 0 &&
				strcmp(e->job_id, cell->id) == 0,
			"job %s: an evaluation of another job is on its list", cell->id);
		if (e->record.deleted)
			continue;
		present++;
		live += !evaluation_is_terminal(e);
		blocked += e->status == EVAL_BLOCKED;
	}
	cds_list_for_each_entry (eval, &cell->blocked, blocked) {
		expect(v, eval->working->status == EVAL_BLOCKED && eval->job_cell == cell,
			"job %s: an evaluation is listed as blocked that is not", cell->id);
		listed++;
	}
	expect(v,
		count == cell->evaluation_count && present == cell->evaluations_present &&
			live == cell->evaluations_live && blocked == listed,
		"job %s: counts of evaluations do not add up", cell->id);
}

void verify_evaluations(struct verifier *v)
{
	const struct state *state = v->state;
	const struct eval_cell *cell;
	uint32_t present = 0, pending = 0, blocked = 0;
	uint64_t cursor = 0, allocations = 0;

	while ((cell = sequence_next(&state->tables[STATE_EVALUATIONS].order, &cursor))) {
		allocations += cell->allocations;
		if (cell->working->record.deleted)
			continue;
		present++;
		expect(v, cell->counted_status == 1 + cell->working->status,
			"job %s: an evaluation is counted in another status",
			cell->working->job_id);
		pending += cell->working->status == EVAL_PENDING;
		blocked += cell->working->status == EVAL_BLOCKED;
	}
	expect(v,
		present == state->counts.evaluations &&
			pending == state->counts.evaluations_pending &&
			blocked == state->counts.evaluations_blocked,
		"counts of evaluations do not add up");
	expect(v, allocations == v->evaluated, "%lu allocations are counted by evaluations, %u are",
		allocations, v->evaluated);
}
