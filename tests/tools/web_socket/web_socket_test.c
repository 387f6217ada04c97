// Two ends of a WebSocket over a pair of sockets.
#include "tools/web_socket/web_socket.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define MESSAGE_MAX 1000u

static int fds[2];
static struct web_socket *server, *client;

static int open_pair(void **unused)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -1;
	struct web_socket_stream of_server = web_socket_stream_of(&fds[0]);
	struct web_socket_stream of_client = web_socket_stream_of(&fds[1]);
	server = web_socket_open(&of_server, false, MESSAGE_MAX, NULL, 0);
	client = web_socket_open(&of_client, true, MESSAGE_MAX, NULL, 0);
	return 0;
}

static int close_pair(void **unused)
{
	web_socket_free(server);
	web_socket_free(client);
	close(fds[0]);
	if (fds[1] >= 0)
		close(fds[1]);
	return 0;
}

static bool receive(struct web_socket *s, struct web_socket_message *m)
{
	web_socket_turn(s, web_socket_events(s, true));
	return web_socket_receive(s, m);
}

static void messages_go_both_ways(void **unused)
{
	struct web_socket_message m;
	assert_false(receive(server, &m));
	web_socket_send(client, WEB_SOCKET_TEXT, "one", 3);
	web_socket_send(client, WEB_SOCKET_BINARY, "", 0);
	assert_true(receive(server, &m));
	assert_int_equal(m.opcode, WEB_SOCKET_TEXT);
	assert_memory_equal(m.data, "one", 3);
	assert_true(web_socket_receive(server, &m));
	assert_int_equal(m.opcode, WEB_SOCKET_BINARY);
	assert_int_equal(m.size, 0);
	web_socket_send(server, WEB_SOCKET_TEXT, "two", 3);
	assert_true(receive(client, &m));
	assert_memory_equal(m.data, "two", 3);
	assert_false(web_socket_receive(client, &m));
}

static void bytes_behind_the_handshake_count(void **unused)
{
	struct web_socket_stream stream = web_socket_stream_of(&fds[1]);
	struct web_socket *other = web_socket_open(&stream, true, MESSAGE_MAX, "\x81\x02hi", 4);
	struct web_socket_message m;
	assert_true(web_socket_receive(other, &m));
	assert_memory_equal(m.data, "hi", 2);
	web_socket_free(other);
}

static void a_ping_is_answered(void **unused)
{
	struct web_socket_message m;
	web_socket_send(client, WEB_SOCKET_PING, "x", 1);
	assert_false(receive(server, &m));
	uint8_t bytes[8];
	assert_int_equal(recv(fds[1], bytes, sizeof bytes, MSG_DONTWAIT), 3);
	assert_memory_equal(bytes, "\x8a\x01x", 3);
}

static void a_farewell_is_answered(void **unused)
{
	struct web_socket_message m;
	const char *reason;
	web_socket_close(client, 1000, "done");
	web_socket_send(client, WEB_SOCKET_TEXT, "late", 4);
	assert_false(receive(server, &m));
	assert_true(web_socket_is_over(server) && web_socket_is_through(server));
	assert_int_equal(web_socket_closed_with(server, &reason), 1000);
	assert_string_equal(reason, "done");
	assert_false(receive(client, &m));
	assert_true(web_socket_is_over(client));
	assert_int_equal(web_socket_closed_with(client, &reason), 1000);
	assert_int_equal(web_socket_events(server, true), 0);
}

static void a_broken_rule_is_told(void **unused)
{
	struct web_socket_message m;
	const char *reason;
	char large[MESSAGE_MAX + 1] = "";
	web_socket_send(client, WEB_SOCKET_TEXT, large, sizeof large);
	assert_false(receive(server, &m));
	assert_true(web_socket_is_over(server));
	assert_false(receive(client, &m));
	assert_int_equal(web_socket_closed_with(client, &reason), WEB_SOCKET_TOO_LARGE);
}

static void an_end_without_farewell_is_noticed(void **unused)
{
	struct web_socket_message m;
	const char *reason;
	close(fds[1]);
	fds[1] = -1;
	assert_false(receive(server, &m));
	assert_true(web_socket_is_over(server));
	assert_int_equal(web_socket_closed_with(server, &reason), 0);
	web_socket_send(server, WEB_SOCKET_TEXT, "x", 1);
	assert_true(web_socket_is_through(server));
	assert_int_equal(web_socket_waiting(server), 0);
}

// Whoever does not listen is sent nothing more, and what waits arrives whole and in order later.
static void a_slow_reader_gets_all(void **unused)
{
	struct web_socket_message m;
	unsigned char data[MESSAGE_MAX];
	uint32_t sent = 0, came = 0;
	for (; web_socket_waiting(server) < 100000; sent++) {
		memset(data, (int)(sent % 251), sizeof data);
		web_socket_send(server, WEB_SOCKET_BINARY, data, sizeof data);
	}
	assert_true(sent > 100);
	assert_true(web_socket_events(server, false) & POLLOUT);
	while (came < sent) {
		web_socket_turn(server, POLLOUT);
		web_socket_turn(client, POLLIN);
		for (; web_socket_receive(client, &m); came++) {
			assert_int_equal(m.size, MESSAGE_MAX);
			assert_int_equal(m.data[0], came % 251);
			assert_int_equal(m.data[MESSAGE_MAX - 1], came % 251);
		}
	}
	assert_int_equal(web_socket_waiting(server), 0);
	assert_int_equal(web_socket_events(server, true), POLLIN | POLLRDHUP);
}

// Also by an end that takes no messages, and when its room for them is full.
static void an_end_is_noticed_without_reading(void **unused)
{
	struct web_socket_message m;
	char data[MESSAGE_MAX] = "";
	for (int i = 0; i < 5; i++)
		web_socket_send(client, WEB_SOCKET_BINARY, data, sizeof data);
	web_socket_turn(server, POLLIN);
	assert_true(web_socket_receive(server, &m));
	assert_false(web_socket_is_over(server));
	close(fds[1]);
	fds[1] = -1;
	struct pollfd polled = {.fd = fds[0], .events = web_socket_events(server, false)};
	assert_int_equal(poll(&polled, 1, 0), 1);
	web_socket_turn(server, polled.revents);
	assert_true(web_socket_is_over(server));
}

// A peer that sends and never listens is not read from.
static void pings_without_end_cost_no_memory(void **unused)
{
	struct web_socket_message m;
	uint8_t ping[6 + WEB_SOCKET_CONTROL_BYTES] = {0x89, 0x80 | WEB_SOCKET_CONTROL_BYTES};
	uint32_t turns = 0;
	while (web_socket_events(server, true) & POLLIN) {
		assert_int_equal(send(fds[1], ping, sizeof ping, MSG_NOSIGNAL), sizeof ping);
		assert_false(receive(server, &m));
		assert_true(++turns < 100000);
	}
	assert_true(web_socket_waiting(server) < 300u * 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(messages_go_both_ways, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(
			bytes_behind_the_handshake_count, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(a_ping_is_answered, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(a_farewell_is_answered, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(a_broken_rule_is_told, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(
			an_end_without_farewell_is_noticed, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(
			an_end_is_noticed_without_reading, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(a_slow_reader_gets_all, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(
			pings_without_end_cost_no_memory, open_pair, close_pair),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
