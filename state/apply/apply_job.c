#include "state/apply/apply.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/client.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/job_allocations.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_children.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/jobs/job_summary.h"
#include "state/tables/jobs/job_table.h"
#include "state/tables/namespaces/namespace_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/placer.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <urcu-qsbr.h>

static void retire_version(struct state *state, const struct job *job)
{
	if (state->placer)
		state->placer->job_retired(state->placer->context, job);
}

bool job_is_sound(const struct job *job)
{
	if (!text_is_name(job->namespace_name) || !text_is_job_id(job->id) ||
		job->task_groups.count == 0 || job->task_groups.count > JOB_GROUPS_MAX ||
		job->asks.count != job->task_groups.count)
		return false;
	for (uint32_t i = 0; i < job->task_groups.count; i++)
		if (!text_is_name(ARRAY_AT(&job->task_groups, struct task_group, i)->name))
			return false;
	return record_is_sound(&job_type_description, job);
}

int job_register_check(const struct state *state, const void *body)
{
	const struct entry_job_register *e = body;
	const struct job *job = e->job;
	uint64_t index = state->index + 1;

	if (!job_is_sound(job) || job->record.modify_index != index ||
		job->job_modify_index != index)
		return -ERROR_CORRUPT;
	const struct job_cell *cell = job_cell_of(state, job);
	if (!cell && state->tables[STATE_JOBS].order.count >= state->limits.jobs)
		return -ERROR_TABLE_FULL;
	const struct job_keep *keep = job_cell_keep(cell);
	uint64_t create_index = keep ? keep->record.create_index : index;
	uint64_t version = keep ? keep->versions[0]->version + 1 : 0;
	return job->record.create_index == create_index && job->version == version ? 0
										   : -ERROR_CORRUPT;
}

static void push_version(
	struct state *state, struct job_cell *cell, struct job *job, int64_t time_ns)
{
	struct job_keep *old = job_cell_keep(cell);

	CHECK(job->record.modify_index == state->index);
	CHECK(!old || job->version == old->versions[0]->version + 1);
	if (old)
		retire_version(state, old->versions[0]);
	job_keep_push(state, cell, job, state->index);
	CHECK(job_cell_keep(cell) && job_cell_keep(cell)->versions[0] == job);
	if (!old) {
		state->counts.jobs++;
		state->counts.jobs_by_status[cell->working->status]++;
	}
	if (!old && cell->present_count > 0)
		job_summary_recount(cell->working, cell);
	cell->working->stopped_ns = job->stop ? time_ns : 0;
	job->status = cell->working->status;
	job_cell_list_stopped(state, cell, job->stop && job_is_direct(job));
	job_cell_list_system(state, cell, !job->stop && job_traits_of(job)->follows_nodes);
	job_cell_update_status(state, cell, state->index);
	job_children_join(state, cell);
}

void job_register_apply(struct state *state, void *body, int64_t time_ns)
{
	struct entry_job_register *e = body;
	struct job *job = e->job;
	struct job_cell *cell = job_cell_find_or_add(
		state, text_of(job->namespace_name), text_of(job->id), state->index);

	CHECK(job && cell);
	e->job = NULL;
	namespace_make_for(state, job);
	push_version(state, cell, job, time_ns);
}

int job_deregister_check(const struct state *state, const void *body)
{
	const struct entry_job_deregister *e = body;
	const struct job_cell *cell = job_cell_find(state, e->namespace_name, e->id);
	const struct job_keep *keep = job_cell_keep(cell);

	if (!keep || e->everywhere >= STOP_EVERYWHERES)
		return -ERROR_CORRUPT;
	if (e->everywhere != STOP_HERE)
		return !e->purge && keep->versions[0]->multiregion ? 0 : -ERROR_CORRUPT;
	return e->purge || !keep->versions[0]->stop ? 0 : -ERROR_CORRUPT;
}

static void end_allocations(struct state *state, struct job_cell *job, int64_t time_ns)
{
	struct alloc_cell *cell;

	FOR_ALLOCATIONS_OF(cell, job)
	{
		if (!alloc_cell_is_there(cell) || allocation_is_terminal(cell->working))
			continue;
		alloc_cell_end(state, cell, END_JOB_STOPPED, time_ns, ++state->index);
		state_node_changed(state, cell->working->node_slot);
	}
}

static struct job *stopped_version(const struct job *from, uint64_t index,
	const struct entry_job_deregister *e, int64_t time_ns)
{
	struct job *job = job_copy(from);

	CHECK(job->task_groups.count == from->task_groups.count);
	job->stop = true;
	job->stable = false;
	if (job->multiregion) {
		job->multiregion->stop_everywhere_ns = e->everywhere != STOP_HERE ? time_ns : 0;
		job->multiregion->purge_everywhere = e->everywhere == PURGE_EVERYWHERE;
		job->multiregion->eval_priority = e->eval_priority;
	}
	job->version++;
	job->record.create_index = from->record.create_index;
	job->record.modify_index = job->job_modify_index = index;
	return job;
}

void job_deregister_apply(struct state *state, void *body, int64_t time_ns)
{
	const struct entry_job_deregister *e = body;
	struct job_cell *cell = job_cell_find(state, e->namespace_name, e->id);

	CHECK(cell && job_cell_keep(cell));
	bool is_direct = job_is_direct(job_cell_keep(cell)->versions[0]);

	if (e->purge) {
		job_cell_delete(state, cell, state->index);
	} else {
		struct job *job =
			stopped_version(job_cell_keep(cell)->versions[0], state->index, e, time_ns);
		push_version(state, cell, job, time_ns);
	}
	CHECK(e->purge ? !job_cell_keep(cell) : job_cell_keep(cell)->versions[0]->stop);
	if (is_direct) // a scheduler ends those of other jobs
		end_allocations(state, cell, time_ns);
}

static struct alloc_cell *oldest_end(struct state *state, int64_t before_ns)
{
	struct alloc_cell *cell;

	if (cds_list_empty(&state->terminal))
		return NULL;
	cell = cds_list_first_entry(&state->terminal, struct alloc_cell, terminal);
	CHECK(alloc_cell_is_there(cell) && allocation_is_terminal(cell->working));
	return cell->working->modify_time_ns < before_ns ? cell : NULL;
}

static struct place_request *oldest_request(
	struct state *state, uint64_t *cursor, int64_t before_ms)
{
	struct place_request *request;

	do
		request = sequence_next(&state->tables[STATE_PLACE_REQUESTS].order, cursor);
	while (request && request->forgotten_index);
	return request && request->issued_ms < before_ms ? request : NULL;
}

static bool may_go(const struct job_cell *cell, int64_t before_ns)
{
	CHECK(cell->is_stopped_listed && cell->working);
	return cell->present_count == 0 && cell->working->stopped_ns < before_ns;
}

static struct job_cell *stopped_job(struct state *state, int64_t before_ns)
{
	struct job_cell *cell;

	cds_list_for_each_entry (cell, &state->stopped, stopped) {
		if (may_go(cell, before_ns))
			return cell;
	}
	return NULL;
}

bool collect_finds(struct state *state, const struct entry_collect *e)
{
	uint64_t cursor = state->oldest_request;

	return oldest_end(state, e->ended_before_ns) ||
	       oldest_request(state, &cursor, e->issued_before_ms) ||
	       stopped_job(state, e->ended_before_ns);
}

static void forget_requests(struct state *state, const struct entry_collect *e)
{
	for (uint32_t i = 0; i < e->limit; i++) {
		uint64_t cursor = state->oldest_request;
		struct place_request *request = oldest_request(state, &cursor, e->issued_before_ms);
		if (!request)
			break;
		if (request->issued_ms > state->forgotten_ms)
			state->forgotten_ms = request->issued_ms;
		state->oldest_request = cursor;
		place_request_forget(state, request, state->index);
		CHECK(request->forgotten_index && state->forgotten_ms >= request->issued_ms);
	}
}

static void collect_jobs(struct state *state, const struct entry_collect *e)
{
	struct job_cell *cell, *next;
	uint32_t count = 0;

	cds_list_for_each_entry_safe (cell, next, &state->stopped, stopped) {
		if (count == e->limit)
			break;
		if (!may_go(cell, e->ended_before_ns))
			continue;
		job_cell_delete(state, cell, state->index);
		CHECK(!job_cell_keep(cell));
		count++;
	}
}

void collect_apply(struct state *state, void *body, int64_t time_ns)
{
	const struct entry_collect *e = body;
	struct alloc_cell *cell;

	for (uint32_t i = 0; i < e->limit && (cell = oldest_end(state, e->ended_before_ns)); i++)
		alloc_cell_delete(state, cell, state->index);
	forget_requests(state, e);
	collect_jobs(state, e);
}
