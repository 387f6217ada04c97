#include "state/snapshot/snapshot_job.h"
#include "state/apply/apply.h"
#include "state/base/error.h"
#include "state/base/memory.h"
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

static void put_work(const struct job_keep *keep, struct bytes_writer *w)
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
	put_work(keep, w);
	return true;
}

static int64_t take_count(struct bytes_reader *r)
{
	int64_t count = (int64_t)bytes_take_u64(r);

	if (count < 0 || count > UINT32_MAX)
		r->failed = true;
	return count;
}

static bool take_rest(struct job_keep *keep, struct bytes_reader *r)
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

static bool take_mark(struct job_mark *mark, struct bytes_reader *r)
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

static bool take_work(struct job_keep *keep, struct bytes_reader *r)
{
	uint8_t had_work = bytes_take_u8(r);

	if (had_work > 1 || !take_mark(&keep->mark, r))
		return false;
	keep->had_work = had_work;
	for (uint32_t i = 0; i < keep->counter_count; i++) {
		keep->counters[i].queued = bytes_take_u32(r);
		for (uint32_t status = 0; status <= ALLOC_UNKNOWN; status++)
			keep->counters[i].clients[status] = bytes_take_u32(r);
	}
	return take_rest(keep, r);
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
	if (!take_counters(keep, r) || !take_work(keep, r) || r->failed) {
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
