#include "state/tables/jobs/job_summary.h"
#include "state/base/check.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/job_allocations.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <urcu-qsbr.h>

#define NOT_THERE (-1)

// Finds the group's row; tries first where it was found last.
static struct group_counter *row_of(struct job_keep *keep, const struct allocation *a)
{
	CHECK(a->group < a->job->asks.count);
	struct group_ask *ask = ARRAY_AT(&a->job->asks, struct group_ask, a->group);
	struct text name = text_of(allocation_group(a)->name);

	if (ask->row < keep->counter_count &&
		text_equal(job_keep_counter_name(keep, ask->row), name))
		return &keep->counters[ask->row];
	struct group_counter *row = job_keep_counter(keep, name);
	if (row)
		ask->row = (uint32_t)(row - keep->counters);
	return row;
}

static bool stays_counted(int status)
{
	return status == ALLOC_COMPLETE || status == ALLOC_FAILED;
}

static void move_client(struct group_counter *row, int before, int after)
{
	CHECK(before != after);
	CHECK(before <= ALLOC_UNKNOWN && after <= ALLOC_UNKNOWN);
	bool stays = stays_counted(before) || (after == NOT_THERE && before == ALLOC_LOST);

	if (before != NOT_THERE && !stays && row->clients[before] > 0)
		row->clients[before]--;
	if (after != NOT_THERE)
		row->clients[after]++;
	if (before == NOT_THERE && row->queued > 0)
		row->queued--;
}

void job_summary_follow(struct state *state, struct alloc_cell *cell)
{
	const struct allocation *a = cell->working;
	int before = cell->counted_status - 1;
	int after = a->record.deleted ? NOT_THERE : a->client_status;

	CHECK(cell->counted_status <= ALLOC_UNKNOWN + 1);
	if (before == after)
		return;
	cell->counted_status = (uint8_t)(after + 1);
	if (!job_cell_keep(cell->job_cell))
		return;
	struct job_keep *keep = job_keep_revise(state, cell->job_cell, state->index);
	struct group_counter *row = row_of(keep, a);
	if (row)
		move_client(row, before, after);
}

void job_summary_counted(struct alloc_cell *cell)
{
	CHECK(cell->working->client_status <= ALLOC_UNKNOWN);
	cell->counted_status = (uint8_t)(cell->working->client_status + 1);
	CHECK(cell->counted_status > 0);
}

void job_summary_recount(struct job_keep *keep, struct job_cell *job)
{
	struct alloc_cell *cell;

	for (uint32_t i = 0; i < keep->counter_count; i++)
		memset(keep->counters[i].clients, 0, sizeof keep->counters[i].clients);
	FOR_ALLOCATIONS_OF(cell, job)
	{
		if (!alloc_cell_is_there(cell))
			continue;
		struct group_counter *row = row_of(keep, cell->working);
		if (row)
			row->clients[cell->working->client_status]++;
		job_summary_counted(cell);
	}
}

void job_summary_queued(struct state *state, struct job_cell *job, const struct array *queued)
{
	if (!job_cell_keep(job))
		return;
	for (uint32_t i = 0; i < queued->count; i++) {
		const struct named_count *item = ARRAY_AT(queued, struct named_count, i);
		const struct group_counter *row =
			job_keep_counter(job->working, text_of(item->name));
		uint32_t count = item->count > 0 ? (uint32_t)item->count : 0;
		if (!row || row->queued == count)
			continue;
		struct job_keep *keep = job_keep_revise(state, job, state->index);
		CHECK(keep == job->working);
		job_keep_counter(keep, text_of(item->name))->queued = count;
	}
}

static struct task_group_summary summary_of(
	const struct job_keep *keep, const struct group_counter *row)
{
	return (struct task_group_summary){
		.group = job_keep_characters(keep) + row->name_at,
		.queued = row->queued,
		.complete = row->clients[ALLOC_COMPLETE],
		.failed = row->clients[ALLOC_FAILED],
		.running = row->clients[ALLOC_RUNNING],
		.starting = row->clients[ALLOC_PENDING],
		.lost = row->clients[ALLOC_LOST],
		.unknown = row->clients[ALLOC_UNKNOWN],
	};
}

bool state_job_summary(const struct state *state, struct text namespace_name, struct text id,
	struct task_group_summary *groups, uint32_t *count)
{
	const struct job_cell *cell = job_cell_find(state, namespace_name, id);
	const struct job_keep *keep =
		cell ? __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE) : NULL;
	uint32_t room = *count;

	*count = 0;
	if (!keep || keep->record.deleted)
		return false;
	for (uint32_t i = 0; i < keep->counter_count && *count < room; i++)
		groups[(*count)++] = summary_of(keep, &keep->counters[i]);
	return true;
}
