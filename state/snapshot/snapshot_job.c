#include "state/snapshot/snapshot_job.h"
#include "state/apply/apply.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/log/coder.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_allocations.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/kind.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <urcu-qsbr.h>

static const struct record *version_at(const void *cell, uint64_t index)
{
	const struct cell *c = cell;
	return state_version_at(__atomic_load_n(&c->published, __ATOMIC_ACQUIRE), index);
}

// Whether an allocation, evaluation or deployment of the job is there, though the job is not.
static bool has_items_at(const struct job_cell *job, uint64_t index)
{
	const struct deployment_cell *deployment;
	const struct alloc_cell *alloc;
	const struct eval_cell *eval;

	FOR_ALLOCATIONS_OF(alloc, job)
	if (version_at(alloc, index))
		return true;
	cds_list_for_each_entry_rcu (eval, &job->evaluations, of_job)
		if (version_at(eval, index))
			return true;
	cds_list_for_each_entry_rcu (deployment, &job->deployments, of_job)
		if (version_at(deployment, index))
			return true;
	return false;
}

static const struct job_keep *keep_at(const struct job_cell *cell, uint64_t index)
{
	const struct record *record =
		(const struct record *)__atomic_load_n(&cell->published, __ATOMIC_ACQUIRE);

	while (record && record->modify_index > index)
		record = record->older;
	if (record && record->deleted && !has_items_at(cell, index) &&
		!((const struct job_keep *)record)->mark.first_ns)
		return NULL;
	return (const struct job_keep *)record;
}

static void mark_code(struct coder *c, struct job_mark *mark)
{
	code_i64(c, &mark->first_ns);
	if (mark->first_ns == 0)
		return;
	code_i64(c, &mark->newest_ns);
	code_u8(c, &mark->trigger);
	code_u8(c, &mark->type);
	code_i64(c, &mark->priority);
	code_uuid(c, &mark->node);
	code_u64(c, &mark->node_modify_index);
	coder_require(c, mark->trigger < EVAL_TRIGGERS && mark->type < JOB_TYPES &&
				 !job_traits[mark->type].is_direct);
}

static void child_count_code(struct coder *c, int64_t *count)
{
	code_i64(c, count);
	coder_require(c, *count >= 0 && *count <= UINT32_MAX);
}

static void notes_code(struct coder *c, struct job_notes **notes)
{
	bool are_there = *notes != NULL;

	code_flag(c, &are_there);
	if (are_there && c->writer)
		record_encode(&job_notes_description, *notes, c->writer);
	else if (are_there)
		coder_fail(c, job_notes_decode(notes, c->reader));
}

// What is behind the names of the counters.
static void work_code(struct coder *c, void *value)
{
	struct job_keep *keep = value;

	code_flag(c, &keep->had_work);
	mark_code(c, &keep->mark);
	for (uint32_t i = 0; i < keep->counter_count; i++) {
		code_u32(c, &keep->counters[i].queued);
		for (uint32_t status = 0; status <= ALLOC_UNKNOWN; status++)
			code_u32(c, &keep->counters[i].clients[status]);
	}
	code_u8(c, &keep->stable);
	coder_require(c, !(keep->stable >> keep->version_count));
	child_count_code(c, &keep->children.pending);
	child_count_code(c, &keep->children.running);
	child_count_code(c, &keep->children.dead);
	notes_code(c, &keep->notes);
}

bool job_item_encode(const struct job_cell *cell, uint64_t index, struct bytes_writer *w)
{
	const struct job_keep *keep = keep_at(cell, index);

	if (!keep)
		return false;
	bytes_put_u8(w, STATE_JOBS);
	bytes_put_u64(w, cell->index);
	bytes_put_text16(w, text_of(cell->namespace_name));
	bytes_put_text16(w, text_of(cell->id));
	bytes_put_u64(w, keep->record.create_index);
	bytes_put_u64(w, keep->record.modify_index);
	bytes_put_u64(w, (uint64_t)keep->stopped_ns);
	bytes_put_u8(w, (uint8_t)keep->version_count);
	for (uint32_t i = 0; i < keep->version_count; i++)
		bytes_put_u64(w, keep->versions[i]->record.modify_index);
	bytes_put_u32(w, keep->counter_floor);
	bytes_put_u16(w, (uint16_t)keep->counter_count);
	for (uint32_t i = 0; i < keep->counter_count; i++) {
		bytes_put_text16(w, job_keep_counter_name(keep, i));
		bytes_put_u32(w, keep->counters[i].next);
	}
	coder_write(work_code, keep, w);
	return true;
}

int job_version_item_load(struct state *state, struct bytes_reader *r)
{
	struct sequence *order = &state->tables[STATE_JOB_VERSIONS].order;
	struct job *job = job_create();
	int error = record_decode(&job_type_description, job, r);

	if (!error && !(job_derive(job) && job_is_sound(job) &&
			      job->record.modify_index > sequence_last_key(order) &&
			      job->record.modify_index <= state->index))
		error = -ERROR_CORRUPT;
	if (error)
		job_free(job);
	else
		sequence_append(order, job->record.modify_index, job);
	return error;
}

struct job_item {
	uint64_t index;
	struct text namespace_name, id;
	uint64_t create_index, modify_index;
	int64_t stopped_ns;
	uint8_t version_count;
	struct job *versions[JOB_VERSIONS_MAX];
};

static bool take_versions(const struct state *state, struct job_item *item, struct bytes_reader *r)
{
	if (item->version_count > JOB_VERSIONS_MAX)
		return false;
	for (uint8_t i = 0; i < item->version_count; i++) {
		uint64_t modify_index = bytes_take_u64(r);
		struct job *job = job_version_find(state, modify_index);
		if (!job || !text_equal(text_of(job->namespace_name), item->namespace_name) ||
			!text_equal(text_of(job->id), item->id) ||
			job->record.create_index != item->create_index ||
			(i > 0 && job->version >= item->versions[i - 1]->version))
			return false;
		item->versions[i] = job;
	}
	return true;
}

static bool take_counters(struct job_keep *keep, struct bytes_reader *r)
{
	keep->counter_floor = bytes_take_u32(r);
	uint16_t count = bytes_take_u16(r);
	if (count != keep->counter_count)
		return false;
	for (uint16_t i = 0; i < count; i++) {
		struct group_counter *counter = job_keep_counter(keep, bytes_take_text16(r));
		if (!counter)
			return false;
		counter->next = bytes_take_u32(r);
	}
	return true;
}

static int check_job_item(const struct state *state, const struct job_item *item)
{
	if (item->index <= sequence_last_key(&state->tables[STATE_JOBS].order) ||
		item->index > state->index || item->namespace_name.size == 0 ||
		item->id.size == 0 || item->create_index > item->modify_index ||
		item->modify_index > state->index ||
		job_cell_find(state, item->namespace_name, item->id))
		return -ERROR_CORRUPT;
	return table_has_room(state, STATE_JOBS, 1) ? 0 : -ERROR_TABLE_FULL;
}

int job_item_load(struct state *state, struct bytes_reader *r)
{
	struct job_item item = {.index = bytes_take_u64(r)};

	item.namespace_name = bytes_take_text16(r);
	item.id = bytes_take_text16(r);
	item.create_index = bytes_take_u64(r);
	item.modify_index = bytes_take_u64(r);
	item.stopped_ns = (int64_t)bytes_take_u64(r);
	item.version_count = bytes_take_u8(r);
	if (r->failed || !take_versions(state, &item, r))
		return -ERROR_CORRUPT;
	int error = check_job_item(state, &item);
	if (error)
		return error;

	struct job_keep *keep = job_keep_build(item.versions, item.version_count);
	if (!take_counters(keep, r) || coder_read(work_code, keep, r) != 0) {
		job_keep_free(keep);
		return -ERROR_CORRUPT;
	}
	keep->record.create_index = item.create_index;
	keep->record.modify_index = item.modify_index;
	keep->record.deleted = item.version_count == 0;
	keep->stopped_ns = item.stopped_ns;
	for (uint8_t i = 0; i < item.version_count; i++) {
		item.versions[i]->references++;
		item.versions[i]->stable = keep->stable >> i & 1;
	}
	state->counts.jobs += !keep->record.deleted;
	struct job_cell *cell =
		job_cell_find_or_add(state, item.namespace_name, item.id, item.index);
	cell->working = keep;
	publish_loaded(STATE_JOBS, cell, keep);
	return 0;
}
