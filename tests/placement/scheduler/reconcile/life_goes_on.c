// Events between the passes of a scheduler, and the state in the end.
#include "placement/scheduler/common/allocation_facts.h"
#include "state/base/time_units.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/reconcile/life.h"

#define VERSIONS_MAX 3u // Versions that somebody registers meanwhile
#define PASS_NS (NS_PER_S / 10)

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

// Disconnected clients come back, or never do.
static bool end_partition(struct life *l)
{
	bool changed = false;
	for (uint32_t slot = 0; slot < LIFE_NODES; slot++) {
		struct node *node = l->world->nodes[slot];
		if (node->status != NODE_DISCONNECTED)
			continue;
		node->status = life_one_in(l, 2) ? NODE_READY : NODE_DOWN;
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

// Nothing else can happen: an unfinished deployment has missed its deadline, and after a failed one somebody registers
// another version.
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

// Failed allocations count, too, because they are replaced when due, except a batch job's of an older version.
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
