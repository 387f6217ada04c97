// What a client that wants to run a command in an allocation is told: in the frame that closes the WebSocket, as it
// shows nothing else.
#include "tests/tools/api/server.h"
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODY "12345678-1234-1234-1234-123456789abc"
#define UPGRADE                                                                  \
	"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13" \
	"\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

// All that comes until the server closes.
static size_t exchange(const char *id, const char *headers, char *text, size_t size)
{
	size_t got = 0;
	int fd = server_connect(server);
	int length = snprintf(text, size,
		"GET /v1/client/allocation/%s/exec?task=t&command=%%5B%%22sh%%22%%5D&tty=false&"
		"ws_handshake=true HTTP/1.1\r\nHost: localhost\r\n%s\r\n",
		id, headers);
	assert_int_equal(send(fd, text, (size_t)length, MSG_NOSIGNAL), length);
	while (poll(&(struct pollfd){fd, POLLIN, 0}, 1, 20000) == 1) {
		ssize_t some = recv(fd, text + got, size - 1 - got, 0);
		if (some <= 0)
			break;
		got += (size_t)some;
		// A frame that closes ends what is sent.
		text[got] = '\0';
		const char *end = strstr(text, "\r\n\r\n");
		if (end && !strstr(text, " 101 "))
			break;
	}
	close(fd);
	text[got] = '\0';
	return got;
}

static void expect_closed(const char *id, unsigned code, const char *reason)
{
	char text[2048];
	size_t size = exchange(id, UPGRADE, text, sizeof text), length = strlen(reason);
	assert_int_equal(strncmp(text, "HTTP/1.1 101 ", 13), 0);
	// The key and its answer are the example of RFC 6455.
	assert_non_null(strstr(text, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
	assert_non_null(strstr(text, "Upgrade: websocket\r\n"));
	const unsigned char *frame = (const unsigned char *)strstr(text, "\r\n\r\n") + 4;
	assert_int_equal((const char *)frame + 4 + length - text, size);
	assert_int_equal(frame[0], 0x88);
	assert_int_equal(frame[1], 2 + length);
	assert_int_equal(frame[2] << 8 | frame[3], code);
	assert_memory_equal(frame + 4, reason, length);
}

static void the_reason_closes_the_web_socket(void **unused)
{
	struct uuid ids[PLACE_COUNT_MAX];
	char id[UUID_TEXT_BYTES];
	server_node(server, 0);
	server_job(server, "web");
	assert_int_equal(server_place(server, "web", 1, ids), 1);
	expect_closed(uuid_format(&ids[0], id), 1011, "No path to node");
	expect_closed(NOBODY, 1008, "Unknown allocation \"" NOBODY "\"");
	expect_closed("nosuch", 1008, "Unknown allocation \"nosuch\"");
}

static void a_plain_request_is_refused(void **unused)
{
	static const char *const headers[] = {"", "Upgrade: websocket\r\nConnection: Upgrade\r\n",
		"Upgrade: h2c\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n"};
	char text[2048];
	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
		exchange(NOBODY, headers[i], text, sizeof text);
		assert_int_equal(strncmp(text, "HTTP/1.1 400 ", 13), 0);
		assert_non_null(strstr(text, "failed to upgrade connection"));
	}
}

// A reason has 123 bytes at most, a key 64.
static void what_is_too_long_is_cut_or_refused(void **unused)
{
	char text[2048], id[200], headers[512], key[100];
	memset(id, 'x', sizeof id - 1);
	id[sizeof id - 1] = '\0';
	size_t size = exchange(id, UPGRADE, text, sizeof text);
	const unsigned char *frame = (const unsigned char *)strstr(text, "\r\n\r\n") + 4;
	assert_int_equal(frame[1], 125);
	assert_int_equal((const char *)frame + 2 + 125 - text, size);
	memset(key, 'k', sizeof key - 1);
	key[sizeof key - 1] = '\0';
	snprintf(headers, sizeof headers,
		"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: %s\r\n", key);
	exchange(NOBODY, headers, text, sizeof text);
	assert_int_equal(strncmp(text, "HTTP/1.1 400 ", 13), 0);
}

// Clients that come and leave at once cost nothing that stays.
static void many_come_and_go(void **unused)
{
	char text[2048];
	for (int i = 0; i < 300; i++) {
		int fd = server_connect(server);
		int size = snprintf(text, sizeof text,
			"GET /v1/client/allocation/" NOBODY
			"/exec HTTP/1.1\r\nHost: localhost\r\n" UPGRADE "\r\n\x81\x80zzzz");
		assert_int_equal(send(fd, text, (size_t)size, MSG_NOSIGNAL), size);
		close(fd);
	}
	expect_closed(NOBODY, 1008, "Unknown allocation \"" NOBODY "\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reason_closes_the_web_socket),
		cmocka_unit_test(a_plain_request_is_refused),
		cmocka_unit_test(what_is_too_long_is_cut_or_refused),
		cmocka_unit_test(many_come_and_go),
	};
	return cmocka_run_group_tests(tests, server_group_begin, server_group_end);
}
