#include "state/tables/jobs/deployment_table.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/limits.h"
#include "state/records/alloc_details.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/job_allocations.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/kind.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

bool deployments_have_room(const struct state *state, uint32_t count)
{
	return table_has_room(state, STATE_DEPLOYMENTS, count);
}

bool deployment_is_sound(const void *record)
{
	const struct deployment *d = record;

	for (uint32_t i = 0; i < d->groups.count; i++) {
		const struct deployment_group *g = ARRAY_AT(&d->groups, struct deployment_group, i);
		if (!text_is_name(g->group) || g->progress_deadline_ns < 0)
			return false;
	}
	return !uuid_is_zero(&d->id) && text_is_name(d->namespace_name) &&
	       text_is_job_id(d->job_id) && d->status >= 0 && d->status < DEPLOYMENT_STATUSES &&
	       record_is_sound(&deployment_description, d);
}

struct deployment_cell *deployment_cell_find_active(
	const struct state *state, const struct uuid *id)
{
	struct deployment_cell *cell = deployment_cell_find(state, id);
	return cell && deployment_cell_is_there(cell) && deployment_is_active(cell->working) ? cell
											     : NULL;
}

struct job_cell *deployment_job_cell(const struct state *state, const struct deployment *d)
{
	CHECK(d);
	struct job_cell *cell =
		job_cell_find(state, text_of(d->namespace_name), text_of(d->job_id));
	const struct job_keep *keep = job_cell_keep(cell);
	return keep && keep->record.create_index == d->job_create_index ? cell : NULL;
}

bool job_cell_has_members_of(const struct job_cell *job, const struct uuid *id)
{
	const struct alloc_cell *cell;

	FOR_ALLOCATIONS_OF(cell, job)
	{
		const struct alloc_details *details = cell->working->details;
		if (alloc_cell_is_there(cell) && details && uuid_equal(&details->deployment_id, id))
			return true;
	}
	return false;
}

struct deployment *deployment_cell_revise(
	struct state *state, struct deployment_cell *cell, uint64_t index)
{
	struct deployment *d = cell_revise(state, &cell->cell, index);

	if (state->time_ns > d->modify_time_ns)
		d->modify_time_ns = state->time_ns;
	CHECK(cell->working == d && d->create_time_ns <= d->modify_time_ns);
	return d;
}

// No progress was expected of the deployment while it was paused, so its deadlines begin anew.
static void restart_deadlines(struct deployment *d, int64_t now_ns)
{
	CHECK(deployment_is_active(d));
	for (uint32_t i = 0; i < d->groups.count; i++) {
		struct deployment_group *g = ARRAY_AT(&d->groups, struct deployment_group, i);
		if (g->require_progress_by_ns != 0)
			g->require_progress_by_ns = deployment_deadline_ns(g, now_ns);
	}
}

void deployment_cell_set_status(
	struct state *state, struct deployment_cell *cell, int status, struct text description)
{
	CHECK(status >= 0 && status < DEPLOYMENT_STATUSES);
	CHECK(deployment_cell_is_there(cell));
	struct deployment *d = deployment_cell_revise(state, cell, state->index);
	const struct job_keep *keep = job_cell_keep(cell->job_cell);

	if (d->status == DEPLOYMENT_PAUSED && status == DEPLOYMENT_RUNNING)
		restart_deadlines(d, state->time_ns);
	d->status = status;
	cell_follow(state, &cell->cell);
	free(d->status_description);
	d->status_description = text_copy(description);
	if (status == DEPLOYMENT_SUCCESSFUL && keep &&
		keep->record.create_index == d->job_create_index)
		job_keep_set_stable(state, cell->job_cell, d->job_version, true);
	CHECK(cell->is_counted_active == deployment_is_active(cell->working));
}

void deployment_cell_delete(struct state *state, struct deployment_cell *cell, uint64_t index)
{
	CHECK(cell->living == 0);
	deployment_cell_revise(state, cell, index);
	cell_delete(state, &cell->cell, index);
}

static const struct uuid *deployment_of_living(const struct allocation *a)
{
	bool belongs = !a->record.deleted && !allocation_is_terminal(a) && a->details &&
		       !uuid_is_zero(&a->details->deployment_id);
	return belongs ? &a->details->deployment_id : NULL;
}

// Finds a deployment of the allocation's job that is not deleted.
static struct deployment_cell *find_own(
	const struct state *state, const struct alloc_cell *alloc, const struct uuid *id)
{
	struct deployment_cell *cell = deployment_cell_find(state, id);
	return cell && deployment_cell_is_there(cell) && cell->job_cell == alloc->job_cell ? cell
											   : NULL;
}

void deployment_follow_allocation(struct state *state, struct alloc_cell *cell)
{
	struct deployment_cell *counting = cell->deployment_cell;
	const struct uuid *id = deployment_of_living(cell->working);

	if (counting ? id && uuid_equal(&counting->id, id) : !id)
		return;
	if (counting) {
		CHECK(counting->living > 0);
		counting->living--;
	}
	cell->deployment_cell = id ? find_own(state, cell, id) : NULL;
	if (cell->deployment_cell)
		cell->deployment_cell->living++;
	CHECK(!cell->deployment_cell || id);
}

struct deployment_share deployment_share_of(const struct allocation *a)
{
	const struct alloc_deployment_status *health = allocation_health(a);
	struct deployment_share share = {0};

	if (a->details)
		share.deployment = a->details->deployment_id;
	if (health)
		share.healthy = health->healthy;
	return share;
}

static void join(struct deployment_group *g, const struct allocation *a)
{
	const struct alloc_deployment_status *status = allocation_health(a);

	g->placed_allocs++;
	// A canary that left for another deployment and came back is listed already.
	if (status && status->canary && !deployment_group_has_canary(g, &a->id))
		*(struct uuid *)array_append(&g->placed_canaries, sizeof a->id) = a->id;
	if (g->progress_deadline_ns && g->require_progress_by_ns == 0)
		g->require_progress_by_ns = deployment_deadline_ns(g, a->modify_time_ns);
	CHECK(g->placed_canaries.count <= g->placed_allocs);
}

static void count_verdict(struct deployment_group *g, struct optional_bool before,
	const struct alloc_deployment_status *now)
{
	CHECK(now && now->healthy.set);
	if (before.set && before.value)
		g->healthy_allocs--;
	if (before.set && !before.value)
		g->unhealthy_allocs--;
	if (!now->healthy.value) {
		g->unhealthy_allocs++;
		return;
	}
	g->healthy_allocs++;
	CHECK(g->healthy_allocs > 0);
	int64_t by_ns = deployment_deadline_ns(g, now->timestamp_ns);
	if (g->progress_deadline_ns && by_ns > g->require_progress_by_ns)
		g->require_progress_by_ns = by_ns;
}

void deployment_count_health(
	struct state *state, const struct alloc_cell *alloc, const struct deployment_share *before)
{
	const struct allocation *a = alloc->working;
	struct deployment_share now = deployment_share_of(a);
	struct text group = text_of(allocation_group(a)->name);

	if (uuid_is_zero(&now.deployment))
		return;
	bool joins = !before || !uuid_equal(&before->deployment, &now.deployment);
	struct optional_bool was = joins ? (struct optional_bool){0} : before->healthy;
	bool is_new = now.healthy.set && (!was.set || was.value != now.healthy.value);
	if (!joins && !is_new)
		return;
	struct deployment_cell *cell = find_own(state, alloc, &now.deployment);
	if (!cell || !deployment_group_of(cell->working, group))
		return;
	CHECK(cell->job_cell == alloc->job_cell);
	struct deployment *d = deployment_cell_revise(state, cell, state->index);
	struct deployment_group *g = deployment_group_of(d, group);
	if (joins)
		join(g, a);
	if (is_new)
		count_verdict(g, was, allocation_health(a));
}

// A job has at most one active deployment.
static int check_loaded_deployment(const struct state *state, const void *record)
{
	const struct deployment *d = record;
	const struct job_cell *job =
		job_cell_find(state, text_of(d->namespace_name), text_of(d->job_id));

	if (d->create_time_ns > d->modify_time_ns || !job)
		return -ERROR_CORRUPT;
	return deployment_is_active(d) && job->deployments_active > 0 ? -ERROR_CORRUPT : 0;
}

static void deployment_entered(struct state *state, struct cell *entered)
{
	struct deployment_cell *cell = (struct deployment_cell *)entered;
	const struct deployment *d = cell->working;

	cell->job_cell = job_cell_find(state, text_of(d->namespace_name), text_of(d->job_id));
	CHECK(cell->job_cell);
	cds_list_add_rcu(&cell->of_job, &cell->job_cell->deployments);
	cell->job_cell->deployment_count++;
}

static void follow_deployment(struct state *state, struct cell *changed)
{
	struct deployment_cell *cell = (struct deployment_cell *)changed;
	bool is_there = deployment_cell_is_there(cell),
	     is_active = is_there && deployment_is_active(cell->working);
	uint32_t more = (uint32_t)is_active - (uint32_t)cell->is_counted_active;

	state->counts.deployments += (uint32_t)is_there - (uint32_t)cell->is_counted;
	state->counts.deployments_active += more;
	cell->job_cell->deployments_active += more;
	cell->is_counted = is_there;
	cell->is_counted_active = is_active;
	CHECK(cell->job_cell->deployments_active <= cell->job_cell->deployment_count);
}

static void deployment_noted(void *noted, uint64_t index)
{
	struct deployment_cell *cell = noted;
	atomic_store_explicit(&cell->job_cell->deployments_index, index, memory_order_relaxed);
}

static void deployment_buried(struct state *state, struct cell *buried)
{
	struct deployment_cell *cell = (struct deployment_cell *)buried;

	CHECK(cell->job_cell->deployment_count > 0);
	cds_list_del_rcu(&cell->of_job);
	cell->job_cell->deployment_count--;
	job_cell_bury_if_idle(state, cell->job_cell);
	CHECK(!deployment_cell_is_there(cell));
}

const struct kind deployment_kind = {
	.name = "deployment",
	.key = KEY_UUID,
	.key_offset = offsetof(struct deployment, id),
	.has_ids = true,
	.cell_bytes = sizeof(struct deployment_cell),
	.fields = &deployment_description,
	.limit_offset = offsetof(struct state_limits, deployments),
	.limit_max = DEPLOYMENTS_MAX,
	.is_sound = deployment_is_sound,
	.check_loaded = check_loaded_deployment,
	.entered = deployment_entered,
	.follow = follow_deployment,
	.noted = deployment_noted,
	.buried = deployment_buried,
};

const struct deployment *state_deployment(const struct state *state, const struct uuid *id)
{
	return table_published(state, STATE_DEPLOYMENTS, id);
}

void state_job_deployments(const struct state *state, struct text namespace_name, struct text id,
	state_deployment_visit *visit, void *context)
{
	const struct job_cell *job = job_cell_find(state, namespace_name, id);
	const struct deployment_cell *cell;

	if (!job)
		return;
	cds_list_for_each_entry_rcu (cell, &job->deployments, of_job) {
		const struct deployment *d = cell_published(&cell->cell);
		if (d && !visit(d, context))
			return;
	}
}

static bool take_first(const struct deployment *d, void *context)
{
	*(const struct deployment **)context = d;
	return false;
}

const struct deployment *state_latest_deployment(
	const struct state *state, struct text namespace_name, struct text id)
{
	const struct deployment *latest = NULL;

	state_job_deployments(state, namespace_name, id, take_first, (void *)&latest);
	return latest;
}
