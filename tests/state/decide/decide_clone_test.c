// Two agents with one id and key through the applier: who is refused and noted, that one agent alone never is, and that
// a successor knows the clone.
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/base/time_units.h"
#include "state/records/nodes/admit_rule.h"
#include "state/records/nodes/sender.h"
#include "tests/state/evaluations.h"
#include "tests/support/controller.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SEEDS (100u / BUILD_SLOWNESS)
#define STEPS 60u
#define BEAT_NS (5 * NS_PER_S)

static const struct state_limits limits = {.senders = 3, .refused_nodes = 4};

static int setup(void **test)
{
	struct controller *c = memory_take(sizeof *c);

	controller_init(c, limits);
	controller_open(c);
	*test = c;
	return 0;
}

static int teardown(void **test)
{
	expect_restores(*test);
	controller_verify(*test);
	controller_free(*test);
	free(*test);
	return 0;
}

struct agent {
	const char *boot; // "": it says none
	uint8_t host;
	uint16_t port;
};

static const struct agent first = {"a1", 1, 40001}, second = {"b2", 2, 40002};

// As the node of that number. result: NULL or what came of it.
static enum command_outcome join(struct controller *c, uint32_t number, struct agent agent,
	int64_t after_ns, struct node_registration *result)
{
	struct node_registration node;

	c->time.wall_ns += (uint64_t)after_ns;
	build_node(&node, number, (uint64_t)controller_now_ms(c));
	node.from = (struct agent_mark){
		.address = {[10] = 0xff, 0xff, 10, 0, 0, agent.host}, .port = agent.port};
	if (*agent.boot)
		node.pairs[node.pair_count++] =
			(struct node_pair){PAIR_SETTING, TEXT("boot.id"), text_of(agent.boot)};
	enum command_outcome outcome = core_join(&c->core, &node);
	if (result)
		*result = node;
	return outcome;
}

static enum command_outcome join_soon(struct controller *c, struct agent agent)
{
	return join(c, 1, agent, NS_PER_S, NULL);
}

// In a read section.
static const struct refused_node *note_of(const struct controller *c, uint32_t number)
{
	struct node_registration node;

	build_node(&node, number, 1);
	return state_record(c->state, STATE_REFUSED_NODES, &node.node);
}

static bool is_noted(const struct controller *c)
{
	state_read_begin();
	const struct refused_node *note = note_of(c, 1);
	bool is_clone = note && note->claim == ADMIT_CLONE;
	state_read_end();
	return is_clone;
}

static void take_turns(struct controller *c)
{
	assert_int_equal(join_soon(c, first), OUTCOME_DONE);
	assert_int_equal(join_soon(c, second), OUTCOME_DONE);
	assert_int_equal(join_soon(c, first), OUTCOME_DONE);
	assert_false(is_noted(c));
	assert_int_equal(join_soon(c, second), OUTCOME_QUARANTINED);
}

static void who_came_later_is_the_clone(void **test)
{
	struct controller *c = *test;
	struct node_registration before, after;

	assert_int_equal(join(c, 1, first, NS_PER_S, NULL), OUTCOME_DONE);
	assert_int_equal(join_soon(c, second), OUTCOME_DONE);
	assert_int_equal(join(c, 1, first, NS_PER_S, &before), OUTCOME_DONE);
	assert_int_equal(join_soon(c, second), OUTCOME_QUARANTINED);
	state_read_begin();
	const struct refused_node *note = note_of(c, 1);
	assert_non_null(note);
	assert_int_equal(note->claim, ADMIT_CLONE);
	assert_string_equal(note->address, "10.0.0.2:40002");
	assert_string_equal(note->beside, "10.0.0.1:40001");
	assert_string_equal(note->boot, "00000000000000b2");
	assert_int_equal(state_node_at(c->state, before.slot)->generation, before.generation);
	state_read_end();
	// Days later it is still the clone, and the other is not: its note stays, though that one is admitted.
	assert_int_equal(join(c, 1, second, 48 * NS_PER_HOUR, NULL), OUTCOME_QUARANTINED);
	assert_int_equal(join(c, 1, first, NS_PER_S, &after), OUTCOME_DONE);
	assert_true(is_noted(c));
	assert_int_equal(join(c, 1, second, 48 * NS_PER_HOUR, NULL), OUTCOME_QUARANTINED);
}

static void the_first_one_may_be_started_anew(void **test)
{
	static const struct agent anew = {"a7", 1, 40001};
	struct controller *c = *test;

	take_turns(c);
	assert_int_equal(join_soon(c, anew), OUTCOME_DONE);
	assert_int_equal(join_soon(c, second), OUTCOME_QUARANTINED);
	assert_int_equal(join_soon(c, anew), OUTCOME_DONE);
}

static void a_clone_that_is_started_anew_is_found_again(void **test)
{
	static const struct agent anew = {"b8", 2, 40002};
	struct controller *c = *test;

	take_turns(c);
	assert_int_equal(join_soon(c, anew), OUTCOME_DONE);
	assert_int_equal(join_soon(c, first), OUTCOME_DONE);
	assert_int_equal(join_soon(c, anew), OUTCOME_QUARANTINED);
	state_read_begin();
	assert_string_equal(note_of(c, 1)->boot, "00000000000000b8");
	state_read_end();
}

// What a crash leaves is the log alone.
static void a_successor_knows_the_clone(void **test)
{
	struct controller *c = *test, next;

	take_turns(c);
	controller_init(&next, limits);
	assert_int_equal(controller_replay(&next, &c->log, c->log.count), 0);
	controller_open(&next);
	next.time.wall_ns = c->time.wall_ns;
	assert_int_equal(join_soon(&next, second), OUTCOME_QUARANTINED);
	assert_int_equal(join_soon(&next, first), OUTCOME_DONE);
	assert_int_equal(join(&next, 1, second, 2 * NS_PER_MIN, NULL), OUTCOME_QUARANTINED);
	state_read_begin();
	assert_string_equal(note_of(&next, 1)->beside, "10.0.0.1:40001");
	state_read_end();
	controller_verify(&next);
	controller_free(&next);
}

static enum command_outcome clear(struct controller *c, uint32_t number)
{
	struct node_registration node;

	build_node(&node, number, 1);
	struct command command = {
		.type = COMMAND_QUARANTINE_CLEAR, .node_named = {.node = node.node}};
	return controller_run(c, &command);
}

static void an_operator_clears_it(void **test)
{
	struct controller *c = *test;

	assert_int_equal(clear(c, 1), OUTCOME_UNKNOWN_QUARANTINE);
	take_turns(c);
	assert_int_equal(clear(c, 1), OUTCOME_DONE);
	assert_false(is_noted(c));
	assert_int_equal(clear(c, 1), OUTCOME_UNKNOWN_QUARANTINE);
	assert_int_equal(join_soon(c, second), OUTCOME_DONE);
	// As nobody else comes it is the node now. If the other one does, it all begins anew.
	assert_int_equal(join(c, 1, second, NS_PER_HOUR, NULL), OUTCOME_DONE);
	assert_int_equal(join_soon(c, first), OUTCOME_DONE);
	assert_int_equal(join_soon(c, second), OUTCOME_DONE);
	assert_int_equal(join_soon(c, first), OUTCOME_QUARANTINED);
}

static void another_key_clears_it(void **test)
{
	struct controller *c = *test;
	struct node_registration node;
	char name[SENDER_NAME_BYTES];

	take_turns(c);
	build_node(&node, 1, 1);
	struct command_sender sender = {.name = sender_of_node(&node.node, name),
		.reason = TEXT("cloned"),
		.action = SENDER_REKEY};
	struct command command = {.type = COMMAND_SENDER, .sender = &sender};
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	assert_false(is_noted(c));
	assert_int_equal(join_soon(c, second), OUTCOME_DONE);
}

static void a_boot_has_a_form(void **test)
{
	static const char *const bad[] = {"0", "B2", "0x1", "12345678901234567", "g"};
	struct controller *c = *test;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(
			join_soon(c, (struct agent){bad[i], 1, 40001}), OUTCOME_BAD_DESCRIPTION);
	assert_int_equal(join_soon(c, (struct agent){"ffffffffffffffff", 1, 40001}), OUTCOME_DONE);
}

// The list is bounded, and the notes of clones are the last to leave it.
static void many_nodes_have_clones(void **test)
{
	struct controller *c = *test;

	for (uint32_t number = 1; number <= 12; number++) {
		assert_int_equal(join(c, number, first, NS_PER_S, NULL), OUTCOME_DONE);
		assert_int_equal(join(c, number, second, NS_PER_S, NULL), OUTCOME_DONE);
		assert_int_equal(join(c, number, first, NS_PER_S, NULL), OUTCOME_DONE);
		assert_int_equal(join(c, number, second, NS_PER_S, NULL), OUTCOME_QUARANTINED);
		state_read_begin();
		assert_non_null(note_of(c, number));
		state_read_end();
	}
}

// Two agents, each back at once when it was fenced, or after any time: the second one's end is the quarantine.
static void alternate(uint64_t seed)
{
	struct controller c;
	struct prng prng;

	controller_init(&c, limits);
	controller_open(&c);
	prng_seed(&prng, seed);
	bool says_boot = prng_below(&prng, 2);
	struct agent agents[2] = {first, second};
	uint32_t takeovers = 0;
	enum command_outcome outcome = OUTCOME_DONE;
	if (!says_boot)
		agents[0].boot = agents[1].boot = "";
	for (uint32_t step = 0; step < STEPS && outcome == OUTCOME_DONE; step++, takeovers++) {
		int64_t after_ns = NS_PER_MS + (int64_t)prng_below(&prng, 2 * BEAT_NS);
		outcome = join(&c, 1, agents[step % 2], after_ns, NULL);
	}
	assert_int_equal(outcome, OUTCOME_QUARANTINED);
	assert_int_equal(takeovers, 4);
	assert_true(is_noted(&c));
	expect_restores(&c);
	controller_free(&c);
}

static void agents_that_alternate_end_in_quarantine(void **unused)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		alternate(seed);
}

// One agent, whatever becomes of it: restarts, other addresses and ports, a controller that is started anew.
static void live_alone(uint64_t seed)
{
	struct controller c;
	struct prng prng;
	char boot[17] = "1";

	controller_init(&c, limits);
	controller_open(&c);
	prng_seed(&prng, seed);
	bool says_boot = prng_below(&prng, 2);
	struct agent agent = {says_boot ? boot : "", 1, 40000};
	for (uint32_t step = 0; step < STEPS; step++) {
		switch (prng_below(&prng, 4)) {
		case 0: snprintf(boot, sizeof boot, "%x", step + 2); break;
		case 1: agent.host = (uint8_t)(1 + prng_below(&prng, 3)); break;
		case 2: agent.port = (uint16_t)(40000 + prng_below(&prng, 4)); break;
		default: break;
		}
		int64_t after_ns = (says_boot ? NS_PER_MS : 6 * BEAT_NS + NS_PER_MS) +
				   (int64_t)prng_below(&prng, BEAT_NS);
		assert_int_equal(join(&c, 1, agent, after_ns, NULL), OUTCOME_DONE);
	}
	assert_false(is_noted(&c));
	controller_free(&c);
}

static void one_agent_alone_is_never_refused(void **unused)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		live_alone(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_came_later_is_the_clone, setup, teardown),
		cmocka_unit_test_setup_teardown(the_first_one_may_be_started_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_clone_that_is_started_anew_is_found_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_successor_knows_the_clone, setup, teardown),
		cmocka_unit_test_setup_teardown(an_operator_clears_it, setup, teardown),
		cmocka_unit_test_setup_teardown(another_key_clears_it, setup, teardown),
		cmocka_unit_test_setup_teardown(a_boot_has_a_form, setup, teardown),
		cmocka_unit_test_setup_teardown(many_nodes_have_clones, setup, teardown),
		cmocka_unit_test(agents_that_alternate_end_in_quarantine),
		cmocka_unit_test(one_agent_alone_is_never_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
