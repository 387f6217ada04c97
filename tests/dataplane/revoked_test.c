// From packet to packet through the real applier: senders that are revoked while they are heard, over restarts, taken
// back and given another key; nodes that are not admitted.
#include "dataplane/requests/sender_keys.h"
#include "state/base/memory.h"
#include "state/records/nodes/admit_rule.h"
#include "state/records/nodes/sender.h"
#include "tests/dataplane/world.h"
#include <errno.h>
#include <string.h>

#define SEQUENCE WORLD_WALL_MS

static uint8_t status_of(struct world *w, uint32_t slot)
{
	state_read_begin();
	uint8_t status = state_node_at(w->core.state, slot)->status;
	state_read_end();
	return status;
}

static uint64_t refused(const struct world *w)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < w->team->count; i++)
		sum += world_refused(w, i, HOT_REFUSED_REVOKED);
	return sum;
}

static struct command_sender say(struct world *w, struct text name, enum sender_action action)
{
	struct command_sender sender = {.name = name, .action = action, .reason = TEXT("stolen")};
	struct command c = {.type = COMMAND_SENDER, .sender = &sender};
	world_run(w, &c);
	return sender;
}

static struct command_sender say_of_node(
	struct world *w, uint32_t number, enum sender_action action)
{
	char name[SENDER_NAME_BYTES];
	struct uuid id = world_uuid(number);
	return say(w, sender_of_node(&id, name), action);
}

// Nothing that the node sends is answered, and all of it is counted.
static void expect_silence(struct world *w, struct peer *p, uint32_t number,
	const struct wire_header *node, uint64_t sequence)
{
	uint64_t before = refused(w);
	struct uuid id = world_uuid(number);
	uint8_t frame[FRAME_BYTES_MAX];
	send_heartbeat(w, p, node->slot, node->generation, sequence);
	send_heartbeat(w, p, node->slot, node->generation, sequence + 1);
	send_goodbye(w, p, node->slot, node->generation, sequence + 2);
	struct wire_readiness yes = {true, 0};
	peer_send(w, p, frame,
		wire_readiness_encode(frame, sizeof frame, node_header(p, node, sequence), &yes));
	send_register(w, p, &id, SEQUENCE + sequence);
	world_settle(w);
	peer_hears_nothing(w, p);
	assert_int_equal(refused(w) - before, 5);
	assert_int_equal(status_of(w, node->slot), NODE_DOWN);
}

static void violated(const char *text, void *context)
{
	print_error("%s\n", text);
}

static void end(struct world *w)
{
	world_settle(w);
	world_balances(w);
	world_is_quiet(w);
	assert_int_equal(state_verify(w->core.state, violated, NULL), 0);
	world_destroy(w);
}

static void a_node_is_revoked_while_it_beats(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(2, &history, 0);
	struct wire_header node, other;
	struct peer p = world_join(w, 1, 0, SEQUENCE, &node);
	struct peer q = world_join(w, 2, 1, SEQUENCE, &other);
	world_beat(w, &p, &node, 1);
	world_beat(w, &q, &other, 1);
	assert_true(say_of_node(w, 1, SENDER_REVOKE).went_down);
	assert_int_equal(status_of(w, node.slot), NODE_DOWN);
	expect_silence(w, &p, 1, &node, 2);
	world_beat(w, &q, &other, 2);
	assert_int_equal(status_of(w, other.slot), NODE_READY);
	world_destroy(w);
	// As after kill -9: what is in the log is all that there is.
	w = world_create_with(2, &history, 1000);
	assert_int_equal(status_of(w, node.slot), NODE_DOWN);
	expect_silence(w, &p, 1, &node, 20);
	world_beat(w, &q, &other, 1);
	say_of_node(w, 1, SENDER_RESTORE);
	world_beat(w, &p, &node, 50);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	end(w);
	memory_log_free(&history);
}

// Restored at once its next heartbeat is news, though it was never silent.
static void who_is_taken_back_is_ready_with_the_next_heartbeat(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header node;
	struct peer p = world_join(w, 1, 0, SEQUENCE, &node);
	world_beat(w, &p, &node, 1);
	say_of_node(w, 1, SENDER_REVOKE);
	say_of_node(w, 1, SENDER_RESTORE);
	world_beat(w, &p, &node, 2);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	world_pass(w, 2 * WORLD_TTL_MS); // it is watched again
	assert_int_equal(status_of(w, node.slot), NODE_DOWN);
	assert_int_equal(refused(w), 0);
	end(w);
	memory_log_free(&history);
}

static void another_key_makes_the_old_one_worthless(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header node;
	struct uuid id = world_uuid(1);
	struct peer p = world_join(w, 1, 0, SEQUENCE, &node), thief = p;
	world_beat(w, &p, &node, 1);
	say_of_node(w, 1, SENDER_REVOKE);
	assert_int_equal(say_of_node(w, 1, SENDER_REKEY).key_generation, 1);
	assert_true(node_key_derive_next(&w->keys, p.key_id, &id, 1, &p.key));
	uint64_t before = world_refused(w, 0, HOT_REFUSED_BAD_TAG);
	send_heartbeat(w, &thief, node.slot, node.generation, 2);
	send_register(w, &thief, &id, SEQUENCE + 1);
	world_settle(w);
	peer_hears_nothing(w, &thief);
	assert_int_equal(world_refused(w, 0, HOT_REFUSED_BAD_TAG) - before, 2);
	node = world_register(w, &p, 1, SEQUENCE + 2);
	world_beat(w, &p, &node, 1);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	world_destroy(w);
	w = world_create_with(1, &history, 1000);
	world_beat(w, &p, &node, 1);
	send_heartbeat(w, &thief, node.slot, node.generation, 9);
	world_settle(w);
	peer_hears_nothing(w, &thief);
	end(w);
	memory_log_free(&history);
}

// The node is up when it gets its next key: it goes down, and its line forgets the key at once.
static void a_key_may_change_without_a_revocation(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header node;
	struct uuid id = world_uuid(1);
	struct peer p = world_join(w, 1, 0, SEQUENCE, &node), thief = p;
	world_beat(w, &p, &node, 1);
	assert_true(say_of_node(w, 1, SENDER_REKEY).went_down);
	send_heartbeat(w, &thief, node.slot, node.generation, 2);
	world_settle(w);
	peer_hears_nothing(w, &thief);
	assert_int_equal(status_of(w, node.slot), NODE_DOWN);
	assert_true(node_key_derive_next(&w->keys, p.key_id, &id, 1, &p.key));
	world_beat(w, &p, &node, 2);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	end(w);
	memory_log_free(&history);
}

static void a_client_is_revoked(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct command job = {
		.type = COMMAND_JOB_REGISTER, .job_register = {.job = direct_job("web", 10, 10)}};
	uint8_t frame[FRAME_BYTES_MAX];
	char name[SENDER_NAME_BYTES];
	struct wire_header node;
	world_join(w, 1, 0, SEQUENCE, &node);
	world_run(w, &job);
	struct peer ann = client_peer(w, "ann", 0), bob = client_peer(w, "bob", 0);
	say(w, sender_of_client(TEXT("ann"), name), SENDER_REVOKE);
	send_place(w, &ann, "ann", 1, 1, "web", "g");
	world_settle(w);
	peer_hears_nothing(w, &ann);
	assert_int_equal(refused(w), 1);
	send_place(w, &bob, "bob", 1, 1, "web", "g");
	world_settle(w);
	peer_receive(w, &bob, WIRE_PLACED, frame);
	say(w, sender_of_client(TEXT("ann"), name), SENDER_REKEY);
	assert_true(client_key_derive_next(&w->keys, ann.key_id, TEXT("ann"), 1, &ann.key));
	send_place(w, &ann, "ann", 2, 1, "web", "g");
	world_settle(w);
	peer_receive(w, &ann, WIRE_PLACED, frame);
	end(w);
	memory_log_free(&history);
}

static void admit(struct world *w, const char *pattern, int64_t cpu_mhz)
{
	struct admit_rule *rule = record_create(&admit_rule_description);
	rule->pattern = text_copy(text_of(pattern));
	rule->cpu_mhz = (struct optional_i64){true, cpu_mhz};
	struct command c = {.type = COMMAND_ADMIT_RULE, .admit_rule = {.rule = rule}};
	world_run(w, &c);
}

static struct master_keys with_key(const struct master_keys *before, uint8_t id, uint8_t filling)
{
	struct master_keys keys = {.count = (uint8_t)(before->count + 1)};
	keys.keys[0].id = id;
	memset(keys.keys[0].bytes, filling, MASTER_KEY_BYTES);
	memcpy(&keys.keys[1], before->keys, before->count * sizeof before->keys[0]);
	return keys;
}

static void change_keys(struct world *w, const struct master_keys *keys)
{
	assert_int_equal(sender_keys_publish(w->team, keys), 0);
	assert_int_equal(sender_keys_publish(w->team, keys), -EBUSY);
	world_settle(w);
	sender_keys_retire(w->team);
	world_settle(w);
	w->keys = *keys;
}

// A further master key comes, nodes go over to it at leisure, and the first one goes.
static void master_keys_are_changed_while_nodes_beat(void **unused)
{
	static const struct master_keys none = {0};
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(2, &history, 0);
	struct wire_header node, other, third;
	struct uuid id = world_uuid(1);
	struct peer p = world_join(w, 1, 0, SEQUENCE, &node), old = p;
	struct peer q = world_join(w, 2, 1, SEQUENCE, &other);
	world_beat(w, &p, &node, 1);
	world_beat(w, &q, &other, 1);
	struct master_keys both = with_key(&w->keys, 4, 0xa5);
	change_keys(w, &both);
	world_beat(w, &p, &node, 2); // under the old one
	struct peer r = world_join(w, 3, 0, SEQUENCE, &third);
	assert_int_equal(r.key_id, 4);
	p = node_peer(w, &id, 0);
	world_beat(w, &p, &node, 3);
	struct master_keys next = with_key(&none, 4, 0xa5);
	change_keys(w, &next);
	world_beat(w, &p, &node, 4);
	world_beat(w, &r, &third, 1);
	send_heartbeat(w, &q, other.slot, other.generation, 2);
	send_heartbeat(w, &old, node.slot, node.generation, 5);
	world_settle(w);
	peer_hears_nothing(w, &q);
	peer_hears_nothing(w, &old);
	// The number alone is no key.
	struct master_keys same_number = with_key(&none, 4, 0x11);
	change_keys(w, &same_number);
	send_heartbeat(w, &r, third.slot, third.generation, 2);
	world_settle(w);
	peer_hears_nothing(w, &r);
	end(w);
	memory_log_free(&history);
}

// Nodes of this world say 8000 MHz.
static void who_claims_too_much_is_told_what(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct uuid id = world_uuid(1);
	struct peer p = node_peer(w, &id, 0);
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_refused told;
	struct wire_header node;
	admit(w, "node-*", 7999);
	send_register(w, &p, &id, SEQUENCE);
	world_settle(w);
	struct wire_header h = peer_receive(w, &p, WIRE_REFUSED, frame);
	assert_true(wire_refused_decode(frame, &h, &told));
	assert_int_equal(told.reason, WIRE_REFUSED_NOT_ADMITTED);
	assert_int_equal(told.value, ADMIT_CPU);
	assert_true(told.retry_after_ms > 0);
	admit(w, "node-*", 8000);
	p = world_join(w, 1, 0, SEQUENCE + 1, &node);
	world_beat(w, &p, &node, 1);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	end(w);
	memory_log_free(&history);
}

static struct wire_refused hear_refusal(struct world *w, const struct peer *p)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_refused told;
	struct wire_header h = peer_receive(w, p, WIRE_REFUSED, frame);
	assert_true(wire_refused_decode(frame, &h, &told));
	return told;
}

// Neither says a boot, so they are told from each other by where they send from.
static void a_clone_is_told_and_the_node_goes_on(void **unused)
{
	struct memory_log history = {.room_bytes = INT64_MAX};
	struct world *w = world_create_with(1, &history, 0);
	struct wire_header node, stolen;
	struct uuid id = world_uuid(1);
	struct peer p = world_join(w, 1, 0, SEQUENCE, &node), clone = p;
	clone.route.source_port ^= 1;
	stolen = world_register(w, &clone, 1, SEQUENCE + 1);
	send_heartbeat(w, &p, node.slot, node.generation, 2);
	world_settle(w);
	assert_int_equal(hear_refusal(w, &p).reason, WIRE_REFUSED_STALE_GENERATION);
	node = world_register(w, &p, 1, SEQUENCE + 2);
	send_heartbeat(w, &clone, stolen.slot, stolen.generation, 3);
	world_settle(w);
	assert_int_equal(hear_refusal(w, &clone).reason, WIRE_REFUSED_STALE_GENERATION);
	send_register(w, &clone, &id, SEQUENCE + 3);
	world_settle(w);
	struct wire_refused told = hear_refusal(w, &clone);
	assert_int_equal(told.reason, WIRE_REFUSED_QUARANTINED);
	assert_true(told.retry_after_ms > 0);
	world_beat(w, &p, &node, 4);
	assert_int_equal(status_of(w, node.slot), NODE_READY);
	world_destroy(w);
	// As after kill -9.
	w = world_create_with(1, &history, 1000);
	send_register(w, &clone, &id, SEQUENCE + 4);
	world_settle(w);
	assert_int_equal(hear_refusal(w, &clone).reason, WIRE_REFUSED_QUARANTINED);
	world_beat(w, &p, &node, 5);
	end(w);
	memory_log_free(&history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_is_revoked_while_it_beats),
		cmocka_unit_test(who_is_taken_back_is_ready_with_the_next_heartbeat),
		cmocka_unit_test(another_key_makes_the_old_one_worthless),
		cmocka_unit_test(a_key_may_change_without_a_revocation),
		cmocka_unit_test(a_client_is_revoked),
		cmocka_unit_test(master_keys_are_changed_while_nodes_beat),
		cmocka_unit_test(who_claims_too_much_is_told_what),
		cmocka_unit_test(a_clone_is_told_and_the_node_goes_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
