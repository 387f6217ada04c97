#include "tests/state/properties/model_deployment.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

bool rollout_is_active(const struct rollout_deployment *d)
{
	return d->exists && d->status != DEPLOYMENT_FAILED && d->status != DEPLOYMENT_SUCCESSFUL &&
	       d->status != DEPLOYMENT_CANCELLED;
}

bool rollout_lives(const struct rollout_alloc *a)
{
	return !a->is_stopped && a->client != ALLOC_COMPLETE && a->client != ALLOC_FAILED;
}

uint32_t rollout_active(const struct rollout_model *m, uint32_t job)
{
	for (uint32_t i = 0; i < m->deployment_count; i++)
		if (m->deployments[i].job == job && rollout_is_active(&m->deployments[i]))
			return i;
	return NO_DEPLOYMENT;
}

// While it was paused nothing was expected of it.
static void restart(const struct rollout_model *m, struct rollout_deployment *d)
{
	for (uint32_t i = 0; i < ROLLOUT_GROUPS; i++)
		if (d->groups[i].require_by_ns)
			d->groups[i].require_by_ns = m->now_ns + DEADLINE_NS;
}

void rollout_status(struct rollout_model *m, uint32_t deployment, enum deployment_status status)
{
	struct rollout_deployment *d = &m->deployments[deployment];
	struct rollout_job *job = &m->jobs[d->job];

	if (d->status == DEPLOYMENT_PAUSED && status == DEPLOYMENT_RUNNING)
		restart(m, d);
	d->status = status;
	if (status == DEPLOYMENT_SUCCESSFUL && d->incarnation == job->incarnation)
		job->stable[d->version] = true;
}

// The group that counts it; NULL: none does.
static struct rollout_group *counting(struct rollout_model *m, const struct rollout_alloc *a)
{
	if (a->deployment == NO_DEPLOYMENT || a->deployment >= m->deployment_count)
		return NULL;
	struct rollout_deployment *d = &m->deployments[a->deployment];
	return d->exists && d->job == a->job ? &d->groups[a->group] : NULL;
}

static bool has_canary(const struct rollout_group *g, uint32_t alloc)
{
	for (int64_t i = 0; i < g->canaries; i++)
		if (g->placed_canaries[i] == alloc)
			return true;
	return false;
}

void rollout_join(struct rollout_model *m, uint32_t alloc)
{
	struct rollout_alloc *a = &m->allocations[alloc];
	struct rollout_group *g = counting(m, a);

	if (!g)
		return;
	g->placed++;
	if (a->canary && !has_canary(g, alloc))
		g->placed_canaries[g->canaries++] = alloc;
	if (g->require_by_ns == 0)
		g->require_by_ns = m->now_ns + DEADLINE_NS;
}

void rollout_verdict(struct rollout_model *m, uint32_t alloc, bool is_healthy)
{
	struct rollout_alloc *a = &m->allocations[alloc];
	struct rollout_group *g = counting(m, a);
	bool is_new = !a->has_verdict || a->is_healthy != is_healthy;

	if (g && is_new) {
		g->healthy -= a->has_verdict && a->is_healthy;
		g->unhealthy -= a->has_verdict && !a->is_healthy;
		g->healthy += is_healthy;
		g->unhealthy += !is_healthy;
		if (is_healthy && m->now_ns + DEADLINE_NS > g->require_by_ns)
			g->require_by_ns = m->now_ns + DEADLINE_NS;
	}
	a->has_verdict = true;
	a->is_healthy = is_healthy;
}

static bool is_good_canary(const struct rollout_model *m, uint32_t deployment, uint32_t alloc)
{
	const struct rollout_alloc *a = &m->allocations[alloc];
	return a->deployment == deployment && rollout_lives(a) && a->has_verdict && a->is_healthy;
}

bool rollout_may_promote(const struct rollout_model *m, uint32_t deployment, uint32_t group)
{
	const struct rollout_group *g = &m->deployments[deployment].groups[group];
	int64_t good = 0;

	for (int64_t i = 0; i < g->canaries; i++)
		good += is_good_canary(m, deployment, g->placed_canaries[i]);
	return good >= g->desired_canaries;
}

void rollout_promote(struct rollout_model *m, uint32_t deployment, uint32_t group)
{
	struct rollout_group *g = &m->deployments[deployment].groups[group];

	g->promoted = true;
	if (g->require_by_ns)
		g->require_by_ns = m->now_ns + DEADLINE_NS;
	for (int64_t i = 0; i < g->canaries; i++)
		if (is_good_canary(m, deployment, g->placed_canaries[i]))
			m->allocations[g->placed_canaries[i]].canary = false;
}

struct uuid rollout_alloc_id(uint32_t alloc)
{
	return number_uuid(10000 + alloc);
}

static void compare_group(const struct rollout_group *g, const struct deployment_group *found)
{
	assert_int_equal(found->placed_allocs, g->placed);
	assert_int_equal(found->healthy_allocs, g->healthy);
	assert_int_equal(found->unhealthy_allocs, g->unhealthy);
	assert_int_equal(found->promoted, g->promoted);
	assert_int_equal(found->require_progress_by_ns, g->require_by_ns);
	assert_int_equal(found->placed_canaries.count, g->canaries);
	for (uint32_t i = 0; i < found->placed_canaries.count; i++) {
		struct uuid id = rollout_alloc_id(g->placed_canaries[i]);
		assert_true(uuid_equal(ARRAY_AT(&found->placed_canaries, struct uuid, i), &id));
	}
}

static void compare_deployment(
	const struct rollout_deployment *d, const struct deployment *found, const char *job)
{
	assert_int_equal(found != NULL, d->exists);
	if (!found)
		return;
	assert_string_equal(found->job_id, job);
	assert_int_equal(found->job_version, d->version);
	assert_int_equal(found->status, d->status);
	for (uint32_t i = 0; i < ROLLOUT_GROUPS; i++)
		compare_group(&d->groups[i], ARRAY_AT(&found->groups, struct deployment_group, i));
}

static void compare_alloc(const struct rollout_alloc *a, const struct allocation *found)
{
	static const struct alloc_deployment_status none;
	assert_non_null(found);
	const struct alloc_details *details = found->details;
	const struct alloc_deployment_status *status =
		allocation_health(found) ? allocation_health(found) : &none;
	struct uuid id =
		a->deployment == NO_DEPLOYMENT ? (struct uuid){0} : number_uuid(1 + a->deployment);

	assert_true(details ? uuid_equal(&details->deployment_id, &id)
			    : a->deployment == NO_DEPLOYMENT);
	assert_int_equal(status->canary, a->canary);
	assert_int_equal(status->healthy.set, a->has_verdict);
	assert_int_equal(status->healthy.value, a->has_verdict && a->is_healthy);
	assert_int_equal(found->client_status, a->client);
	assert_int_equal(found->desired != ALLOC_RUN, a->is_stopped);
}

static void compare_job(
	const struct rollout_model *m, uint32_t at, const struct state *state, const char *name)
{
	const struct rollout_job *job = &m->jobs[at];
	const struct deployment *latest =
		state_latest_deployment(state, TEXT("default"), text_of(name));
	uint32_t newest = NO_DEPLOYMENT;

	for (uint32_t i = 0; i < m->deployment_count; i++)
		if (m->deployments[i].exists && m->deployments[i].job == at)
			newest = i;
	struct uuid id = number_uuid(1 + newest);
	assert_int_equal(latest != NULL, newest != NO_DEPLOYMENT);
	assert_true(!latest || uuid_equal(&latest->id, &id));
	for (uint64_t version = 0; version <= job->version; version++) {
		const struct job *kept =
			state_job_version(state, TEXT("default"), text_of(name), version);
		if (kept)
			assert_int_equal(kept->stable, job->stable[version]);
	}
}

void rollout_compare(
	const struct rollout_model *m, const struct controller *c, const char *const *job_names)
{
	uint32_t present = 0, active = 0;
	struct state_counts counts;

	state_read_begin();
	for (uint32_t i = 0; i < m->deployment_count; i++) {
		struct uuid id = number_uuid(1 + i);
		const struct rollout_deployment *d = &m->deployments[i];
		compare_deployment(d, state_deployment(c->state, &id), job_names[d->job]);
		present += d->exists;
		active += rollout_is_active(d);
	}
	for (uint32_t i = 0; i < m->allocation_count; i++) {
		struct uuid id = rollout_alloc_id(i);
		compare_alloc(&m->allocations[i], state_allocation(c->state, &id));
	}
	for (uint32_t i = 0; i < ROLLOUT_JOBS; i++)
		compare_job(m, i, c->state, job_names[i]);
	state_read_end();
	state_counts(c->state, &counts);
	assert_int_equal(counts.deployments, present);
	assert_int_equal(counts.deployments_active, active);
}
