// Random reports, times and restarts against a naive model: before each step of the clock the model computes what must
// happen to each deployment, and the test compares that with what the watcher did.
#include "state/base/memory.h"
#include "tests/placement/watch/deployments/rollout.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { JOBS = 5, STEPS = 350, SEEDS = 12 / BUILD_SLOWNESS, PLACED_MAX = 256, DELAY_MS = 1400 };

struct placed {
	struct uuid id;
	uint32_t group;
	bool is_canary, has_verdict, healthy, ended;
};

struct rollout_of_job {
	char name[16];
	uint32_t version;
	struct uuid deployment;
	struct rollout_ask ask;
	struct placed placed[PLACED_MAX];
	uint32_t placed_count;
	int64_t asked_until_ms; // an evaluation is due by then; 0: none
	uint32_t asked;
	int64_t judged_ns; // no deadline counted until then: enough was healthy
};

struct run {
	struct rollout_world world;
	struct prng prng;
	struct rollout_of_job jobs[JOBS];
	uint64_t failed, promoted, flagged; // over all lives of the watchers
};

static uint32_t below(struct run *r, uint32_t bound)
{
	return (uint32_t)prng_below(&r->prng, bound);
}

struct expected {
	bool is_active, fails, is_promoted;
	const char *reason;
};

static uint32_t count_living(
	const struct rollout_of_job *j, uint32_t group, bool canaries_only, bool healthy_only)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < j->placed_count; i++) {
		const struct placed *p = &j->placed[i];
		count += p->group == group && !p->ended && (p->is_canary || !canaries_only) &&
			 (!healthy_only || (p->has_verdict && p->healthy));
	}
	return count;
}

static bool has_unhealthy_without_tries(const struct rollout_of_job *j)
{
	for (uint32_t i = 0; i < j->placed_count; i++)
		if (j->placed[i].has_verdict && !j->placed[i].healthy)
			return j->ask.no_progress_deadline || j->ask.attempts == 0;
	return false;
}

// Whether an unfinished group has missed its deadline. A group that waits for promotion never finishes.
static bool is_late(
	const struct rollout_of_job *j, const struct deployment *d, int64_t now_ns, bool *lags)
{
	bool late = false;

	*lags = false;
	for (uint32_t i = 0; i < d->groups.count; i++) {
		const struct deployment_group *g = ARRAY_AT(&d->groups, struct deployment_group, i);
		bool tries = g->desired_canaries > 0 && !g->promoted;
		bool done = !tries && count_living(j, i, false, true) >= g->desired_total;
		late |= !done && g->require_progress_by_ns > j->judged_ns &&
			g->require_progress_by_ns <= now_ns;
		*lags |= g->healthy_allocs < (tries ? g->desired_canaries : g->desired_total);
	}
	return late;
}

static bool is_ripe(const struct rollout_of_job *j, const struct deployment *d)
{
	bool waits = false;

	for (uint32_t i = 0; i < d->groups.count; i++) {
		const struct deployment_group *g = ARRAY_AT(&d->groups, struct deployment_group, i);
		if (g->desired_canaries == 0)
			continue;
		waits |= !g->promoted;
		if ((!g->promoted && !g->auto_promote) ||
			count_living(j, i, true, true) < g->desired_canaries)
			return false;
	}
	return waits;
}

static struct expected expect(struct run *r, struct rollout_of_job *j, int64_t now_ns)
{
	struct deployment *d = rollout_deployment(&r->world, &j->deployment);
	struct expected e = {.is_active = deployment_is_active(d)};
	bool lags;

	if (e.is_active && has_unhealthy_without_tries(j))
		e.reason = DEPLOYMENT_TEXT_UNHEALTHY;
	else if (d->status == DEPLOYMENT_RUNNING && is_late(j, d, now_ns, &lags)) {
		e.reason = lags ? DEPLOYMENT_TEXT_DEADLINE : NULL;
		j->judged_ns = now_ns;
	}
	e.fails = e.reason != NULL;
	e.is_promoted = d->status == DEPLOYMENT_RUNNING && !e.fails && is_ripe(j, d);
	deployment_free(d);
	return e;
}

static bool is_promoted(const struct deployment *d)
{
	for (uint32_t i = 0; i < d->groups.count; i++)
		if (!ARRAY_AT(&d->groups, struct deployment_group, i)->promoted)
			return false;
	return true;
}

static void compare(struct run *r, const struct rollout_of_job *j, const struct expected *e)
{
	struct deployment *d = rollout_deployment(&r->world, &j->deployment);

	if (e->fails) {
		assert_int_equal(d->status, DEPLOYMENT_FAILED);
		assert_int_equal(strncmp(d->status_description, e->reason, strlen(e->reason)), 0);
	} else if (e->is_active) {
		assert_true(deployment_is_active(d));
	}
	if (e->is_promoted)
		assert_true(is_promoted(d));
	deployment_free(d);
}

static void begin(struct run *r, struct rollout_of_job *j)
{
	char version[16];

	snprintf(version, sizeof version, "%u", ++j->version);
	j->ask = (struct rollout_ask){.job = j->name,
		.groups = 1 + below(r, 2),
		.count = 1 + below(r, 5),
		.canaries = below(r, 2) ? 1 + below(r, 2) : 0,
		.auto_promote = below(r, 2),
		.auto_revert = below(r, 2),
		.no_progress_deadline = below(r, 8) == 0,
		.attempts = below(r, 3) == 0 ? 0 : -1,
		.version = version};
	j->deployment = rollout_begin(&r->world, j->ask);
	j->placed_count = 0;
	j->asked_until_ms = j->judged_ns = 0;
	j->asked = rollout_asked(&r->world, j->name);
}

static bool is_active(struct run *r, const struct rollout_of_job *j)
{
	struct deployment *d = rollout_deployment(&r->world, &j->deployment);
	bool active = deployment_is_active(d);

	deployment_free(d);
	return active;
}

static void place(struct run *r, struct rollout_of_job *j)
{
	if (j->placed_count == PLACED_MAX)
		return;
	struct placed *p = &j->placed[j->placed_count++];
	*p = (struct placed){.group = below(r, j->ask.groups)};
	p->is_canary = j->ask.canaries > 0 && below(r, 2);
	p->id = rollout_place(&r->world, &j->deployment, p->group, p->is_canary);
}

static bool is_promoted_now(struct run *r, const struct rollout_of_job *j)
{
	struct deployment *d = rollout_deployment(&r->world, &j->deployment);
	bool promoted = is_promoted(d);

	deployment_free(d);
	return promoted;
}

static void report(struct run *r, struct rollout_of_job *j)
{
	if (j->placed_count == 0)
		return;
	struct placed *p = &j->placed[below(r, j->placed_count)];
	if (p->ended)
		return;
	if (below(r, 10) == 0) { // it ends, and its verdict stays
		rollout_report(&r->world, &p->id, ALLOC_COMPLETE, (struct optional_bool){0});
		p->ended = true;
		return;
	}
	bool healthy = below(r, 6) != 0, is_news = !p->has_verdict || p->healthy != healthy;
	if (healthy)
		rollout_healthy(&r->world, &p->id);
	else
		rollout_unhealthy(&r->world, &p->id);
	p->has_verdict = true;
	p->healthy = healthy;
	p->ended = !healthy;
	if (is_news && j->asked_until_ms == 0)
		j->asked_until_ms = controller_now_ms(r->world.controller) + DELAY_MS;
}

static void add_stats(struct run *r)
{
	struct watchers_stats stats;

	watchers_stats(r->world.watchers, &stats);
	assert_int_equal(stats.commands_refused, 0);
	assert_int_equal(stats.deployments_reverted, 0); // no version was ever stable
	r->failed += stats.deployments_failed;
	r->promoted += stats.deployments_promoted;
	r->flagged += stats.allocations_flagged;
}

// After a restart the watchers must find out by themselves what to ask for.
static void restart(struct run *r)
{
	add_stats(r);
	rollout_restart(&r->world);
	for (uint32_t i = 0; i < JOBS; i++) {
		r->jobs[i].judged_ns = 0;
		if (r->jobs[i].asked_until_ms != 0)
			r->jobs[i].asked_until_ms =
				controller_now_ms(r->world.controller) + DELAY_MS;
	}
}

static void happen(struct run *r)
{
	struct rollout_of_job *j = &r->jobs[below(r, JOBS)];
	uint32_t what = below(r, 40);

	if (!is_active(r, j)) {
		if (what < 10)
			begin(r, j);
		return;
	}
	// After a promotion no scheduler places canaries.
	if (what < 12 && !(j->ask.canaries > 0 && is_promoted_now(r, j)))
		place(r, j);
	else if (what < 34)
		report(r, j);
	else if (what == 34)
		(void)rollout_change(&r->world, &j->deployment, DEPLOYMENT_PAUSE);
	else if (what == 35)
		(void)rollout_change(&r->world, &j->deployment, DEPLOYMENT_RESUME);
	else if (what == 36)
		restart(r);
	else if (what == 37)
		begin(r, j);
}

// An evaluation soon follows each new report, whatever its cause.
static void check_asked(struct run *r, struct rollout_of_job *j)
{
	uint32_t asked = rollout_asked(&r->world, j->name);

	if (asked != j->asked) {
		j->asked = asked;
		j->asked_until_ms = 0;
		rollout_evaluate(&r->world, j->name);
	}
	if (!is_active(r, j))
		j->asked_until_ms = 0;
	assert_true(j->asked_until_ms == 0 ||
		    controller_now_ms(r->world.controller) <= j->asked_until_ms);
}

static void check_flags(struct run *r, const struct rollout_of_job *j)
{
	for (uint32_t i = 0; i < j->placed_count; i++) {
		const struct placed *p = &j->placed[i];
		if (rollout_may_be_replaced(&r->world, &p->id))
			assert_true(p->has_verdict && !p->healthy);
	}
}

static void step(struct run *r)
{
	struct expected expected[JOBS];
	uint64_t ms = below(r, 20) == 0 ? 1000ull * below(r, 700) : 50;

	for (uint32_t done = below(r, 4); done > 0; done--)
		happen(r);
	// The watcher sees reports before the clock goes on.
	for (uint64_t left = ms; left > 0;) {
		uint64_t part = left < 50 ? left : 50;
		for (int pass = 0; pass < 2; pass++) {
			int64_t now_ns = (int64_t)time_wall_ns(&r->world.controller->source);
			for (uint32_t i = 0; i < JOBS; i++)
				expected[i] = expect(r, &r->jobs[i], now_ns);
			rollout_settle(&r->world);
			for (uint32_t i = 0; i < JOBS; i++)
				compare(r, &r->jobs[i], &expected[i]);
			if (pass == 0)
				manual_time_advance_ms(&r->world.controller->time, part);
		}
		for (uint32_t i = 0; i < JOBS; i++)
			check_asked(r, &r->jobs[i]);
		left -= part;
		if (left > 5000) { // only deadlines are due that soon
			manual_time_advance_ms(&r->world.controller->time, left - 5000);
			left = 5000;
			for (uint32_t i = 0; i < JOBS; i++)
				r->jobs[i].asked_until_ms = 0;
		}
	}
	for (uint32_t i = 0; i < JOBS; i++)
		check_flags(r, &r->jobs[i]);
}

static void as_the_model_says(void **state)
{
	uint64_t failed = 0, promoted = 0, flagged = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct run *r = memory_take(sizeof *r);
		rollout_init(&r->world);
		prng_seed(&r->prng, seed);
		for (uint32_t i = 0; i < JOBS; i++) {
			snprintf(r->jobs[i].name, sizeof r->jobs[i].name, "job-%u", i);
			begin(r, &r->jobs[i]);
		}
		for (uint32_t i = 0; i < STEPS; i++)
			step(r);
		add_stats(r);
		failed += r->failed;
		promoted += r->promoted;
		flagged += r->flagged;
		rollout_free(&r->world);
		free(r);
	}
	// All of these happened.
	assert_true(failed > SEEDS && promoted > SEEDS / 2 && flagged > SEEDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_model_says)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
