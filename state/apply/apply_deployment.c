// Changes of deployments by operators, peers, watchers and plans.
#include "state/apply/apply_record.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

// Takes the deployment over. Nothing of it is placed yet, so the maker's counts are dropped.
static void deployment_begin(struct state *state, struct job_cell *job, struct deployment *d)
{
	CHECK(job && !deployment_cell_find(state, &d->id));
	d->create_time_ns = d->modify_time_ns = state->time_ns;
	for (uint32_t i = 0; i < d->groups.count; i++) {
		struct deployment_group *g = ARRAY_AT(&d->groups, struct deployment_group, i);
		free(g->placed_canaries.items);
		g->placed_canaries = (struct array){0};
		g->placed_allocs = g->healthy_allocs = g->unhealthy_allocs = 0;
		g->require_progress_by_ns = 0;
	}
	CHECK(table_put(state, STATE_DEPLOYMENTS, d)->working == d);
}

static void keep_counts(struct deployment_group *to, struct deployment_group *from)
{
	struct array canaries = to->placed_canaries;

	to->placed_canaries = from->placed_canaries;
	from->placed_canaries = canaries;
	to->placed_allocs = from->placed_allocs;
	to->healthy_allocs = from->healthy_allocs;
	to->unhealthy_allocs = from->unhealthy_allocs;
	to->require_progress_by_ns = from->require_progress_by_ns;
}

// Replaces the groups with those that a scheduler computed; keeps the counts of what was placed meanwhile.
static void replace_groups(
	struct state *state, struct deployment_cell *cell, const struct deployment *computed)
{
	CHECK(deployment_cell_is_there(cell) && cell->working->status == DEPLOYMENT_INITIALIZING);
	struct deployment *d = deployment_cell_revise(state, cell, state->index);
	struct deployment *copy = deployment_copy(computed);

	for (uint32_t i = 0; i < copy->groups.count; i++) {
		struct deployment_group *g = ARRAY_AT(&copy->groups, struct deployment_group, i);
		struct deployment_group *known = deployment_group_of(d, text_of(g->group));
		if (known)
			keep_counts(g, known);
	}
	struct array groups = d->groups;
	d->groups = copy->groups;
	copy->groups = groups;
	deployment_free(copy);
	CHECK(d->groups.count == computed->groups.count);
}

void plan_deployments_apply(struct state *state, const struct entry_plan *e)
{
	struct deployment_cell *known =
		e->deployment ? deployment_cell_find(state, &e->deployment->id) : NULL;

	if (known)
		replace_groups(state, known, e->deployment);
	else if (e->deployment)
		deployment_begin(state, deployment_job_cell(state, e->deployment),
			deployment_copy(e->deployment));
	for (uint32_t i = 0; i < e->deployment_updates.count; i++) {
		const struct deployment_update *u =
			ARRAY_AT(&e->deployment_updates, struct deployment_update, i);
		deployment_cell_set_status(state, deployment_cell_find(state, &u->id), u->status,
			text_of(u->description));
	}
}

int deployment_put_check(const struct state *state, const struct entry_record_put *e)
{
	const struct deployment *d = e->record;
	const struct job_cell *job = deployment_is_sound(d) ? deployment_job_cell(state, d) : NULL;

	if (!job || job->deployments_active > 0 || !deployment_is_active(d) ||
		deployment_cell_find(state, &d->id) || job_cell_has_members_of(job, &d->id))
		return -ERROR_CORRUPT;
	return deployments_have_room(state, 1) ? 0 : -ERROR_TABLE_FULL;
}

void deployment_put(struct state *state, struct entry_record_put *e)
{
	struct deployment *d = e->record;

	deployment_begin(state, deployment_job_cell(state, d), d);
}

static bool has_groups(const struct deployment *d, const struct entry_deployment *e)
{
	for (uint32_t i = 0; i < e->count; i++) {
		if (!deployment_group_of(d, e->groups[i]))
			return false;
		for (uint32_t j = 0; j < i; j++)
			if (text_equal(e->groups[i], e->groups[j]))
				return false;
	}
	return e->count <= d->groups.count;
}

bool allocation_is_of_deployment(
	const struct state *state, const struct uuid *id, const struct uuid *deployment)
{
	const struct alloc_cell *cell = alloc_cell_find(state, id);
	const struct alloc_details *details =
		cell && alloc_cell_is_there(cell) ? cell->working->details : NULL;
	return details && uuid_equal(&details->deployment_id, deployment);
}

static bool has_allocations(const struct state *state, const struct entry_deployment *e)
{
	for (uint32_t i = 0; i < e->count; i++)
		if (!allocation_is_of_deployment(state, &e->items[i].id, &e->id) ||
			(i > 0 && uuid_compare(&e->items[i - 1].id, &e->items[i].id) >= 0))
			return false;
	return true;
}

int deployment_entry_check(const struct state *state, const void *body)
{
	const struct entry_deployment *e = body;

	CHECK(e->change < DEPLOYMENT_CHANGES);
	const struct deployment_cell *cell = deployment_cell_find_active(state, &e->id);
	bool holds = false;

	if (!cell)
		return -ERROR_CORRUPT;
	switch (e->change) {
	case DEPLOYMENT_CHANGES_STATUS:
		holds = deployment_may_become(cell->working->status, e->status) &&
			deployment_description_is_sound(e->description);
		break;
	case DEPLOYMENT_IS_PROMOTED: holds = has_groups(cell->working, e); break;
	case DEPLOYMENT_HEALTH_IS_SET: holds = has_allocations(state, e); break;
	}
	return holds ? 0 : -ERROR_CORRUPT;
}

bool canary_is_healthy(const struct alloc_cell *cell, const struct uuid *deployment)
{
	if (!cell || !alloc_cell_is_living(cell))
		return false;
	struct deployment_share share = deployment_share_of(cell->working);

	return uuid_equal(&share.deployment, deployment) && share.healthy.set &&
	       share.healthy.value;
}

// A promoted canary becomes an ordinary allocation.
static void promote_canary(struct state *state, struct alloc_cell *cell, int64_t time_ns)
{
	CHECK(alloc_cell_is_living(cell) && allocation_health(cell->working));
	struct allocation *a = allocation_revise(state, cell, ++state->index);

	a->health = *allocation_health(a);
	a->health.canary = false;
	a->health.modify_index = state->index;
	a->health.is_there = true;
	a->alloc_modify_index = state->index;
	a->modify_time_ns = time_ns;
	alloc_cell_changed(state, cell);
}

static void promote_group(struct state *state, const struct deployment_cell *cell,
	struct deployment_group *g, int64_t time_ns)
{
	CHECK(g);
	g->promoted = true;
	if (g->progress_deadline_ns > 0 && g->require_progress_by_ns != 0)
		g->require_progress_by_ns = deployment_deadline_ns(g, time_ns);
	for (uint32_t i = 0; i < g->placed_canaries.count; i++) {
		struct alloc_cell *canary =
			alloc_cell_find(state, ARRAY_AT(&g->placed_canaries, struct uuid, i));
		if (canary_is_healthy(canary, &cell->id))
			promote_canary(state, canary, time_ns);
	}
}

static void deployment_promote(struct state *state, struct deployment_cell *cell,
	const struct entry_deployment *e, int64_t time_ns)
{
	struct deployment *d = deployment_cell_revise(state, cell, state->index);

	for (uint32_t i = 0; i < e->count; i++)
		promote_group(state, cell, deployment_group_of(d, e->groups[i]), time_ns);
	if (d->status != DEPLOYMENT_RUNNING || deployment_requires_promotion(d))
		return;
	free(d->status_description);
	d->status_description = text_copy(TEXT(DEPLOYMENT_TEXT_RUNNING));
}

static void set_health(struct state *state, const struct alloc_health *item, int64_t time_ns)
{
	struct alloc_cell *cell = alloc_cell_find(state, &item->id);

	CHECK(cell && alloc_cell_is_there(cell) && cell->working->details);
	struct allocation *a = allocation_revise(state, cell, ++state->index);
	struct deployment_share before = deployment_share_of(a);

	allocation_set_health(a, (struct optional_bool){true, item->healthy}, time_ns);
	a->modify_time_ns = time_ns;
	alloc_cell_changed(state, cell);
	deployment_count_health(state, cell, &before);
}

void deployment_entry_apply(struct state *state, void *body, int64_t time_ns)
{
	struct entry_deployment *e = body;
	struct deployment_cell *cell = deployment_cell_find(state, &e->id);

	CHECK(cell && deployment_cell_is_there(cell) && deployment_is_active(cell->working));
	switch (e->change) {
	case DEPLOYMENT_CHANGES_STATUS:
		deployment_cell_set_status(state, cell, e->status, e->description);
		break;
	case DEPLOYMENT_IS_PROMOTED: deployment_promote(state, cell, e, time_ns); break;
	case DEPLOYMENT_HEALTH_IS_SET:
		for (uint32_t i = 0; i < e->count; i++)
			set_health(state, &e->items[i], time_ns);
		break;
	}
}
