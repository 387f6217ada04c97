// The agent's state machine on a clock that moves only when told.
#include "state/base/time_units.h"
#include "tools/agent/beat.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct beat beat;
static uint8_t frame[FRAME_BYTES_MAX];
static uint64_t now;

static int set_up(void **unused)
{
	beat = (struct beat){.session = {.key = {{1, 2}}, .key_id = 1}};
	now = 5000 * NS_PER_MS;
	beat_start(&beat, 9, now);
	return 0;
}

static struct wire_header header(uint8_t type, uint64_t sequence)
{
	return (struct wire_header){
		.type = type, .key_id = 1, .slot = 12, .generation = 3, .sequence = sequence};
}

static enum node_event take(uint32_t length)
{
	wire_sign(&beat.session.key, frame, length);
	return beat_receive(&beat, frame, length, now).event;
}

static enum node_event answer(uint8_t type, uint64_t sequence, uint64_t term, uint32_t directives)
{
	struct wire_heartbeat_ack ack = {.term = term, .ttl_ms = 9000, .directives = directives};
	return take(wire_heartbeat_ack_encode(frame, sizeof frame, header(type, sequence), &ack));
}

static enum node_event refuse(uint64_t sequence, uint8_t reason, uint64_t value)
{
	struct wire_refused why = {.request_type = 4, .reason = reason, .value = value};
	return take(wire_refused_encode(frame, 64, header(WIRE_REFUSED, sequence), &why));
}

static void send_heartbeat(void)
{
	assert_int_equal(beat_due(&beat, now), BEAT_SEND_HEARTBEAT);
	assert_int_equal(node_session_heartbeat(&beat.session, 0, frame), WIRE_HEARTBEAT_BYTES);
}

static void register_and_beat(void)
{
	assert_int_equal(beat_due(&beat, now), BEAT_SEND_REGISTER);
	node_session_registering(&beat.session, 1000);
	beat.describe = false;
	assert_int_equal(answer(WIRE_REGISTERED, 1000, 5, 0), NODE_REGISTERED);
	send_heartbeat();
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 1, 5, 0), NODE_ACKED);
}

static void registers_first_and_beats_at_once(void **unused)
{
	assert_true(beat.describe);
	register_and_beat();
	assert_int_equal(beat.session.slot, 12);
	assert_int_equal(beat.session.generation, 3);
	assert_int_equal(beat.session.term, 5);
}

static void beats_a_little_more_often_than_every_third(void **unused)
{
	register_and_beat();
	bool differ = false;
	uint64_t before = 0;
	for (uint32_t i = 2; i < 100; i++) {
		uint64_t wait = beat.due_ns - now;
		assert_in_range(wait, 2700 * NS_PER_MS, 3000 * NS_PER_MS);
		differ |= before && wait != before;
		before = wait;
		assert_int_equal(beat_due(&beat, beat.due_ns - 1), BEAT_SEND_NOTHING);
		now = beat.due_ns;
		send_heartbeat();
		assert_int_equal(answer(WIRE_HEARTBEAT_ACK, i, 5, 0), NODE_ACKED);
	}
	assert_true(differ);
}

static void goes_on_beating_without_an_answer(void **unused)
{
	register_and_beat();
	uint32_t registrations = 0;
	for (uint32_t i = 1; i <= 50; i++) {
		now = beat.due_ns;
		enum beat_send what = beat_due(&beat, now);
		assert_int_equal(beat.missed, i - 1);
		assert_true(beat.due_ns - now <= 3000 * NS_PER_MS);
		if (i == 7 || i == 13 || i == 25 || i == 49) {
			assert_int_equal(what, BEAT_SEND_REGISTER);
			assert_true(beat.describe);
			node_session_registering(&beat.session, 2000 + i);
			registrations++;
		} else {
			assert_int_equal(what, BEAT_SEND_HEARTBEAT);
			node_session_heartbeat(&beat.session, 0, frame);
		}
	}
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 51 - registrations, 5, 0), NODE_ACKED);
	assert_int_equal(beat.missed, 0);
}

// Slow answers are answers: any that is newer than the newest taken, once.
static void late_answers_count_once(void **unused)
{
	register_and_beat();
	for (uint32_t i = 0; i < 4; i++) {
		now = beat.due_ns;
		send_heartbeat(); // 2 … 5
	}
	assert_int_equal(beat.missed, 3);
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 3, 5, 0), NODE_ACKED);
	assert_int_equal(beat.missed, 0);
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 3, 5, 0), NODE_NOTHING);
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 2, 5, 0), NODE_NOTHING);
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 6, 5, 0), NODE_NOTHING);
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 4, 5, 0), NODE_ACKED);
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 5, 6, 0), NODE_ACKED);
	assert_int_equal(beat.session.term, 6);
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 5, 6, 0), NODE_NOTHING);
}

static void registration_backs_off_up_to_thirty_seconds(void **unused)
{
	uint64_t longest = 0;
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(beat_due(&beat, now), BEAT_SEND_REGISTER);
		node_session_registering(&beat.session, 1000);
		uint64_t wait = beat.due_ns - now;
		assert_in_range(wait, 1000 * NS_PER_MS, 31000 * NS_PER_MS);
		if (i == 0)
			assert_true(wait <= 1250 * NS_PER_MS);
		longest = wait > longest ? wait : longest;
		now = beat.due_ns;
	}
	assert_true(longest > 20000 * NS_PER_MS);
}

static void older_term_is_not_obeyed(void **unused)
{
	register_and_beat();
	now = beat.due_ns;
	send_heartbeat();
	uint64_t due = beat.due_ns;
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 2, 4, WIRE_DIRECTIVE_REGISTER), NODE_OLD_TERM);
	assert_int_equal(beat.state, BEAT_BEATING);
	assert_int_equal(beat.session.term, 5);
	assert_int_equal(beat.due_ns, due);
	// The true controller may still answer the same beat.
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 2, 6, 0), NODE_ACKED);
	assert_int_equal(beat.session.term, 6);
}

static void resync_beats_again_at_once_but_not_for_ever(void **unused)
{
	register_and_beat();
	now = beat.due_ns;
	for (uint32_t i = 0; i < BEAT_RESYNCS_MAX; i++) {
		send_heartbeat();
		assert_int_equal(
			answer(WIRE_HEARTBEAT_ACK, 2 + i, 6, WIRE_DIRECTIVE_RESYNC), NODE_BEAT_NOW);
		assert_int_equal(beat.due_ns, now);
	}
	send_heartbeat();
	answer(WIRE_HEARTBEAT_ACK, 2 + BEAT_RESYNCS_MAX, 6, WIRE_DIRECTIVE_RESYNC);
	assert_true(beat.due_ns > now + 2000 * NS_PER_MS);
}

static void stale_generation_registers_again(void **unused)
{
	register_and_beat();
	now = beat.due_ns;
	send_heartbeat();
	assert_int_equal(refuse(2, WIRE_REFUSED_STALE_GENERATION, 0), NODE_REGISTER_NOW);
	assert_int_equal(beat.state, BEAT_REGISTERING);
	assert_true(beat.describe);
	assert_true(beat.due_ns - now <= BEAT_BACKOFF_BASE_MS * NS_PER_MS);
	now = beat.due_ns;
	assert_int_equal(beat_due(&beat, now), BEAT_SEND_REGISTER);
	node_session_registering(&beat.session, 1001);
	assert_int_equal(answer(WIRE_REGISTERED, 1001, 5, 0), NODE_REGISTERED);
	send_heartbeat();
	assert_int_equal(beat.session.sequence, 1);
}

static void directive_registers_again(void **unused)
{
	register_and_beat();
	now = beat.due_ns;
	send_heartbeat();
	assert_int_equal(
		answer(WIRE_HEARTBEAT_ACK, 2, 5, WIRE_DIRECTIVE_REGISTER), NODE_REGISTER_NOW);
	assert_int_equal(beat.state, BEAT_REGISTERING);
}

// A controller that asks for a registration again and again is asked ever more slowly.
static void registering_in_circles_slows_down(void **unused)
{
	register_and_beat();
	uint64_t start = now = beat.due_ns;
	for (uint32_t i = 0; i < 12; i++) {
		send_heartbeat();
		answer(WIRE_HEARTBEAT_ACK, beat.session.sequence, 5, WIRE_DIRECTIVE_REGISTER);
		now = beat.due_ns;
		assert_int_equal(beat_due(&beat, now), BEAT_SEND_REGISTER);
		node_session_registering(&beat.session, 2000 + i);
		answer(WIRE_REGISTERED, 2000 + i, 5, 0);
	}
	assert_true(now - start > 20000 * NS_PER_MS);
}

static void stale_registration_goes_on_above_the_newest(void **unused)
{
	assert_int_equal(beat_due(&beat, now), BEAT_SEND_REGISTER);
	node_session_registering(&beat.session, 1000);
	beat.describe = false;
	assert_int_equal(refuse(1000, WIRE_REFUSED_STALE_REGISTRATION, 88888), NODE_REFUSED);
	assert_int_equal(beat.registration_least, 88889);
	assert_true(beat.describe);
	assert_int_equal(beat.state, BEAT_REGISTERING);
}

// A clock that is years ahead costs a round trip; the next registration goes on from the controller's time.
static void a_registration_too_far_ahead_goes_back(void **unused)
{
	uint64_t ahead = 1ull << 62;
	assert_int_equal(beat_registration(&beat, ahead), ahead);
	assert_int_equal(beat_due(&beat, now), BEAT_SEND_REGISTER);
	node_session_registering(&beat.session, ahead);
	assert_int_equal(refuse(ahead, WIRE_REFUSED_STALE_REGISTRATION, 88888), NODE_REFUSED);
	assert_int_equal(beat_registration(&beat, ahead), 88889);
	node_session_registering(&beat.session, 88889);
	assert_int_equal(answer(WIRE_REGISTERED, 88889, 5, 0), NODE_REGISTERED);
	assert_int_equal(beat_registration(&beat, 90000), 90000);
	assert_int_equal(beat_registration(&beat, 70000), 88890);
}

static void refuse_registration(const struct wire_refused *why)
{
	now = beat.due_ns;
	assert_int_equal(beat_due(&beat, now), BEAT_SEND_REGISTER);
	node_session_registering(&beat.session, 1000);
	uint32_t length = wire_refused_encode(frame, 96, header(WIRE_REFUSED, 1000), why);
	assert_int_equal(take(length), NODE_REFUSED);
}

static void refused_registration_waits(void **unused)
{
	struct wire_refused why = {
		.request_type = 4, .reason = WIRE_REFUSED_OVERLOADED, .retry_after_ms = 7000};
	// However often: the controller says when there will be room.
	for (uint32_t i = 0; i < 21; i++) {
		refuse_registration(&why);
		assert_in_range(beat.due_ns - now, 7000 * NS_PER_MS, 7875 * NS_PER_MS);
	}
	// For any other reason the wait grows, too.
	why.reason = WIRE_REFUSED_TABLE_FULL;
	uint64_t longest_ns = 0;
	for (uint32_t i = 0; i < 20; i++) {
		refuse_registration(&why);
		if (beat.due_ns - now > longest_ns)
			longest_ns = beat.due_ns - now;
	}
	assert_true(longest_ns > 10000 * NS_PER_MS);
}

static void strangers_are_ignored(void **unused)
{
	register_and_beat();
	now = beat.due_ns;
	send_heartbeat();
	uint64_t due = beat.due_ns;
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 1, 9, 0), NODE_NOTHING); // answered before
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 3, 9, 0), NODE_NOTHING); // never sent
	assert_int_equal(answer(WIRE_REGISTERED, 2, 9, 0), NODE_NOTHING);
	assert_int_equal(answer(WIRE_HEARTBEAT, 2, 9, 0), NODE_NOTHING); // a request
	struct wire_heartbeat_ack ack = {.term = 9};
	uint32_t length =
		wire_heartbeat_ack_encode(frame, sizeof frame, header(WIRE_HEARTBEAT_ACK, 2), &ack);
	wire_sign(&(struct wire_key){{1, 3}}, frame, length);
	assert_int_equal(beat_receive(&beat, frame, length, now).event, NODE_NOTHING);
	for (uint32_t size = 0; size < length; size++)
		assert_int_equal(beat_receive(&beat, frame, size, now).event, NODE_NOTHING);
	assert_int_equal(beat.due_ns, due);
	assert_int_equal(beat.session.term, 5);
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 2, 5, 0), NODE_ACKED);
}

static enum node_event notice(uint64_t term, uint64_t alloc_index)
{
	struct wire_notify notify = {.term = term, .alloc_index = alloc_index};
	return take(wire_notify_encode(frame, sizeof frame, header(WIRE_NOTIFY, 0), &notify));
}

// Heard again, or from a controller that was replaced, it says nothing; of a newer term the node learns by a heartbeat.
static void a_notice_is_news_once(void **unused)
{
	assert_int_equal(notice(5, 70), NODE_NOTHING); // not registered
	register_and_beat();
	assert_int_equal(notice(5, 70), NODE_NOTIFIED);
	assert_int_equal(beat.session.alloc_index, 70);
	assert_int_equal(notice(5, 70), NODE_NOTHING);
	assert_int_equal(notice(5, 60), NODE_NOTHING);
	assert_int_equal(notice(4, 80), NODE_OLD_TERM);
	assert_int_equal(beat.session.alloc_index, 70);
	uint64_t due = beat.due_ns;
	now = due - 1000;
	assert_int_equal(notice(6, 80), NODE_BEAT_NOW);
	assert_int_equal(beat.session.term, 5);
	assert_int_equal(beat.due_ns, now);
	struct wire_notify notify = {.term = 5, .alloc_index = 90};
	uint32_t length = wire_notify_encode(frame, sizeof frame, header(WIRE_NOTIFY, 0), &notify);
	wire_sign(&(struct wire_key){{1, 3}}, frame, length);
	assert_int_equal(beat_receive(&beat, frame, length, now).event, NODE_NOTHING);
	struct wire_header other = header(WIRE_NOTIFY, 0);
	other.generation = 2;
	assert_int_equal(
		take(wire_notify_encode(frame, sizeof frame, other, &notify)), NODE_NOTHING);
	assert_int_equal(beat.session.alloc_index, 70);
}

// The controller wants the node to dial, as a notice or an answer says.
static void a_call_says_where_to_dial(void **unused)
{
	register_and_beat();
	struct wire_notify notify = {.term = 5, .alloc_index = 70, .call_port = 4647};
	struct wire_header h = header(WIRE_NOTIFY, 77);
	uint32_t length = wire_notify_encode(frame, sizeof frame, h, &notify);
	wire_sign(&beat.session.key, frame, length);
	for (int i = 0; i < 2; i++) {
		// Its index is news once, its number is for the caller to compare.
		struct node_answer called = beat_receive(&beat, frame, length, now);
		assert_int_equal(called.event, NODE_NOTIFIED);
		assert_true(called.calls);
		assert_int_equal(called.call_number, 77);
		assert_int_equal(called.line_port, 4647);
	}
	notify.term = 4;
	length = wire_notify_encode(frame, sizeof frame, h, &notify);
	wire_sign(&beat.session.key, frame, length);
	assert_false(beat_receive(&beat, frame, length, now).calls);
	now = beat.due_ns;
	send_heartbeat();
	struct wire_heartbeat_ack ack = {.term = 5,
		.alloc_index = 70,
		.ttl_ms = 9000,
		.directives = WIRE_DIRECTIVE_CALL,
		.line_port = 4647};
	length =
		wire_heartbeat_ack_encode(frame, sizeof frame, header(WIRE_HEARTBEAT_ACK, 2), &ack);
	wire_sign(&beat.session.key, frame, length);
	struct node_answer answered = beat_receive(&beat, frame, length, now);
	assert_int_equal(answered.event, NODE_ACKED);
	assert_true(answered.calls);
	assert_int_equal(answered.call_number, 0);
	assert_int_equal(answered.line_port, 4647);
}

// A captured notice must not hide that the controller is silent.
static void a_notice_is_no_answer(void **unused)
{
	register_and_beat();
	now = beat.due_ns;
	send_heartbeat();
	now = beat.due_ns;
	send_heartbeat();
	assert_int_equal(beat.missed, 1);
	assert_int_equal(notice(5, 70), NODE_NOTIFIED);
	assert_int_equal(beat.missed, 1);
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 3, 5, 0), NODE_ACKED);
}

static void goodbye_is_repeated_until_it_is_heard(void **unused)
{
	register_and_beat();
	beat_leave(&beat, now);
	assert_int_equal(beat_due(&beat, now), BEAT_SEND_GOODBYE);
	node_session_goodbye(&beat.session, frame);
	now = beat.due_ns;
	assert_int_equal(beat_due(&beat, now), BEAT_SEND_GOODBYE);
	node_session_goodbye(&beat.session, frame);
	uint32_t length = wire_goodbye_encode(
		frame, sizeof frame, header(WIRE_GOODBYE_ACK, beat.session.sequence));
	assert_int_equal(take(length), NODE_GONE);
	assert_int_equal(beat.state, BEAT_LEFT);
	assert_int_equal(beat.session.generation, 0);
}

static void goodbye_is_given_up(void **unused)
{
	register_and_beat();
	beat_leave(&beat, now);
	for (uint32_t i = 0; i < BEAT_GOODBYES_MAX; i++) {
		assert_int_equal(beat_due(&beat, now), BEAT_SEND_GOODBYE);
		node_session_goodbye(&beat.session, frame);
		now = beat.due_ns;
	}
	assert_int_equal(beat_due(&beat, now), BEAT_SEND_NOTHING);
	assert_int_equal(beat.state, BEAT_LEFT);
	assert_int_equal(beat.session.generation, 3);
}

static void leaving_before_it_registered_is_quiet(void **unused)
{
	beat_leave(&beat, now);
	assert_int_equal(beat.state, BEAT_LEFT);
	assert_int_equal(beat_due(&beat, now), BEAT_SEND_NOTHING);
}

static void leaving_node_does_not_come_back(void **unused)
{
	register_and_beat();
	beat_leave(&beat, now);
	assert_int_equal(beat_due(&beat, now), BEAT_SEND_GOODBYE);
	node_session_goodbye(&beat.session, frame);
	assert_int_equal(refuse(2, WIRE_REFUSED_STALE_GENERATION, 0), NODE_GONE);
	assert_int_equal(beat.state, BEAT_LEFT);
	assert_int_equal(beat.session.generation, 0);
}

static void tiny_time_to_live_does_not_spin(void **unused)
{
	register_and_beat();
	beat.session.ttl_ms = 0;
	now = beat.due_ns;
	send_heartbeat();
	assert_true(beat.due_ns - now >= 45 * NS_PER_MS);
}

#define FRESH(f) cmocka_unit_test_setup(f, set_up)

static void a_follower_is_followed_by_another_at_once(void **unused)
{
	register_and_beat();
	uint64_t usual = beat.due_ns;
	for (uint64_t i = 0; i < BEAT_REDIRECTS_MAX; i++) {
		now = beat.due_ns;
		send_heartbeat();
		usual = beat.due_ns;
		assert_int_equal(refuse(2 + i, WIRE_REFUSED_NOT_LEADER, 0), NODE_REFUSED);
		assert_int_equal(beat.due_ns, now);
	}
	send_heartbeat(); // nobody leads: the next is sent at its usual time
	usual = beat.due_ns;
	assert_int_equal(refuse(5, WIRE_REFUSED_NOT_LEADER, 0), NODE_REFUSED);
	assert_int_equal(beat.due_ns, usual);
	assert_int_equal(beat.state, BEAT_BEATING);
	now = beat.due_ns;
	send_heartbeat();
	assert_int_equal(refuse(6, WIRE_REFUSED_NOT_LEADER, 0), NODE_REFUSED);
	assert_int_equal(beat.due_ns, now);
	send_heartbeat();
	assert_int_equal(answer(WIRE_HEARTBEAT_ACK, 7, 5, 0), NODE_ACKED);
	assert_int_equal(beat.redirects, 0);
}

static void a_registration_goes_to_another_at_once(void **unused)
{
	for (uint32_t i = 0; i < BEAT_REDIRECTS_MAX; i++) {
		assert_int_equal(beat_due(&beat, now), BEAT_SEND_REGISTER);
		node_session_registering(&beat.session, 1000);
		beat.describe = false;
		assert_int_equal(refuse(1000, WIRE_REFUSED_NOT_LEADER, 0), NODE_REFUSED);
		assert_int_equal(beat.due_ns, now);
	}
	assert_int_equal(beat_due(&beat, now), BEAT_SEND_REGISTER);
	assert_false(beat.describe); // it is the same registration
	node_session_registering(&beat.session, 1000);
	struct wire_refused why = {
		.request_type = 4, .reason = WIRE_REFUSED_NOT_LEADER, .retry_after_ms = 500};
	take(wire_refused_encode(frame, 64, header(WIRE_REFUSED, 1000), &why));
	assert_in_range(beat.due_ns, now + 500 * NS_PER_MS, now + 40000 * NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FRESH(registers_first_and_beats_at_once),
		FRESH(beats_a_little_more_often_than_every_third),
		FRESH(goes_on_beating_without_an_answer),
		FRESH(late_answers_count_once),
		FRESH(registration_backs_off_up_to_thirty_seconds),
		FRESH(older_term_is_not_obeyed),
		FRESH(resync_beats_again_at_once_but_not_for_ever),
		FRESH(stale_generation_registers_again),
		FRESH(directive_registers_again),
		FRESH(registering_in_circles_slows_down),
		FRESH(stale_registration_goes_on_above_the_newest),
		FRESH(refused_registration_waits),
		FRESH(strangers_are_ignored),
		FRESH(a_registration_too_far_ahead_goes_back),
		FRESH(a_notice_is_news_once),
		FRESH(a_call_says_where_to_dial),
		FRESH(a_notice_is_no_answer),
		FRESH(goodbye_is_repeated_until_it_is_heard),
		FRESH(goodbye_is_given_up),
		FRESH(leaving_before_it_registered_is_quiet),
		FRESH(leaving_node_does_not_come_back),
		FRESH(tiny_time_to_live_does_not_spin),
		cmocka_unit_test_setup(a_follower_is_followed_by_another_at_once, set_up),
		cmocka_unit_test_setup(a_registration_goes_to_another_at_once, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
