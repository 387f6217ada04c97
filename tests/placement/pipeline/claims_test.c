// Schedulers that work at the same time see what each other is about to take (placement/direct/claims.h): none of them
// is refused for it, and what waits for room because of a claim runs again when the claim comes to nothing.
#include "placement/direct/claims.h"
#include "placement/pipeline/observer.h"
#include "placement/pipeline/pipeline_parts.h"
#include "state/base/prng.h"
#include "tests/placement/pipeline/cluster.h"
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { FLEET = 60, JOBS = 120, SCHEDULERS = 4 };

static const struct resources whole_node = {4000, 8192, 0};

static void name_job(uint32_t number, char name[16])
{
	snprintf(name, 16, "job-%u", number);
}

static struct job_ask any_job(struct prng *prng, const char *id)
{
	static const int types[] = {JOB_SERVICE, JOB_BATCH, JOB_SERVICE};

	return (struct job_ask){.id = id,
		.type = types[prng_below(prng, 3)],
		.count = 1 + (int64_t)prng_below(prng, 20),
		.cpu = 50 + 50 * (int64_t)prng_below(prng, 4),
		.memory_mb = 64 + 64 * (int64_t)prng_below(prng, 4)};
}

static void no_node_holds_too_much(struct cluster *c)
{
	state_read_begin();
	for (uint32_t slot = 0; slot < state_node_slots(c->state); slot++) {
		const struct node *n = state_node_at(c->state, slot);
		if (!n)
			continue;
		struct node_use use = state_node_use(c->state, slot);
		assert_in_range(use.used.cpu_mhz, 0, node_capacity(n).cpu_mhz);
		assert_in_range(use.used.memory_mb, 0, node_capacity(n).memory_mb);
	}
	state_read_end();
}

// The best node is the fullest one that has room, so all of them want the same.
static void several_schedulers_do_not_meet_on_a_node(void **state)
{
	struct cluster c;
	struct prng prng;
	struct pipeline_stats stats;
	int64_t counts[JOBS], all = 0;
	char name[16];

	prng_seed(&prng, 11);
	cluster_init_threads(&c, SCHEDULERS);
	for (uint32_t n = 0; n < FLEET; n++)
		cluster_node(&c, n);
	pipeline_pause_threads(c.pipeline, true);
	for (uint32_t j = 0; j < JOBS; j++) {
		name_job(j, name);
		struct job_ask ask = any_job(&prng, name);
		counts[j] = ask.count;
		all += ask.count;
		cluster_job(&c, ask);
	}
	pipeline_pause_threads(c.pipeline, false);
	for (uint32_t j = 0; j < JOBS; j++) {
		name_job(j, name);
		cluster_await(&c, name, (uint32_t)counts[j]);
		assert_int_equal(cluster_evaluations(&c, name, EVAL_FAILED, -1), 0);
	}
	pipeline_stats(c.pipeline, &stats);
	assert_in_range(stats.nodes_rejected, 0, (uint64_t)all / 1000);
	cluster_quiesce(&c);
	no_node_holds_too_much(&c);
	cluster_verify(&c);
	cluster_free(&c);
}

static void claim_all(struct cluster *c, struct claimant *claimant, uint32_t slot)
{
	struct device_set none = {0};
	struct claim_ask ask = {.slot = slot, .resources = whole_node, .devices = &none};

	do
		ask.seen = claimant_look(claimant, slot);
	while (!claimant_take(claimant, &ask));
}

static void tell_dropped(void *context, uint32_t slot)
{
	observe_dropped(context, slot);
}

static void room_that_was_only_claimed_wakes_what_waits(void **state)
{
	struct cluster c;
	struct pipeline_stats stats;

	cluster_init_threads(&c, 2);
	cluster_node(&c, 0);
	struct claimant *claimant = claimant_create(c.pipeline->claims);
	claim_all(&c, claimant, 0);
	cluster_job(&c, (struct job_ask){.id = "job", .type = JOB_SERVICE});
	do {
		sched_yield();
		pipeline_stats(c.pipeline, &stats);
	} while (stats.blocked.blocked == 0);
	assert_int_equal(cluster_allocations(&c, "job").live, 0);
	assert_int_equal(claimant_release(claimant, tell_dropped, c.pipeline), 1);
	cluster_await(&c, "job", 1);
	claimant_destroy(claimant);
	cluster_free(&c);
}

// The claim is given back at any moment of the evaluation that it stands in the way of.
static void no_wake_up_is_lost(void **state)
{
	enum { ROUNDS = 120, LOOKS_MOST = 400 };
	struct cluster c;
	struct prng prng;
	char name[16];

	prng_seed(&prng, 5);
	cluster_init_threads(&c, 2);
	cluster_node(&c, 0);
	struct claimant *claimant = claimant_create(c.pipeline->claims);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		int type = prng_below(&prng, 4) ? JOB_SERVICE : JOB_SYSTEM;
		name_job(i, name);
		claim_all(&c, claimant, 0);
		cluster_job(
			&c, (struct job_ask){.id = name, .type = type, .cpu = 10, .memory_mb = 16});
		for (uint64_t looks = prng_below(&prng, LOOKS_MOST); looks > 0; looks--)
			(void)state_index(c.state);
		(void)claimant_release(claimant, tell_dropped, c.pipeline);
		cluster_await(&c, name, 1);
	}
	claimant_destroy(claimant);
	cluster_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_schedulers_do_not_meet_on_a_node),
		cmocka_unit_test(room_that_was_only_claimed_wakes_what_waits),
		cmocka_unit_test(no_wake_up_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
