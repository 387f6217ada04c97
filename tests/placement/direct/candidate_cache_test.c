#include "placement/direct/fit_tree_private.h"
#include "tests/placement/direct/fleet.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_same(const struct fleet_answer *is, const struct fleet_answer *should)
{
	assert_int_equal(is->slot, should->slot);
	assert_int_equal(is->feasible, should->feasible);
	if (should->slot != PLACER_NO_NODE) {
		assert_memory_equal(&is->score, &should->score, sizeof is->score);
		return;
	}
	assert_memory_equal(&is->refusal, &should->refusal, sizeof is->refusal);
}

static void place(struct fleet *f, uint32_t job)
{
	struct fleet_answer is = fleet_ask(f, job), should = fleet_naive(f, f->jobs[job]);
	assert_same(&is, &should);
	if (is.slot != PLACER_NO_NODE && prng_below(&f->prng, 8) != 0)
		fleet_allocate(f, job, is.slot);
}

static void change_a_class(struct fleet *f)
{
	uint32_t id = (uint32_t)prng_below(&f->prng, f->class_count);
	if (!fleet_class_is_used(f, id))
		fleet_class_define(f, id);
}

static void change_a_node(struct fleet *f)
{
	uint32_t slot = (uint32_t)prng_below(&f->prng, f->slots);
	bool present = f->nodes[slot].present;
	switch (prng_below(&f->prng, 8)) {
	case 0: fleet_remove(f, slot); break;
	case 1:
	case 2: fleet_register(f, slot); break;
	case 3:
		if (present)
			fleet_set_status(f, slot, NODE_DOWN, NODE_ELIGIBLE);
		break;
	case 4:
		if (present)
			fleet_set_status(f, slot, NODE_READY, NODE_INELIGIBLE);
		break;
	default:
		if (present)
			fleet_set_status(f, slot, NODE_READY, NODE_ELIGIBLE);
	}
}

static void release_some(struct fleet *f, uint32_t count)
{
	for (; count > 0 && f->allocation_count > 0; count--)
		fleet_release(f, (uint32_t)prng_below(&f->prng, f->allocation_count));
}

// More changes than their log holds, so that caches must start afresh.
static void storm(struct fleet *f)
{
	for (uint32_t i = 0; i < FIT_LOG_CHANGES + 100; i++)
		change_a_node(f);
}

static void step(struct fleet *f)
{
	uint64_t what = prng_below(&f->prng, 1000);
	if (what < 600)
		place(f, (uint32_t)prng_below(&f->prng, f->job_count));
	else if (what < 800)
		release_some(f, 1);
	else if (what < 950)
		change_a_node(f);
	else if (what < 965)
		release_some(f, 80);
	else if (what < 985)
		change_a_class(f);
	else if (what < 999)
		fleet_job_create(f, (uint32_t)prng_below(&f->prng, f->job_count));
	else
		storm(f);
}

static void verify_tree(struct fleet *f)
{
	uint32_t nodes, placeable = 0, idle = 0;
	assert_null(fit_tree_verify(fit_index_tree(f->index), &nodes));
	for (uint32_t i = 0; i < f->slots && i < fit_index_slots(f->index); i++) {
		bool is_in = fit_is_placeable(fit_index_node(f->index, i));
		placeable += is_in;
		idle += is_in && fit_index_snapshot(f->index, i);
	}
	assert_int_equal(nodes, placeable);
	for (uint32_t i = 0; i < FIT_IDLE_TREES; i++) {
		struct fit_tree *tree = fit_index_idle_tree(f->index, (enum fit_idle)i);
		assert_null(fit_tree_verify(tree, &nodes));
		assert_int_equal(nodes, idle);
	}
}

struct warmth {
	const struct fit_index *index;
	const char *warm;
	uint32_t asked; // number of questions
};

static bool is_warm(void *context, uint32_t slot, const struct fit_node *n)
{
	struct warmth *w = context;
	w->asked++;
	return fit_index_snapshot(w->index, slot) == w->warm;
}

// The index makes the tree of idle nodes before there are any, and keeps it up to date from then on.
static void idle_nodes_are_known_however_many_come(void **state)
{
	struct fit_index *x = fit_index_create(PLACEMENT_BINPACK);
	struct fit_tree *idle = fit_index_idle_tree(x, FIT_IDLE_BY_SNAPSHOT);
	const char *warm = fit_index_snapshot_share(x, "warm");
	struct fit_input in = {.capacity = {1000, 1000, 1000}, .class_hash = 1, .ready = true};
	struct warmth warmth = {x, warm, 0};
	struct fit_query query = {.cpu = 100,
		.class_bits = 1ull << fit_index_snapshot_class(warm),
		.accepts = is_warm,
		.context = &warmth};
	struct fit_candidate best[4];
	uint32_t nodes;
	for (uint32_t slot = 0; slot < 10000; slot++) {
		in.snapshot = slot % 3 == 0 ? "" : slot == 7000 ? "warm" : NULL;
		fit_index_set(x, slot, &in);
	}
	assert_null(fit_tree_verify(idle, &nodes));
	assert_int_equal(nodes, 3334 + 1);
	assert_int_equal(fit_tree_search(idle, &query, 4, best), 1);
	assert_int_equal(best[0].slot, 7000);
	assert_true(warmth.asked < 100); // of 3,335: the search does not visit the others
	in.snapshot = NULL;
	fit_index_set(x, 7000, &in);
	assert_int_equal(fit_tree_search(idle, &query, 4, best), 0);
	fit_index_snapshot_release(x, warm);
	fit_index_destroy(x);
}

static bool count_asked(void *context, uint32_t slot, const struct fit_node *n)
{
	((struct warmth *)context)->asked++;
	return true;
}

// Idle nodes of whatever snapshot are found by their class, as all nodes are.
static void idle_nodes_of_a_class_are_found_without_a_look_at_the_others(void **state)
{
	struct fit_index *x = fit_index_create(PLACEMENT_BINPACK);
	struct fit_input in = {.capacity = {1000, 1000, 1000}, .class_hash = 1, .ready = true};
	struct warmth asked = {0};
	uint64_t second = 1ull << 1;
	struct fit_query query = {.cpu = 100,
		.class_bits = second,
		.classes = &second,
		.accepts = count_asked,
		.context = &asked};
	struct fit_candidate best[4];
	for (uint32_t slot = 0; slot < 10000; slot++) {
		in.snapshot = slot % 2 == 0 ? "cold" : NULL;
		in.node_class = slot > 6998 && slot < 7003;
		in.class_hash = 1 + in.node_class;
		fit_index_set(x, slot, &in);
	}
	struct fit_tree *idle = fit_index_idle_tree(x, FIT_IDLE_BY_CLASS);
	assert_int_equal(fit_tree_search(idle, &query, 4, best), 2);
	assert_int_equal(best[0].slot, 7000);
	assert_int_equal(best[1].slot, 7002);
	assert_true(asked.asked < 10); // of 5,000 idle ones
	fit_index_destroy(x);
}

// So few nodes would never be in a tree.
static void forbid_flat(struct fleet *f)
{
	fit_index_tree(f->index)->flat_most = 0;
	for (uint32_t i = 0; i < FIT_IDLE_TREES; i++)
		fit_index_idle_tree(f->index, (enum fit_idle)i)->flat_most = 0;
}

static void run_once(uint64_t seed, enum placement_algorithm algorithm, uint32_t slots,
	uint32_t classes, uint32_t shapes, uint32_t steps, bool is_flat)
{
	struct fleet *f = fleet_create(seed, algorithm, slots, classes, shapes);
	if (!is_flat)
		forbid_flat(f);
	for (uint32_t i = 0; i < slots; i++)
		fleet_register(f, i);
	for (uint32_t i = 0; i < FLEET_JOBS_MAX; i++)
		fleet_job_create(f, i);
	for (uint32_t i = 0; i < steps / BUILD_SLOWNESS; i++) {
		step(f);
		for (uint32_t k = 0; classes > slots && k < 4; k++)
			change_a_class(f);
		if (i % 64 == 0)
			verify_tree(f);
	}
	fleet_destroy(f);
}

static void run(uint64_t seed, enum placement_algorithm algorithm, uint32_t slots, uint32_t classes,
	uint32_t shapes, uint32_t steps)
{
	run_once(seed, algorithm, slots, classes, shapes, steps, false);
	run_once(seed, algorithm, slots, classes, shapes, steps, true);
}

static void answers_as_the_naive_scan_binpack(void **state)
{
	run(1, PLACEMENT_BINPACK, 300, 12, 4, 3000);
	run(2, PLACEMENT_BINPACK, 40, 3, 2, 4000);
	run(3, PLACEMENT_BINPACK, 600, 100, 1000, 1500);
	run(9, PLACEMENT_BINPACK, 20, 60, 4, 6000); // class numbers are reused
}

static void answers_as_the_naive_scan_spread(void **state)
{
	run(4, PLACEMENT_SPREAD, 300, 12, 4, 3000);
	run(5, PLACEMENT_SPREAD, 40, 3, 2, 4000);
	run(6, PLACEMENT_SPREAD, 600, 100, 1000, 1500);
	run(10, PLACEMENT_SPREAD, 20, 60, 4, 6000);
}

// One class, one shape, nothing used: every score is equal, so slots must come in order.
static void identical_nodes_are_taken_in_order(void **state)
{
	struct fleet *f = fleet_create(7, PLACEMENT_SPREAD, 500, 1, 1);
	for (uint32_t i = 0; i < f->slots; i++)
		fleet_register(f, i);
	for (uint32_t i = 0; i < FLEET_JOBS_MAX; i++)
		fleet_job_create(f, i);
	for (uint32_t i = 0; i < 400; i++)
		place(f, i % FLEET_JOBS_MAX);
	fleet_destroy(f);
}

static void an_empty_fleet_refuses(void **state)
{
	struct fleet *f = fleet_create(8, PLACEMENT_BINPACK, 0, 1, 1);
	fleet_job_create(f, 0);
	struct fleet_answer a = fleet_ask(f, 0);
	assert_int_equal(a.slot, PLACER_NO_NODE);
	assert_int_equal(a.refusal.nodes_seen, 0);
	assert_int_equal(a.feasible, 0);
	fleet_destroy(f);
}

// A long run with the caller's seed: candidate_cache_test SEED STEPS.
int main(int count, char **arguments)
{
	if (count == 3) {
		uint64_t seed = strtoull(arguments[1], NULL, 0);
		run(seed, (enum placement_algorithm)(seed & 1), 20 + (uint32_t)(seed * 37 % 900),
			1 + (uint32_t)(seed * 13 % 120), 1 + (uint32_t)(seed * 7 % 40),
			(uint32_t)strtoul(arguments[2], NULL, 0));
		printf("seed %s: %s steps agree\n", arguments[1], arguments[2]);
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_nodes_are_known_however_many_come),
		cmocka_unit_test(idle_nodes_of_a_class_are_found_without_a_look_at_the_others),
		cmocka_unit_test(answers_as_the_naive_scan_binpack),
		cmocka_unit_test(answers_as_the_naive_scan_spread),
		cmocka_unit_test(identical_nodes_are_taken_in_order),
		cmocka_unit_test(an_empty_fleet_refuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
