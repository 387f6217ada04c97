// Random commands about variables through the applier, with indexes that are right, old or made up: after every command
// each variable is what a plain array says; and the log, and a snapshot, lead to the same state.
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/records/variable.h"
#include "tests/state/evaluations.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS = 8 / BUILD_SLOWNESS, STEPS = 3000, NAMES = 8, VARIABLES_AT_ONCE = 5 };

static const char *const names[NAMES] = {"default.a", "default.a/b", "default.b", "team.a",
	"team.b", "a.b.c", "default.nomad/jobs", "team-a.a"};

struct model {
	bool is_there;
	uint32_t value;
	uint64_t create_index, modify_index;
	int64_t create_time_ns, modify_time_ns;
};

struct life {
	struct controller c;
	struct prng prng;
	struct model variables[NAMES];
	uint32_t done, conflicts, full, unknown;
};

static uint32_t below(struct life *l, uint32_t bound)
{
	return (uint32_t)prng_below(&l->prng, bound);
}

static uint32_t count_variables(const struct life *l)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < NAMES; i++)
		count += l->variables[i].is_there;
	return count;
}

// What a sender may believe of the variable.
static uint64_t any_index(struct life *l, const struct model *m)
{
	uint64_t now = m->is_there ? m->modify_index : 0;

	switch (below(l, 4)) {
	case 0: return 0;
	case 1: return now + 1;
	case 2: return m->modify_index; // also of one that is gone
	default: return now;
	}
}

static void put(struct life *l)
{
	uint32_t at = below(l, NAMES), value = below(l, 1000);
	struct model *m = &l->variables[at];
	struct variable *variable = record_create(&variable_description);
	struct command_variable ask = {
		.variable = variable, .cas = below(l, 2), .modify_index = any_index(l, m)};
	struct command command = {.type = COMMAND_VARIABLE, .variable = &ask};
	bool conflicts = ask.cas && ask.modify_index != (m->is_there ? m->modify_index : 0);
	bool is_full = !m->is_there && count_variables(l) == VARIABLES_AT_ONCE;
	char text[16];

	snprintf(text, sizeof text, "%u", value);
	variable->name = text_copy(text_of(names[at]));
	variable->sealed = text_copy(text_of(text));
	enum command_outcome outcome = controller_run(&l->c, &command);
	assert_int_equal(outcome, conflicts ? OUTCOME_CONFLICT
				  : is_full ? OUTCOME_TABLE_FULL
					    : OUTCOME_DONE);
	record_free(&variable_description, ask.variable);
	l->conflicts += outcome == OUTCOME_CONFLICT;
	l->full += outcome == OUTCOME_TABLE_FULL;
	if (outcome != OUTCOME_DONE)
		return;
	l->done++;
	m->modify_index = state_index(l->c.state);
	m->modify_time_ns = (int64_t)l->c.time.wall_ns;
	m->create_index = m->is_there ? m->create_index : m->modify_index;
	m->create_time_ns = m->is_there ? m->create_time_ns : m->modify_time_ns;
	m->is_there = true;
	m->value = value;
	assert_int_equal(command.index, m->modify_index);
	assert_int_equal(ask.create_index, m->create_index);
	assert_int_equal(ask.create_time_ns, m->create_time_ns);
	assert_int_equal(ask.modify_time_ns, m->modify_time_ns);
}

static void drop(struct life *l)
{
	uint32_t at = below(l, NAMES);
	struct model *m = &l->variables[at];
	struct command command = {.type = COMMAND_VARIABLE_DELETE,
		.variable_delete = {text_of(names[at]), below(l, 2), any_index(l, m)}};
	bool conflicts = command.variable_delete.cas && command.variable_delete.modify_index !=
								(m->is_there ? m->modify_index : 0);
	enum command_outcome outcome = controller_run(&l->c, &command);

	assert_int_equal(outcome, conflicts      ? OUTCOME_CONFLICT
				  : !m->is_there ? OUTCOME_UNKNOWN_VARIABLE
						 : OUTCOME_DONE);
	l->conflicts += outcome == OUTCOME_CONFLICT;
	l->unknown += outcome == OUTCOME_UNKNOWN_VARIABLE;
	if (outcome == OUTCOME_DONE)
		m->is_there = false;
}

static void expect_all(const struct life *l)
{
	state_read_begin();
	for (uint32_t i = 0; i < NAMES; i++) {
		const struct model *m = &l->variables[i];
		const struct variable *v = state_variable(l->c.state, text_of(names[i]));
		assert_int_equal(v != NULL, m->is_there);
		if (!v)
			continue;
		assert_int_equal(strtoul(v->sealed, NULL, 10), m->value);
		assert_int_equal(v->record.create_index, m->create_index);
		assert_int_equal(v->record.modify_index, m->modify_index);
		assert_int_equal(v->create_time_ns, m->create_time_ns);
		assert_int_equal(v->modify_time_ns, m->modify_time_ns);
	}
	state_read_end();
}

static struct life *begin(uint64_t seed)
{
	static const struct state_limits limits = {.variables = VARIABLES_AT_ONCE};
	struct life *l = memory_take(sizeof *l);

	prng_seed(&l->prng, seed);
	controller_init(&l->c, limits);
	controller_open(&l->c);
	return l;
}

static void all_is_as_it_was_asked_for_and_again_after_a_restart(void **unused)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct life *l = begin(seed);

		for (uint32_t i = 0; i < STEPS; i++) {
			advance_ms(&l->c, below(l, 2000));
			if (below(l, 4))
				put(l);
			else
				drop(l);
			expect_all(l);
			if (i % 10 == 0)
				controller_verify(&l->c);
			if (i % 1000 == 999)
				expect_restores(&l->c);
		}
		print_message("seed %lu: %u done, %u conflicts, %u full, %u unknown\n",
			(unsigned long)seed, l->done, l->conflicts, l->full, l->unknown);
		assert_true(l->done > STEPS / 5 && l->conflicts > STEPS / 10);
		assert_true(l->full > STEPS / 100 && l->unknown > STEPS / 100);
		controller_free(&l->c);
		free(l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_as_it_was_asked_for_and_again_after_a_restart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
