#include "placement/scheduler/reconcile/reconcile.h"
#include "placement/scheduler/reconcile/group_pass.h"
#include "state/base/check.h"
#include <stdlib.h>

// Steps 3b–3v for a group that the job has.
static bool compute_group(struct group_pass *g)
{
	CHECK(g->group);
	initialize_deployment_state(g);
	filter_old_terminal(g);
	cancel_unneeded_canaries(g);
	split_by_taint(g);
	reconcile_reconnecting(g);
	reconcile_disconnecting(g);
	create_lost_later_evals(g);
	create_reschedule_later_evals(g);
	index_names(g);
	compute_stop(g);
	compute_updates(g);
	compute_canaries(g);
	compute_under_provisioned_by(g);
	compute_placements(g);
	compute_replacements(g);
	compute_destructive_updates(g);
	compute_migrations(g);
	repair_names(g);
	note_follow_ups(g);
	create_deployment(g);
	return is_deployment_complete(g);
}

static void release_group(struct group_pass *g)
{
	name_index_release(&g->names);
	free(g->place.items);
	free(g->later.items);
}

static bool job_is_stopped(const struct reconciler *r)
{
	return !r->job || r->job->stop;
}

// Returns whether the group has nothing left to do.
static bool visit_group(struct group_pass *g)
{
	CHECK(g->name && g->desired == NULL);
	g->desired = g->r->ask->eval->annotate_plan
			     ? map_item(&g->r->result->desired, sizeof *g->desired, g->name)
			     : &g->unshown;
	g->first_destructive = g->r->result->destructive.count;
	g->first_place = g->r->result->place.count;
	if (!g->group) {
		filter_and_stop_all(g);
		return true;
	}
	bool complete = compute_group(g);
	release_group(g);
	return complete;
}

// A deployment goes into the plan as a whole when it is new or still initializing.
static void hand_over_deployment(struct reconciler *r)
{
	CHECK(!r->result->deployment && !r->result->current);
	struct deployment *d = r->deployment;
	if (d && (r->is_new || d->status == DEPLOYMENT_INITIALIZING))
		r->result->deployment = d;
	if (d && deployment_is_active(d))
		r->result->current = r->result->deployment ? d : r->ask->deployment;
	if (!r->result->deployment)
		deployment_free(d);
	CHECK(!r->is_new || r->result->deployment);
}

static bool compute_groups(struct reconciler *r)
{
	bool complete = true;
	struct group_pass g = {0};
	while (next_group(r, &g))
		complete &= visit_group(&g);
	CHECK(r->next_span == r->span_count);
	return complete;
}

void reconcile(const struct reconcile_ask *ask, struct reconciliation *result)
{
	CHECK(ask->eval && ask->view && ask->prng);
	CHECK(ask->allocation_count == 0 || ask->allocations);
	*result = (struct reconciliation){0};
	struct reconciler r = {.ask = ask, .result = result, .job = ask->job};
	reconcile_members(&r);
	cancel_unneeded_deployment(&r);
	compute_deployment_paused(&r);
	bool complete = compute_groups(&r);
	if (!job_is_stopped(&r))
		compute_deployment_updates(&r, complete);
	hand_over_deployment(&r);
	reconcile_members_release(&r);
	id_set_release(&r.canaries);
	id_set_release(&r.unneeded);
	CHECK(result->follow_ups.count == 0 || !is_delayed(ask));
}
