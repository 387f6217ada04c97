// Two processes that apply the same log have the same sum of each publication; where something else was published, the
// sums differ.
#include "state/base/memory.h"
#include "state/tables/publication_check.h"
#include "state/tables/tables.h"
#include "tests/state/properties/random_run.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS = 1 + 4 / BUILD_SLOWNESS, STEPS = 300 };

static const struct resources small = {100, 100, 10};

struct checks {
	uint64_t indexes[STEPS], sums[STEPS];
	uint32_t count;
};

static bool note_check(struct checks *c, const struct state *state)
{
	uint64_t index = state_index(state), sum;

	if (!publication_check_of(state, index, &sum))
		return false;
	if (c->count == 0 || c->indexes[c->count - 1] != index) {
		c->indexes[c->count] = index;
		c->sums[c->count++] = sum;
	}
	return true;
}

static void live(struct random_run *r, uint64_t seed, struct checks *checks)
{
	print_message("seed %lu\n", (unsigned long)seed);
	random_run_init(r, seed);
	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t before = state_index(r->controller.state);
		random_run_step(r);
		if (state_index(r->controller.state) != before)
			assert_true(note_check(checks, r->controller.state));
	}
	assert_true(checks->count > STEPS / 2);
}

// Replays the log batch by batch. Returns how many sums were compared.
static uint32_t compare_replay(
	const struct memory_log *log, struct controller *again, const struct checks *checks)
{
	uint32_t compared = 0;

	for (uint32_t i = 0; i < log->count; i++) {
		const struct memory_batch *b = &log->batches[i];
		uint64_t index = b->first_index + b->entries - 1, sum;
		assert_int_equal(
			replay_stored(again->applier, b->first_index, b->data, b->size), 0);
		assert_true(publication_check_of(again->state, index, &sum));
		if (compared < checks->count && checks->indexes[compared] == index)
			assert_int_equal(sum, checks->sums[compared++]);
	}
	return compared;
}

static void the_same_log_has_the_same_sums(void **unused)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct random_run r;
		struct controller again;
		struct checks checks = {.count = 0};
		live(&r, seed, &checks);
		controller_init(&again, (struct state_limits){.nodes = MODEL_NODES_MAX});
		assert_int_equal(compare_replay(&r.controller.log, &again, &checks), checks.count);
		controller_free(&again);
		random_run_free(&r);
	}
}

// What a state was loaded from makes no difference to what is published after it.
static void a_snapshot_and_the_rest_have_the_same_sums(void **unused)
{
	for (uint64_t seed = 100; seed < 100 + SEEDS; seed++) {
		struct random_run r;
		struct controller again;
		struct checks checks = {.count = 0};
		random_run_init(&r, seed);
		for (uint32_t i = 0; i < STEPS / 2; i++)
			random_run_step(&r);
		struct bytes_writer half = controller_image(&r.controller);
		uint32_t from = r.controller.log.count;
		for (uint32_t i = 0; i < STEPS / 2; i++) {
			random_run_step(&r);
			assert_true(r.controller.log.count == from ||
				    note_check(&checks, r.controller.state));
		}
		controller_init(&again, (struct state_limits){.nodes = MODEL_NODES_MAX});
		assert_int_equal(controller_load(&again, &half), 0);
		struct memory_log rest = {.batches = r.controller.log.batches + from,
			.count = r.controller.log.count - from};
		assert_int_equal(compare_replay(&rest, &again, &checks), checks.count);
		bytes_writer_free(&half);
		controller_free(&again);
		random_run_free(&r);
	}
}

struct pair {
	struct controller one, other;
};

static void pair_open(struct pair *p)
{
	controller_init(&p->one, (struct state_limits){0});
	controller_init(&p->other, (struct state_limits){0});
	controller_open(&p->one);
	controller_open(&p->other);
}

static void pair_free(struct pair *p)
{
	controller_free(&p->one);
	controller_free(&p->other);
}

static uint64_t newest_sum(const struct controller *c)
{
	uint64_t sum;
	assert_true(publication_check_of(c->state, state_index(c->state), &sum));
	return sum;
}

static void assert_sums(const struct pair *p, bool are_equal)
{
	assert_int_equal(state_index(p->one.state), state_index(p->other.state));
	assert_int_equal(newest_sum(&p->one) == newest_sum(&p->other), are_equal);
}

static void another_record_has_another_sum(void **unused)
{
	struct pair p;

	pair_open(&p);
	assert_sums(&p, true);
	assert_int_equal(controller_register(&p.one, 1, NULL), OUTCOME_DONE);
	assert_int_equal(controller_register(&p.other, 1, NULL), OUTCOME_DONE);
	assert_sums(&p, true);
	assert_int_equal(controller_job(&p.one, build_job("web", &small, 1)), OUTCOME_DONE);
	assert_int_equal(controller_job(&p.other, build_job("wed", &small, 1)), OUTCOME_DONE);
	assert_sums(&p, false);
	pair_free(&p);
}

// The node has another id.
static void another_id_has_another_sum(void **unused)
{
	struct pair p;

	pair_open(&p);
	assert_int_equal(controller_register(&p.one, 1, NULL), OUTCOME_DONE);
	assert_int_equal(controller_register(&p.other, 3, NULL), OUTCOME_DONE);
	assert_sums(&p, false);
	pair_free(&p);
}

// What one of them has and the other does not is seen in the counts, by a publication that is about something else.
static void another_past_is_seen_later(void **unused)
{
	struct pair p;

	pair_open(&p);
	assert_int_equal(controller_register(&p.one, 1, NULL), OUTCOME_DONE);
	assert_int_equal(controller_register(&p.other, 1, NULL), OUTCOME_DONE);
	assert_int_equal(controller_register(&p.one, 2, NULL), OUTCOME_DONE);
	assert_int_equal(controller_job(&p.other, build_job("a", &small, 1)), OUTCOME_DONE);
	assert_int_equal(controller_job(&p.other, build_job("b", &small, 1)), OUTCOME_DONE);
	assert_int_equal(controller_node(&p.one, COMMAND_NODE_EXPIRED, 0, 1), OUTCOME_DONE);
	assert_int_equal(controller_node(&p.other, COMMAND_NODE_EXPIRED, 0, 1), OUTCOME_DONE);
	assert_sums(&p, false);
	pair_free(&p);
}

static void nothing_is_summed_unasked(void **unused)
{
	struct controller c;
	uint64_t sum;

	controller_init(&c, (struct state_limits){0});
	publication_checks_free(c.state->checks);
	c.state->checks = NULL;
	controller_open(&c);
	assert_false(publication_check_of(c.state, state_index(c.state), &sum));
	publication_check_keep(c.state);
	assert_false(publication_check_of(c.state, state_index(c.state), &sum));
	assert_int_equal(controller_register(&c, 1, NULL), OUTCOME_DONE);
	assert_true(publication_check_of(c.state, state_index(c.state), &sum));
	assert_int_equal(publication_check_newest(c.state).index, state_index(c.state));
	assert_int_equal(publication_check_newest(c.state).check, sum);
	assert_false(publication_check_of(c.state, state_index(c.state) + 1, &sum));
	controller_free(&c);
}

// Those of a few publications, since the next batches are written before these are published.
static void the_newest_few_are_kept(void **unused)
{
	uint64_t indexes[40], sums[40], sum;
	struct controller c;
	uint32_t kept = 0;

	controller_init(&c, (struct state_limits){0});
	publication_check_keep(c.state);
	controller_open(&c);
	for (uint32_t i = 0; i < 40; i++) {
		assert_int_equal(controller_register(&c, i, NULL), OUTCOME_DONE);
		indexes[i] = state_index(c.state);
		sums[i] = publication_check_newest(c.state).check;
	}
	for (uint32_t i = 40; i-- > 0 && publication_check_of(c.state, indexes[i], &sum); kept++)
		assert_int_equal(sum, sums[i]);
	assert_in_range(kept, 5, 39);
	publication_check_forget(c.state);
	assert_false(publication_check_of(c.state, indexes[39], &sum));
	assert_int_equal(publication_check_newest(c.state).index, 0);
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_log_has_the_same_sums),
		cmocka_unit_test(a_snapshot_and_the_rest_have_the_same_sums),
		cmocka_unit_test(another_record_has_another_sum),
		cmocka_unit_test(another_id_has_another_sum),
		cmocka_unit_test(another_past_is_seen_later),
		cmocka_unit_test(nothing_is_summed_unasked),
		cmocka_unit_test(the_newest_few_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
