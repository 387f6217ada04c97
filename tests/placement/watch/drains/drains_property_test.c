// Random drains of random jobs, with slow schedulers and nodes, cancellations, deadlines and restarts in between. No
// drain that still has time makes a job miss more than its migrate block allows; a complete drain left nothing behind;
// and every drain ends.
#include "placement/watch/drains/drain_survey.h"
#include "state/records/alloc_details.h"
#include "tests/placement/watch/drains/draining.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
	NODES = 6,
	SPARE = NODES + 1,
	SERVICES = 3,
	ALLOCATIONS = 4000,
	STEPS = 400,
	RUNS = 30 / BUILD_SLOWNESS
};

struct instance {
	uint32_t job, node; // job: a service, or SERVICES for batch, SERVICES + 1 for system
	bool is_batch_done;
};
struct service {
	char id[16];
	int64_t count, max_parallel;
};

struct world {
	struct scene scene;
	struct prng prng;
	struct service services[SERVICES];
	struct instance instances[ALLOCATIONS + 1];
	uint32_t count;                 // instances 1 … count
	bool ignores_system[NODES + 1]; // as asked for last
	uint64_t forced;                // drains, before the newest restart reset the count
};

static const char *const other_jobs[] = {"batch", "system"};

static const char *job_id(struct world *w, uint32_t job)
{
	return job < SERVICES ? w->services[job].id : other_jobs[job - SERVICES];
}

static uint32_t below(struct world *w, uint32_t bound)
{
	return (uint32_t)prng_below(&w->prng, bound);
}

static void add(struct world *w, uint32_t job, uint32_t node)
{
	assert_true(w->count < ALLOCATIONS);
	w->instances[++w->count] = (struct instance){job, node, false};
	scene_place(&w->scene, job_id(w, job), w->count, node);
}

struct seen {
	bool is_living, has_ended, is_flagged, is_healthy, is_running;
	uint8_t desired;
};

static struct seen see(struct world *w, uint32_t id)
{
	state_read_begin();
	const struct allocation *a = published_allocation(&w->scene.controller, id);
	const struct alloc_deployment_status *said = allocation_health(a);
	struct seen seen = {
		.is_living = !allocation_is_terminal(a),
		.has_ended = a->client_status == ALLOC_COMPLETE ||
			     a->client_status == ALLOC_FAILED || a->client_status == ALLOC_LOST,
		.is_flagged = a->details && a->details->transition.migrate.value,
		.is_healthy = said && said->healthy.set,
		.is_running = a->client_status == ALLOC_RUNNING,
		.desired = a->desired,
	};
	state_read_end();
	return seen;
}

struct tally {
	uint32_t flagged, staying; // living: told to leave; healthy and not told
};

static struct tally tally_of(struct world *w, uint32_t job)
{
	struct tally t = {0};

	for (uint32_t id = 1; id <= w->count; id++) {
		if (w->instances[id].job != job)
			continue;
		struct seen seen = see(w, id);
		t.flagged += seen.is_flagged;
		t.staying += seen.is_living && seen.is_healthy && !seen.is_flagged;
	}
	return t;
}

struct node_seen {
	bool is_draining, is_usable;
	uint8_t newest_event;
};

static struct node_seen see_node(struct world *w, uint32_t number)
{
	state_read_begin();
	const struct node *n = scene_node(&w->scene, number);
	struct node_seen seen = {
		.is_draining = n->drain != NULL,
		.is_usable = node_is_usable(n),
		.newest_event = n->event_count ? node_events(n)[n->event_count - 1].message : 0,
	};
	state_read_end();
	return seen;
}

static uint32_t usable_node(struct world *w)
{
	uint32_t node = 1 + below(w, NODES);
	return see_node(w, node).is_usable ? node : SPARE;
}

// Moves the allocations that must leave, and fills up the count.
static void schedule(struct world *w, uint32_t job)
{
	uint32_t living = 0, count = w->count;

	for (uint32_t id = 1; id <= count; id++) {
		if (w->instances[id].job != job || !see(w, id).is_living)
			continue;
		living++;
		if (!see(w, id).is_flagged)
			continue;
		if (job == SERVICES + 1) {
			scene_stop(&w->scene, "system", id);
			continue;
		}
		uint32_t node = usable_node(w);
		assert_true(w->count < ALLOCATIONS);
		w->instances[++w->count] = (struct instance){job, node, false};
		scene_migrate(&w->scene, job_id(w, job), id, w->count, node);
	}
	while (job < SERVICES && living++ < w->services[job].count)
		add(w, job, usable_node(w));
}

// The node reports its progress: the allocation runs and is healthy, or has ended.
static void act(struct world *w, uint32_t id, bool ends)
{
	const struct instance *i = &w->instances[id];
	struct seen seen = see(w, id);

	if (seen.has_ended)
		return;
	if (seen.desired != ALLOC_RUN || (ends && i->job == SERVICES))
		scene_ended(&w->scene, i->node, id);
	else if (!seen.is_running)
		scene_healthy(&w->scene, i->node, id);
}

static void drain_some(struct world *w)
{
	static const int64_t deadlines_ns[] = {0, 0, 0, 8000000000, 40000000000, -1};
	uint32_t node = 1 + below(w, NODES);

	w->ignores_system[node] = below(w, 4) == 0;
	assert_int_equal(scene_drain_with(&w->scene, node,
				 (struct command_node_drain){
					 .deadline_ns = deadlines_ns[below(w, 6)],
					 .ignore_system_jobs = w->ignores_system[node],
				 }),
		OUTCOME_DONE);
}

static void give_back(struct world *w)
{
	uint32_t node = 1 + below(w, NODES);

	(void)scene_drain_with(&w->scene, node,
		(struct command_node_drain){.end = DRAIN_CANCELED, .mark_eligible = true});
	if (below(w, 2))
		add(w, SERVICES + below(w, 2), usable_node(w));
}

static void step(struct world *w)
{
	switch (below(w, 16)) {
	case 0: drain_some(w); break;
	case 1: give_back(w); break;
	case 2:
	case 3:
	case 4: schedule(w, below(w, SERVICES + 2)); break;
	case 5:
		if (below(w, 8) > 0)
			break;
		w->forced += scene_stats(&w->scene).drains_forced;
		scene_restart(&w->scene, 100 + below(w, 3000));
		break;
	case 6:
	case 7: scene_advance(&w->scene, 100 + below(w, 3000)); break;
	default:
		if (w->count > 0)
			act(w, 1 + below(w, w->count), below(w, 6) == 0);
	}
}

static void expect_nothing_left(struct world *w, uint32_t number)
{
	for (uint32_t id = 1; id <= w->count; id++) {
		const struct instance *i = &w->instances[id];
		bool is_ignored = w->ignores_system[number] && i->job == SERVICES + 1;
		if (i->node == number && !is_ignored && !see(w, id).has_ended)
			fail_msg("node %u is done, but %u has not ended", number, id);
	}
}

static uint64_t forced_drains(struct world *w)
{
	return w->forced + scene_stats(&w->scene).drains_forced;
}

// Takes one step and checks its consequences.
static void step_and_check(struct world *w)
{
	struct tally before[SERVICES];
	struct node_seen nodes[NODES + 1];
	uint64_t forced = forced_drains(w);

	for (uint32_t job = 0; job < SERVICES; job++)
		before[job] = tally_of(w, job);
	for (uint32_t number = 1; number <= NODES; number++)
		nodes[number] = see_node(w, number);
	step(w);
	bool is_forced = forced_drains(w) != forced;
	for (uint32_t job = 0; job < SERVICES && !is_forced; job++) {
		struct tally after = tally_of(w, job);
		int64_t least = w->services[job].count - w->services[job].max_parallel;
		if (after.flagged > before[job].flagged && after.staying < least)
			fail_msg("%u of %s stay, at least %ld must", after.staying, job_id(w, job),
				(long)least);
	}
	for (uint32_t number = 1; number <= NODES; number++) {
		struct node_seen after = see_node(w, number);
		if (nodes[number].is_draining && !after.is_draining &&
			after.newest_event == NODE_DRAIN_COMPLETE)
			expect_nothing_left(w, number);
	}
}

// With all schedulers and nodes at work every drain ends.
static void finish(struct world *w)
{
	uint32_t draining = 1;

	for (uint32_t round = 0; draining > 0; round++) {
		assert_true(round < 200);
		for (uint32_t id = 1; id <= w->count; id++)
			act(w, id, true);
		for (uint32_t job = 0; job < SERVICES + 2; job++)
			schedule(w, job);
		scene_advance(&w->scene, 1000);
		draining = 0;
		for (uint32_t number = 1; number <= NODES; number++)
			draining += see_node(w, number).is_draining;
	}
	assert_int_equal(scene_stats(&w->scene).nodes_draining, 0);
	assert_int_equal(scene_stats(&w->scene).commands_refused, 0);
}

static void build(struct world *w, uint64_t seed)
{
	w->count = 0;
	w->forced = 0;
	prng_seed(&w->prng, seed);
	scene_init(&w->scene);
	scene_nodes(&w->scene, SPARE);
	for (uint32_t job = 0; job < SERVICES; job++) {
		struct service *s = &w->services[job];
		snprintf(s->id, sizeof s->id, "web-%u", job);
		s->count = 1 + below(w, 6);
		s->max_parallel = 1 + below(w, 3);
		scene_job(&w->scene, s->id, JOB_SERVICE, s->count, s->max_parallel);
		schedule(w, job);
	}
	scene_job(&w->scene, "batch", JOB_BATCH, 1, 0);
	scene_job(&w->scene, "system", JOB_SYSTEM, 1, 0);
	for (uint32_t number = 1; number <= NODES; number++)
		add(w, SERVICES + 1, number);
}

static void whatever_happens(void **state)
{
	struct world *w = calloc(1, sizeof *w);
	uint64_t completed = 0, forced = 0;

	assert_non_null(w);
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		build(w, seed);
		for (uint32_t i = 0; i < STEPS; i++)
			step_and_check(w);
		finish(w);
		completed += scene_stats(&w->scene).drains_completed;
		forced += forced_drains(w);
		scene_free(&w->scene);
	}
	assert_true(completed > RUNS && forced > RUNS);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_happens)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
