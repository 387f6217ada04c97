// For a group that names a snapshot: which of the fitting nodes comes first (row E32).
#include "state/base/prng.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/asking.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// Places instances until no node has room, and checks where they went.
static void check_order(struct asking *b, const uint32_t *slots, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(select_any(b), slots[i]);
		asking_place(b, slots[i]);
	}
	assert_int_equal(select_any(b), NODE_SLOT_NONE);
}
#define CHECK_ORDER(b, ...) \
	check_order(b, (const uint32_t[]){__VA_ARGS__}, COUNT(((const uint32_t[]){__VA_ARGS__})))

static struct job *asks_for(struct asking *b, const char *words, const char *snapshot)
{
	struct job *job = world_job(b->world, words);
	set(&group_of(job)->snapshot, snapshot);
	return job;
}

// Nodes that fit one instance of 600; a smaller one is packed better.
static void make_fleet(struct asking *b)
{
	asking_setup(b);
	world_node(b->world, "cpu=600 snapshot=other"); // 0: the best fit
	world_node(b->world, "cpu=700");                // 1
	world_node(b->world, "cpu=800");                // 2
	world_node(b->world, "cpu=1100 snapshot=web");  // 3
	world_node(b->world, "cpu=1000 snapshot=web");  // 4
	world_node(b->world, "cpu=900 snapshot=web");   // 5: something is on it
	world_allocate(b->world, world_job(b->world, "service other cpu=100"), 0, 5, 0);
}

static void the_tier_comes_before_the_score(void **state)
{
	struct asking b;
	make_fleet(&b);
	struct job *job = asks_for(&b, "service web count=10 cpu=600", "web");
	asking_begin(&b, STACK_GENERIC, job);
	CHECK_ORDER(&b, 4, 3, 1, 2, 0, 5);
	asking_teardown(&b);
}

// Packing would fill what runs something: the node with the best score is busy here.
static void an_idle_node_of_another_snapshot_comes_before_busy_ones(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=700 snapshot=web");    // 0: busy, the best fit
	world_node(b.world, "cpu=710");                 // 1: busy
	world_node(b.world, "cpu=1300 snapshot=other"); // 2
	world_node(b.world, "cpu=1200 snapshot=other"); // 3
	world_node(b.world, "cpu=1400");                // 4
	world_node(b.world, "cpu=1500 snapshot=web");   // 5
	struct job *busy = world_job(b.world, "service other cpu=100 memory=0");
	for (uint32_t i = 0; i < 2; i++)
		world_allocate(b.world, busy, 0, i, i);
	struct job *job = asks_for(&b, "service web count=10 cpu=600", "web");
	asking_begin(&b, STACK_GENERIC, job);
	for (uint32_t i = 0; i < 4; i++) {
		static const uint32_t slots[] = {5, 4, 3, 2};
		assert_int_equal(select_any(&b), slots[i]);
		asking_place(&b, slots[i]);
	}
	// Every node runs something now: the score alone decides among all of them.
	CHECK_ORDER(&b, 0, 1, 3, 2, 4, 5);
	asking_teardown(&b);
}

static void without_a_snapshot_the_score_alone_decides(void **state)
{
	struct asking b;
	make_fleet(&b);
	for (uint32_t i = 0; i < 2; i++) {
		asking_begin(&b, STACK_GENERIC,
			asks_for(&b, "service web count=10 cpu=600", i ? "" : NULL));
		assert_int_equal(select_any(&b), 0);
		assert_int_equal(b.option.shown >> SCORE_SNAPSHOT & 1, 0);
	}
	asking_teardown(&b);
}

static void a_batch_job_asks_alike(void **state)
{
	struct asking b;
	make_fleet(&b);
	asking_begin(&b, STACK_GENERIC, asks_for(&b, "batch web count=10 cpu=600", "web"));
	CHECK_ORDER(&b, 4, 3, 1, 2, 0, 5);
	asking_teardown(&b);
}

static void it_is_the_same_where_cores_stand_for_cpu(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cores=0-1");
	world_node(b.world, "cores=0-2 snapshot=web");
	world_node(b.world, "cores=0-1 snapshot=other");
	world_node(b.world, "cores=0-1 snapshot=web");
	struct job *job = asks_for(&b, "service web count=10 cpu=0", "web");
	task_of(job)->resources.cores = 2;
	world_job_changed(job);
	asking_begin(&b, STACK_GENERIC, job);
	CHECK_ORDER(&b, 3, 1, 0, 2);
	asking_teardown(&b);
}

static void idle_is_what_the_plan_leaves(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "snapshot=web");
	world_node(b.world, "snapshot=web");
	world_node(b.world, "");
	struct job *job = asks_for(&b, "service web count=10", "web");
	const struct allocation *first = world_allocate(b.world, job, 0, 0, 0);
	const struct allocation *second = world_allocate(b.world, job, 0, 1, 1);
	struct allocation *ended = world_allocate(b.world, job, 0, 1, 2);
	ended->client_status = ALLOC_COMPLETE;
	asking_begin(&b, STACK_GENERIC, job);
	assert_int_equal(select_any(&b), 2);
	stack_plan_stop(b.stack, second, STOP_NOT_NEEDED, false, NULL);
	assert_int_equal(select_any(&b), 1);
	stack_plan_stop(b.stack, ended, STOP_NOT_NEEDED, false, NULL);
	assert_int_equal(select_any(&b), 1);
	stack_plan_unstop(b.stack, &second->id);
	stack_plan_stop(b.stack, first, STOP_NOT_NEEDED, false, NULL);
	assert_int_equal(select_any(&b), 0);
	asking_place(&b, 0);
	assert_int_equal(select_any(&b), 2);
	asking_teardown(&b);
}

static void what_failed_on_a_node_is_not_drawn_back(void **state)
{
	struct asking b;
	struct alloc_metrics m = {0};
	asking_setup(&b);
	world_node(b.world, "");
	world_node(b.world, "snapshot=web");
	asking_begin(&b, STACK_GENERIC, asks_for(&b, "service web count=10", "web"));
	struct stack_request r = {.preferred_slot = NODE_SLOT_NONE,
		.penalty_nodes = &b.world->nodes[1]->id,
		.penalty_count = 1};
	assert_int_equal(select_any(&b), 1);
	assert_int_equal(select_with(&b, &r, &m), 0);
	metrics_release(&m);
	asking_teardown(&b);
}

static void nodes_that_are_not_healthy_are_passed_over(void **state)
{
	struct asking b;
	asking_setup(&b);
	for (uint32_t i = 0; i < 4; i++)
		world_node(b.world, "snapshot=web");
	world_node(b.world, "");
	b.world->nodes[0]->standing.lost_ns = 1;
	b.world->nodes[1]->standing.flaky_ns = 1;
	b.world->nodes[2]->standing.offlined = true;
	b.world->nodes[3]->standing.readiness = READINESS_AWAITED;
	asking_begin(&b, STACK_GENERIC, asks_for(&b, "service web count=10 cpu=3000", "web"));
	CHECK_ORDER(&b, 4);
	asking_teardown(&b);
}

struct crowd_node {
	uint32_t cpu, left;
	double preference;
};

static double share_left(const struct crowd_node *n, uint32_t cpu)
{
	return (double)(n->left - cpu) / n->cpu;
}

// Scores only the fit: the node with the least share of its cpu left is the best. Anti-affinity is next to nothing in
// a group of so many.
static uint32_t best_of(const struct crowd_node *nodes, uint32_t count, uint32_t cpu)
{
	uint32_t best = NODE_SLOT_NONE;
	for (uint32_t i = 0; i < count; i++) {
		const struct crowd_node *n = &nodes[i],
					*b = best == NODE_SLOT_NONE ? NULL : &nodes[best];
		if (n->left < cpu)
			continue;
		if (!b || n->preference > b->preference ||
			(n->preference == b->preference && share_left(n, cpu) < share_left(b, cpu)))
			best = i;
	}
	return best;
}

// Of a hundred, one is idle and ran the snapshot, three ran none, four another; the others run something small.
static void make_crowd_node(struct asking *b, struct crowd_node *n, uint32_t slot, uint32_t kind)
{
	static const char *const ran[] = {" snapshot=web", "", " snapshot=other"};
	static const double preferences[] = {1, 0.5, 0.25, 0};
	uint32_t tier = kind == 0 ? 0 : kind < 4 ? 1 : kind < 8 ? 2 : 3;
	char words[64];
	snprintf(words, sizeof words, "cpu=%u%s", n->cpu, ran[tier < 3 ? tier : kind % 3]);
	world_node(b->world, words);
	n->preference = preferences[tier];
	n->left = n->cpu;
	if (tier < 3)
		return;
	n->left -= 40 + kind;
	snprintf(words, sizeof words, "service small%u cpu=%u memory=0", slot, 40 + kind);
	world_allocate(b->world, world_job(b->world, words), 0, slot, 0);
}

static void the_best_of_thousands(void **state)
{
	enum { NODES = 3000 };
	static struct crowd_node nodes[NODES];
	struct asking b;
	struct prng prng;
	asking_setup(&b);
	prng_seed(&prng, 7);
	for (uint32_t i = 0; i < NODES; i++) {
		nodes[i].cpu = 1100 + (uint32_t)prng_below(&prng, 500);
		make_crowd_node(&b, &nodes[i], i, (uint32_t)prng_below(&prng, 100));
	}
	asking_begin(&b, STACK_GENERIC,
		asks_for(&b, "service web count=1000000 cpu=1000 memory=0", "web"));
	for (uint32_t i = 0; i < 400; i++) {
		uint32_t wanted = best_of(nodes, NODES, 1000);
		assert_int_equal(select_any(&b), wanted);
		asking_place(&b, wanted);
		nodes[wanted].left -= 1000;
	}
	asking_teardown(&b);
}

static double shown_as(const struct node_score *of, enum score_kind kind)
{
	assert_true(of->scores.there >> score_places[kind] & 1);
	return node_score_get(of, kind);
}

static void it_is_shown_and_not_in_the_mean(void **state)
{
	static const double wanted[SCORES_KEPT] = {1, 1, 0.5, 0.5, 0.25};
	static const uint32_t slots[SCORES_KEPT] = {4, 3, 1, 2, 0};
	struct asking b;
	struct alloc_metrics m = {0};
	struct stack_request r = {.preferred_slot = NODE_SLOT_NONE};
	make_fleet(&b);
	asking_begin(&b, STACK_GENERIC, asks_for(&b, "service web count=10 cpu=600", "web"));
	assert_int_equal(select_with(&b, &r, &m), 4);
	assert_int_equal(m.score_metadata.count, SCORES_KEPT);
	for (uint32_t i = 0; i < SCORES_KEPT; i++) {
		const struct node_score *s = ARRAY_AT(&m.score_metadata, struct node_score, i);
		assert_memory_equal(&s->node_id, &b.world->nodes[slots[i]]->id, sizeof s->node_id);
		assert_float_equal(shown_as(s, SCORE_SNAPSHOT), wanted[i], 0);
		assert_float_equal(s->norm_score, shown_as(s, SCORE_BINPACK), 0);
	}
	metrics_release(&m);
	asking_teardown(&b);
}

static void system_jobs_do_not_ask(void **state)
{
	struct asking b;
	make_fleet(&b);
	asking_begin(&b, STACK_SYSTEM, asks_for(&b, "system web cpu=100", "web"));
	assert_string_equal(ask(&b, 4), "");
	assert_true(stack_option_is_plain(&b.option));
	asking_teardown(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tier_comes_before_the_score),
		cmocka_unit_test(an_idle_node_of_another_snapshot_comes_before_busy_ones),
		cmocka_unit_test(without_a_snapshot_the_score_alone_decides),
		cmocka_unit_test(a_batch_job_asks_alike),
		cmocka_unit_test(it_is_the_same_where_cores_stand_for_cpu),
		cmocka_unit_test(idle_is_what_the_plan_leaves),
		cmocka_unit_test(what_failed_on_a_node_is_not_drawn_back),
		cmocka_unit_test(nodes_that_are_not_healthy_are_passed_over),
		cmocka_unit_test(the_best_of_thousands),
		cmocka_unit_test(it_is_shown_and_not_in_the_mean),
		cmocka_unit_test(system_jobs_do_not_ask),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
