// Random plans, reports and requests about deployments, against a naive model; what a replay and a snapshot make
// of the same log is the same.
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "tests/state/properties/model_deployment.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NODES = 4, STEPS = 1500 };

static const char *const names[ROLLOUT_JOBS] = {"web", "api"};
static const char *const groups[ROLLOUT_GROUPS] = {"g0", "g1"};

struct life {
	struct controller controller;
	struct prng prng;
	struct rollout_model *model;
	struct planned_job jobs[ROLLOUT_JOBS];
	uint32_t refused, begun, stale, promoted;
};

static uint32_t below(struct life *l, uint32_t limit)
{
	return (uint32_t)prng_below(&l->prng, limit);
}

static bool one_in(struct life *l, uint32_t chances)
{
	return below(l, chances) == 0;
}

static void register_version(struct life *l, uint32_t job)
{
	struct rollout_job *model = &l->model->jobs[job];
	static int64_t priority;

	l->jobs[job] = deployed_job(&l->controller, names[job], 1 + priority++ % 99);
	model->version++;
	model->stable[model->version] = false;
}

static void change_job(struct life *l)
{
	uint32_t job = below(l, ROLLOUT_JOBS);
	struct rollout_job *model = &l->model->jobs[job];

	if (model->version + 2 >= ROLLOUT_VERSIONS)
		return;
	if (!one_in(l, 4)) {
		register_version(l, job);
		return;
	}
	assert_int_equal(controller_stop_job(&l->controller, names[job], true), OUTCOME_DONE);
	*model = (struct rollout_job){.incarnation = model->incarnation + 1, .version = UINT64_MAX};
	register_version(l, job);
}

// Its own mostly, another's or none sometimes.
static uint32_t some_deployment(struct life *l, uint32_t job)
{
	uint32_t active = rollout_active(l->model, job);

	if (one_in(l, 6))
		return NO_DEPLOYMENT;
	if (active != NO_DEPLOYMENT && !one_in(l, 4))
		return active;
	return l->model->deployment_count ? below(l, l->model->deployment_count) : NO_DEPLOYMENT;
}

static struct alloc_details *details_of(uint32_t deployment, bool canary)
{
	struct alloc_details *details = alloc_details_create();

	if (deployment != NO_DEPLOYMENT)
		details->deployment_id = number_uuid(1 + deployment);
	if (canary) {
		details->deployment_status = memory_take(sizeof *details->deployment_status);
		details->deployment_status->canary = true;
	}
	return details;
}

struct wish {
	struct plan *plan;
	uint32_t job;
	uint32_t begins;        // index of the deployment, or NO_DEPLOYMENT
	uint32_t placed, first; // allocations, and the number of the first
	struct rollout_alloc placements[4];
	uint32_t stops[2], stop_count;
	uint32_t update, update_deployment; // an allocation, or NO_DEPLOYMENT
	bool update_canary;
	uint32_t ends; // a deployment, or NO_DEPLOYMENT
	enum deployment_status end;
};

static void wish_deployment(struct life *l, struct wish *w)
{
	struct rollout_model *m = l->model;

	w->begins = w->ends = NO_DEPLOYMENT;
	if (m->deployment_count > 0 && one_in(l, 3)) {
		w->ends = one_in(l, 5) ? below(l, m->deployment_count) : rollout_active(m, w->job);
		w->end = (enum deployment_status)below(l, DEPLOYMENT_STATUSES);
	}
	if (w->ends != NO_DEPLOYMENT)
		plan_deployment_status(w->plan, 1 + w->ends, w->end, "said by a plan");
	if (m->deployment_count == ROLLOUT_DEPLOYMENTS || !one_in(l, 3))
		return;
	w->begins = m->deployment_count;
	w->plan->deployment = build_deployment(
		&l->controller, names[w->job], 1 + w->begins, (int64_t)below(l, 3));
}

static void wish_placements(struct life *l, struct wish *w)
{
	struct rollout_model *m = l->model;

	w->first = m->allocation_count;
	w->placed = below(l, 5);
	if (w->first + w->placed > ROLLOUT_ALLOCATIONS)
		w->placed = 0;
	for (uint32_t i = 0; i < w->placed; i++) {
		struct rollout_alloc *a = &w->placements[i];
		*a = (struct rollout_alloc){.job = w->job, .group = below(l, ROLLOUT_GROUPS)};
		a->deployment = w->begins != NO_DEPLOYMENT ? w->begins : some_deployment(l, w->job);
		a->canary = one_in(l, 3);
		struct plan_placement *p =
			plan_place(w->plan, 10000 + w->first + i, below(l, NODES), 0);
		uint32_t node = below(l, NODES);
		p->node_id = number_uuid(node);
		p->slot = node;
		p->group = (uint16_t)a->group;
		p->name_index = w->first + i;
		p->resources = (struct resources){1, 1, 1};
		p->details = details_of(a->deployment, a->canary);
	}
}

static void wish_changes(struct life *l, struct wish *w)
{
	struct rollout_model *m = l->model;

	w->stop_count = 0;
	w->update = NO_DEPLOYMENT;
	for (uint32_t tries = 0; tries < 3 && m->allocation_count > 0; tries++) {
		uint32_t alloc = below(l, m->allocation_count);
		struct rollout_alloc *a = &m->allocations[alloc];
		bool is_stopped = (w->stop_count > 0 && w->stops[0] == alloc) ||
				  (w->stop_count > 1 && w->stops[1] == alloc);
		if (a->job != w->job || !rollout_lives(a) || is_stopped || w->update == alloc)
			continue;
		if (w->stop_count < 2 && one_in(l, 2)) {
			w->stops[w->stop_count++] = alloc;
			plan_stop(w->plan, 10000 + alloc, STOP_NOT_NEEDED);
		} else if (w->update == NO_DEPLOYMENT) {
			w->update = alloc;
			w->update_deployment = some_deployment(l, w->job);
			w->update_canary = one_in(l, 4);
			struct plan_update *u = plan_update(w->plan, 10000 + alloc);
			u->resources = (struct resources){2, 2, 2};
			u->details = details_of(w->update_deployment, w->update_canary);
		}
	}
}

static bool end_holds(const struct rollout_model *m, const struct wish *w)
{
	if (w->ends == NO_DEPLOYMENT || !rollout_is_active(&m->deployments[w->ends]))
		return false;
	enum deployment_status from = m->deployments[w->ends].status;
	if (w->end == DEPLOYMENT_PENDING)
		return from == DEPLOYMENT_INITIALIZING;
	if (w->end == DEPLOYMENT_BLOCKED)
		return from != DEPLOYMENT_UNBLOCKING;
	return w->end != DEPLOYMENT_INITIALIZING;
}

static bool is_stale(const struct rollout_model *m, const struct wish *w)
{
	uint32_t active = rollout_active(m, w->job);
	struct rollout_deployment after = {.exists = true, .status = w->end};
	bool ends_it = w->ends == active && end_holds(m, w) && !rollout_is_active(&after);

	return w->begins != NO_DEPLOYMENT && active != NO_DEPLOYMENT && !ends_it;
}

static void begin(struct life *l, const struct wish *w)
{
	struct rollout_model *m = l->model;
	struct rollout_deployment *d = &m->deployments[m->deployment_count++];
	const struct deployment *planned = w->plan->deployment;

	*d = (struct rollout_deployment){.exists = true,
		.job = w->job,
		.incarnation = m->jobs[w->job].incarnation,
		.version = m->jobs[w->job].version,
		.status = DEPLOYMENT_RUNNING};
	for (uint32_t i = 0; i < ROLLOUT_GROUPS; i++)
		d->groups[i].desired_canaries = group_of(planned, groups[i])->desired_canaries;
	l->begun++;
}

static void update(struct rollout_model *m, const struct wish *w)
{
	struct rollout_alloc *a = &m->allocations[w->update];

	if (w->update_deployment == a->deployment)
		return; // what is known of its health and as what it was placed stays
	a->deployment = w->update_deployment;
	a->canary = w->update_canary;
	a->has_verdict = a->is_healthy = false;
	rollout_join(m, w->update);
}

static void follow(struct life *l, const struct wish *w)
{
	struct rollout_model *m = l->model;

	if (w->begins != NO_DEPLOYMENT)
		begin(l, w);
	if (end_holds(m, w))
		rollout_status(m, w->ends, w->end);
	for (uint32_t i = 0; i < w->stop_count; i++)
		m->allocations[w->stops[i]].is_stopped = true;
	if (w->update != NO_DEPLOYMENT)
		update(m, w);
	for (uint32_t i = 0; i < w->placed; i++) {
		m->allocations[m->allocation_count] = w->placements[i];
		rollout_join(m, m->allocation_count++);
	}
}

static void plan(struct life *l)
{
	struct wish w = {.job = below(l, ROLLOUT_JOBS)};
	struct plan_result result;

	w.plan = build_plan(&l->jobs[w.job]);
	wish_deployment(l, &w);
	wish_placements(l, &w);
	wish_changes(l, &w);
	bool stale = is_stale(l->model, &w),
	     left_out = w.ends != NO_DEPLOYMENT && !end_holds(l->model, &w);
	if (!stale)
		follow(l, &w);
	l->stale += stale;
	assert_int_equal(run_plan(&l->controller, w.plan, &result), OUTCOME_DONE);
	assert_int_equal(result.refresh_index > 0, stale || left_out);
	assert_int_equal(result.placements_committed, stale ? 0 : w.placed);
	assert_int_equal(result.stops_committed, stale ? 0 : w.stop_count);
	plan_result_release(&result);
}

static uint32_t node_of(const struct life *l, uint32_t alloc)
{
	struct uuid id = rollout_alloc_id(alloc);

	state_read_begin();
	uint32_t slot = state_allocation(l->controller.state, &id)->node_slot;
	state_read_end();
	return slot;
}

static void report(struct life *l)
{
	struct rollout_model *m = l->model;

	if (m->allocation_count == 0)
		return;
	uint32_t alloc = below(l, m->allocation_count), word = below(l, 3);
	struct rollout_alloc *a = &m->allocations[alloc];
	struct optional_bool healthy = {word > 0, word == 1};
	assert_int_equal(report_health(&l->controller, node_of(l, alloc), 10000 + alloc, healthy),
		OUTCOME_DONE);
	if (a->client != ALLOC_FAILED)
		a->client = ALLOC_RUNNING;
	if (healthy.set)
		rollout_verdict(m, alloc, healthy.value);
}

static void fail_one(struct life *l)
{
	struct rollout_model *m = l->model;

	if (m->allocation_count == 0)
		return;
	uint32_t alloc = below(l, m->allocation_count);
	struct uuid id = rollout_alloc_id(alloc);
	assert_int_equal(report_as(&l->controller, node_of(l, alloc), &id, ALLOC_FAILED,
				 (struct optional_bool){0}),
		OUTCOME_DONE);
	m->allocations[alloc].client = ALLOC_FAILED;
}

static bool may_ask(const struct rollout_deployment *d, enum deployment_action action)
{
	switch (action) {
	case DEPLOYMENT_PAUSE:
		return d->status != DEPLOYMENT_INITIALIZING && d->status != DEPLOYMENT_UNBLOCKING;
	case DEPLOYMENT_RESUME:
		return d->status == DEPLOYMENT_PAUSED || d->status == DEPLOYMENT_RUNNING;
	case DEPLOYMENT_RUN:
		return d->status == DEPLOYMENT_PENDING || d->status == DEPLOYMENT_RUNNING;
	case DEPLOYMENT_UNBLOCK:
		return d->status == DEPLOYMENT_BLOCKED || d->status == DEPLOYMENT_UNBLOCKING;
	default: return true;
	}
}

static const enum deployment_status becomes[DEPLOYMENT_ACTIONS] = {
	[DEPLOYMENT_PAUSE] = DEPLOYMENT_PAUSED,
	[DEPLOYMENT_RESUME] = DEPLOYMENT_RUNNING,
	[DEPLOYMENT_FAIL] = DEPLOYMENT_FAILED,
	[DEPLOYMENT_UNBLOCK] = DEPLOYMENT_SUCCESSFUL,
	[DEPLOYMENT_RUN] = DEPLOYMENT_RUNNING,
	[DEPLOYMENT_CANCEL] = DEPLOYMENT_CANCELLED,
};

static enum command_outcome expected_promotion(struct life *l, uint32_t at)
{
	for (uint32_t i = 0; i < ROLLOUT_GROUPS; i++)
		if (!rollout_may_promote(l->model, at, i))
			return OUTCOME_NOT_NOW;
	for (uint32_t i = 0; i < ROLLOUT_GROUPS; i++)
		rollout_promote(l->model, at, i);
	l->promoted++;
	return OUTCOME_DONE;
}

static enum command_outcome expected_outcome(
	struct life *l, uint32_t at, enum deployment_action action)
{
	struct rollout_deployment *d = &l->model->deployments[at];

	if (!d->exists)
		return OUTCOME_UNKNOWN_DEPLOYMENT;
	if (!rollout_is_active(d))
		return OUTCOME_TERMINAL;
	if (!may_ask(d, action))
		return OUTCOME_NOT_NOW;
	if (action == DEPLOYMENT_PROMOTE)
		return expected_promotion(l, at);
	rollout_status(l->model, at, becomes[action]);
	return OUTCOME_DONE;
}

static void ask(struct life *l)
{
	struct rollout_model *m = l->model;

	if (m->deployment_count == 0)
		return;
	uint32_t at = one_in(l, 3) ? below(l, m->deployment_count)
				   : rollout_active(m, below(l, ROLLOUT_JOBS));
	enum deployment_action action =
		one_in(l, 2) ? DEPLOYMENT_PROMOTE
			     : (enum deployment_action)below(l, DEPLOYMENT_SET_HEALTH);
	if (at == NO_DEPLOYMENT)
		return;
	enum command_outcome expected = expected_outcome(l, at, action);
	assert_int_equal(ask_deployment(&l->controller, 1 + at, action), expected);
	l->refused += expected != OUTCOME_DONE;
}

static void set_health(struct life *l)
{
	struct rollout_model *m = l->model;

	if (m->allocation_count == 0)
		return;
	uint32_t alloc = below(l, m->allocation_count), at = m->allocations[alloc].deployment;
	struct uuid id = rollout_alloc_id(alloc);
	bool good = !one_in(l, 4);
	struct command_deployment change = {.healthy = &id, .unhealthy = &id};
	if (at == NO_DEPLOYMENT)
		return;
	*(good ? &change.healthy_count : &change.unhealthy_count) = 1;
	bool holds = rollout_is_active(&m->deployments[at]);
	enum command_outcome outcome =
		change_deployment(&l->controller, 1 + at, DEPLOYMENT_SET_HEALTH, &change);
	assert_int_equal(outcome == OUTCOME_DONE, holds);
	if (!holds)
		return;
	rollout_verdict(m, alloc, good);
	if (!good)
		rollout_status(m, at, DEPLOYMENT_FAILED);
}

static bool has_living(const struct rollout_model *m, uint32_t deployment)
{
	for (uint32_t i = 0; i < m->allocation_count; i++) {
		const struct rollout_alloc *a = &m->allocations[i];
		if (a->deployment == deployment && rollout_lives(a) &&
			a->job == m->deployments[deployment].job)
			return true;
	}
	return false;
}

static void collect(struct life *l)
{
	struct rollout_model *m = l->model;
	struct command command = {
		.type = COMMAND_GC, .gc = {.deployments_before_ns = m->now_ns + 1}};
	uint32_t done = 0, gone = 0;

	controller_push(&l->controller, &command, &done);
	while (done == 0)
		applier_step(l->controller.applier);
	for (uint32_t i = 0; i < m->deployment_count; i++) {
		struct rollout_deployment *d = &m->deployments[i];
		bool goes = d->exists && !rollout_is_active(d) && !has_living(m, i);
		d->exists = d->exists && !goes;
		gone += goes;
	}
	assert_int_equal(command.gc.collected, gone);
}

static void pass_time(struct life *l)
{
	advance_ms(&l->controller, 1 + below(l, 100000));
	l->model->now_ns = (int64_t)l->controller.time.wall_ns;
}

static void step(struct life *l)
{
	uint32_t choice = below(l, 100);

	if (choice < 35)
		plan(l);
	else if (choice < 65)
		report(l);
	else if (choice < 70)
		fail_one(l);
	else if (choice < 82)
		ask(l);
	else if (choice < 88)
		set_health(l);
	else if (choice < 92)
		change_job(l);
	else if (choice < 95)
		collect(l);
	else
		pass_time(l);
}

static void open_life(struct life *l, uint64_t seed)
{
	memset(l, 0, sizeof *l);
	prng_seed(&l->prng, seed);
	l->model = memory_take(sizeof *l->model);
	controller_init(&l->controller, (struct state_limits){0});
	controller_open(&l->controller);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(controller_register(&l->controller, i, NULL), OUTCOME_DONE);
	for (uint32_t i = 0; i < ROLLOUT_JOBS; i++) {
		l->model->jobs[i].version = UINT64_MAX;
		register_version(l, i);
	}
	l->model->now_ns = (int64_t)l->controller.time.wall_ns;
}

static void deployments_do_what_the_model_does(void **unused)
{
	for (uint64_t seed = 1; seed <= 12 / BUILD_SLOWNESS; seed++) {
		struct life *l = memory_take(sizeof *l);
		open_life(l, seed);
		for (uint32_t i = 0; i < STEPS; i++) {
			step(l);
			rollout_compare(l->model, &l->controller, names);
			if (i % 100 == 0)
				controller_verify(&l->controller);
		}
		expect_restores(&l->controller);
		assert_true(l->begun > 20 && l->stale > 10 && l->refused > 10 && l->promoted > 2);
		controller_free(&l->controller);
		free(l->model);
		free(l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deployments_do_what_the_model_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
