// Senders that are revoked, taken back and given other keys, through the applier: what is refused, what becomes of a
// node and its work, and that a successor has it all.
#include "state/base/memory.h"
#include "state/records/nodes/sender.h"
#include "tests/state/evaluations.h"
#include "tests/support/controller.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct state_limits limits = {.senders = 3};

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

static enum command_outcome say(struct controller *c, const char *name, enum sender_action action,
	struct command_sender *result)
{
	struct command_sender sender = {
		.name = text_of(name), .reason = TEXT("lost"), .action = action};
	struct command command = {.type = COMMAND_SENDER, .sender = &sender};
	enum command_outcome outcome = controller_run(c, &command);

	if (result)
		*result = sender;
	return outcome;
}

static const char *name_of(uint32_t number, char name[static SENDER_NAME_BYTES])
{
	struct node_registration node;

	build_node(&node, number, 1);
	return sender_of_node(&node.node, name).data;
}

static void expect_sender(
	const struct controller *c, const char *name, bool is_revoked, int64_t generation)
{
	state_read_begin();
	const struct sender *sender = state_sender(c->state, text_of(name));
	assert_int_equal(sender != NULL, is_revoked || generation > 0);
	if (sender) {
		assert_int_equal(sender->is_revoked, is_revoked);
		assert_int_equal(sender->key_generation, generation);
		assert_string_equal(sender->reason, "lost");
		assert_int_equal(sender->time_ns, (int64_t)c->time.wall_ns);
	}
	state_read_end();
}

static void names_that_no_sender_has_are_refused(void **test)
{
	static const char *const names[] = {"", "node/", "client/", "ann", "node/ann",
		"node/7F1E9C1A-52f4-4f0e-9d39-1c07b6c4a0de", "client/a\nb",
		"client/"
		"0123456789012345678901234567890123456789012345678901234567890123x"};
	struct controller *c = *test;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		assert_int_equal(say(c, names[i], SENDER_REVOKE, NULL), OUTCOME_BAD_DESCRIPTION);
		assert_int_equal(say(c, names[i], SENDER_RESTORE, NULL), OUTCOME_UNKNOWN_SENDER);
	}
}

static void what_is_said_of_a_client(void **test)
{
	struct controller *c = *test;
	struct command_sender result;

	assert_int_equal(say(c, "client/ann", SENDER_RESTORE, NULL), OUTCOME_UNKNOWN_SENDER);
	assert_int_equal(say(c, "client/ann", SENDER_REVOKE, &result), OUTCOME_DONE);
	assert_false(result.went_down);
	expect_sender(c, "client/ann", true, 0);
	assert_int_equal(say(c, "client/ann", SENDER_RESTORE, NULL), OUTCOME_DONE);
	expect_sender(c, "client/ann", false, 0); // nothing is left of it
	assert_int_equal(say(c, "client/ann", SENDER_REKEY, &result), OUTCOME_DONE);
	assert_int_equal(result.key_generation, 1);
	assert_int_equal(say(c, "client/ann", SENDER_REVOKE, NULL), OUTCOME_DONE);
	expect_sender(c, "client/ann", true, 1);
	assert_int_equal(say(c, "client/ann", SENDER_RESTORE, &result), OUTCOME_DONE);
	assert_int_equal(result.key_generation, 1); // the first key stays worthless
	expect_sender(c, "client/ann", false, 1);
	assert_int_equal(say(c, "client/ann", SENDER_RESTORE, NULL), OUTCOME_UNKNOWN_SENDER);
	assert_int_equal(say(c, "client/ann", SENDER_REKEY, &result), OUTCOME_DONE);
	assert_int_equal(result.key_generation, 2);
}

static void there_is_an_end_of_room(void **test)
{
	struct controller *c = *test;

	assert_int_equal(say(c, "client/a", SENDER_REVOKE, NULL), OUTCOME_DONE);
	assert_int_equal(say(c, "client/b", SENDER_REVOKE, NULL), OUTCOME_DONE);
	assert_int_equal(say(c, "client/c", SENDER_REVOKE, NULL), OUTCOME_DONE);
	assert_int_equal(say(c, "client/d", SENDER_REVOKE, NULL), OUTCOME_TABLE_FULL);
	assert_int_equal(say(c, "client/c", SENDER_REKEY, NULL), OUTCOME_DONE);
}

static const struct node *node_at(const struct controller *c, uint32_t slot)
{
	return state_node_at(c->state, slot);
}

// Its direct allocations are lost as when it falls silent, and neither a heartbeat nor a registration that is under
// way brings it back.
static void a_revoked_node_is_down_and_stays_it(void **test)
{
	static const struct resources ask = {100, 100, 10};
	struct controller *c = *test;
	struct node_registration node;
	struct command_place placed;
	char name[SENDER_NAME_BYTES];
	struct command_sender result;

	assert_int_equal(controller_register(c, 1, &node), OUTCOME_DONE);
	assert_int_equal(controller_job(c, build_job("direct", &ask, 1)), OUTCOME_DONE);
	assert_int_equal(controller_place(c, "ann", "direct", 1, 1, &placed), OUTCOME_DONE);
	assert_int_equal(say(c, name_of(1, name), SENDER_REVOKE, &result), OUTCOME_DONE);
	assert_true(result.went_down);
	state_read_begin();
	assert_int_equal(node_at(c, node.slot)->status, NODE_DOWN);
	assert_int_equal(node_at(c, node.slot)->status_message, NODE_KEY_REVOKED);
	const struct allocation *a = state_allocation(c->state, &placed.items[0].allocation);
	assert_int_equal(a->client_status, ALLOC_LOST);
	state_read_end();
	assert_int_equal(controller_node(c, COMMAND_NODE_RETURNED, node.slot, node.generation),
		OUTCOME_REVOKED);
	assert_int_equal(controller_register(c, 1, &node), OUTCOME_REVOKED);
	assert_int_equal(controller_node(c, COMMAND_NODE_EXPIRED, 0, 1), OUTCOME_DONE);
	assert_int_equal(say(c, name, SENDER_REVOKE, &result), OUTCOME_DONE);
	assert_false(result.went_down);
	assert_int_equal(say(c, name, SENDER_RESTORE, NULL), OUTCOME_DONE);
	assert_int_equal(controller_register(c, 1, &node), OUTCOME_DONE);
	state_read_begin();
	assert_int_equal(node_at(c, node.slot)->status, NODE_READY);
	state_read_end();
}

static void who_is_not_known_is_revoked_before_it_comes(void **test)
{
	struct controller *c = *test;
	struct node_registration node;
	char name[SENDER_NAME_BYTES];

	assert_int_equal(say(c, name_of(9, name), SENDER_REVOKE, NULL), OUTCOME_DONE);
	assert_int_equal(controller_register(c, 9, &node), OUTCOME_REVOKED);
	assert_int_equal(say(c, name, SENDER_REKEY, NULL), OUTCOME_DONE);
	assert_int_equal(controller_register(c, 9, &node), OUTCOME_DONE);
}

// What grows is refused by then.
static void a_full_disk_keeps_nobody_from_being_revoked(void **test)
{
	struct controller *c = *test;

	c->log.room_bytes = 0;
	assert_int_equal(say(c, "client/ann", SENDER_REVOKE, NULL), OUTCOME_DONE);
	c->log.room_bytes = INT64_MAX;
	expect_sender(c, "client/ann", true, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			names_that_no_sender_has_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_said_of_a_client, setup, teardown),
		cmocka_unit_test_setup_teardown(there_is_an_end_of_room, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_revoked_node_is_down_and_stays_it, setup, teardown),
		cmocka_unit_test_setup_teardown(
			who_is_not_known_is_revoked_before_it_comes, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_full_disk_keeps_nobody_from_being_revoked, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
