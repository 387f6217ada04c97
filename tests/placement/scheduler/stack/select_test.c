// The best of all nodes: the parts of its score, and the order in which nodes are tried.
#include "placement/direct/placement.h"
#include "placement/scheduler/node/stack_state.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/asking.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NEAR 1e-9

static struct stack_request any(void)
{
	return (struct stack_request){.preferred_slot = NODE_SLOT_NONE};
}

// Boosts of the racks r1, r2, r3 with so many allocations on each.
static void check_even(const int64_t used[3], const double wanted[3])
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "meta.rack=r1 cpu=100000");
	world_node(b.world, "meta.rack=r2 cpu=100000");
	world_node(b.world, "meta.rack=r3 cpu=100000");
	struct job *job = world_job(b.world, "service web count=10");
	spread_over(&group_of(job)->spreads, "${meta.rack}")->weight = 50;
	for (uint32_t rack = 0; rack < 3; rack++)
		for (int64_t i = 0; i < used[rack]; i++)
			world_allocate(b.world, job, 0, rack, (uint32_t)i);
	for (uint32_t rack = 0; rack < 3; rack++) {
		for (uint32_t i = 0; i < 3; i++)
			b.world->nodes[i]->eligibility =
				i == rack ? NODE_ELIGIBLE : NODE_INELIGIBLE;
		asking_begin(&b, STACK_GENERIC, job);
		assert_int_equal(select_any(&b), rack);
		assert_float_equal(b.option.scores[SCORE_SPREAD], wanted[rack], NEAR);
		assert_int_equal(b.option.recorded >> SCORE_SPREAD & 1, wanted[rack] != 0);
	}
	asking_teardown(&b);
}

static void an_even_spread(void **state)
{
	check_even((int64_t[]){0, 0, 0}, (double[]){0, 0, 0});
	check_even((int64_t[]){2, 1, 0}, (double[]){-1, 1, 1});
	check_even((int64_t[]){2, 2, 0}, (double[]){-1, -1, 1});
	check_even((int64_t[]){3, 1, 0}, (double[]){-2, 2, 1});
}

static struct spread_target *target(struct spread *s, const char *value, int64_t percent)
{
	struct spread_target *t = array_append(&s->targets, sizeof *t);
	set(&t->value, value);
	t->percent = percent;
	return t;
}

static double boost_on(struct asking *b, const struct job *job, uint32_t slot)
{
	for (uint32_t i = 0; i < b->world->node_count; i++)
		b->world->nodes[i]->eligibility = i == slot ? NODE_ELIGIBLE : NODE_INELIGIBLE;
	asking_begin(b, STACK_GENERIC, job);
	assert_int_equal(select_any(b), slot);
	return b->option.scores[SCORE_SPREAD];
}

static void a_spread_with_targets(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "meta.rack=r1");
	world_node(b.world, "meta.rack=r2");
	world_node(b.world, "meta.rack=r3");
	world_node(b.world, "meta.rack=r4");
	world_node(b.world, "");
	struct job *job = world_job(b.world, "service web count=10");
	struct spread *spread = spread_over(&group_of(job)->spreads, "${meta.rack}");
	spread->weight = 30;
	target(spread, "r1", 50);
	target(spread, "r2", 20);
	world_allocate(b.world, job, 0, 0, 0);
	world_allocate(b.world, job, 0, 0, 1);
	world_allocate(b.world, job, 0, 2, 2);
	assert_float_equal(boost_on(&b, job, 0), (5 - 3.0) / 5, NEAR);
	assert_float_equal(boost_on(&b, job, 1), (2 - 1.0) / 2, NEAR);
	// All other values share the rest, 3.
	assert_float_equal(boost_on(&b, job, 2), (3 - 2.0) / 3, NEAR);
	assert_float_equal(boost_on(&b, job, 3), (3 - 2.0) / 3, NEAR);
	assert_float_equal(boost_on(&b, job, 4), -1, NEAR);
	// Others get no share, and no target wants r2: it gets the lowest boost.
	ARRAY_AT(&spread->targets, struct spread_target, 0)->percent = 100;
	ARRAY_AT(&spread->targets, struct spread_target, 1)->percent = 0;
	assert_float_equal(boost_on(&b, job, 2), -1, NEAR);
	assert_float_equal(boost_on(&b, job, 1), -1, NEAR);
	// r1 has two where one was wanted, and no node that could be chosen.
	ARRAY_AT(&spread->targets, struct spread_target, 0)->percent = 10;
	assert_float_equal(boost_on(&b, job, 1), (1 - 3.0) / 1, NEAR);
	// Of two targets of one value the first counts, also when there are others: they share what both leave.
	target(spread, "r1", 60);
	assert_float_equal(boost_on(&b, job, 0), (1 - 3.0) / 1, NEAR);
	assert_float_equal(boost_on(&b, job, 2), (3 - 2.0) / 3, NEAR);
	asking_teardown(&b);
}

static void spreads_share_their_weight(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "meta.rack=r1 dc=dc1");
	struct job *job = world_job(b.world, "service web count=4");
	struct spread *racks = spread_over(&group_of(job)->spreads, "${meta.rack}");
	struct spread *datacenters = spread_over(&job->spreads, "${node.datacenter}");
	racks->weight = 30;
	datacenters->weight = 90;
	target(racks, "r1", 100);
	target(datacenters, "dc1", 50);
	double wanted = (4 - 1.0) / 4 * 30 / 120 + (2 - 1.0) / 2 * 90 / 120;
	assert_float_equal(boost_on(&b, job, 0), wanted, NEAR);
	asking_teardown(&b);
}

static void the_score_is_a_mean_of_what_is_recorded(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "class=large");
	struct job *job = world_job(b.world, "service web count=4 cpu=400 memory=819");
	prefer(&group_of(job)->affinities)->weight = 60;
	struct affinity *against = prefer(&job->affinities);
	against->weight = -20;
	world_allocate(b.world, job, 0, 0, 0);
	asking_begin(&b, STACK_GENERIC, job);
	struct stack_request r = any();
	struct alloc_metrics m = {0};
	r.penalty_nodes = &b.world->nodes[0]->id;
	r.penalty_count = 1;
	assert_int_equal(select_with(&b, &r, &m), 0);
	double fit = placement_score(PLACEMENT_BINPACK, (struct resources){4000, 8192, 50000},
		(struct resources){800, 1638, 0});
	assert_float_equal(b.option.scores[SCORE_ANTI_AFFINITY], -2.0 / 4, NEAR);
	assert_float_equal(b.option.scores[SCORE_RESCHEDULE_PENALTY], -1, NEAR);
	assert_float_equal(b.option.scores[SCORE_AFFINITY], 40.0 / 80, NEAR);
	assert_float_equal(b.option.score, (fit - 0.5 - 1 + 0.5) / 4, NEAR);
	const struct node_score *s = ARRAY_AT(&m.score_metadata, struct node_score, 0);
	assert_int_equal(__builtin_popcountll(s->scores.there), 4);
	assert_float_equal(node_score_get(s, SCORE_RESCHEDULE_PENALTY), -1, NEAR);
	metrics_release(&m);
	asking_teardown(&b);
}

// Each part of a score is shown under the name that row A65 gives it.
static void parts_of_a_score_have_their_names(void **state)
{
	static const char *const names[SCORE_KINDS] = {[SCORE_BINPACK] = "binpack",
		[SCORE_DEVICES] = "devices",
		[SCORE_ANTI_AFFINITY] = "job-anti-affinity",
		[SCORE_RESCHEDULE_PENALTY] = "node-reschedule-penalty",
		[SCORE_AFFINITY] = "node-affinity",
		[SCORE_SPREAD] = "allocation-spread",
		[SCORE_PREEMPTION] = "preemption",
		[SCORE_SNAPSHOT] = "snapshot-affinity"};
	for (uint32_t kind = 0; kind < SCORE_KINDS; kind++)
		assert_string_equal(score_names[score_places[kind]], names[kind]);
	for (uint32_t at = 1; at < SCORE_KINDS; at++) // as they are stored
		assert_true(strcmp(score_names[at - 1], score_names[at]) < 0);
}

static void scores_of_zero_are_shown_but_not_recorded(void **state)
{
	struct asking b;
	struct alloc_metrics m = {0};
	struct stack_request r = any();
	asking_setup(&b);
	world_node(b.world, "");
	asking_begin(&b, STACK_GENERIC, world_job(b.world, "service web count=4"));
	assert_int_equal(select_with(&b, &r, &m), 0);
	assert_int_equal(b.option.recorded, 1u << SCORE_BINPACK);
	const struct node_score *s = ARRAY_AT(&m.score_metadata, struct node_score, 0);
	assert_int_equal(__builtin_popcountll(s->scores.there), 4); // three of them 0
	assert_float_equal(s->norm_score, b.option.scores[SCORE_BINPACK], 0);
	metrics_release(&m);
	asking_teardown(&b);
}

static void ties_go_to_the_lowest_slot(void **state)
{
	struct asking b;
	asking_setup(&b);
	for (uint32_t i = 0; i < 700; i++)
		world_node(b.world, i == 500 ? "meta.rack=r1" : "");
	asking_begin(&b, STACK_GENERIC, world_job(b.world, "service web count=1"));
	for (uint32_t slot = 0; slot < 5; slot++) {
		assert_int_equal(select_any(&b), slot);
		asking_place(&b, slot); // anti-affinity now outweighs better packing
	}
	asking_teardown(&b);
}

// The fleet is gone round: after the last slot comes the first.
static void ties_go_to_the_slot_of_the_number(void **state)
{
	enum { SLOTS = 700, FIRST = 697 };
	struct asking b;
	asking_setup(&b);
	for (uint32_t i = 0; i < SLOTS; i++)
		world_node(b.world, "");
	b.ties = 5 * SLOTS + FIRST;
	asking_begin(&b, STACK_GENERIC, world_job(b.world, "service web count=1"));
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(select_any(&b), (FIRST + i) % SLOTS);
		asking_place(&b, (FIRST + i) % SLOTS);
	}
	asking_teardown(&b);
}

// Nodes for cores are found by looking at all, without columns.
static void ties_of_a_scan_go_to_the_slot_of_the_number(void **state)
{
	struct asking b;
	asking_setup(&b);
	for (uint32_t i = 0; i < 9; i++)
		world_node(b.world, "cpu=8000 cores=0-7");
	b.ties = 7;
	struct job *job = world_job(b.world, "service web cpu=0 count=1");
	task_of(job)->resources.cores = 2;
	world_job_changed(job);
	asking_begin(&b, STACK_GENERIC, job);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(select_any(&b), (7 + i) % 9);
		asking_place(&b, (7 + i) % 9);
	}
	asking_teardown(&b);
}

static void the_preferred_node_is_tried_alone(void **state)
{
	struct asking b;
	struct alloc_metrics m = {0};
	struct stack_request r = any();
	asking_setup(&b);
	world_node(b.world, "cpu=500");
	world_node(b.world, "cpu=5000");
	asking_begin(&b, STACK_GENERIC, world_job(b.world, "service web cpu=400"));
	assert_int_equal(select_with(&b, &r, &m), 0);
	metrics_release(&m);
	r.preferred_slot = 1;
	m = (struct alloc_metrics){0};
	assert_int_equal(select_with(&b, &r, &m), 1);
	assert_int_equal(m.nodes_evaluated, 1);
	metrics_release(&m);
	b.world->nodes[1]->eligibility = NODE_INELIGIBLE;
	asking_begin(&b, STACK_GENERIC, b.world->jobs[0]);
	m = (struct alloc_metrics){0};
	assert_int_equal(select_with(&b, &r, &m), 0);
	metrics_release(&m);
	asking_teardown(&b);
}

static void preemption_is_the_second_pass(void **state)
{
	struct asking b;
	struct alloc_metrics m = {0};
	struct stack_request r = any();
	asking_setup(&b);
	world_node(b.world, "cpu=1000");
	world_node(b.world, "cpu=1000");
	struct job *low = world_job(b.world, "batch low priority=20 cpu=800");
	struct job *lower = world_job(b.world, "batch lower priority=10 cpu=800");
	world_allocate(b.world, low, 0, 0, 0);
	struct allocation *victim = world_allocate(b.world, lower, 0, 1, 0);
	struct job *job = world_job(b.world, "service web priority=50 cpu=500");
	asking_begin(&b, STACK_GENERIC, job);
	assert_int_equal(select_with(&b, &r, &m), NODE_SLOT_NONE);
	assert_int_equal(m.nodes_exhausted, 2);
	assert_int_equal(count_get(&m.dimension_exhausted, "cpu"), 2);
	metrics_release(&m);
	b.world->config.preemption.service = true;
	asking_begin(&b, STACK_GENERIC, job);
	m = (struct alloc_metrics){0};
	// Both nodes fit alike; the victim of lower priority gives the better score.
	assert_int_equal(select_with(&b, &r, &m), 1);
	assert_int_equal(b.option.preempted_count, 1);
	assert_ptr_equal(b.option.preempted[0], victim);
	assert_float_equal(
		b.option.scores[SCORE_PREEMPTION], 1 / (1 + exp(0.0048 * (10 + 1 - 2048.0))), NEAR);
	assert_int_equal(m.nodes_evaluated, 2);
	assert_int_equal(m.nodes_exhausted, 0);
	metrics_release(&m);
	asking_teardown(&b);
}

// Counted once for all nodes, and brought up to date by what is planned.
static void a_planned_stop_makes_a_host_free_again(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "");
	struct job *job = world_job(b.world, "service web count=2");
	constrain(&job->constraints, "", "distinct_hosts", "true");
	const struct allocation *old = world_allocate(b.world, job, 0, 0, 0);
	asking_begin(&b, STACK_GENERIC, job);
	assert_int_equal(select_any(&b), NODE_SLOT_NONE);
	stack_plan_stop(b.stack, old, STOP_NOT_NEEDED, false, NULL);
	assert_int_equal(select_any(&b), 0);
	asking_place(&b, 0);
	assert_int_equal(select_any(&b), NODE_SLOT_NONE);
	asking_teardown(&b);
}

static void the_memo_is_seen_by_the_next_instance(void **state)
{
	struct asking b;
	struct stack_request r = any();
	asking_setup(&b);
	for (uint32_t i = 0; i < 3; i++)
		world_node(b.world, "class=large attr.arch=arm64");
	struct job *job = world_job(b.world, "service web");
	constrain(&job->constraints, "${attr.arch}", "=", "amd64");
	asking_begin(&b, STACK_GENERIC, job);
	for (uint32_t round = 0; round < 3; round++) {
		struct alloc_metrics m = {0};
		const char *constraint = "${attr.arch} = amd64";
		assert_int_equal(select_with(&b, &r, &m), NODE_SLOT_NONE);
		assert_int_equal(m.nodes_filtered, 3);
		assert_int_equal(count_get(&m.class_filtered, "large"), 3);
		assert_int_equal(count_get(&m.constraint_filtered, constraint), round == 0);
		assert_int_equal(count_get(&m.constraint_filtered, "computed class ineligible"),
			round == 0 ? 2 : 3);
		metrics_release(&m);
	}
	asking_teardown(&b);
}

// The first group is found by the index, the second by a look at all nodes.
static void the_memo_is_seen_by_a_group_with_cores(void **state)
{
	struct asking b;
	asking_setup(&b);
	for (uint32_t i = 0; i < 3; i++)
		world_node(b.world, "class=large attr.arch=arm64");
	struct job *job = world_job(b.world, "service web");
	constrain(&job->constraints, "${attr.arch}", "=", "amd64");
	add_task(add_group(job, "b"), "t")->resources.cores = 1;
	world_job_changed(job);
	asking_begin(&b, STACK_GENERIC, job);
	for (uint32_t group = 0; group < 2; group++) {
		struct alloc_metrics m = {0};
		struct stack_request r = any();
		r.group = group;
		assert_int_equal(select_with(&b, &r, &m), NODE_SLOT_NONE);
		assert_int_equal(count_get(&m.constraint_filtered, "computed class ineligible"),
			group == 0 ? 2 : 3);
		metrics_release(&m);
	}
	asking_teardown(&b);
}

static void cores_and_device_scores_rank_nodes(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=8000 cores=0-1 device.nvidia/gpu/t4=4");
	world_node(b.world, "cpu=8000 cores=0-7 device.nvidia/gpu/t4=4");
	world_node(b.world, "cpu=8000 cores=0-7 device.nvidia/gpu/a100=4");
	struct job *job = world_job(b.world, "service web cpu=0 count=100");
	task_of(job)->resources.cores = 4;
	struct affinity *a = prefer(&ask_device(job, "gpu", 1)->affinities);
	set(&a->l_target, "${device.model}");
	set(&a->r_target, "a100");
	a->weight = 50;
	world_job_changed(job);
	asking_begin(&b, STACK_GENERIC, job);
	assert_int_equal(select_any(&b), 2);
	asking_place(&b, 2);
	assert_int_equal(select_any(&b), 2);
	asking_place(&b, 2);
	assert_int_equal(select_any(&b), 1);
	asking_place(&b, 1);
	assert_int_equal(select_any(&b), 1);
	asking_place(&b, 1);
	assert_int_equal(select_any(&b), NODE_SLOT_NONE);
	asking_teardown(&b);
}

// In every look, of instances with volumes of their own, too.
static void the_first_reason_is_counted_when_spreads_look_first(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "no-driver volume.data[0]=/data");
	world_node(b.world, "no-driver volume.data[0]=/data");
	world_node(b.world, "volume.data[1]=/data");
	struct job *job = world_job(b.world, "service web count=2");
	struct volume_ask *volume = array_append(&group_of(job)->volumes, sizeof *volume);
	set(&volume->name, "data");
	set(&volume->type, "host");
	set(&volume->source, "data");
	volume->per_alloc = true;
	spread_over(&group_of(job)->spreads, "${node.datacenter}")->weight = 50;
	asking_begin(&b, STACK_GENERIC, job);
	for (uint32_t round = 0; round < 2; round++) {
		struct alloc_metrics m = {0};
		struct stack_request r = any();
		assert_int_equal(select_with(&b, &r, &m), NODE_SLOT_NONE);
		assert_int_equal(count_get(&m.constraint_filtered, "missing drivers"), round == 0);
		assert_int_equal(count_get(&m.constraint_filtered, "computed class ineligible"),
			round == 0 ? 1 : 2);
		assert_int_equal(
			count_get(&m.constraint_filtered, "missing compatible host volumes"), 1);
		metrics_release(&m);
	}
	asking_teardown(&b);
}

// What the job asks of each node comes before what the group asks of its class, in every look.
static void another_look_says_what_the_job_refuses_first(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "no-driver attr.unique.hostname=a");
	world_node(b.world, "no-driver attr.unique.hostname=b");
	struct job *job = world_job(b.world, "service web count=2");
	constrain(&job->constraints, "${attr.unique.hostname}", "=", "a");
	set(&group_of(job)->snapshot, "s1"); // so that all are gathered
	world_job_changed(job);
	asking_begin(&b, STACK_GENERIC, job);
	for (uint32_t round = 0; round < 2; round++) {
		struct alloc_metrics m = {0};
		struct stack_request r = any();
		assert_int_equal(select_with(&b, &r, &m), NODE_SLOT_NONE);
		assert_int_equal(count_get(&m.constraint_filtered,
					 round ? "computed class ineligible" : "missing drivers"),
			1);
		assert_int_equal(
			count_get(&m.constraint_filtered, "${attr.unique.hostname} = a"), 1);
		metrics_release(&m);
	}
	asking_teardown(&b);
}

// Its own value is used up on one of them alone, though that is asked for first.
static void nodes_of_a_value_that_is_used_up_say_so_each(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "attr.unique.hostname=a meta.rack=r0");
	world_node(b.world, "attr.unique.hostname=b meta.rack=r0");
	world_node(b.world, "attr.unique.hostname=c meta.rack=r1");
	struct job *job = world_job(b.world, "service web count=3");
	constrain(&group_of(job)->constraints, "${attr.unique.hostname}", "distinct_property", "1");
	constrain(&group_of(job)->constraints, "${meta.rack}", "distinct_property", "1");
	world_job_changed(job);
	asking_begin(&b, STACK_GENERIC, job);
	struct alloc_metrics m = {0};
	struct stack_request r = any();
	assert_int_equal(select_with(&b, &r, &m), 0);
	metrics_release(&m);
	asking_place(&b, 0);
	m = (struct alloc_metrics){0};
	assert_int_equal(select_with(&b, &r, &m), 2);
	assert_int_equal(count_get(&m.constraint_filtered,
				 "distinct_property: ${attr.unique.hostname}=a used by 1 allocs"),
		1);
	assert_int_equal(count_get(&m.constraint_filtered,
				 "distinct_property: ${meta.rack}=r0 used by 1 allocs"),
		1);
	metrics_release(&m);
	asking_teardown(&b);
}

static int64_t memory_max_of(const struct asking *b)
{
	const struct alloc_details *details = b->option.details;
	return details ? ARRAY_AT(&details->tasks, struct allocated_task, 0)->memory_max_mb : 0;
}

// A job goes by its pool's algorithm and memory, jobs of other pools by the configuration (row A55).
static void a_pool_sets_its_own_algorithm_and_memory(void **state)
{
	char name[] = "wide";
	struct node_pool_scheduler wide = {1 + ALGORITHM_SPREAD, {true, true}};
	struct node_pool pool = {.name = name, .scheduler = &wide};
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=2000 pool=wide");
	world_node(b.world, "cpu=2000 pool=wide");
	world_allocate(b.world, world_job(b.world, "service other cpu=500"), 0, 0, 0);
	b.world->pool = &pool;
	struct job *job = world_job(b.world, "service web cpu=500 pool=wide");
	task_of(job)->resources.memory_max_mb = 512;
	asking_begin(&b, STACK_GENERIC, job);
	assert_int_equal(select_any(&b), 1);
	assert_int_equal(memory_max_of(&b), 512);
	wide = (struct node_pool_scheduler){0, {true, false}};
	b.world->config = (struct scheduler_config){.memory_oversubscription = true};
	asking_begin(&b, STACK_GENERIC, job);
	assert_int_equal(select_any(&b), 0);
	assert_int_equal(memory_max_of(&b), 0);
	wide = (struct node_pool_scheduler){0};
	asking_begin(&b, STACK_GENERIC, job);
	assert_int_equal(select_any(&b), 0);
	assert_int_equal(memory_max_of(&b), 512);
	asking_teardown(&b);
}

static uint32_t walks; // looks at what runs on a node
static void (*walk_node)(void *, uint32_t, bool (*)(const struct allocation *, void *), void *);

static void walk_and_count(
	void *context, uint32_t slot, bool (*visit)(const struct allocation *, void *), void *to)
{
	walks++;
	walk_node(context, slot, visit, to);
}

// Full nodes whose port is taken, and one with room.
static void make_full_fleet(struct asking *b, struct job *job, uint32_t full)
{
	struct job *busy = world_job(b->world, "service busy cpu=4000");
	ask_port(&ask_network(job, "host")->reserved_ports, "http", 8080, 0);
	world_job_changed(job);
	for (uint32_t i = 0; i < full; i++) {
		world_node(b->world, "cpu=4000 net=host/eth0/default/10.0.0.9");
		world_hold_port(world_allocate(b->world, busy, 0, i, i), "http", 8080, "10.0.0.9");
	}
	world_node(b->world, "cpu=4000");
	asking_begin(b, STACK_GENERIC, job);
	walk_node = b->view.node_allocations;
	b->view.node_allocations = walk_and_count;
	stack_destroy(b->stack);
	b->stack = stack_create(STACK_GENERIC, &b->view, b->plan);
	stack_set_job(b->stack, job);
	walks = 0;
}

// Which of all that a full node lacks is asked for first matters when nothing fits; before, a look at its cpu will do.
static void full_nodes_are_looked_into_when_nothing_fits(void **state)
{
	enum { FULL = 500 };
	static const char *const taken = "network: reserved port collision http=8080";
	struct asking b;
	struct stack_request r = any();
	struct alloc_metrics m = {0};
	asking_setup(&b);
	make_full_fleet(&b, world_job(b.world, "service web count=3 cpu=3000"), FULL);
	assert_int_equal(select_with(&b, &r, &m), FULL);
	assert_int_equal(m.nodes_exhausted, FULL);
	assert_true(walks < 10);
	metrics_release(&m);
	asking_place(&b, FULL);
	m = (struct alloc_metrics){0};
	assert_int_equal(select_with(&b, &r, &m), NODE_SLOT_NONE);
	assert_int_equal(count_get(&m.dimension_exhausted, taken), FULL + 1);
	assert_int_equal(count_get(&m.dimension_exhausted, "cpu"), 0);
	assert_true(walks >= FULL);
	metrics_release(&m);
	// They are not looked into again.
	walks = 0;
	m = (struct alloc_metrics){0};
	assert_int_equal(select_with(&b, &r, &m), NODE_SLOT_NONE);
	assert_int_equal(count_get(&m.dimension_exhausted, taken), FULL + 1);
	assert_true(walks < 10);
	metrics_release(&m);
	asking_teardown(&b);
}

static void check_growth(struct asking *b, const struct job *job)
{
	const struct arena_block *lent = NULL, *of_job = NULL;
	asking_begin(b, STACK_GENERIC, job);
	for (uint32_t i = 0; i < 2000; i++) {
		struct stack_request r = any();
		struct alloc_metrics m;
		r.name_index = i;
		(void)stack_select(b->stack, &r, &b->option, &m);
		if (i > 0) {
			assert_ptr_equal(b->stack->lent.newest, lent);
			assert_ptr_equal(b->stack->of_job.newest, of_job);
		}
		lent = b->stack->lent.newest;
		of_job = b->stack->of_job.newest;
	}
}

// However often it is asked, what an answer lends and what was known for one instance serve again.
static void the_stack_does_not_grow_with_its_selections(void **state)
{
	struct asking b;
	asking_setup(&b);
	for (uint32_t i = 0; i < 10; i++)
		world_node(b.world, "");
	struct job *job = world_job(b.world, "service web count=2000");
	check_growth(&b, job);
	struct volume_ask *volume = map_item(&group_of(job)->volumes, sizeof *volume, "data");
	volume->per_alloc = true;
	check_growth(&b, job);
	asking_teardown(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_even_spread),
		cmocka_unit_test(a_spread_with_targets),
		cmocka_unit_test(spreads_share_their_weight),
		cmocka_unit_test(the_stack_does_not_grow_with_its_selections),
		cmocka_unit_test(the_score_is_a_mean_of_what_is_recorded),
		cmocka_unit_test(parts_of_a_score_have_their_names),
		cmocka_unit_test(scores_of_zero_are_shown_but_not_recorded),
		cmocka_unit_test(ties_go_to_the_lowest_slot),
		cmocka_unit_test(ties_go_to_the_slot_of_the_number),
		cmocka_unit_test(ties_of_a_scan_go_to_the_slot_of_the_number),
		cmocka_unit_test(the_preferred_node_is_tried_alone),
		cmocka_unit_test(preemption_is_the_second_pass),
		cmocka_unit_test(a_planned_stop_makes_a_host_free_again),
		cmocka_unit_test(the_memo_is_seen_by_the_next_instance),
		cmocka_unit_test(the_memo_is_seen_by_a_group_with_cores),
		cmocka_unit_test(full_nodes_are_looked_into_when_nothing_fits),
		cmocka_unit_test(the_first_reason_is_counted_when_spreads_look_first),
		cmocka_unit_test(another_look_says_what_the_job_refuses_first),
		cmocka_unit_test(nodes_of_a_value_that_is_used_up_say_so_each),
		cmocka_unit_test(a_pool_sets_its_own_algorithm_and_memory),
		cmocka_unit_test(cores_and_device_scores_rank_nodes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
