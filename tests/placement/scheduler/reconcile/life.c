#include "tests/placement/scheduler/reconcile/life.h"
#include "placement/scheduler/common/allocation_facts.h"
#include "state/base/check.h"
#include "state/base/time_units.h"
#include "state/records/reschedule.h"
#include "tests/placement/job_check/job_build.h"
#include <stdlib.h>

static void add_nodes(struct life *l)
{
	static struct drain_strategy drain;
	static const uint8_t statuses[] = {NODE_READY, NODE_READY, NODE_READY, NODE_READY,
		NODE_READY, NODE_DOWN, NODE_DISCONNECTED};
	for (uint32_t slot = 0; slot < LIFE_NODES; slot++) {
		struct node *node = world_node(l->world, "");
		node->status = slot == 0 ? NODE_READY : statuses[life_below(l, COUNT(statuses))];
		if (node->status == NODE_READY && slot && life_one_in(l, 6))
			node->drain = &drain;
	}
}

static struct update_strategy *random_update(struct life *l)
{
	struct update_strategy *update = block(&update_description);
	update->max_parallel = life_below(l, 4);
	update->canary = update->max_parallel && life_one_in(l, 2) ? 1 + life_below(l, 2) : 0;
	return update;
}

static struct reschedule_policy *random_reschedule(struct life *l)
{
	struct reschedule_policy *policy = block(&reschedule_description);
	static const char *const functions[] = {"constant", "exponential", "fibonacci"};
	set(&policy->delay_function, functions[life_below(l, 3)]);
	policy->delay_ns = life_below(l, 3) * 5 * NS_PER_S;
	policy->max_delay_ns = 60 * NS_PER_S;
	policy->unlimited = (struct optional_bool){true, life_one_in(l, 2)};
	policy->attempts = life_below(l, 3);
	policy->interval_ns = 600 * NS_PER_S;
	return policy;
}

static void add_job(struct life *l)
{
	l->batch = life_one_in(l, 3);
	l->in_place = life_one_in(l, 3);
	l->job = world_job(l->world, l->batch ? "batch job" : "service job");
	struct task_group *group = group_of(l->job);
	group->count = life_below(l, 6);
	group->update = l->batch || life_one_in(l, 3) ? NULL : random_update(l);
	group->reschedule = life_one_in(l, 5) ? NULL : random_reschedule(l);
	if (life_one_in(l, 3))
		group->max_client_disconnect_ns = (struct optional_i64){true, 30 * NS_PER_S};
	else if (life_one_in(l, 4))
		group->stop_after_client_disconnect_ns = (struct optional_i64){true, 10 * NS_PER_S};
	for (uint32_t versions = life_below(l, 3); versions > 0; versions--)
		l->job = world_job_version(l->world, l->job);
	group_of(l->job)->count = life_below(l, 6);
	l->job->stop = life_one_in(l, 12);
}

static struct job *random_version(struct life *l)
{
	struct job *job = l->world->jobs[life_below(l, l->world->job_count)];
	return life_one_in(l, 2) ? l->job : job;
}

static void note(struct allocation *a, enum alloc_client status, int64_t now_ns)
{
	struct alloc_details *noted = details_with_client_status(a, (uint8_t)status, now_ns);
	alloc_details_release(a->details);
	a->details = noted;
}

static struct allocation *add_allocation(
	struct life *l, struct job *job, uint32_t slot, uint32_t index)
{
	CHECK(l->count < LIFE_ALLOCATIONS_MAX);
	struct allocation *a = world_allocate(l->world, job, 0, slot, index);
	a->details = alloc_details_create();
	a->create_time_ns = a->modify_time_ns = l->now_ns;
	l->allocations[l->count++] = a;
	return a;
}

static void wait_until(struct life *l, const struct uuid *id, int64_t due_ns)
{
	CHECK(l->follow_up_count < LIFE_FOLLOW_UPS_MAX);
	l->follow_ups[l->follow_up_count].id = *id;
	l->follow_ups[l->follow_up_count++].due_ns = due_ns;
}

// The allocation fell silent some time ago, so that the evaluation at its limit exists.
static void fall_silent(struct life *l, struct allocation *a)
{
	int64_t silent_ns = l->now_ns - life_below(l, 20) * NS_PER_S;
	a->client_status = ALLOC_UNKNOWN;
	note(a, ALLOC_UNKNOWN, silent_ns);
	a->details->followup_eval = prng_uuid(&l->prng);
	wait_until(l, &a->details->followup_eval,
		silent_ns + allocation_group(a)->max_client_disconnect_ns.value);
}

static void add_random_allocation(struct life *l)
{
	static const uint8_t statuses[] = {ALLOC_PENDING, ALLOC_RUNNING, ALLOC_RUNNING,
		ALLOC_RUNNING, ALLOC_COMPLETE, ALLOC_FAILED, ALLOC_LOST};
	struct allocation *a =
		add_allocation(l, random_version(l), life_below(l, LIFE_NODES), life_below(l, 7));
	a->client_status = statuses[life_below(l, COUNT(statuses))];
	a->modify_time_ns -= life_below(l, 40) * NS_PER_S;
	if (life_one_in(l, 5) || a->client_status == ALLOC_LOST)
		a->desired = life_one_in(l, 4) ? ALLOC_EVICT : ALLOC_STOP;
	else if (allocation_group(a)->max_client_disconnect_ns.set &&
		 l->world->nodes[a->node_slot]->status != NODE_DOWN && life_one_in(l, 3))
		fall_silent(l, a);
	a->details->transition.migrate =
		(struct optional_bool){true, l->world->nodes[a->node_slot]->drain != NULL};
}

// A deployment that began with something to replace wants its canaries.
static int64_t canaries_wanted(const struct life *l)
{
	for (uint32_t i = 0; i < l->count && !l->in_place; i++)
		if (l->allocations[i]->job != l->job && l->allocations[i]->desired == ALLOC_RUN)
			return group_of(l->job)->update->canary;
	return 0;
}

static void add_deployment(struct life *l)
{
	static const int statuses[] = {DEPLOYMENT_RUNNING, DEPLOYMENT_RUNNING, DEPLOYMENT_PAUSED,
		DEPLOYMENT_FAILED, DEPLOYMENT_SUCCESSFUL, DEPLOYMENT_CANCELLED};
	const struct update_strategy *update = group_of(l->job)->update;
	if (!update || !update->max_parallel || life_one_in(l, 2))
		return;
	struct deployment *d = deployment_create();
	d->id = prng_uuid(&l->prng);
	set(&d->namespace_name, "default");
	set(&d->job_id, "job");
	d->status = statuses[life_below(l, COUNT(statuses))];
	d->job_create_index = l->job->record.create_index;
	d->job_version = l->job->version - (l->job->version && life_one_in(l, 3));
	struct deployment_group *group = map_item(&d->groups, sizeof *group, "a");
	group->desired_total = group_of(l->job)->count;
	group->desired_canaries = canaries_wanted(l);
	world_deploy(l->world, d);
	l->deployment = d;
}

void life_begin(struct life *l, uint64_t seed)
{
	*l = (struct life){.world = world_create(), .now_ns = 1000 * NS_PER_S};
	prng_seed(&l->prng, seed);
	l->view = world_view(l->world);
	add_nodes(l);
	add_job(l);
	for (uint32_t allocations = life_below(l, 9); allocations > 0; allocations--)
		add_random_allocation(l);
	add_deployment(l);
	l->eval = evaluation_create();
	set(&l->eval->namespace_name, "default");
	set(&l->eval->job_id, "job");
	l->eval->id = prng_uuid(&l->prng);
}

void life_end(struct life *l)
{
	evaluation_free(l->eval);
	world_destroy(l->world);
}

static enum alloc_change change_of(void *context, const struct allocation *a)
{
	const struct life *l = context;
	if (!l->in_place)
		return CHANGE_DESTRUCTIVE;
	return allocation_is_terminal(a) ? CHANGE_NONE : CHANGE_IN_PLACE;
}

void life_reconcile(struct life *l, struct reconciliation *r)
{
	struct reconcile_ask ask = {.view = &l->view,
		.job = l->job,
		.eval = l->eval,
		.batch = l->batch,
		.allocations = (const struct allocation *const *)l->allocations,
		.allocation_count = l->count,
		.deployment = l->deployment,
		.now_ns = l->now_ns,
		.prng = &l->prng,
		.change_of = change_of,
		.context = l};
	reconcile(&ask, r);
}

bool life_changes(const struct reconciliation *r)
{
	return r->stops.count + r->destructive.count + r->place.count + r->in_place.count +
			       r->attribute_updates.count + r->disconnects.count +
			       r->reconnects.count + r->follow_ups.count +
			       r->deployment_updates.count >
		       0 ||
	       r->deployment;
}

static void apply_stop(struct life *l, const struct reconcile_stop *stop)
{
	struct allocation *a = (struct allocation *)stop->allocation;
	a->desired = ALLOC_STOP;
	a->details->followup_eval = stop->followup_eval;
	if (!stop->lost)
		return;
	a->client_status = ALLOC_LOST;
	note(a, ALLOC_LOST, l->now_ns);
}

static struct job *version_for(const struct life *l, const struct reconcile_place *p)
{
	if (!p->downgrade || !p->previous)
		return l->job;
	return p->previous->job;
}

static void join(struct life *l, struct allocation *a, bool canary)
{
	struct deployment *d = l->deployment;
	if (a->job != l->job || !d || !deployment_is_active(d) || d->job_version != l->job->version)
		return;
	struct deployment_group *group = deployment_group_of(d, TEXT("a"));
	a->details->deployment_id = d->id;
	a->details->deployment_status = block(&alloc_deployment_status_description);
	a->details->deployment_status->canary = canary;
	if (!group)
		return;
	group->placed_allocs++;
	if (canary)
		*(struct uuid *)array_append(&group->placed_canaries, sizeof a->id) = a->id;
}

static void apply_place(struct life *l, const struct reconcile_place *p)
{
	struct allocation *a = add_allocation(l, version_for(l, p), 0, p->name_index);
	struct allocation *previous = (struct allocation *)p->previous;
	a->client_status = ALLOC_PENDING;
	join(l, a, p->canary);
	if (!previous)
		return;
	a->details->previous_allocation = previous->id;
	previous->details->next_allocation = a->id;
	if (p->reschedule)
		allocation_track_reschedule(previous, l->now_ns, &a->details->reschedule_events);
	if (p->destructive)
		previous->desired = ALLOC_STOP;
}

static void apply_in_place(struct life *l, struct allocation *a)
{
	const struct alloc_deployment_status *status = a->details->deployment_status;
	bool canary = status && status->canary;
	a->job = l->job;
	free(a->details->deployment_status);
	a->details->deployment_status = NULL;
	join(l, a, canary);
}

static void apply_follow_ups(struct life *l, const struct array *follow_ups)
{
	for (uint32_t i = 0; i < follow_ups->count; i++) {
		const struct evaluation *eval = *ARRAY_AT(follow_ups, struct evaluation *, i);
		wait_until(l, &eval->id, eval->wait_until_ns);
	}
}

static void apply_deployment(struct life *l, struct reconciliation *r)
{
	for (uint32_t i = 0; i < r->deployment_updates.count; i++) {
		const struct deployment_update *update =
			ARRAY_AT(&r->deployment_updates, struct deployment_update, i);
		CHECK(l->deployment && uuid_equal(&update->id, &l->deployment->id));
		l->deployment->status = update->status;
	}
	if (!r->deployment)
		return;
	l->deployment = deployment_copy(r->deployment);
	world_deploy(l->world, l->deployment);
}

void life_apply(struct life *l, struct reconciliation *r)
{
	apply_deployment(l, r);
	for (uint32_t i = 0; i < r->stops.count; i++)
		apply_stop(l, ARRAY_AT(&r->stops, struct reconcile_stop, i));
	for (uint32_t i = 0; i < r->in_place.count; i++)
		apply_in_place(l, *ARRAY_AT(&r->in_place, struct allocation *, i));
	for (uint32_t i = 0; i < r->attribute_updates.count; i++) {
		const struct reconcile_update *update =
			ARRAY_AT(&r->attribute_updates, struct reconcile_update, i);
		update->allocation->details->followup_eval = update->followup_eval;
	}
	for (uint32_t i = 0; i < r->disconnects.count; i++) {
		const struct reconcile_update *update =
			ARRAY_AT(&r->disconnects, struct reconcile_update, i);
		struct allocation *a = (struct allocation *)update->allocation;
		a->client_status = ALLOC_UNKNOWN;
		note(a, ALLOC_UNKNOWN, l->now_ns);
		a->details->followup_eval = update->followup_eval;
	}
	for (uint32_t i = 0; i < r->reconnects.count; i++)
		note(*ARRAY_AT(&r->reconnects, struct allocation *, i), ALLOC_RUNNING, l->now_ns);
	for (uint32_t i = 0; i < r->destructive.count; i++)
		apply_place(l, ARRAY_AT(&r->destructive, struct reconcile_place, i));
	for (uint32_t i = 0; i < r->place.count; i++) {
		struct reconcile_place place = *ARRAY_AT(&r->place, struct reconcile_place, i);
		for (uint32_t n = 0; n <= place.more; n++, place.name_index++)
			apply_place(l, &place);
	}
	apply_follow_ups(l, &r->follow_ups);
}
