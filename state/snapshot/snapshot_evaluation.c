#include "state/snapshot/snapshot_evaluation.h"
#include "state/apply/apply.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/records/job_notes.h"
#include "state/records/job_traits.h"
#include "state/tables/publish.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

// --- Work of jobs --------------------------------------------------------------------------------

void job_work_encode(const struct job_keep *keep, struct bytes_writer *w)
{
	const struct job_mark *mark = &keep->mark;

	bytes_put_u8(w, keep->had_work);
	bytes_put_u64(w, (uint64_t)mark->first_ns);
	if (mark->first_ns) {
		bytes_put_u64(w, (uint64_t)mark->newest_ns);
		bytes_put_u8(w, mark->trigger);
		bytes_put_u8(w, mark->type);
		bytes_put_u64(w, (uint64_t)mark->priority);
		bytes_put_uuid(w, &mark->node);
		bytes_put_u64(w, mark->node_modify_index);
	}
	for (uint32_t i = 0; i < keep->counter_count; i++) {
		bytes_put_u32(w, keep->counters[i].queued);
		for (uint32_t status = 0; status <= ALLOC_UNKNOWN; status++)
			bytes_put_u32(w, keep->counters[i].clients[status]);
	}
	bytes_put_u8(w, keep->stable);
	bytes_put_u64(w, (uint64_t)keep->children.pending);
	bytes_put_u64(w, (uint64_t)keep->children.running);
	bytes_put_u64(w, (uint64_t)keep->children.dead);
	bytes_put_u8(w, keep->notes != NULL);
	if (keep->notes)
		record_encode(&job_notes_description, keep->notes, w);
}

static int64_t take_count(struct bytes_reader *r)
{
	int64_t count = (int64_t)bytes_take_u64(r);

	if (count < 0 || count > UINT32_MAX)
		r->failed = true;
	return count;
}

static bool rest_decode(struct job_keep *keep, struct bytes_reader *r)
{
	keep->stable = bytes_take_u8(r);
	keep->children.pending = take_count(r);
	keep->children.running = take_count(r);
	keep->children.dead = take_count(r);
	uint8_t has_notes = bytes_take_u8(r);
	if (r->failed || has_notes > 1 || keep->stable >> keep->version_count)
		return false;
	if (!has_notes)
		return true;
	return job_notes_decode(&keep->notes, r) == 0;
}

static bool mark_decode(struct job_mark *mark, struct bytes_reader *r)
{
	mark->first_ns = (int64_t)bytes_take_u64(r);
	if (mark->first_ns == 0)
		return true;
	mark->newest_ns = (int64_t)bytes_take_u64(r);
	mark->trigger = bytes_take_u8(r);
	mark->type = bytes_take_u8(r);
	mark->priority = (int64_t)bytes_take_u64(r);
	mark->node = bytes_take_uuid(r);
	mark->node_modify_index = bytes_take_u64(r);
	return mark->trigger < EVAL_TRIGGERS && mark->type < JOB_TYPES &&
	       !job_traits[mark->type].is_direct;
}

bool job_work_decode(struct job_keep *keep, struct bytes_reader *r)
{
	uint8_t had_work = bytes_take_u8(r);

	if (had_work > 1 || !mark_decode(&keep->mark, r))
		return false;
	keep->had_work = had_work;
	for (uint32_t i = 0; i < keep->counter_count; i++) {
		keep->counters[i].queued = bytes_take_u32(r);
		for (uint32_t status = 0; status <= ALLOC_UNKNOWN; status++)
			keep->counters[i].clients[status] = bytes_take_u32(r);
	}
	return rest_decode(keep, r);
}

// --- Evaluations ---------------------------------------------------------------------------------

const struct evaluation *evaluation_at(const struct eval_cell *cell, uint64_t index)
{
	const struct evaluation *e = __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE);
	return (const struct evaluation *)state_version_at((const struct record *)e, index);
}

bool job_has_evaluations_at(const struct job_cell *job, uint64_t index)
{
	const struct eval_cell *cell;

	cds_list_for_each_entry_rcu (cell, &job->evaluations, of_job) {
		if (evaluation_at(cell, index))
			return true;
	}
	return false;
}

static int evaluation_item_check(const struct state *state, const struct evaluation *e)
{
	if (!evaluation_is_sound(e) || eval_cell_find(state, &e->id) ||
		e->record.create_index <= sequence_last_key(&state->eval_order) ||
		e->record.modify_index > state->index ||
		!job_cell_find(state, text_of(e->namespace_name), text_of(e->job_id)))
		return -ERROR_CORRUPT;
	return evaluations_have_room(state, 1) ? 0 : -ERROR_TABLE_FULL;
}

int evaluation_item_load(struct state *state, struct bytes_reader *r)
{
	struct evaluation *e = evaluation_create();
	int error = record_decode(&evaluation_description, e, r);

	if (!error)
		error = evaluation_item_check(state, e);
	if (error) {
		evaluation_free(e);
		return error;
	}
	struct job_cell *job = job_cell_find(state, text_of(e->namespace_name), text_of(e->job_id));
	struct eval_cell *cell = eval_cell_load(state, job, e);
	publish_loaded(&cell->published, e);
	return 0;
}

// --- Configuration -------------------------------------------------------------------------------

int config_item_load(struct state *state, struct bytes_reader *r)
{
	struct scheduler_config *config = memory_take(sizeof *config);
	int error = record_decode(&scheduler_config_description, config, r);

	if (!error && (state->config.working->record.modify_index != 0 ||
			      config->record.modify_index == 0 ||
			      config->record.create_index > config->record.modify_index ||
			      config->record.modify_index > state->index))
		error = -ERROR_CORRUPT;
	if (error) {
		free(config);
		return error;
	}
	free(state->config.working);
	state->config.working = config;
	publish_loaded(&state->config.published, config);
	return 0;
}
