// Jobs by namespace and id: what is kept of each, its versions and the numbers it gives to
// allocations.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/job_notes.h"
#include "state/records/job_traits.h"
#include "state/tables/job_children.h"
#include "state/tables/publish.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

struct job_name {
	struct text namespace_name, id;
};

static unsigned long name_hash(struct job_name name)
{
	uint64_t hash = hash_bytes(0, name.namespace_name.data, name.namespace_name.size);
	return hash_bytes(hash, name.id.data, name.id.size);
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

	cds_lfht_lookup(state->jobs, name_hash(name), name_matches, &name, &iter);
	struct cds_lfht_node *node = cds_lfht_iter_get_node(&iter);
	return node ? caa_container_of(node, struct job_cell, by_name) : NULL;
}

struct job_cell *job_cell_find_or_add(
	struct state *state, struct text namespace_name, struct text id, uint64_t index)
{
	struct job_cell *cell = job_cell_find(state, namespace_name, id);
	if (cell)
		return cell;

	cell = memory_take(sizeof *cell);
	cell->namespace_name = text_copy(namespace_name);
	cell->id = text_copy(id);
	CDS_INIT_LIST_HEAD(&cell->allocations);
	CDS_INIT_LIST_HEAD(&cell->evaluations);
	CDS_INIT_LIST_HEAD(&cell->blocked);
	CDS_INIT_LIST_HEAD(&cell->deployments);
	CDS_INIT_LIST_HEAD(&cell->children);
	cds_lfht_add(state->jobs, name_hash((struct job_name){namespace_name, id}), &cell->by_name);
	cell->index = index;
	sequence_append(&state->job_order, index, cell);
	return cell;
}

// --- Versions ------------------------------------------------------------------------------------

struct job *job_version_find(const struct state *state, uint64_t modify_index)
{
	return sequence_find(&state->version_order, modify_index);
}

struct job *job_version_kept(
	const struct state *state, uint64_t modify_index, struct job_cell **cell)
{
	struct job *job = job_version_find(state, modify_index);
	struct job_cell *found =
		job ? job_cell_find(state, text_of(job->namespace_name), text_of(job->id)) : NULL;
	const struct job_keep *keep = found ? job_cell_keep(found) : NULL;

	for (uint32_t i = 0; keep && i < keep->version_count; i++) {
		if (keep->versions[i] != job)
			continue;
		*cell = found;
		return job;
	}
	return NULL;
}

void job_version_release(struct state *state, struct job *job)
{
	CHECK(job->references > 0);
	if (--job->references == 0)
		state_grave_add(state, GRAVE_VERSION, job);
}

static struct job_keep *keep_create(uint32_t counters, uint32_t characters)
{
	struct job_keep *keep =
		memory_take(sizeof *keep + counters * sizeof keep->counters[0] + characters);
	keep->counter_count = counters;
	keep->character_count = characters;
	return keep;
}

static void keep_make_working(
	struct state *state, struct job_cell *cell, struct job_keep *keep, uint64_t index)
{
	for (uint32_t i = 0; i < keep->version_count; i++)
		keep->versions[i]->references++;
	keep->record.modify_index = index;
	keep->record.older = cell->working ? &cell->working->record : NULL;
	cell->working = keep;
	change_add(state->changes, CHANGE_JOB, cell, &keep->record);
}

struct job_keep *job_keep_revise(struct state *state, struct job_cell *cell, uint64_t index)
{
	struct job_keep *old = cell->working;

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
	return keep;
}

void job_keep_free(struct job_keep *keep)
{
	job_notes_release(keep->notes);
	free(keep);
}

static void keep_free(struct rcu_head *head)
{
	job_keep_free(caa_container_of(head, struct job_keep, record.rcu));
}

void job_keep_retire(struct state *state, struct job_keep *keep)
{
	for (uint32_t i = 0; i < keep->version_count; i++)
		job_version_release(state, keep->versions[i]);
	call_rcu(&keep->record.rcu, keep_free);
}

// --- Counters ------------------------------------------------------------------------------------

struct text job_keep_counter_name(const struct job_keep *keep, uint32_t i)
{
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
		names->items[names->count++] = name;
		names->characters += name.size + 1; // with the closing NUL
	}
}

struct job_keep *job_keep_build(struct job *const *versions, uint32_t version_count)
{
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
	keep->version_count = version_count;
	memcpy(keep->versions, versions, version_count * sizeof versions[0]);
	free(names);
	return keep;
}

// Counters go on where they were; those of names that nobody has any more raise the floor.
static void carry_counters(struct job_keep *keep, struct job_keep *old)
{
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
	return keep->stable >> i & 1;
}

// Which version makes room: the oldest, unless it is the newest that proved to be stable, which one may
// want to go back to (row B60).
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
	sequence_append(&state->version_order, job->record.modify_index, job);
	keep_make_working(state, cell, keep, index);
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
		job_keep_revise(state, cell, state->index)->stable ^= (uint8_t)(1u << i);
		return;
	}
}

void job_cell_delete(struct state *state, struct job_cell *cell, uint64_t index)
{
	job_children_leave(state, cell);
	job_children_forsake(state, cell);
	struct job_keep *tombstone = keep_create(0, 0);

	tombstone->record.create_index = cell->working->record.create_index;
	tombstone->record.deleted = true;
	if (state->placer)
		state->placer->job_retired(state->placer->context, cell->working->versions[0]);
	keep_make_working(state, cell, tombstone, index);
	job_cell_list_stopped(state, cell, false);
	job_cell_list_system(state, cell, false);
	job_cell_list_marked(state, cell, false);
	state->counts.jobs--;
	if (job_cell_is_idle(cell))
		state_grave_add(state, GRAVE_JOB, cell);
}

struct job_cell *job_cell_find_or_add_deleted(
	struct state *state, struct text namespace_name, struct text id, uint64_t index)
{
	struct job_cell *cell = job_cell_find_or_add(state, namespace_name, id, index);

	if (!cell->working) {
		struct job_keep *tombstone = keep_create(0, 0);
		tombstone->record.create_index = index;
		tombstone->record.deleted = true;
		keep_make_working(state, cell, tombstone, index);
	}
	return cell;
}

// --- Status --------------------------------------------------------------------------------------

void job_cell_list_stopped(struct state *state, struct job_cell *cell, bool stopped)
{
	if (cell->is_stopped_listed)
		cds_list_del(&cell->stopped);
	if (stopped)
		cds_list_add_tail(&cell->stopped, &state->stopped);
	cell->is_stopped_listed = stopped;
}

static void list_in(
	bool *is_listed, struct cds_list_head *link, struct cds_list_head *list, bool wanted)
{
	if (*is_listed && !wanted)
		cds_list_del(link);
	if (!*is_listed && wanted)
		cds_list_add_tail(link, list);
	*is_listed = wanted;
}

void job_cell_list_marked(struct state *state, struct job_cell *cell, bool marked)
{
	state->counts.jobs_marked += (uint32_t)marked - (uint32_t)cell->is_marked;
	list_in(&cell->is_marked, &cell->marked, &state->marked, marked);
}

void job_cell_list_system(struct state *state, struct job_cell *cell, bool wanted)
{
	list_in(&cell->is_system_listed, &cell->system, &state->system, wanted);
}

// Of which there is no work of its own: a system job is for every node that there will ever be, the
// others make jobs.
static bool is_for_good(const struct job *job)
{
	return job_traits_of(job)->follows_nodes || job_makes_jobs(job);
}

// A direct job that is not stopped is never dead: it waits for the next placement.
int job_status_of(const struct job_cell *cell, const struct job_keep *keep)
{
	const struct job *job = keep->versions[0];

	if (job_is_direct(job) && job->stop)
		return JOB_DEAD;
	if (is_for_good(job))
		return job->stop ? JOB_DEAD : JOB_RUNNING;
	if (cell->live_count > 0)
		return JOB_RUNNING;
	if (job_is_direct(job) || cell->evaluations_live > 0)
		return JOB_PENDING;
	return keep->had_work ? JOB_DEAD : JOB_PENDING;
}

void job_cell_update_status(struct state *state, struct job_cell *cell, uint64_t index)
{
	struct job_keep *keep = job_cell_keep(cell);
	int status = keep ? job_status_of(cell, keep) : 0;

	if (!keep || keep->status == status)
		return;
	keep = job_keep_revise(state, cell, index);
	if (status == JOB_DEAD || keep->status == JOB_DEAD)
		keep->stopped_ns = status == JOB_DEAD ? state->time_ns : 0;
	keep->status = status;
	job_children_follow(state, cell);
}

// --- Readers -------------------------------------------------------------------------------------

static const struct job_keep *published_keep(const struct job_cell *cell)
{
	const struct job_keep *keep = __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE);
	return keep && !keep->record.deleted ? keep : NULL;
}

static const struct job_keep *find_published(
	const struct state *state, struct text namespace_name, struct text id)
{
	const struct job_cell *cell = job_cell_find(state, namespace_name, id);
	return cell ? published_keep(cell) : NULL;
}

const struct job *state_job(const struct state *state, struct text namespace_name, struct text id)
{
	const struct job_keep *keep = find_published(state, namespace_name, id);
	return keep ? keep->versions[0] : NULL;
}

uint64_t state_job_index(const struct state *state, struct text namespace_name, struct text id)
{
	const struct job_keep *keep = find_published(state, namespace_name, id);
	return keep ? keep->record.modify_index : 0;
}

uint64_t state_job_allocations_index(
	const struct state *state, struct text namespace_name, struct text id)
{
	const struct job_cell *cell = job_cell_find(state, namespace_name, id);
	return cell ? atomic_load_explicit(&cell->allocations_index, memory_order_relaxed) : 0;
}

const struct job *state_job_version(
	const struct state *state, struct text namespace_name, struct text id, uint64_t version)
{
	const struct job_keep *keep = find_published(state, namespace_name, id);
	return keep ? job_keep_version(keep, version) : NULL;
}

const struct job_notes *state_job_notes(
	const struct state *state, struct text namespace_name, struct text id)
{
	const struct job_keep *keep = find_published(state, namespace_name, id);
	return keep ? keep->notes : NULL;
}

struct job_children state_job_children(
	const struct state *state, struct text namespace_name, struct text id)
{
	const struct job_keep *keep = find_published(state, namespace_name, id);
	return keep ? keep->children : (struct job_children){0};
}

const struct job *state_next_job(const struct state *state, uint64_t *cursor)
{
	const struct job_cell *cell;

	while ((cell = sequence_next(&state->job_order, cursor))) {
		const struct job_keep *keep = published_keep(cell);
		if (keep)
			return keep->versions[0];
	}
	return NULL;
}

void state_job_allocations(const struct state *state, struct text namespace_name, struct text id,
	state_allocation_visit *visit, void *context)
{
	const struct job_cell *job = job_cell_find(state, namespace_name, id);
	const struct alloc_cell *cell;

	if (!job)
		return;
	cds_list_for_each_entry_rcu (cell, &job->allocations, of_job) {
		const struct allocation *a = allocation_published(cell);
		if (a && !visit(a, context))
			return;
	}
}
