#include "state/tables/jobs/evaluation_table.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/limits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/kind.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <urcu-qsbr.h>

bool evaluation_is_sound(const void *record)
{
	const struct evaluation *e = record;

	return !uuid_is_zero(&e->id) && text_is_name(e->namespace_name) &&
	       text_is_job_id(e->job_id) && e->type != EVAL_CORE &&
	       e->create_time_ns <= e->modify_time_ns &&
	       e->record.create_index <= e->record.modify_index &&
	       record_is_sound(&evaluation_description, e);
}

bool evaluations_have_room(const struct state *state, uint32_t count)
{
	return table_has_room(state, STATE_EVALUATIONS, count);
}

void eval_follow_allocation(struct state *state, struct alloc_cell *cell)
{
	const struct allocation *a = cell->working;
	struct eval_cell *counting = cell->eval_cell;

	CHECK(a);
	if (counting && !a->record.deleted && uuid_equal(&counting->id, &a->eval_id))
		return;
	if (counting) {
		CHECK(counting->allocations > 0);
		counting->allocations--;
	}
	cell->eval_cell = NULL;
	if (a->record.deleted || uuid_is_zero(&a->eval_id))
		return;
	// Allocations of one plan come one after the other.
	counting = state->counting;
	if (!counting || !uuid_equal(&counting->id, &a->eval_id))
		counting = eval_cell_find(state, &a->eval_id);
	if (counting && !eval_cell_is_there(counting))
		counting = NULL;
	state->counting = cell->eval_cell = counting;
	if (counting)
		counting->allocations++;
}

static int check_loaded_evaluation(const struct state *state, const void *record)
{
	const struct evaluation *e = record;
	return job_cell_find(state, text_of(e->namespace_name), text_of(e->job_id))
		       ? 0
		       : -ERROR_CORRUPT;
}

static void evaluation_entered(struct state *state, struct cell *entered)
{
	struct eval_cell *cell = (struct eval_cell *)entered;
	const struct evaluation *e = cell->working;

	cell->job_cell = job_cell_find_or_add_deleted(
		state, text_of(e->namespace_name), text_of(e->job_id), state->index);
	cds_list_add_tail_rcu(&cell->of_job, &cell->job_cell->evaluations);
	cell->job_cell->evaluation_count++;
}

static void count_evaluation(struct state *state, struct job_cell *job, int counted, int change)
{
	if (counted == 0)
		return;
	CHECK(change > 0 || job->evaluations_present > 0);
	state->counts.evaluations += (uint32_t)change;
	job->evaluations_present += (uint32_t)change;
	if (counted == 1 + EVAL_PENDING)
		state->counts.evaluations_pending += (uint32_t)change;
	if (counted == 1 + EVAL_BLOCKED)
		state->counts.evaluations_blocked += (uint32_t)change;
	if (counted == 1 + EVAL_PENDING || counted == 1 + EVAL_BLOCKED)
		job->evaluations_live += (uint32_t)change;
}

static void follow_evaluation(struct state *state, struct cell *changed)
{
	struct eval_cell *cell = (struct eval_cell *)changed;
	bool is_there = eval_cell_is_there(cell);
	uint8_t before = cell->counted_status,
		after = is_there ? (uint8_t)(1 + cell->working->status) : 0;

	CHECK(is_there || cell->allocations == 0);
	if (!is_there && state->counting == cell)
		state->counting = NULL;
	count_evaluation(state, cell->job_cell, before, -1);
	count_evaluation(state, cell->job_cell, after, 1);
	if (before == 1 + EVAL_BLOCKED && after != before)
		cds_list_del(&cell->blocked);
	if (after == 1 + EVAL_BLOCKED && after != before)
		cds_list_add_tail(&cell->blocked, &cell->job_cell->blocked);
	cell->counted_status = after;
	CHECK(cell->job_cell->evaluations_live <= cell->job_cell->evaluations_present);
	CHECK(cell->job_cell->evaluations_present <= cell->job_cell->evaluation_count);
}

static void evaluation_noted(void *noted, uint64_t index)
{
	struct eval_cell *cell = noted;
	atomic_store_explicit(&cell->job_cell->evaluations_index, index, memory_order_relaxed);
}

static void evaluation_buried(struct state *state, struct cell *buried)
{
	struct eval_cell *cell = (struct eval_cell *)buried;

	CHECK(cell->job_cell->evaluation_count > 0);
	cds_list_del_rcu(&cell->of_job);
	cell->job_cell->evaluation_count--;
	job_cell_bury_if_idle(state, cell->job_cell);
	CHECK(!eval_cell_is_there(cell));
}

const struct kind evaluation_kind = {
	.name = "evaluation",
	.key = KEY_UUID,
	.key_offset = offsetof(struct evaluation, id),
	.has_ids = true,
	.cell_bytes = sizeof(struct eval_cell),
	.fields = &evaluation_description,
	.limit_offset = offsetof(struct state_limits, evaluations),
	.limit_max = EVALUATIONS_MAX,
	.is_sound = evaluation_is_sound,
	.check_loaded = check_loaded_evaluation,
	.entered = evaluation_entered,
	.follow = follow_evaluation,
	.noted = evaluation_noted,
	.buried = evaluation_buried,
};

const struct evaluation *state_evaluation(const struct state *state, const struct uuid *id)
{
	return table_published(state, STATE_EVALUATIONS, id);
}

void state_job_evaluations(const struct state *state, struct text namespace_name, struct text id,
	state_evaluation_visit *visit, void *context)
{
	const struct job_cell *job = job_cell_find(state, namespace_name, id);
	const struct eval_cell *cell;

	if (!job)
		return;
	cds_list_for_each_entry_rcu (cell, &job->evaluations, of_job) {
		const struct evaluation *e = cell_published(&cell->cell);
		if (e && !visit(e, context))
			return;
	}
}
