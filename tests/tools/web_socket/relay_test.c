// Bytes between a WebSocket and a socket.
#include "tools/web_socket/relay.h"
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int near_fd, far_fd; // of the WebSocket: the relay's end, the client's
static int inner, outer;    // of the socket behind it
static int stop[2];
static struct web_socket_stream stream;
static struct web_socket *client;
static pthread_t thread;

static void *run_relay(void *unused)
{
	struct web_socket_stream of_relay = web_socket_stream_of(&near_fd);
	struct web_socket *s = web_socket_open(&of_relay, false, RELAY_MESSAGE_BYTES_MAX, NULL, 0);
	relay_run(s, &of_relay, inner, inner, stop[0]);
	web_socket_free(s);
	close(near_fd);
	close(inner);
	return NULL;
}

static int begin(void **unused)
{
	int first[2], second[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, first), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, second), 0);
	near_fd = first[0];
	far_fd = first[1];
	inner = second[0];
	outer = second[1];
	assert_int_equal(fcntl(inner, F_SETFL, O_NONBLOCK), 0);
	stream = web_socket_stream_of(&far_fd);
	client = web_socket_open(&stream, true, RELAY_MESSAGE_BYTES_MAX, NULL, 0);
	return pipe(stop) || pthread_create(&thread, NULL, run_relay, NULL);
}

static int end(void **unused)
{
	pthread_join(thread, NULL);
	web_socket_free(client);
	close(far_fd);
	close(outer);
	close(stop[0]);
	close(stop[1]);
	return 0;
}

// False: the other end has closed.
static bool hear(struct web_socket_message *m)
{
	while (!web_socket_receive(client, m)) {
		struct pollfd polled = {.fd = far_fd, .events = web_socket_events(client, true)};
		if (web_socket_is_over(client))
			return false;
		assert_true(poll(&polled, 1, 20000) > 0);
		web_socket_turn(client, polled.revents);
	}
	assert_int_equal(m->opcode, WEB_SOCKET_BINARY);
	return true;
}

static void expect_farewell(void)
{
	struct web_socket_message m;
	const char *reason;
	assert_false(hear(&m));
	assert_int_equal(web_socket_closed_with(client, &reason), WEB_SOCKET_NORMAL);
}

static void bytes_go_both_ways_until_the_socket_ends(void **unused)
{
	struct web_socket_message m;
	char text[16];
	web_socket_send(client, WEB_SOCKET_BINARY, "ping", 4);
	assert_int_equal(read(outer, text, sizeof text), 4);
	assert_memory_equal(text, "ping", 4);
	web_socket_send(client, WEB_SOCKET_TEXT, "text", 4); // as old clients have it
	assert_int_equal(read(outer, text, sizeof text), 4);
	assert_int_equal(write(outer, "pong", 4), 4);
	assert_true(hear(&m));
	assert_int_equal(m.size, 4);
	assert_memory_equal(m.data, "pong", 4);
	assert_int_equal(write(outer, "bye", 3), 3);
	shutdown(outer, SHUT_RDWR);
	assert_true(hear(&m));
	assert_memory_equal(m.data, "bye", 3);
	expect_farewell();
}

static void the_socket_ends_with_the_client(void **unused)
{
	char text[16];
	web_socket_send(client, WEB_SOCKET_BINARY, "last", 4);
	web_socket_close(client, WEB_SOCKET_NORMAL, "");
	assert_int_equal(read(outer, text, sizeof text), 4);
	assert_int_equal(read(outer, text, sizeof text), 0);
	expect_farewell();
}

static void it_stops_when_it_is_told(void **unused)
{
	char text[16];
	assert_int_equal(write(stop[1], "", 1), 1);
	assert_int_equal(read(outer, text, sizeof text), 0);
	expect_farewell();
}

// A socket that is not read holds the client up, and gets all in the end; the same the other way around.
static void slow_ends_hold_each_other_up(void **unused)
{
	enum { PIECES = 300, BYTES = 10000 };
	char *piece = malloc(BYTES), *got = malloc(BYTES);
	struct web_socket_message m;
	size_t came = 0;
	for (int i = 0; i < PIECES; i++) {
		memset(piece, i, BYTES);
		web_socket_send(client, WEB_SOCKET_BINARY, piece, BYTES);
	}
	poll(NULL, 0, 50);
	web_socket_turn(client, POLLOUT);
	assert_true(web_socket_waiting(client) > 1000000);
	while (came < (size_t)PIECES * BYTES) {
		web_socket_turn(client, POLLOUT);
		ssize_t n = read(outer, got, BYTES);
		assert_true(n > 0);
		for (ssize_t k = 0; k < n; k++)
			assert_int_equal((unsigned char)got[k], (came + (size_t)k) / BYTES % 256);
		came += (size_t)n;
	}
	assert_int_equal(fcntl(outer, F_SETFL, O_NONBLOCK), 0);
	size_t sent = 0, heard = 0;
	for (int idle = 0; idle < 5;) {
		ssize_t n = write(outer, piece, BYTES);
		sent += n > 0 ? (size_t)n : 0;
		idle = n > 0 ? 0 : idle + 1;
		poll(NULL, 0, n > 0 ? 0 : 10);
	}
	assert_true(sent < 4u << 20);
	while (heard < sent) {
		assert_true(hear(&m));
		heard += m.size;
	}
	assert_int_equal(heard, sent);
	free(piece);
	free(got);
	shutdown(outer, SHUT_RDWR);
	expect_farewell();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			bytes_go_both_ways_until_the_socket_ends, begin, end),
		cmocka_unit_test_setup_teardown(the_socket_ends_with_the_client, begin, end),
		cmocka_unit_test_setup_teardown(it_stops_when_it_is_told, begin, end),
		cmocka_unit_test_setup_teardown(slow_ends_hold_each_other_up, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
