// Totals of options in metrics.
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/asking.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void options_are_counted(void **state)
{
	struct asking b;
	struct alloc_metrics m = {0};
	asking_setup(&b);
	world_node(b.world, "class=large cpu=10");
	world_node(b.world, "class=large attr.arch=arm64");
	world_node(b.world, "attr.arch=arm64");
	struct job *job = world_job(b.world, "system sys cpu=100");
	constrain(&job->constraints, "${attr.arch}", "!=", "arm64");
	asking_begin(&b, STACK_SYSTEM, job);
	for (uint32_t slot = 0; slot < 3; slot++) {
		ask(&b, slot);
		stack_count(&b.option, &m);
	}
	stack_count_exhausted(group_of(job), 1, &m);
	assert_int_equal(m.nodes_evaluated, 3);
	assert_int_equal(m.nodes_filtered, 2);
	assert_int_equal(m.nodes_exhausted, 1);
	assert_int_equal(count_get(&m.constraint_filtered, "${attr.arch} != arm64"), 2);
	assert_int_equal(count_get(&m.class_filtered, "large"), 1);
	assert_int_equal(m.class_filtered.count, 1);
	assert_int_equal(count_get(&m.dimension_exhausted, "cpu"), 1);
	assert_int_equal(count_get(&m.class_exhausted, "large"), 1);
	assert_int_equal(m.resources_exhausted.count, 1);
	const struct exhausted_resources *r =
		ARRAY_AT(&m.resources_exhausted, struct exhausted_resources, 0);
	assert_int_equal(r->cpu, 100);
	assert_int_equal(r->memory_mb, 0);
	metrics_release(&m);
	asking_teardown(&b);
}

static void the_best_five_scores_are_kept(void **state)
{
	struct asking b;
	struct alloc_metrics m = {0};
	char words[64];
	asking_setup(&b);
	for (uint32_t i = 0; i < 8; i++) {
		snprintf(words, sizeof words, "cpu=%u", 1000 + 1000 * (i * 5 % 8));
		world_node(b.world, words);
	}
	asking_begin(&b, STACK_SYSTEM, world_job(b.world, "system sys cpu=500"));
	for (uint32_t slot = 0; slot < 8; slot++) {
		assert_string_equal(ask(&b, slot), "");
		stack_count(&b.option, &m);
	}
	assert_int_equal(m.score_metadata.count, SCORES_KEPT);
	for (uint32_t i = 0; i < SCORES_KEPT; i++) {
		const struct node_score *s = ARRAY_AT(&m.score_metadata, struct node_score, i);
		// The smallest nodes are packed best: those with 1000, 2000, …
		uint32_t slot = s->node_id.bytes[15];
		assert_int_equal(slot * 5 % 8, i);
		assert_int_equal(s->scores.there, 1u << score_places[SCORE_BINPACK]);
	}
	metrics_release(&m);
	asking_teardown(&b);
}

static void check_available(enum stack_kind kind, const char *job)
{
	struct asking b;
	struct alloc_metrics m = {0};
	asking_setup(&b);
	world_node(b.world, "dc=east-1");
	world_node(b.world, "dc=east-2");
	world_node(b.world, "dc=east-1");
	world_node(b.world, "dc=east-1 ineligible");
	world_node(b.world, "dc=east-1 draining");
	world_node(b.world, "dc=east-1 status=down");
	world_node(b.world, "dc=east-1 pool=gpu");
	world_node(b.world, "dc=west");
	asking_begin(&b, kind, world_job(b.world, job));
	stack_nodes_available(b.stack, &m);
	assert_int_equal(m.nodes_in_pool, 3);
	assert_int_equal(m.nodes_available.count, 3);
	assert_int_equal(count_get(&m.nodes_available, "east-1"), 2);
	assert_int_equal(count_get(&m.nodes_available, "east-2"), 1);
	assert_int_equal(count_get(&m.nodes_available, "north"), 0);
	asking_teardown(&b);
}

// Counted node by node, or by the classes of the index.
static void nodes_are_available_by_datacenter(void **state)
{
	check_available(STACK_SYSTEM, "system sys dc=east-* dc=north");
	check_available(STACK_GENERIC, "service web dc=east-* dc=north");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_counted),
		cmocka_unit_test(the_best_five_scores_are_kept),
		cmocka_unit_test(nodes_are_available_by_datacenter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
