// What is kept of each job: its versions and the numbers it gives to allocations.
#include "state/tables/jobs/job_keep.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/job_notes.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/namespaces/namespace_table.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

struct job_name {
	struct text namespace_name, id;
};

static unsigned long name_hash(struct job_name name)
{
	uint64_t hash = hash_keyed(0, name.namespace_name.data, name.namespace_name.size);
	return hash_keyed(hash, name.id.data, name.id.size);
}

static int name_matches(struct cds_lfht_node *node, const void *wanted)
{
	const struct job_cell *cell = caa_container_of(node, struct job_cell, by_name);
	const struct job_name *name = wanted;

	return text_equal(text_of(cell->namespace_name), name->namespace_name) &&
	       text_equal(text_of(cell->id), name->id);
}

struct job_cell *job_cell_find(
	const struct state *state, struct text namespace_name, struct text id)
{
	struct job_name name = {namespace_name, id};
	struct cds_lfht_iter iter;

	cds_lfht_lookup(state->tables[STATE_JOBS].hash.buckets, name_hash(name), name_matches,
		&name, &iter);
	struct cds_lfht_node *node = cds_lfht_iter_get_node(&iter);
	return node ? caa_container_of(node, struct job_cell, by_name) : NULL;
}

struct job_cell *job_cell_of(const struct state *state, const struct job *job)
{
	return job_cell_find(state, text_of(job->namespace_name), text_of(job->id));
}

struct job_cell *job_cell_find_or_add(
	struct state *state, struct text namespace_name, struct text id, uint64_t index)
{
	struct job_cell *cell = job_cell_find(state, namespace_name, id);
	if (cell)
		return cell;

	cell = memory_take(sizeof *cell);
	CHECK(namespace_name.size > 0 && id.size > 0);
	CHECK(index > 0 && index <= state->index);
	cell->namespace_name = text_copy(namespace_name);
	cell->id = text_copy(id);
	cell->space = namespace_join(state, namespace_name);
	CDS_INIT_LIST_HEAD(&cell->evaluations);
	CDS_INIT_LIST_HEAD(&cell->blocked);
	CDS_INIT_LIST_HEAD(&cell->deployments);
	CDS_INIT_LIST_HEAD(&cell->children);
	cds_lfht_add(state->tables[STATE_JOBS].hash.buckets,
		name_hash((struct job_name){namespace_name, id}), &cell->by_name);
	cell->index = index;
	sequence_append(&state->tables[STATE_JOBS].order, index, cell);
	return cell;
}

struct job *job_version_find(const struct state *state, uint64_t modify_index)
{
	return sequence_find(&state->tables[STATE_JOB_VERSIONS].order, modify_index);
}

struct job *job_version_kept(
	const struct state *state, uint64_t modify_index, struct job_cell **cell)
{
	struct job *job = job_version_find(state, modify_index);
	struct job_cell *found = job ? job_cell_of(state, job) : NULL;
	const struct job_keep *keep = job_cell_keep(found);

	for (uint32_t i = 0; keep && i < keep->version_count; i++) {
		if (keep->versions[i] != job)
			continue;
		CHECK(found->working->versions[i] == job);
		*cell = found;
		return job;
	}
	return NULL;
}

void job_version_release(struct state *state, struct job *job)
{
	CHECK(job->references > 0);
	if (--job->references == 0)
		grave_add(state, STATE_JOB_VERSIONS, job);
}

static struct job_keep *keep_create(uint32_t counters, uint32_t characters)
{
	CHECK(counters <= JOB_VERSIONS_MAX * JOB_GROUPS_MAX);
	struct job_keep *keep =
		memory_take(sizeof *keep + counters * sizeof keep->counters[0] + characters);
	keep->counter_count = counters;
	keep->character_count = characters;
	return keep;
}

static void keep_make_working(
	struct state *state, struct job_cell *cell, struct job_keep *keep, uint64_t index)
{
	CHECK(keep->version_count <= JOB_VERSIONS_MAX);
	CHECK(keep->record.deleted == (keep->version_count == 0));
	CHECK(!cell->working || cell->working->record.modify_index <= index);
	CHECK(!cell->is_buried);
	for (uint32_t i = 0; i < keep->version_count; i++)
		keep->versions[i]->references++;
	keep->record.modify_index = index;
	keep->record.older = cell->working ? &cell->working->record : NULL;
	cell->working = keep;
	change_add(state->changes, STATE_JOBS, cell, &keep->record);
}

struct job_keep *job_keep_revise(struct state *state, struct job_cell *cell, uint64_t index)
{
	struct job_keep *old = cell->working;

	CHECK(old && index >= old->record.modify_index);
	if (old->record.modify_index >= state->unpublished_from) {
		old->record.modify_index = index;
		return old;
	}
	struct job_keep *keep = keep_create(old->counter_count, old->character_count);
	memcpy(keep, old,
		sizeof *keep + old->counter_count * sizeof keep->counters[0] +
			old->character_count);
	job_notes_share(keep->notes);
	keep_make_working(state, cell, keep, index);
	CHECK(cell->working == keep && keep->record.older == &old->record);
	return keep;
}

void job_keep_free(struct job_keep *keep)
{
	CHECK(keep);
	job_notes_release(keep->notes);
	free(keep);
}

struct text job_keep_counter_name(const struct job_keep *keep, uint32_t i)
{
	CHECK(i < keep->counter_count);
	return (struct text){
		job_keep_characters(keep) + keep->counters[i].name_at, keep->counters[i].name_size};
}

struct group_counter *job_keep_counter(struct job_keep *keep, struct text group)
{
	for (uint32_t i = 0; i < keep->counter_count; i++)
		if (text_equal(job_keep_counter_name(keep, i), group))
			return &keep->counters[i];
	return NULL;
}

struct names {
	uint32_t count, characters;
	struct text items[JOB_VERSIONS_MAX * JOB_GROUPS_MAX];
};

static bool has_name(const struct names *names, struct text name)
{
	for (uint32_t i = 0; i < names->count; i++)
		if (text_equal(names->items[i], name))
			return true;
	return false;
}

static void add_groups(struct names *names, const struct job *job)
{
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		struct text name = text_of(ARRAY_AT(&job->task_groups, struct task_group, i)->name);
		if (has_name(names, name))
			continue;
		CHECK(names->count < JOB_VERSIONS_MAX * JOB_GROUPS_MAX);
		names->items[names->count++] = name;
		names->characters += name.size + 1; // with the closing NUL
	}
}

struct job_keep *job_keep_build(struct job *const *versions, uint32_t version_count)
{
	CHECK(version_count <= JOB_VERSIONS_MAX);
	struct names *names = memory_take(sizeof *names);
	for (uint32_t i = 0; i < version_count; i++)
		add_groups(names, versions[i]);

	struct job_keep *keep = keep_create(names->count, names->characters);
	char *characters = (char *)&keep->counters[names->count];
	uint32_t at = 0;
	for (uint32_t i = 0; i < names->count; i++) {
		keep->counters[i].name_at = at;
		keep->counters[i].name_size = names->items[i].size;
		if (names->items[i].size)
			memcpy(characters + at, names->items[i].data, names->items[i].size);
		at += names->items[i].size + 1;
	}
	CHECK(at == names->characters);
	keep->version_count = version_count;
	memcpy(keep->versions, versions, version_count * sizeof versions[0]);
	free(names);
	return keep;
}

// Counters go on where they were; a counter whose group no kept version has raises the floor.
static void carry_counters(struct job_keep *keep, struct job_keep *old)
{
	CHECK(keep != old);
	keep->counter_floor = old->counter_floor;
	for (uint32_t i = 0; i < old->counter_count; i++)
		if (!job_keep_counter(keep, job_keep_counter_name(old, i)) &&
			old->counters[i].next > keep->counter_floor)
			keep->counter_floor = old->counters[i].next;
	for (uint32_t i = 0; i < keep->counter_count; i++) {
		struct group_counter *was = job_keep_counter(old, job_keep_counter_name(keep, i));
		if (!was) {
			keep->counters[i].next = keep->counter_floor;
			continue;
		}
		keep->counters[i].next = was->next;
		keep->counters[i].queued = was->queued;
		memcpy(keep->counters[i].clients, was->clients, sizeof was->clients);
	}
}

static bool is_stable(const struct job_keep *keep, uint32_t i)
{
	CHECK(i < keep->version_count);
	return keep->stable >> i & 1;
}

// The oldest version makes room, unless it is the newest stable one, to which the job may go back (row B60); then the
// next newer one does.
static uint32_t version_to_drop(const struct job_keep *keep)
{
	uint32_t stable = 0;

	while (stable < keep->version_count && !is_stable(keep, stable))
		stable++;
	bool is_oldest = stable < keep->version_count && stable == JOB_VERSIONS_MAX - 1;
	return is_oldest ? stable - 1 : JOB_VERSIONS_MAX - 1;
}

void job_keep_push(struct state *state, struct job_cell *cell, struct job *job, uint64_t index)
{
	struct job_keep *old = job_cell_keep(cell);
	struct job *versions[JOB_VERSIONS_MAX] = {job};
	uint32_t count = 1, drop = old ? version_to_drop(old) : 0;

	uint32_t stable = job->stable;

	for (uint32_t i = 0; old && i < old->version_count; i++) {
		if (i == drop)
			continue;
		stable |= (uint32_t)is_stable(old, i) << count;
		versions[count++] = old->versions[i];
	}
	CHECK(count <= JOB_VERSIONS_MAX && versions[0] == job);
	CHECK(job->record.modify_index == index);
	struct job_keep *keep = job_keep_build(versions, count);
	keep->record.create_index = job->record.create_index;
	keep->stable = (uint8_t)stable;
	if (old) {
		keep->notes = job_notes_share(old->notes);
		keep->children = old->children;
		keep->status = old->status;
		keep->had_work = old->had_work;
		keep->mark = old->mark;
		carry_counters(keep, old);
	}
	sequence_append(&state->tables[STATE_JOB_VERSIONS].order, job->record.modify_index, job);
	keep_make_working(state, cell, keep, index);
	CHECK(job->references > 0);
}

struct job *job_keep_newest_stable(const struct job_keep *keep)
{
	for (uint32_t i = 0; i < keep->version_count; i++)
		if (is_stable(keep, i))
			return keep->versions[i];
	return NULL;
}

struct job *job_keep_version(const struct job_keep *keep, uint64_t version)
{
	for (uint32_t i = 0; i < keep->version_count; i++)
		if (keep->versions[i]->version == version)
			return keep->versions[i];
	return NULL;
}

void job_keep_set_stable(struct state *state, struct job_cell *cell, uint64_t version, bool stable)
{
	const struct job_keep *known = job_cell_keep(cell);

	for (uint32_t i = 0; known && i < known->version_count; i++) {
		if (known->versions[i]->version != version || is_stable(known, i) == stable)
			continue;
		CHECK(cell->working == known);
		job_keep_revise(state, cell, state->index)->stable ^= (uint8_t)(1u << i);
		return;
	}
}

struct job_keep *job_keep_push_tombstone(
	struct state *state, struct job_cell *cell, uint64_t create_index, uint64_t index)
{
	struct job_keep *tombstone = keep_create(0, 0);

	tombstone->record.create_index = create_index;
	tombstone->record.deleted = true;
	keep_make_working(state, cell, tombstone, index);
	CHECK(cell->working == tombstone && !job_cell_keep(cell));
	return tombstone;
}

struct job_cell *job_cell_find_or_add_deleted(
	struct state *state, struct text namespace_name, struct text id, uint64_t index)
{
	struct job_cell *cell = job_cell_find_or_add(state, namespace_name, id, index);

	if (!cell->working)
		job_keep_push_tombstone(state, cell, index, index);
	CHECK(cell->working);
	return cell;
}

void job_cell_bury_if_idle(struct state *state, struct job_cell *cell)
{
	CHECK(cell->working);
	if (!job_cell_keep(cell) && job_cell_is_idle(cell))
		grave_add(state, STATE_JOBS, cell);
}
