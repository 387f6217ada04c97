// Evaluations: those that schedulers store, and those that changes of jobs and nodes call for.
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/alloc_details.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_allocations.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/jobs/job_reevaluations.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/settings.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

// More than most evaluations take in the log: a batch too large for any log would wait for ever.
#define EVALUATION_BYTES 4096

struct evaluation *decider_evaluation(
	struct decider *d, const struct job *job, enum eval_trigger trigger)
{
	struct evaluation *e = evaluation_create();

	CHECK(!job_is_direct(job));
	e->id = prng_uuid(&d->prng);
	e->namespace_name = text_copy(text_of(job->namespace_name));
	e->job_id = text_copy(text_of(job->id));
	e->priority = job->priority;
	e->type = job->type; // both enums begin alike
	e->triggered_by = (int)trigger;
	e->status = EVAL_PENDING;
	return e;
}

// Commits a new evaluation, or a new version of a known one, with its final indexes and times.
static int evaluation_commit(struct decider *d, struct evaluation *e, bool of_mark)
{
	const struct eval_cell *cell = eval_cell_find(d->state, &e->id);
	struct entry entry = {
		.kind = ENTRY_RECORD_PUT, .record_put = {STATE_EVALUATIONS, of_mark, e}};
	uint64_t next = d->state->index + 1;

	e->record.modify_index = next;
	e->record.create_index = cell ? cell->working->record.create_index : next;
	e->create_time_ns = cell ? cell->working->create_time_ns : d->now_ns;
	e->modify_time_ns = d->now_ns;
	if (cell && e->modify_time_ns <= e->create_time_ns)
		e->modify_time_ns = e->create_time_ns + 1;
	return decider_commit(d, &entry);
}

bool decider_evaluate(struct decider *d, struct evaluation *e, struct eval_made *made)
{
	const struct job_cell *cell =
		job_cell_find(d->state, text_of(e->namespace_name), text_of(e->job_id));
	struct uuid id = e->id;
	int error = evaluation_commit(d, e, cell && cell->is_marked);

	CHECK(error == 0 || error == -ERROR_TABLE_FULL);
	if (error) {
		evaluation_free(e);
		return false;
	}
	if (made->count++ == 0) {
		made->id = id;
		made->index = d->state->index;
	}
	return true;
}

enum command_outcome decider_evaluate_job(struct decider *d, const struct job *job,
	enum eval_trigger trigger, int64_t eval_priority, struct eval_made *made)
{
	struct evaluation *e = decider_evaluation(d, job, trigger);

	if (eval_priority)
		e->priority = eval_priority;
	e->job_modify_index = job->job_modify_index;
	return decider_evaluate(d, e, made) ? OUTCOME_DONE : OUTCOME_TABLE_FULL;
}

static bool evaluation_continues(const struct eval_cell *cell, const struct evaluation *e)
{
	const struct evaluation *known = cell->working;
	return eval_cell_is_there(cell) && strcmp(known->job_id, e->job_id) == 0 &&
	       strcmp(known->namespace_name, e->namespace_name) == 0;
}

static enum command_outcome may_store(const struct decider *d, const struct command_evaluations *c)
{
	uint32_t new_ones = 0, new_jobs = 0;

	for (uint32_t i = 0; i < c->count; i++) {
		struct evaluation *e = c->items[i];
		e->create_time_ns = e->modify_time_ns = 0;
		e->record.create_index = e->record.modify_index = 0;
		if (!evaluation_is_sound(e))
			return OUTCOME_BAD_DESCRIPTION;
		const struct eval_cell *cell = eval_cell_find(d->state, &e->id);
		if (cell && (c->create_only || !evaluation_continues(cell, e)))
			return OUTCOME_CONFLICT;
		new_ones += cell == NULL;
		new_jobs +=
			!job_cell_find(d->state, text_of(e->namespace_name), text_of(e->job_id));
	}
	bool has_store = !d->store_is_full && (int64_t)c->count * EVALUATION_BYTES <= d->store_room;
	if (new_ones > 0 && !has_store)
		return OUTCOME_STORE_FULL;
	// An evaluation of a job that is gone takes a place in the jobs table again.
	return evaluations_have_room(d->state, new_ones) &&
			       d->state->limits.jobs - d->state->tables[STATE_JOBS].order.count >=
				       new_jobs
		       ? OUTCOME_DONE
		       : OUTCOME_TABLE_FULL;
}

enum command_outcome decide_evaluations(struct decider *d, struct command *command)
{
	struct command_evaluations *c = &command->evaluations;
	enum command_outcome outcome = may_store(d, c);

	if (outcome != OUTCOME_DONE)
		return outcome;
	for (uint32_t i = 0; i < c->count; i++) {
		if (evaluation_commit(d, c->items[i], false) !=
			0) // two items with one id contradict each other
			return OUTCOME_CONFLICT;
		c->items[i] = NULL;
	}
	return OUTCOME_DONE;
}

enum command_outcome decide_scheduler_config(struct decider *d, struct command *command)
{
	struct command_scheduler_config *c = &command->scheduler_config;
	const struct scheduler_config *known = scheduler_config_working(d->state);
	uint64_t next = d->state->index + 1;

	c->updated = false;
	if (!record_is_sound(&scheduler_config_description, c->config))
		return OUTCOME_BAD_DESCRIPTION;
	if (c->cas && c->modify_index != known->record.modify_index)
		return OUTCOME_DONE;
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	struct scheduler_config *config =
		record_duplicate(&scheduler_config_description, c->config);
	config->record.modify_index = next;
	config->record.create_index =
		known->record.create_index ? known->record.create_index : next;
	CHECK(decider_put(d, STATE_SCHEDULER_CONFIG, config) == 0);
	c->updated = true;
	return OUTCOME_DONE;
}

// Failed allocations that nothing has replaced and that no operator has forced yet.
static bool may_be_forced(const struct alloc_cell *cell)
{
	const struct allocation *a = cell->working;
	const struct alloc_details *details = a->details;

	if (!alloc_cell_is_there(cell) || a->client_status != ALLOC_FAILED || job_is_direct(a->job))
		return false;
	return !details || (uuid_is_zero(&details->next_allocation) &&
				   !(details->transition.force_reschedule.set &&
					   details->transition.force_reschedule.value));
}

static void commit_forced(struct decider *d, struct array *forced)
{
	struct entry e = {.kind = ENTRY_ALLOC_TRANSITION,
		.alloc_transition = {.count = forced->count, .items = forced->items}};

	if (forced->count == 0)
		return;
	qsort(forced->items, forced->count, sizeof(struct alloc_transition), uuid_order);
	CHECK(decider_commit(d, &e) == 0);
	*forced = (struct array){0};
}

// Row B61: asks the scheduler to replace them whatever their policy says.
static void force_reschedule(struct decider *d, const struct job_cell *job)
{
	struct array forced = {0};
	struct alloc_cell *cell;

	FOR_ALLOCATIONS_OF(cell, job)
	{
		if (!may_be_forced(cell))
			continue;
		*(struct alloc_transition *)array_append(&forced, sizeof(struct alloc_transition)) =
			(struct alloc_transition){
				*alloc_cell_id(cell), {.force_reschedule = {true, true}}};
		if (forced.count == ENTRY_ALLOCS_MAX)
			commit_forced(d, &forced);
	}
	commit_forced(d, &forced);
}

enum command_outcome decide_job_evaluate(struct decider *d, struct command *command)
{
	struct command_job_evaluate *c = &command->job_evaluate;
	const struct job_cell *cell = decider_find_job(d, c->namespace_name, c->id);

	c->made = (struct eval_made){0};
	if (!cell)
		return OUTCOME_UNKNOWN_JOB;
	const struct job *job = job_cell_keep(cell)->versions[0];
	if (!job_has_scheduler(job))
		return OUTCOME_BAD_DESCRIPTION;
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	if (!evaluations_have_room(d->state, 1))
		return OUTCOME_TABLE_FULL;
	if (c->force_reschedule)
		force_reschedule(d, cell);
	return decider_evaluate_job(d, job, TRIGGER_JOB_REGISTER, 0, &c->made);
}

static void add_job(struct array *jobs, struct job_cell *cell, const struct job *job)
{
	struct concerned_job *added = array_append(jobs, sizeof *added);
	*added = (struct concerned_job){cell, job};
}

int concerned_job_order(const void *left, const void *right)
{
	const struct concerned_job *a = left, *b = right;
	return (a->cell->index > b->cell->index) - (a->cell->index < b->cell->index);
}

struct array node_concerned_jobs(const struct state *state, const struct node_cell *node)
{
	struct array jobs = {0};
	struct job_cell *job_cell;
	struct alloc_cell *cell;

	cds_list_for_each_entry_rcu (cell, &node->allocations, on_node) {
		if (alloc_cell_is_there(cell) && !job_is_direct(cell->working->job))
			add_job(&jobs, cell->job_cell, cell->working->job);
	}
	cds_list_for_each_entry (job_cell, &state->system, system) {
		const struct job *job = job_cell_keep(job_cell)->versions[0];
		if (job_targets_node(job, node->working))
			add_job(&jobs, job_cell, job);
	}
	jobs.count = items_sort_unique(
		jobs.items, jobs.count, sizeof(struct concerned_job), concerned_job_order);
	return jobs;
}

void decider_evaluate_jobs(struct decider *d, const struct array *jobs, const struct uuid *node,
	uint64_t node_modify_index, struct eval_made *made)
{
	for (uint32_t i = 0; i < jobs->count; i++) {
		const struct concerned_job *concerned = ARRAY_AT(jobs, struct concerned_job, i);
		struct evaluation *e = decider_evaluation(d, concerned->job, TRIGGER_NODE_UPDATE);
		e->node_id = *node;
		e->node_modify_index = node_modify_index;
		if (!decider_evaluate(d, e, made))
			return;
	}
}

enum command_outcome decide_node_evaluate(struct decider *d, struct command *command)
{
	struct command_node_named *c = &command->node_named;
	const struct node_cell *cell = node_cell_find(d->state, &c->node);
	enum command_outcome outcome = OUTCOME_DONE;

	c->made = (struct eval_made){0};
	if (!cell)
		return OUTCOME_UNKNOWN_NODE;
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	struct array jobs = node_concerned_jobs(d->state, cell);
	if (evaluations_have_room(d->state, jobs.count))
		decider_evaluate_jobs(
			d, &jobs, &c->node, cell->working->record.modify_index, &c->made);
	else
		outcome = OUTCOME_TABLE_FULL;
	free(jobs.items);
	return outcome;
}
