// Evaluations by id and by job.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/tables/publish.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

static int id_matches(struct cds_lfht_node *node, const void *id)
{
	return uuid_equal(&caa_container_of(node, struct eval_cell, by_id)->id, id);
}

struct eval_cell *eval_cell_find(const struct state *state, const struct uuid *id)
{
	struct cds_lfht_iter iter;

	cds_lfht_lookup(state->evaluations, uuid_hash(id), id_matches, id, &iter);
	struct cds_lfht_node *node = cds_lfht_iter_get_node(&iter);
	return node ? caa_container_of(node, struct eval_cell, by_id) : NULL;
}

// --- The working state ---------------------------------------------------------------------------

#define NOT_THERE (-1)

static bool is_live(int status)
{
	return status == EVAL_PENDING || status == EVAL_BLOCKED;
}

static void count(struct state *state, struct job_cell *job_cell, int status, int change)
{
	if (status == NOT_THERE)
		return;
	state->counts.evaluations += (uint32_t)change;
	job_cell->evaluations_present += (uint32_t)change;
	if (status == EVAL_PENDING)
		state->counts.evaluations_pending += (uint32_t)change;
	if (status == EVAL_BLOCKED)
		state->counts.evaluations_blocked += (uint32_t)change;
	if (is_live(status))
		job_cell->evaluations_live += (uint32_t)change;
}

static void follow_status(struct state *state, struct eval_cell *cell, int before, int after)
{
	count(state, cell->job_cell, before, -1);
	count(state, cell->job_cell, after, 1);
	if (before == EVAL_BLOCKED && after != EVAL_BLOCKED)
		cds_list_del(&cell->blocked);
	if (before != EVAL_BLOCKED && after == EVAL_BLOCKED)
		cds_list_add_tail(&cell->blocked, &cell->job_cell->blocked);
}

void eval_cell_changed(struct state *state, struct eval_cell *cell, int status_before)
{
	follow_status(state, cell, status_before, cell->working->status);
}

static struct eval_cell *cell_add(
	struct state *state, struct job_cell *job_cell, struct evaluation *e)
{
	struct eval_cell *cell = memory_take(sizeof *cell);

	cell->id = e->id;
	cell->working = e;
	cell->job_cell = job_cell;
	cds_lfht_add(state->evaluations, uuid_hash(&e->id), &cell->by_id);
	cds_list_add_tail_rcu(&cell->of_job, &job_cell->evaluations);
	sequence_append(&state->eval_order, e->record.create_index, cell);
	job_cell->evaluation_count++;
	return cell;
}

// The contents of a record that nobody else has yet make room for new ones.
static void replace_contents(struct evaluation *to, struct evaluation *from)
{
	struct record *older = to->record.older;

	record_release(&evaluation_description, to);
	*to = *from;
	to->record.older = older;
	free(from);
}

struct eval_cell *eval_cell_put(
	struct state *state, struct job_cell *job_cell, struct evaluation *e)
{
	struct eval_cell *cell = eval_cell_find(state, &e->id);
	int before = cell ? cell->working->status : NOT_THERE;

	if (cell && cell->working->record.modify_index >= state->unpublished_from) {
		replace_contents(cell->working, e);
	} else {
		e->record.older = cell ? &cell->working->record : NULL;
		if (cell)
			cell->working = e;
		else
			cell = cell_add(state, job_cell, e);
		change_add(state->changes, CHANGE_EVALUATION, cell, &e->record);
	}
	follow_status(state, cell, before, cell->working->status);
	return cell;
}

struct eval_cell *eval_cell_load(
	struct state *state, struct job_cell *job_cell, struct evaluation *e)
{
	struct eval_cell *cell = cell_add(state, job_cell, e);

	follow_status(state, cell, NOT_THERE, e->status);
	return cell;
}

struct evaluation *eval_cell_revise(struct state *state, struct eval_cell *cell, uint64_t index)
{
	struct evaluation *old = cell->working;

	if (old->record.modify_index < state->unpublished_from) {
		cell->working = evaluation_copy(old);
		cell->working->record.older = &old->record;
		change_add(state->changes, CHANGE_EVALUATION, cell, &cell->working->record);
	}
	cell->working->record.modify_index = index;
	return cell->working;
}

void eval_cell_delete(struct state *state, struct eval_cell *cell, uint64_t index)
{
	CHECK(cell->allocations == 0);
	if (state->counting == cell)
		state->counting = NULL;
	follow_status(state, cell, cell->working->status, NOT_THERE);
	eval_cell_revise(state, cell, index)->record.deleted = true;
	state_grave_add(state, GRAVE_EVALUATION, cell);
}

void eval_follow_allocation(struct state *state, struct alloc_cell *cell)
{
	const struct allocation *a = cell->working;
	struct eval_cell *counting = cell->eval_cell;

	if (counting && !a->record.deleted && uuid_equal(&counting->id, &a->eval_id))
		return;
	if (counting)
		counting->allocations--;
	cell->eval_cell = NULL;
	if (a->record.deleted || uuid_is_zero(&a->eval_id))
		return;
	// Those of one plan come one after the other.
	counting = state->counting;
	if (!counting || !uuid_equal(&counting->id, &a->eval_id))
		counting = eval_cell_find(state, &a->eval_id);
	if (counting && !eval_cell_is_there(counting))
		counting = NULL;
	state->counting = cell->eval_cell = counting;
	if (counting)
		counting->allocations++;
}

// --- Readers -------------------------------------------------------------------------------------

static const struct evaluation *published_in(const struct eval_cell *cell)
{
	const struct evaluation *e = __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE);
	return e && !e->record.deleted ? e : NULL;
}

const struct evaluation *state_evaluation(const struct state *state, const struct uuid *id)
{
	const struct eval_cell *cell = eval_cell_find(state, id);
	return cell ? published_in(cell) : NULL;
}

const struct evaluation *state_next_evaluation(const struct state *state, uint64_t *cursor)
{
	const struct eval_cell *cell;

	while ((cell = sequence_next(&state->eval_order, cursor))) {
		const struct evaluation *e = published_in(cell);
		if (e)
			return e;
	}
	return NULL;
}

void state_job_evaluations(const struct state *state, struct text namespace_name, struct text id,
	state_evaluation_visit *visit, void *context)
{
	const struct job_cell *job = job_cell_find(state, namespace_name, id);
	const struct eval_cell *cell;

	if (!job)
		return;
	cds_list_for_each_entry_rcu (cell, &job->evaluations, of_job) {
		const struct evaluation *e = published_in(cell);
		if (e && !visit(e, context))
			return;
	}
}

uint64_t state_job_evaluations_index(
	const struct state *state, struct text namespace_name, struct text id)
{
	const struct job_cell *cell = job_cell_find(state, namespace_name, id);
	return cell ? atomic_load_explicit(&cell->evaluations_index, memory_order_relaxed) : 0;
}

const struct scheduler_config *state_scheduler_config(const struct state *state)
{
	return __atomic_load_n(&state->config.published, __ATOMIC_ACQUIRE);
}
