// The deployment before and after the groups (steps 0, 2, 4), and each group's part of it (3b, 3u, 3v).
#include "placement/scheduler/reconcile/group_pass.h"
#include "state/base/check.h"
#include "state/base/text.h"
#include <stdlib.h>

static void propose_update(
	struct reconciler *r, const struct deployment *d, int status, struct text why)
{
	CHECK(status >= 0 && status < DEPLOYMENT_STATUSES);
	struct deployment_update *update =
		APPEND(&r->result->deployment_updates, struct deployment_update);
	*update = (struct deployment_update){d->id, status, text_copy(why)};
}

static void cancel_deployment(struct reconciler *r, const struct deployment *d, struct text why)
{
	if (deployment_is_active(d))
		propose_update(r, d, DEPLOYMENT_CANCELLED, why);
}

static bool is_of_version(const struct deployment *d, const struct job *job)
{
	return d->job_create_index == job->record.create_index && d->job_version == job->version;
}

static const struct deployment_group *group_at(const struct deployment *d, uint32_t i)
{
	CHECK(i < d->groups.count);
	return ARRAY_AT(&d->groups, struct deployment_group, i);
}

static void collect_unneeded(struct reconciler *r, const struct deployment *d)
{
	for (uint32_t i = 0; i < d->groups.count; i++)
		if (!group_at(d, i)->promoted)
			id_set_add_all(&r->unneeded, &group_at(d, i)->placed_canaries);
}

static void collect_canaries(struct reconciler *r)
{
	const struct deployment *d = r->deployment;
	for (uint32_t i = 0; d && i < d->groups.count; i++)
		id_set_add_all(&r->canaries, &group_at(d, i)->placed_canaries);
	if (r->former)
		collect_unneeded(r, r->former);
	if (d && d->status == DEPLOYMENT_FAILED)
		collect_unneeded(r, d);
	id_set_sort(&r->canaries);
	id_set_sort(&r->unneeded);
}

// Step 0.
void cancel_unneeded_deployment(struct reconciler *r)
{
	CHECK(!r->deployment && !r->former);
	const struct deployment *d = r->ask->batch ? NULL : r->ask->deployment;
	if (!d)
		return;
	if (!r->job || r->job->stop) {
		cancel_deployment(r, d, TEXT(DEPLOYMENT_TEXT_STOPPED_JOB));
		return;
	}
	if (!is_of_version(d, r->job)) {
		cancel_deployment(r, d, TEXT(DEPLOYMENT_TEXT_NEWER_JOB));
		r->former = d;
	} else if (d->status == DEPLOYMENT_SUCCESSFUL || d->status == DEPLOYMENT_CANCELLED) {
		r->former = d;
	} else {
		r->deployment = deployment_copy(d);
	}
	collect_canaries(r);
}

// Step 2. A deployment that waits for its peers is treated like one that an operator paused (row C36).
void compute_deployment_paused(struct reconciler *r)
{
	int status = r->deployment ? r->deployment->status : DEPLOYMENT_RUNNING;
	r->paused = status == DEPLOYMENT_PAUSED || status == DEPLOYMENT_PENDING ||
		    status == DEPLOYMENT_INITIALIZING;
	r->failed = status == DEPLOYMENT_FAILED;
	CHECK(!(r->paused && r->failed));
}

// Step 3b.
void initialize_deployment_state(struct group_pass *g)
{
	CHECK(g->group && !g->dstate);
	const struct update_strategy *update = g->group->update;
	struct deployment *d = g->r->deployment;
	g->dstate = d ? deployment_group_of(d, text_of(g->name)) : NULL;
	g->had_dstate = g->dstate;
	if (g->had_dstate)
		return;
	g->dstate = &g->fresh;
	if (update_is_empty(update))
		return;
	g->fresh.auto_revert = update->auto_revert.value;
	g->fresh.auto_promote = update->auto_promote.value;
	g->fresh.progress_deadline_ns = update->progress_deadline_ns;
}

static struct deployment *begin_deployment(const struct reconciler *r)
{
	CHECK(r->job && !r->deployment);
	const struct job *job = r->job;
	struct deployment *d = deployment_create();
	d->id = prng_uuid(r->ask->prng);
	d->namespace_name = text_copy(text_of(job->namespace_name));
	d->job_id = text_copy(text_of(job->id));
	d->job_version = job->version;
	d->job_modify_index = job->record.modify_index;
	d->job_spec_modify_index = job->job_modify_index;
	d->job_create_index = job->record.create_index;
	d->is_multiregion = job->multiregion != NULL;
	d->status = DEPLOYMENT_RUNNING;
	d->status_description = text_copy(TEXT(DEPLOYMENT_TEXT_RUNNING));
	d->eval_priority = r->ask->eval->priority;
	d->create_time_ns = d->modify_time_ns = r->ask->now_ns;
	return d;
}

static void attach_group(struct group_pass *g)
{
	CHECK(g->dstate == &g->fresh);
	struct deployment_group *place =
		map_item(&g->r->deployment->groups, sizeof *place, g->name);
	g->fresh.group = place->group;
	*place = g->fresh;
	g->dstate = place;
}

// Step 3u (row C48): for a new version, or when existing allocations change.
void create_deployment(struct group_pass *g)
{
	CHECK(g->dstate);
	struct reconciler *r = g->r;
	bool changes = g->destructive_count > 0 || r->result->in_place.count > 0;
	if (r->ask->batch || g->had_dstate || update_is_empty(g->group->update))
		return;
	if (g->fresh.desired_total == 0 || (g->had_version && !changes))
		return;
	if (!r->deployment) {
		r->deployment = begin_deployment(r);
		r->is_new = true;
	}
	attach_group(g);
}

static bool is_all_healthy(const struct deployment_group *dstate)
{
	int64_t wanted = dstate->desired_total > dstate->desired_canaries
				 ? dstate->desired_total
				 : dstate->desired_canaries;
	return dstate->healthy_allocs >= wanted &&
	       (dstate->desired_canaries == 0 || dstate->promoted);
}

// Step 3v (row C49).
bool is_deployment_complete(const struct group_pass *g)
{
	CHECK(g->dstate);
	const struct deployment *d = g->r->deployment;
	bool idle =
		g->destructive_count + g->in_place_count + g->later_count + g->place.count == 0 &&
		member_count_of(g, SET_MIGRATE) + member_count_of(g, SET_RESCHEDULE) == 0;
	if (!d || !idle || g->requires_canaries)
		return false;
	const struct deployment_group *dstate = deployment_group_of(d, text_of(g->name));
	return !dstate || is_all_healthy(dstate);
}

// A region that is done waits for its peers (row C40), unless they told it to go on.
static void complete_deployment(struct reconciler *r)
{
	CHECK(deployment_is_active(r->deployment));
	const struct deployment *d = r->deployment;
	if (!r->job->multiregion)
		propose_update(r, d, DEPLOYMENT_SUCCESSFUL, TEXT(DEPLOYMENT_TEXT_SUCCESSFUL));
	else if (d->status != DEPLOYMENT_UNBLOCKING && d->status != DEPLOYMENT_BLOCKED)
		propose_update(r, d, DEPLOYMENT_BLOCKED, TEXT(DEPLOYMENT_TEXT_BLOCKED));
}

static void describe_new(struct deployment *d)
{
	CHECK(d->status_description);
	if (!deployment_requires_promotion(d))
		return;
	free(d->status_description);
	d->status_description =
		text_copy(deployment_has_auto_promote(d) ? TEXT(DEPLOYMENT_TEXT_AUTO_PROMOTION)
							 : TEXT(DEPLOYMENT_TEXT_NEEDS_PROMOTION));
}

// Step 4. A deployment that ended without success stays as it ended.
void compute_deployment_updates(struct reconciler *r, bool complete)
{
	CHECK(r->job && !r->job->stop);
	struct deployment *d = r->deployment;
	if (!d)
		return;
	if (complete && deployment_is_active(d))
		complete_deployment(r);
	if (d->status == DEPLOYMENT_INITIALIZING)
		propose_update(r, d, DEPLOYMENT_PENDING, TEXT(DEPLOYMENT_TEXT_PENDING));
	if (r->is_new)
		describe_new(d);
}
