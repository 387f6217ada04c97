// Jobs by namespace and id: their ends, their status, and what readers see of them.
#include "state/tables/jobs/job_table.h"
#include "state/base/check.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/job_allocations.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_children.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/kind.h"
#include "state/tables/namespaces/namespace_table.h"
#include "state/tables/placer.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

void job_cell_delete(struct state *state, struct job_cell *cell, uint64_t index)
{
	CHECK(job_cell_keep(cell) && state->counts.jobs_by_status[cell->working->status] > 0);
	state->counts.jobs_by_status[cell->working->status]--;
	job_children_leave(state, cell);
	job_children_forsake(state, cell);
	if (state->placer)
		state->placer->job_retired(state->placer->context, cell->working->versions[0]);
	job_keep_push_tombstone(state, cell, cell->working->record.create_index, index);
	job_cell_list_stopped(state, cell, false);
	job_cell_list_system(state, cell, false);
	job_cell_list_marked(state, cell);
	CHECK(state->counts.jobs > 0);
	state->counts.jobs--;
	job_cell_bury_if_idle(state, cell);
	CHECK(!cell->is_marked && !cell->is_stopped_listed && !cell->is_system_listed);
}

void job_cell_list_stopped(struct state *state, struct job_cell *cell, bool stopped)
{
	if (cell->is_stopped_listed)
		cds_list_del(&cell->stopped);
	if (stopped)
		cds_list_add_tail(&cell->stopped, &state->stopped);
	cell->is_stopped_listed = stopped;
}

static void list_job_in(
	bool *is_listed, struct cds_list_head *link, struct cds_list_head *list, bool wanted)
{
	if (*is_listed && !wanted)
		cds_list_del(link);
	if (!*is_listed && wanted)
		cds_list_add_tail(link, list);
	*is_listed = wanted;
}

void job_cell_list_marked(struct state *state, struct job_cell *cell)
{
	const struct job_mark *mark = &cell->working->mark;
	bool marked = mark->first_ns != 0, urgent = job_mark_is_urgent(mark);

	CHECK(marked || !cell->is_marked || state->counts.jobs_marked > 0);
	state->counts.jobs_marked += (uint32_t)marked - (uint32_t)cell->is_marked;
	if (cell->is_urgent != urgent) // it changes lists
		list_job_in(&cell->is_marked, &cell->marked, &state->marked, false);
	list_job_in(&cell->is_marked, &cell->marked,
		urgent ? &state->marked_urgently : &state->marked, marked);
	cell->is_urgent = urgent;
	CHECK(cell->is_marked == marked);
}

void job_cell_list_system(struct state *state, struct job_cell *cell, bool wanted)
{
	list_job_in(&cell->is_system_listed, &cell->system, &state->system, wanted);
	CHECK(cell->is_system_listed == wanted);
}

// Jobs that go on until they are stopped: a system job is for every node that there will ever be, the others make jobs.
static bool is_for_good(const struct job *job)
{
	return job_traits_of(job)->follows_nodes || job_makes_jobs(job);
}

// A direct job that is not stopped is never dead: it waits for the next placement.
int job_status_of(const struct job_cell *cell, const struct job_keep *keep)
{
	const struct job *job = keep->versions[0];

	CHECK(job);
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
	CHECK(state->counts.jobs_by_status[keep->status] > 0);
	state->counts.jobs_by_status[keep->status]--;
	state->counts.jobs_by_status[status]++;
	keep = job_keep_revise(state, cell, index);
	if (status == JOB_DEAD || keep->status == JOB_DEAD)
		keep->stopped_ns = status == JOB_DEAD ? state->time_ns : 0;
	keep->status = status;
	CHECK(keep == cell->working);
	job_children_follow(state, cell);
}

// Copies what is kept of a job but shown with its versions into the versions.
static void job_showing(void *record)
{
	struct job_keep *keep = record;

	if (keep->record.deleted)
		return;
	CHECK(keep->version_count > 0);
	__atomic_store_n(&keep->versions[0]->status, keep->status, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < keep->version_count; i++)
		__atomic_store_n(
			&keep->versions[i]->stable, (keep->stable >> i & 1) != 0, __ATOMIC_RELAXED);
}

// Observers see the newest version of a job. Every keep shares that record, so for a deleted job they see a copy that
// says so.
static const struct record *job_seen(const struct record *record)
{
	CHECK(!record->deleted);
	return &((const struct job_keep *)record)->versions[0]->record;
}

static bool job_shown_anew(const struct record *before, const struct record *after)
{
	const struct job_keep *was = (const struct job_keep *)before;
	const struct job_keep *is = (const struct job_keep *)after;
	return was->status != is->status;
}

static struct record *job_seen_gone(const struct record *before)
{
	CHECK(!before->deleted);
	struct job *gone = memory_take(sizeof *gone);

	*gone = *(const struct job *)before;
	gone->record.deleted = true;
	return &gone->record;
}

static void job_keep_retired(struct state *state, void *old, const void *now)
{
	struct job_keep *keep = old;

	for (uint32_t i = 0; i < keep->version_count; i++)
		job_version_release(state, keep->versions[i]);
}

static void free_job_keep(void *record)
{
	job_keep_free(record);
}

static void free_job_cell(struct job_cell *cell)
{
	CHECK(cell->namespace_name && cell->id);
	free(cell->namespace_name);
	free(cell->id);
	job_allocations_release(cell);
	free(cell);
}

static void job_cell_free(struct rcu_head *head)
{
	struct job_cell *cell = caa_container_of(head, struct job_cell, rcu);

	job_keep_free(cell->working);
	free_job_cell(cell);
}

// A job that was registered again meanwhile leaves its grave. It may have been put into another grave since.
static bool bury_job(struct state *state, void *item)
{
	struct job_cell *cell = item;

	if (cell->published != cell->working)
		return false;
	if (job_cell_keep(cell) || !job_cell_is_idle(cell) || cell->is_buried)
		return true;
	CHECK(cell->working && cell->working->record.deleted);
	cell->is_buried = true;
	CHECK(cds_lfht_del(state->tables[STATE_JOBS].hash.buckets, &cell->by_name) == 0);
	sequence_remove(&state->tables[STATE_JOBS].order, cell);
	namespace_leave(state, cell->space);
	call_rcu(&cell->rcu, job_cell_free);
	return true;
}

static void destroy_jobs(struct state *state)
{
	uint64_t cursor = 0;
	struct job_cell *cell;

	while ((cell = sequence_next(&state->tables[STATE_JOBS].order, &cursor))) {
		CHECK(cds_lfht_del(state->tables[STATE_JOBS].hash.buckets, &cell->by_name) == 0);
		cell_free_versions(&job_kind, cell);
		free_job_cell(cell);
	}
}

const struct kind job_kind = {
	.name = "job",
	.limit_offset = offsetof(struct state_limits, jobs),
	.limit_max = JOBS_MAX,
	.position_offset = offsetof(struct job_cell, position),
	.is_hashed = true,
	.showing = job_showing,
	.shown_anew = job_shown_anew,
	.seen = job_seen,
	.seen_gone = job_seen_gone,
	.sum = job_keep_sum,
	.retired = job_keep_retired,
	.free = free_job_keep,
	.bury = bury_job,
	.destroy = destroy_jobs,
};

static void free_job_version(void *record)
{
	job_free(record);
}

static void job_version_free(struct rcu_head *head)
{
	job_free(caa_container_of(head, struct job, rcu));
}

static bool bury_job_version(struct state *state, void *item)
{
	struct job *version = item;

	CHECK(version->references == 0);
	sequence_remove(&state->tables[STATE_JOB_VERSIONS].order, version);
	call_rcu(&version->rcu, job_version_free);
	return true;
}

static void destroy_job_versions(struct state *state)
{
	uint64_t cursor = 0;
	struct job *job;

	while ((job = sequence_next(&state->tables[STATE_JOB_VERSIONS].order, &cursor)))
		job_free(job);
}

const struct kind job_version_kind = {
	.name = "job version",
	.position_offset = offsetof(struct job, position),
	.is_quiet = true,
	.free = free_job_version,
	.bury = bury_job_version,
	.destroy = destroy_job_versions,
};

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

uint64_t state_job_index_of(const struct state *state, enum state_table table,
	struct text namespace_name, struct text id)
{
	const struct job_cell *cell = job_cell_find(state, namespace_name, id);
	if (!cell)
		return 0;
	const _Atomic uint64_t *index = table == STATE_ALLOCATIONS   ? &cell->allocations_index
					: table == STATE_EVALUATIONS ? &cell->evaluations_index
								     : &cell->deployments_index;
	return atomic_load_explicit(index, memory_order_relaxed);
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

// A job may have more than the caches hold: of what comes later, the cell is fetched, then its version.
static void fetch_ahead(const struct alloc_walk *walk)
{
	enum { NEAR = 8, FAR = 20 };
	const struct alloc_cell *far = alloc_walk_ahead(walk, FAR),
				*near = alloc_walk_ahead(walk, NEAR);

	if (far)
		__builtin_prefetch(&far->published);
	const struct allocation *version =
		near ? __atomic_load_n(&near->published, __ATOMIC_RELAXED) : NULL;
	if (version) {
		__builtin_prefetch(&version->record.deleted);
		__builtin_prefetch(&version->index);
	}
}

void state_job_allocations(const struct state *state, struct text namespace_name, struct text id,
	state_allocation_visit *visit, void *context)
{
	const struct job_cell *job = job_cell_find(state, namespace_name, id);
	const struct alloc_cell *cell;

	if (!job)
		return;
	FOR_ALLOCATIONS_OF(cell, job)
	{
		fetch_ahead(&alloc_walk);
		const struct allocation *a = allocation_published(cell);
		if (a && !visit(a, context))
			return;
	}
}
