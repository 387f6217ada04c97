#include "tests/scheduler/life.h"
#include "placement/scheduler/allocation_facts.h"
#include "state/base/check.h"
#include "state/reschedule.h"
#include "tests/placement/job_build.h"
#include <stdlib.h>

#define NODES 8u
#define VERSIONS_MAX 3u // that somebody registers meanwhile
#define PASS_NS (SECOND / 10)

static bool one_in(struct life *l, uint64_t n)
{
	return prng_below(&l->prng, n) == 0;
}

static uint32_t below(struct life *l, uint64_t n)
{
	return (uint32_t)prng_below(&l->prng, n);
}

// --- The beginning ---------------------------------------------------------------------------------

static void add_nodes(struct life *l)
{
	static struct drain_strategy drain;
	static const uint8_t statuses[] = {NODE_READY, NODE_READY, NODE_READY, NODE_READY,
		NODE_READY, NODE_DOWN, NODE_DISCONNECTED};
	for (uint32_t slot = 0; slot < NODES; slot++) {
		struct node *node = world_node(l->world, "");
		node->status = slot == 0 ? NODE_READY : statuses[below(l, COUNT(statuses))];
		if (node->status == NODE_READY && slot && one_in(l, 6))
			node->drain = &drain;
	}
}

static struct update_strategy *random_update(struct life *l)
{
	struct update_strategy *update = block(&update_description);
	update->max_parallel = below(l, 4);
	update->canary = update->max_parallel && one_in(l, 2) ? 1 + below(l, 2) : 0;
	return update;
}

static struct reschedule_policy *random_reschedule(struct life *l)
{
	struct reschedule_policy *policy = block(&reschedule_description);
	static const char *const functions[] = {"constant", "exponential", "fibonacci"};
	set(&policy->delay_function, functions[below(l, 3)]);
	policy->delay_ns = below(l, 3) * 5 * SECOND;
	policy->max_delay_ns = 60 * SECOND;
	policy->unlimited = (struct optional_bool){true, one_in(l, 2)};
	policy->attempts = below(l, 3);
	policy->interval_ns = 600 * SECOND;
	return policy;
}

static void add_job(struct life *l)
{
	l->batch = one_in(l, 3);
	l->in_place = one_in(l, 3);
	l->job = world_job(l->world, l->batch ? "batch job" : "service job");
	struct task_group *group = group_of(l->job);
	group->count = below(l, 6);
	group->update = l->batch || one_in(l, 3) ? NULL : random_update(l);
	group->reschedule = one_in(l, 5) ? NULL : random_reschedule(l);
	if (one_in(l, 3))
		group->max_client_disconnect_ns = (struct optional_i64){true, 30 * SECOND};
	else if (one_in(l, 4))
		group->stop_after_client_disconnect_ns = (struct optional_i64){true, 10 * SECOND};
	for (uint32_t versions = below(l, 3); versions > 0; versions--)
		l->job = world_job_version(l->world, l->job);
	group_of(l->job)->count = below(l, 6);
	l->job->stop = one_in(l, 12);
}

static struct job *random_version(struct life *l)
{
	struct job *job = l->world->jobs[below(l, l->world->job_count)];
	return one_in(l, 2) ? l->job : job;
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

// Some time ago, so the evaluation that looks at it when its limit ends is there.
static void fall_silent(struct life *l, struct allocation *a)
{
	int64_t silent_ns = l->now_ns - below(l, 20) * SECOND;
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
	struct allocation *a = add_allocation(l, random_version(l), below(l, NODES), below(l, 7));
	a->client_status = statuses[below(l, COUNT(statuses))];
	a->modify_time_ns -= below(l, 40) * SECOND;
	if (one_in(l, 5) || a->client_status == ALLOC_LOST)
		a->desired = one_in(l, 4) ? ALLOC_EVICT : ALLOC_STOP;
	else if (allocation_group(a)->max_client_disconnect_ns.set &&
		 l->world->nodes[a->node_slot]->status != NODE_DOWN && one_in(l, 3))
		fall_silent(l, a);
	a->details->transition.migrate =
		(struct optional_bool){true, l->world->nodes[a->node_slot]->drain != NULL};
}

// A deployment that began where something was to be replaced wants its canaries.
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
	if (!update || !update->max_parallel || one_in(l, 2))
		return;
	struct deployment *d = deployment_create();
	d->id = prng_uuid(&l->prng);
	set(&d->namespace_name, "default");
	set(&d->job_id, "job");
	d->status = statuses[below(l, COUNT(statuses))];
	d->job_create_index = l->job->record.create_index;
	d->job_version = l->job->version - (l->job->version && one_in(l, 3));
	struct deployment_group *group = map_item(&d->groups, sizeof *group, "a");
	group->desired_total = group_of(l->job)->count;
	group->desired_canaries = canaries_wanted(l);
	world_deploy(l->world, d);
	l->deployment = d;
}

void life_begin(struct life *l, uint64_t seed)
{
	*l = (struct life){.world = world_create(), .now_ns = 1000 * SECOND};
	prng_seed(&l->prng, seed);
	l->view = world_view(l->world);
	add_nodes(l);
	add_job(l);
	for (uint32_t allocations = below(l, 9); allocations > 0; allocations--)
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

// --- A pass ----------------------------------------------------------------------------------------

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

// --- The applier -----------------------------------------------------------------------------------

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
	for (uint32_t i = 0; i < r->place.count; i++)
		apply_place(l, ARRAY_AT(&r->place, struct reconcile_place, i));
	apply_follow_ups(l, &r->follow_ups);
}

// --- Clients and watchers --------------------------------------------------------------------------

static bool is_heard(const struct life *l, const struct allocation *a)
{
	return l->world->nodes[a->node_slot]->status == NODE_READY;
}

static bool run(struct life *l, struct allocation *a)
{
	struct alloc_deployment_status *status = a->details->deployment_status;
	a->client_status = ALLOC_RUNNING;
	struct deployment_group *group =
		l->deployment ? deployment_group_of(l->deployment, TEXT("a")) : NULL;
	bool is_current =
		l->deployment && uuid_equal(&a->details->deployment_id, &l->deployment->id);
	if (!status || status->healthy.set || !group || !is_current)
		return true;
	status->healthy = (struct optional_bool){true, true};
	group->healthy_allocs++;
	return true;
}

static bool client_goes_on(struct life *l, struct allocation *a)
{
	if (!is_heard(l, a))
		return false;
	if (a->desired != ALLOC_RUN) {
		bool lives = a->client_status == ALLOC_PENDING ||
			     a->client_status == ALLOC_RUNNING || a->client_status == ALLOC_UNKNOWN;
		if (lives)
			a->client_status = ALLOC_COMPLETE;
		return lives;
	}
	const struct alloc_deployment_status *status = a->details->deployment_status;
	bool verdict = a->client_status == ALLOC_RUNNING && status && !status->healthy.set;
	if (a->client_status == ALLOC_PENDING || a->client_status == ALLOC_UNKNOWN || verdict) {
		run(l, a);
		return !verdict || status->healthy.set;
	}
	return false;
}

static void clear_canary(struct life *l, const struct uuid *id)
{
	for (uint32_t i = 0; i < l->count; i++)
		if (uuid_equal(&l->allocations[i]->id, id) &&
			l->allocations[i]->details->deployment_status)
			l->allocations[i]->details->deployment_status->canary = false;
}

static bool promote(struct life *l)
{
	struct deployment_group *group = deployment_group_of(l->deployment, TEXT("a"));
	if (!group || group->promoted || group->desired_canaries == 0 ||
		group->healthy_allocs < group->desired_canaries)
		return false;
	group->promoted = true;
	for (uint32_t i = 0; i < group->placed_canaries.count; i++)
		clear_canary(l, ARRAY_AT(&group->placed_canaries, struct uuid, i));
	return true;
}

static bool watch_deployment(struct life *l)
{
	struct deployment *d = l->deployment;
	if (!d || d->job_version != l->job->version)
		return false;
	if (d->status == DEPLOYMENT_PAUSED) {
		d->status = DEPLOYMENT_RUNNING;
		return true;
	}
	return d->status == DEPLOYMENT_RUNNING && promote(l);
}

// Clients that were cut off come back, or never do.
static bool end_partition(struct life *l)
{
	bool changed = false;
	for (uint32_t slot = 0; slot < NODES; slot++) {
		struct node *node = l->world->nodes[slot];
		if (node->status != NODE_DISCONNECTED)
			continue;
		node->status = one_in(l, 2) ? NODE_READY : NODE_DOWN;
		changed = true;
	}
	return changed;
}

bool life_go_on(struct life *l, uint32_t passes)
{
	bool changed = false;
	l->now_ns += PASS_NS;
	for (uint32_t i = 0; i < l->count; i++)
		changed |= client_goes_on(l, l->allocations[i]);
	changed |= watch_deployment(l);
	if (passes == 6)
		changed |= end_partition(l);
	l->eval->id = prng_uuid(&l->prng);
	l->eval->wait_until_ns = 0;
	return changed || passes < 6;
}

// Nothing goes on any more: a deployment that is not done missed its deadline, and after one that failed somebody
// registers another version.
static bool step_in(struct life *l)
{
	struct deployment *d = l->deployment;
	bool is_current = d && d->job_version == l->job->version && !l->job->stop;
	if (is_current && d->status == DEPLOYMENT_RUNNING) {
		d->status = DEPLOYMENT_FAILED;
		return true;
	}
	if (!is_current || d->status != DEPLOYMENT_FAILED || l->versions++ == VERSIONS_MAX)
		return false;
	l->job = world_job_version(l->world, l->job);
	return true;
}

bool life_wait(struct life *l)
{
	uint32_t first = 0;
	if (l->follow_up_count == 0)
		return step_in(l);
	for (uint32_t i = 1; i < l->follow_up_count; i++)
		if (l->follow_ups[i].due_ns < l->follow_ups[first].due_ns)
			first = i;
	l->eval->id = l->follow_ups[first].id;
	l->eval->wait_until_ns = l->follow_ups[first].due_ns;
	if (l->now_ns < l->follow_ups[first].due_ns)
		l->now_ns = l->follow_ups[first].due_ns;
	l->follow_ups[first] = l->follow_ups[--l->follow_up_count];
	return true;
}

// --- Counts ----------------------------------------------------------------------------------------

// Also what failed: it is replaced when it is due. Not what failed of an older version of a batch job.
static bool is_wanted(const struct life *l, const struct allocation *a)
{
	bool failed = a->client_status == ALLOC_FAILED && !(l->batch && a->job != l->job);
	return a->desired == ALLOC_RUN && (failed || !allocation_is_terminal(a));
}

uint32_t life_wanted(const struct life *l)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < l->count; i++)
		count += is_wanted(l, l->allocations[i]);
	return count;
}

uint32_t life_unknown(const struct life *l)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < l->count; i++)
		count += l->allocations[i]->desired == ALLOC_RUN &&
			 allocation_needs_reconnect(l->allocations[i]);
	return count;
}

uint32_t life_living(const struct life *l)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < l->count; i++)
		count += !allocation_is_terminal(l->allocations[i]);
	return count;
}

uint32_t life_over(const struct life *l)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct allocation *a = l->allocations[i];
		bool failed = a->client_status == ALLOC_FAILED &&
			      uuid_is_zero(&a->details->next_allocation);
		bool done = l->batch && a->job == l->job && a->client_status == ALLOC_COMPLETE;
		count += a->desired == ALLOC_RUN && (failed || done);
	}
	return count;
}
