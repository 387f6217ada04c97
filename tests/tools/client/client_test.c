#include "tests/tools/client/responder.h"
#include "tools/client/client.h"
#include "tools/client/endpoint.h"
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>

#include <cmocka.h>

static struct responder *server;
static struct client *client;
static char message[256];
static struct wire_placed placed;
static struct wire_refused refused;

// An answer is waited for so long that a busy machine gives it; tests of silence say when it ends.
#define PATIENCE_MS 60000
#define SILENCE_MS 1500
// Where a client that was not heard in time asks again.
#define BRIEF_MS 300
// Until a request is sent again: soon, where the test is about that; late, where the first answer counts, which may be
// lost with its socket once the third request is sent.
#define SOON_MS 30
#define LATE_MS 1000

static int open_client_to(
	const char *servers, const char *key_of, uint32_t wait_ms, uint32_t deadline_ms)
{
	struct wire_key key;
	char text[WIRE_KEY_TEXT_BYTES];
	assert_true(client_key_derive(&server->masters, 1, text_of(key_of), &key));
	struct client_settings settings = {
		.server = servers,
		.name = "tester",
		.key_text = wire_key_format(1, &key, text),
		.wait_ms = wait_ms,
		.cap_ms = 20,
		.deadline_ms = deadline_ms,
		.seed = 7,
	};
	return client_open(&settings, &client, message, sizeof message);
}

static int open_client(const char *key_of, uint32_t wait_ms, uint32_t deadline_ms)
{
	return open_client_to(server->address, key_of, wait_ms, deadline_ms);
}

static int set_up(void **unused)
{
	server = responder_start();
	return open_client("tester", SOON_MS, PATIENCE_MS);
}

static void open_client_again(const char *key_of, uint32_t wait_ms, uint32_t deadline_ms)
{
	client_close(client);
	assert_int_equal(open_client(key_of, wait_ms, deadline_ms), 0);
}

static int tear_down(void **unused)
{
	client_close(client);
	responder_stop(server);
	return 0;
}

static struct wire_place two_of_web(void)
{
	return (struct wire_place){.count = 2, .job = TEXT("web"), .group = TEXT("frontend")};
}

static void place_fills_the_answer(void **unused)
{
	struct wire_place place = two_of_web();
	assert_int_equal(client_place(client, &place, &placed, &refused), CLIENT_DONE);
	assert_int_equal(placed.count, 2);
	assert_int_equal(placed.requested, 2);
	assert_false(uuid_equal(&placed.items[0].allocation, &placed.items[1].allocation));
	assert_true(place.issued_ms > 1600000000000ull);
	assert_true(place.request != 0);
	assert_true(client_counters(client)->last_rtt_ns > 0);
}

static void same_request_gives_the_same_allocations(void **unused)
{
	struct wire_place place = two_of_web();
	static struct wire_placed again;
	assert_int_equal(client_place(client, &place, &placed, &refused), CLIENT_DONE);
	assert_int_equal(client_place(client, &place, &again, &refused), CLIENT_DONE);
	assert_memory_equal(placed.items, again.items, 2 * sizeof placed.items[0]);
	place.request = 0;
	assert_int_equal(client_place(client, &place, &again, &refused), CLIENT_DONE);
	assert_false(uuid_equal(&placed.items[0].allocation, &again.items[0].allocation));
}

static void lost_requests_are_sent_again(void **unused)
{
	atomic_store(&server->rules.drop, 3);
	struct wire_place place = two_of_web();
	assert_int_equal(client_place(client, &place, &placed, &refused), CLIENT_DONE);
	assert_true(client_counters(client)->sent >= 4);
	assert_true(client_counters(client)->resent >= 3);
	assert_int_equal(server->counters.placed, 2);
}

static void forged_and_stray_answers_are_ignored(void **unused)
{
	open_client_again("tester", LATE_MS, PATIENCE_MS);
	atomic_store(&server->rules.forge, 1);
	struct wire_place place = two_of_web();
	assert_int_equal(client_place(client, &place, &placed, &refused), CLIENT_DONE);
	assert_true(client_counters(client)->ignored >= 1);
	uint64_t before = client_counters(client)->ignored;
	atomic_store(&server->rules.stray, 1);
	assert_int_equal(client_place(client, &place, &placed, &refused), CLIENT_DONE);
	assert_true(client_counters(client)->ignored > before);
}

static void refusal_is_returned(void **unused)
{
	open_client_again("tester", LATE_MS, PATIENCE_MS);
	atomic_store(&server->rules.refuse, 1);
	atomic_store(&server->rules.reason, WIRE_REFUSED_UNKNOWN_JOB);
	struct wire_place place = two_of_web();
	assert_int_equal(client_place(client, &place, &placed, &refused), CLIENT_REFUSED);
	assert_int_equal(refused.reason, WIRE_REFUSED_UNKNOWN_JOB);
	assert_int_equal(refused.request_type, WIRE_PLACE);
	assert_int_equal(client_counters(client)->refused, 1);
}

// A machine may be so slow that nothing is heard before the deadline.
static int place_until_heard(struct wire_place *place)
{
	int result;
	do
		result = client_place(client, place, &placed, &refused);
	while (result == -ETIMEDOUT);
	return result;
}

static void overload_is_waited_out(void **unused)
{
	open_client_again("tester", LATE_MS, PATIENCE_MS);
	atomic_store(&server->rules.reason, WIRE_REFUSED_OVERLOADED);
	atomic_store(&server->rules.refuse, 2);
	struct wire_place place = two_of_web();
	assert_int_equal(client_place(client, &place, &placed, &refused), CLIENT_DONE);
	assert_int_equal(client_counters(client)->refused, 2);
	open_client_again("tester", SOON_MS, BRIEF_MS);
	atomic_store(&server->rules.refuse, UINT32_MAX);
	assert_int_equal(place_until_heard(&place), CLIENT_REFUSED);
	assert_int_equal(refused.reason, WIRE_REFUSED_OVERLOADED);
}

static void silence_ends_at_the_deadline(void **unused)
{
	open_client_again("tester", SOON_MS, SILENCE_MS);
	atomic_store(&server->rules.drop, UINT32_MAX);
	struct wire_place place = two_of_web();
	assert_int_equal(client_place(client, &place, &placed, &refused), -ETIMEDOUT);
	assert_true(client_counters(client)->sent > 3);
}

static void wrong_key_is_never_answered(void **unused)
{
	open_client_again("somebody else", SOON_MS, BRIEF_MS);
	struct wire_place place = two_of_web();
	do
		assert_int_equal(client_place(client, &place, &placed, &refused), -ETIMEDOUT);
	while (server->counters.bad_tag == 0);
	assert_int_equal(server->counters.placed, 0);
}

static void restarted_server_is_found_again(void **unused)
{
	struct wire_place place = two_of_web();
	assert_int_equal(client_place(client, &place, &placed, &refused), CLIENT_DONE);
	responder_forget(server);
	assert_int_equal(client_place(client, &place, &placed, &refused), CLIENT_DONE);
}

static void release_and_status_answer(void **unused)
{
	struct wire_ids ids = {.count = 3};
	static struct wire_released released;
	assert_int_equal(client_release(client, &ids, &released, &refused), CLIENT_DONE);
	assert_int_equal(released.count, 3);
	struct wire_status status = {.mode = WIRE_STATUS_BY_ID, .count = 2};
	static struct wire_status_reply reply;
	assert_int_equal(client_status(client, &status, &reply, &refused), CLIENT_DONE);
	assert_int_equal(reply.count, 2);
	assert_true(server->counters.statuses >= 1);
}

static void malformed_request_is_not_sent(void **unused)
{
	struct wire_place place = {.count = 33};
	assert_int_equal(client_place(client, &place, &placed, &refused), -EINVAL);
	assert_int_equal(client_counters(client)->sent, 0);
}

static void place_once(void)
{
	struct wire_place place = {.count = 1, .job = TEXT("web"), .group = TEXT("g")};
	assert_int_equal(client_place(client, &place, &placed, &refused), CLIENT_DONE);
	assert_int_equal(placed.count, 1);
}

// With the other one first in its list.
static struct responder *open_client_of_two(uint32_t deadline_ms)
{
	char list[80];
	struct responder *other = responder_start();
	snprintf(list, sizeof list, "%s,%s", other->address, server->address);
	client_close(client);
	assert_int_equal(open_client_to(list, "tester", SOON_MS, deadline_ms), 0);
	return other;
}

static void a_follower_sends_to_the_leader(void **unused)
{
	struct responder *other = open_client_of_two(PATIENCE_MS);
	atomic_store(&other->rules.leader_port, server->port);
	atomic_store(&other->rules.follows, true);
	place_once();
	assert_true(other->counters.not_leader >= 1);
	assert_int_equal(other->counters.placed, 0);
	uint64_t asked = other->counters.not_leader;
	place_once(); // it stays there
	assert_int_equal(other->counters.not_leader, asked);
	responder_stop(other);
}

static void a_follower_that_knows_no_leader_sends_to_the_next(void **unused)
{
	struct responder *other = open_client_of_two(PATIENCE_MS);
	atomic_store(&other->rules.follows, true);
	place_once();
	assert_int_equal(other->counters.placed, 0);
	responder_stop(other);
}

static void silence_sends_to_the_next(void **unused)
{
	struct responder *other = open_client_of_two(PATIENCE_MS);
	responder_die(other);
	place_once();
	responder_stop(other);
}

static void without_a_leader_the_refusal_is_told(void **unused)
{
	struct responder *other = open_client_of_two(BRIEF_MS);
	struct wire_place place = {.count = 1, .job = TEXT("web"), .group = TEXT("g")};
	atomic_store(&other->rules.follows, true);
	atomic_store(&server->rules.follows, true);
	do {
		assert_int_equal(place_until_heard(&place), CLIENT_REFUSED);
		assert_int_equal(refused.reason, WIRE_REFUSED_NOT_LEADER);
	} while (other->counters.not_leader <= 1 || server->counters.not_leader <= 1);
	responder_stop(other);
}

// Signed as it should be, and with nothing in it.
static void an_answer_that_says_nothing_is_none(void **unused)
{
	struct wire_place place = two_of_web();
	struct wire_ids ids = {.count = 3};
	struct wire_status status = {.mode = WIRE_STATUS_BY_ID, .count = 2};
	static struct wire_released released;
	static struct wire_status_reply reply;
	open_client_again("tester", LATE_MS, PATIENCE_MS);
	atomic_store(&server->rules.cut, UINT32_MAX);
	assert_int_equal(client_place(client, &place, &placed, &refused), -EPROTO);
	assert_int_equal(client_release(client, &ids, &released, &refused), -EPROTO);
	assert_int_equal(client_status(client, &status, &reply, &refused), -EPROTO);
	atomic_store(&server->rules.refuse, 1);
	assert_int_equal(client_place(client, &place, &placed, &refused), -EPROTO);
}

// A new socket is wanted after silence, and there is none; it goes on once there is.
static void without_a_socket_it_waits(void **unused)
{
	struct rlimit before, none;
	struct wire_place place = two_of_web();
	open_client_again("tester", SOON_MS, BRIEF_MS);
	atomic_store(&server->rules.drop, UINT32_MAX);
	assert_return_code(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	assert_return_code(setrlimit(RLIMIT_NOFILE, &none), 0);
	int result = client_place(client, &place, &placed, &refused);
	assert_return_code(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(result, -ETIMEDOUT);
	atomic_store(&server->rules.drop, 0);
	assert_int_equal(place_until_heard(&place), CLIENT_DONE);
}

static void open_says_what_is_wrong(void **unused)
{
	struct client *none = NULL;
	static const struct {
		struct client_settings settings;
		const char *says;
	} bad[] = {
		{{.server = "127.0.0.1", .key_text = "1:00112233445566778899aabbccddeeff"}, "name"},
		{{.server = "127.0.0.1", .name = "n", .key_text = "1:0"}, "berth client key"},
		{{.server = "127.0.0.1", .name = "n"}, "berth client key"},
		{{.server = "[::1", .name = "n", .key_text = "1:00112233445566778899aabbccddeeff"},
			"[IPv6]:PORT"},
		{{.server = "127.0.0.1:",
			 .name = "n",
			 .key_text = "1:00112233445566778899aabbccddeeff"},
			"HOST:PORT"},
		{{.server = "127.0.0.1",
			 .source = "192.0.2.1",
			 .name = "n",
			 .key_text = "1:00112233445566778899aabbccddeeff"},
			"cannot send from 192.0.2.1"},
		{{.server = "127.0.0.1",
			 .source = ":1",
			 .name = "n",
			 .key_text = "1:00112233445566778899aabbccddeeff"},
			"\":1\" is not an address"},
	};
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_true(client_open(&bad[i].settings, &none, message, sizeof message) < 0);
		if (!strstr(message, bad[i].says))
			fail_msg("\"%s\" does not say \"%s\"", message, bad[i].says);
	}
}

static void endpoints_are_read(void **unused)
{
	static const struct {
		const char *text;
		int family;
		uint16_t port;
	} good[] = {
		{"127.0.0.1", AF_INET, WIRE_PORT},
		{"127.0.0.1:99", AF_INET, 99},
		{"::1", AF_INET6, WIRE_PORT},
		{"[::1]", AF_INET6, WIRE_PORT},
		{"[::1]:65535", AF_INET6, 65535},
	};
	for (uint32_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		struct sockaddr_storage a;
		socklen_t size;
		assert_int_equal(
			endpoint_resolve(good[i].text, &a, &size, message, sizeof message), 0);
		assert_int_equal(a.ss_family, good[i].family);
		uint16_t port = a.ss_family == AF_INET ? ((struct sockaddr_in *)&a)->sin_port
						       : ((struct sockaddr_in6 *)&a)->sin6_port;
		assert_int_equal(ntohs(port), good[i].port);
	}
	struct sockaddr_storage a;
	socklen_t size;
	static const char *const bad[] = {"", ":4647", "[]", "[::1]x", "127.0.0.1:port"};
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_true(endpoint_resolve(bad[i], &a, &size, message, sizeof message) < 0);
}

static void refusals_are_said_in_words(void **unused)
{
	char text[300];
	struct wire_refused why = {.reason = WIRE_REFUSED_NO_NODE,
		.nodes_seen = 120,
		.nodes_not_ready = 3,
		.exhausted_memory = 100,
		.filter_count = 2,
		.filters = {0, 17}};
	assert_string_equal(client_refusal_text(&why, text, sizeof text),
		"no-node, 120 nodes seen, 3 not ready, 17 filtered by constraint 2, 100 lack "
		"memory");
	char small[10];
	client_refusal_text(&why, small, sizeof small);
	assert_string_equal(small, "no-node, ");
}

#define WITH_SERVER(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(place_fills_the_answer),
		WITH_SERVER(same_request_gives_the_same_allocations),
		WITH_SERVER(lost_requests_are_sent_again),
		WITH_SERVER(forged_and_stray_answers_are_ignored),
		WITH_SERVER(refusal_is_returned),
		WITH_SERVER(overload_is_waited_out),
		WITH_SERVER(silence_ends_at_the_deadline),
		WITH_SERVER(wrong_key_is_never_answered),
		WITH_SERVER(restarted_server_is_found_again),
		WITH_SERVER(release_and_status_answer),
		WITH_SERVER(malformed_request_is_not_sent),
		WITH_SERVER(a_follower_sends_to_the_leader),
		WITH_SERVER(a_follower_that_knows_no_leader_sends_to_the_next),
		WITH_SERVER(silence_sends_to_the_next),
		WITH_SERVER(without_a_leader_the_refusal_is_told),
		WITH_SERVER(an_answer_that_says_nothing_is_none),
		WITH_SERVER(without_a_socket_it_waits),
		cmocka_unit_test(open_says_what_is_wrong),
		cmocka_unit_test(endpoints_are_read),
		cmocka_unit_test(refusals_are_said_in_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
