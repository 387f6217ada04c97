// Entries about evaluations and schedulers.
#include "state/apply/apply_record.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/jobs/job_reevaluations.h"
#include "state/tables/jobs/job_summary.h"
#include "state/tables/jobs/job_table.h"
#include "state/tables/settings.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdio.h>
#include <stdlib.h>
#include <urcu-qsbr.h>

// Whether it is the same evaluation: of the same job, create index and time.
static bool evaluation_continues(const struct evaluation *known, const struct evaluation *e)
{
	return !known->record.deleted && known->record.create_index == e->record.create_index &&
	       known->create_time_ns == e->create_time_ns &&
	       strcmp(known->namespace_name, e->namespace_name) == 0 &&
	       strcmp(known->job_id, e->job_id) == 0;
}

static bool job_has_place(const struct state *state, const struct evaluation *e)
{
	return table_has_room(state, STATE_JOBS, 1) ||
	       job_cell_find(state, text_of(e->namespace_name), text_of(e->job_id));
}

int evaluation_put_check(const struct state *state, const struct entry_record_put *entry)
{
	const struct evaluation *e = entry->record;
	const struct eval_cell *cell = eval_cell_find(state, &e->id);
	const struct job_cell *job_cell;

	if (!evaluation_is_sound(e) || e->record.modify_index != state->index + 1)
		return -ERROR_CORRUPT;
	if (cell && !evaluation_continues(cell->working, e))
		return -ERROR_CORRUPT;
	if (!cell && e->record.create_index != state->index + 1)
		return -ERROR_CORRUPT;
	if (entry->settles_mark) {
		job_cell = job_cell_find(state, text_of(e->namespace_name), text_of(e->job_id));
		if (!job_cell || !job_cell->is_marked)
			return -ERROR_CORRUPT;
	}
	return cell || (evaluations_have_room(state, 1) && job_has_place(state, e))
		       ? 0
		       : -ERROR_TABLE_FULL;
}

static void evaluation_cancel(struct state *state, struct eval_cell *cell, const char *description)
{
	CHECK(eval_cell_is_there(cell) && cell->working->status == EVAL_BLOCKED);
	struct evaluation *e = cell_revise(state, &cell->cell, ++state->index);

	e->status = EVAL_CANCELED;
	free(e->status_description);
	e->status_description = text_copy(text_of(description));
	e->modify_time_ns =
		state->time_ns > e->create_time_ns ? state->time_ns : e->create_time_ns + 1;
	CHECK(e->modify_time_ns >= e->create_time_ns);
	cell_follow(state, &cell->cell);
}

static int by_create_index(const void *left, const void *right)
{
	const struct eval_cell *a = *(struct eval_cell *const *)left;
	const struct eval_cell *b = *(struct eval_cell *const *)right;
	uint64_t x = a->working->record.create_index, y = b->working->record.create_index;

	return (x > y) - (x < y);
}

// Everything was placed, so blocked evaluations are cancelled (row B47). Sorted by create index: a snapshot does not
// keep the order in which they became blocked.
static void cancel_blocked(struct state *state, struct job_cell *job, const struct uuid *successful)
{
	char id[UUID_TEXT_BYTES], description[UUID_TEXT_BYTES + 32];
	struct array cells = {0};
	struct eval_cell *cell;

	cds_list_for_each_entry (cell, &job->blocked, blocked)
		*(struct eval_cell **)array_append(&cells, sizeof(cell)) = cell;
	if (cells.count == 0)
		return;
	qsort(cells.items, cells.count, sizeof(cell), by_create_index);
	snprintf(description, sizeof description, "evaluation \"%s\" successful",
		uuid_format(successful, id));
	for (uint32_t i = 0; i < cells.count; i++)
		evaluation_cancel(state, *ARRAY_AT(&cells, struct eval_cell *, i), description);
	free(cells.items);
}

static void note_work(struct state *state, struct job_cell *cell)
{
	CHECK(cell && cell->working);
	if (job_cell_keep(cell) && !cell->working->had_work)
		job_keep_revise(state, cell, state->index)->had_work = true;
}

void evaluation_put(struct state *state, struct entry_record_put *entry)
{
	struct eval_cell *cell =
		(struct eval_cell *)table_put(state, STATE_EVALUATIONS, entry->record);
	struct evaluation *e = cell->working;
	struct job_cell *job = cell->job_cell;

	CHECK(e->record.modify_index == state->index);
	if (entry->settles_mark)
		job_mark_clear(state, job);
	CHECK(!(entry->settles_mark && job->is_marked));
	note_work(state, job);
	job_summary_queued(state, job, &e->queued);
	if (e->status == EVAL_COMPLETE && e->failed_groups.count == 0)
		cancel_blocked(state, job, &e->id);
	CHECK(e->status == EVAL_BLOCKED || cds_list_empty(&job->blocked) ||
		e->failed_groups.count > 0 || e->status != EVAL_COMPLETE);
	job_cell_update_status(state, job, state->index);
}

int scheduler_config_put_check(const struct state *state, const struct entry_record_put *e)
{
	const struct scheduler_config *config = e->record;
	uint64_t index = state->index + 1;
	uint64_t known = scheduler_config_working(state)->record.create_index;

	if (config->record.modify_index != index ||
		config->record.create_index != (known ? known : index))
		return -ERROR_CORRUPT;
	return table_check(state, STATE_SCHEDULER_CONFIG, config);
}

static bool is_garbage_allocation(const struct state *state, const struct uuid *id)
{
	const struct alloc_cell *cell = alloc_cell_find(state, id);
	return cell && alloc_cell_is_there(cell) && allocation_is_terminal(cell->working);
}

static bool is_garbage_evaluation(const struct state *state, const struct uuid *id)
{
	const struct eval_cell *cell = eval_cell_find(state, id);
	return cell && eval_cell_is_there(cell) && evaluation_is_terminal(cell->working) &&
	       cell->allocations == 0;
}

static bool is_evaluation_unused(const struct state *state, const struct uuid *id)
{
	const struct eval_cell *cell = eval_cell_find(state, id);
	return cell && eval_cell_is_there(cell) && cell->allocations == 0;
}

static struct job_cell *job_of_version(const struct state *state, uint64_t modify_index)
{
	const struct job *job = job_version_find(state, modify_index);
	struct job_cell *cell = job ? job_cell_of(state, job) : NULL;
	const struct job_keep *keep = job_cell_keep(cell);
	return keep && keep->versions[0] == job ? cell : NULL;
}

static bool is_garbage_job(const struct state *state, uint64_t modify_index)
{
	const struct job_cell *cell = job_of_version(state, modify_index);
	return cell && cell->working->status == JOB_DEAD && cell->present_count == 0 &&
	       cell->evaluations_present == 0;
}

static bool is_garbage_deployment(const struct state *state, const struct uuid *id)
{
	const struct deployment_cell *cell = deployment_cell_find(state, id);
	return cell && deployment_cell_is_there(cell) && !deployment_is_active(cell->working) &&
	       cell->living == 0;
}

static bool is_garbage(const struct state *state, const struct entry_gc *e, uint32_t i)
{
	switch (e->kind) {
	case GC_ALLOCATION: return is_garbage_allocation(state, &e->ids[i]);
	case GC_EVALUATION: return is_garbage_evaluation(state, &e->ids[i]);
	case GC_DEPLOYMENT: return is_garbage_deployment(state, &e->ids[i]);
	case GC_EVALUATION_ALIVE: return is_evaluation_unused(state, &e->ids[i]);
	case GC_ACL_TOKEN: return acl_token_is_garbage(state, &e->ids[i]);
	default: return is_garbage_job(state, e->job_index[i]);
	}
}

static bool is_twice(const struct entry_gc *e, uint32_t i)
{
	CHECK(i > 0 && i < e->count);
	return e->kind == GC_JOB ? e->job_index[i - 1] >= e->job_index[i]
				 : uuid_compare(&e->ids[i - 1], &e->ids[i]) >= 0;
}

// Items ascend, so that none is named twice.
int gc_check(const struct state *state, const void *body)
{
	const struct entry_gc *e = body;

	CHECK(e->kind < GC_KINDS && (e->kind == GC_JOB ? e->job_index != NULL : e->ids != NULL));
	for (uint32_t i = 0; i < e->count; i++)
		if ((i > 0 && is_twice(e, i)) || !is_garbage(state, e, i))
			return -ERROR_CORRUPT;
	return 0;
}

// A job that waits for nothing else is dead without its evaluation.
static void evaluation_drop(struct state *state, const struct uuid *id)
{
	struct eval_cell *cell = eval_cell_find(state, id);
	struct job_cell *job = cell->job_cell;

	CHECK(cell->allocations == 0);
	cell_delete(state, &cell->cell, state->index);
	job_cell_update_status(state, job, state->index);
	CHECK(!eval_cell_is_there(cell));
}

void gc_apply(struct state *state, void *body, int64_t time_ns)
{
	struct entry_gc *e = body;

	CHECK(e->kind < GC_KINDS);
	for (uint32_t i = 0; i < e->count; i++) {
		switch (e->kind) {
		case GC_ALLOCATION:
			alloc_cell_delete(state, alloc_cell_find(state, &e->ids[i]), state->index);
			break;
		case GC_EVALUATION:
			cell_delete(state, table_find(state, STATE_EVALUATIONS, &e->ids[i]),
				state->index);
			break;
		case GC_EVALUATION_ALIVE: evaluation_drop(state, &e->ids[i]); break;
		case GC_ACL_TOKEN:
			cell_delete(state, table_find(state, STATE_ACL_TOKENS, &e->ids[i]),
				state->index);
			break;
		case GC_DEPLOYMENT:
			deployment_cell_delete(
				state, deployment_cell_find(state, &e->ids[i]), state->index);
			break;
		default:
			job_cell_delete(
				state, job_of_version(state, e->job_index[i]), state->index);
		}
	}
}
