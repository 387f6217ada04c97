// COMMAND_ALLOC_TRANSITIONS: flags many allocations at once and makes an evaluation for each of their jobs.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/tables.h"
#include <stdlib.h>

// Direct jobs have no scheduler that could act on a flag.
static const struct alloc_cell *cell_find(const struct state *state, const struct uuid *id)
{
	const struct alloc_cell *cell = alloc_cell_find(state, id);
	return cell && alloc_cell_is_there(cell) && !job_is_direct(cell->working->job) ? cell
										       : NULL;
}

// The allocations that exist, in the order of their ids, each once.
static struct entry_alloc_transition transition_of(
	const struct state *state, const struct command_alloc_transitions *c)
{
	struct entry_alloc_transition e = {
		.items = memory_take_array(c->count + 1, sizeof e.items[0])};

	for (uint32_t i = 0; i < c->count; i++)
		if (cell_find(state, &c->ids[i]))
			e.items[e.count++] = (struct alloc_transition){c->ids[i], *c->transition};
	e.count = items_sort_unique(e.items, e.count, sizeof e.items[0], uuid_order);
	return e;
}

static struct array jobs_of(const struct state *state, const struct entry_alloc_transition *e)
{
	struct concerned_job *jobs = memory_take_array(e->count + 1, sizeof *jobs);

	for (uint32_t i = 0; i < e->count; i++) {
		const struct alloc_cell *cell = cell_find(state, &e->items[i].id);
		jobs[i] = (struct concerned_job){cell->job_cell, cell->working->job};
	}
	return (struct array){
		jobs, items_sort_unique(jobs, e->count, sizeof *jobs, concerned_job_order)};
}

// With the present version of the job, or its last one when the job is gone.
static void jobs_evaluate(
	struct decider *d, const struct concerned_job *flagged, struct command_alloc_transitions *c)
{
	const struct job_keep *keep = job_cell_keep(flagged->cell);
	const struct job *job = keep ? keep->versions[0] : flagged->job;

	if (job_is_direct(job)) // another job by now
		return;
	struct evaluation *e = decider_evaluation(d, job, c->trigger);
	e->job_modify_index = job->job_modify_index;
	e->deployment_id = c->deployment;
	if (c->eval_priority)
		e->priority = c->eval_priority;
	CHECK(decider_evaluate(d, e, &c->made));
}

static enum command_outcome transitions_commit(
	struct decider *d, struct command_alloc_transitions *c, struct entry *e)
{
	struct array jobs = jobs_of(d->state, &e->alloc_transition);
	enum command_outcome outcome = OUTCOME_TABLE_FULL;

	if (evaluations_have_room(d->state, jobs.count)) {
		CHECK(decider_commit(d, e) == 0);
		for (uint32_t i = 0; i < jobs.count; i++)
			jobs_evaluate(d, ARRAY_AT(&jobs, struct concerned_job, i), c);
		outcome = OUTCOME_DONE;
	}
	free(jobs.items);
	return outcome;
}

enum command_outcome decide_alloc_transitions(struct decider *d, struct command *command)
{
	struct command_alloc_transitions *c = command->alloc_transitions;

	c->made = (struct eval_made){0};
	if (c->count > ENTRY_ALLOCS_MAX || c->trigger < 0 || c->trigger >= EVAL_TRIGGERS)
		return OUTCOME_BAD_DESCRIPTION;
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	struct entry e = {
		.kind = ENTRY_ALLOC_TRANSITION, .alloc_transition = transition_of(d->state, c)};
	enum command_outcome outcome =
		e.alloc_transition.count > 0 ? transitions_commit(d, c, &e) : OUTCOME_DONE;
	if (e.alloc_transition.items && (outcome != OUTCOME_DONE || e.alloc_transition.count == 0))
		entry_release(&e);
	return outcome;
}
