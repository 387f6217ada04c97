#include "state/tables/jobs/job_children.h"
#include "state/base/check.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"

static struct job_cell *parent_of(const struct state *state, const struct job_cell *cell)
{
	CHECK(job_cell_keep(cell));
	const struct job *job = cell->working->versions[0];
	struct job_cell *parent =
		job_cell_find(state, text_of(job->namespace_name), text_of(job->parent_id));
	const struct job_keep *keep = job_cell_keep(parent);

	return keep && parent != cell && job_makes_jobs(keep->versions[0]) ? parent : NULL;
}

static bool has_parent(const struct job_cell *cell)
{
	const char *parent_id = cell->working->versions[0]->parent_id;
	return parent_id && *parent_id;
}

static int64_t *count_of(struct job_children *children, int status)
{
	if (status == JOB_DEAD)
		return &children->dead;
	return status == JOB_RUNNING ? &children->running : &children->pending;
}

static void count_child(struct state *state, struct job_cell *cell, int status)
{
	CHECK(cell->parent && status >= 0 && status <= JOB_DEAD);
	struct job_keep *keep = job_keep_revise(state, cell->parent, state->index);

	++*count_of(&keep->children, status);
	cell->counted_child = (uint8_t)status;
}

static void uncount_child(struct state *state, struct job_cell *cell)
{
	CHECK(cell->parent && cell->counted_child <= JOB_DEAD);
	struct job_keep *keep = job_keep_revise(state, cell->parent, state->index);
	int64_t *counted = count_of(&keep->children, cell->counted_child);

	CHECK(*counted > 0);
	if (cell->counted_child != JOB_DEAD)
		--*counted;
}

static void list_with(struct state *state, struct job_cell *cell, struct job_cell *parent)
{
	CHECK(cell != parent);
	if (cell->is_child)
		cds_list_del(&cell->sibling);
	cds_list_add_tail(&cell->sibling, parent ? &parent->children : &state->orphans);
	cell->is_child = true;
	cell->parent = parent;
	CHECK(cell->is_child);
}

void job_children_follow(struct state *state, struct job_cell *cell)
{
	int status = cell->working->status;

	if (!cell->parent || cell->counted_child == status)
		return;
	uncount_child(state, cell);
	count_child(state, cell, status);
}

void job_children_leave(struct state *state, struct job_cell *cell)
{
	if (!cell->is_child)
		return;
	if (cell->parent && cell->counted_child != JOB_DEAD) {
		uncount_child(state, cell);
		count_child(state, cell, JOB_DEAD);
	}
	cds_list_del(&cell->sibling);
	cell->is_child = false;
	cell->parent = NULL;
	CHECK(!cell->is_child && !cell->parent);
}

void job_children_forsake(struct state *state, struct job_cell *cell)
{
	struct job_cell *child, *next;

	cds_list_for_each_entry_safe (child, next, &cell->children, sibling)
		list_with(state, child, NULL);
	CHECK(cds_list_empty(&cell->children));
}

// The job takes over the children of a purged job of the same name.
static void adopt(struct state *state, struct job_cell *cell)
{
	struct job_cell *child, *next;

	cds_list_for_each_entry_safe (child, next, &state->orphans, sibling) {
		if (parent_of(state, child) != cell)
			continue;
		list_with(state, child, cell);
		count_child(state, child, child->working->status);
	}
}

void job_children_join(struct state *state, struct job_cell *cell)
{
	const struct job_keep *keep = cell->working;

	CHECK(job_cell_keep(cell) == keep);
	if (job_makes_jobs(keep->versions[0]) && keep->version_count == 1)
		adopt(state, cell);
	struct job_cell *parent = has_parent(cell) ? parent_of(state, cell) : NULL;
	if (cell->is_child && (!has_parent(cell) || parent != cell->parent))
		job_children_leave(state, cell);
	if (cell->is_child || !has_parent(cell))
		return;
	list_with(state, cell, parent);
	if (parent)
		count_child(state, cell, keep->status);
}

void job_children_load(struct state *state, struct job_cell *cell)
{
	CHECK(!cell->is_child);
	if (!has_parent(cell))
		return;
	list_with(state, cell, parent_of(state, cell));
	cell->counted_child = (uint8_t)cell->working->status;
}
