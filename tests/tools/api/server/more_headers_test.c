// Headers that the configuration adds are on every answer: reads, refusals, pages, streams and WebSockets.
#include "tests/tools/api/server.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define STRICT "Strict-Transport-Security: max-age=31536000; includeSubDomains"
#define UPGRADE                                                                  \
	"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13" \
	"\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

static int begin(void **unused)
{
	server = server_start(&(struct server_options){
		.response_headers = STRICT "\nX-Frame-Options: SAMEORIGIN\n"});
	return 0;
}

static void every_answer_has_them(void **unused)
{
	static const struct {
		const char *method, *path;
		int status;
	} rows[] = {{"GET", "/v1/nodes", 200}, {"GET", "/v1/agent/health", 200},
		{"GET", "/v1/node/none", 404}, {"GET", "/v1/nosuch", 404},
		{"DELETE", "/v1/nodes", 405}, {"PUT", "/v1/jobs", 400}, {"GET", "/v1/vms/x", 404},
		{"GET", "/v1/metrics?format=prometheus", 200}};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct response r = http(
			server, rows[i].method, rows[i].path, *rows[i].method == 'P' ? "[" : NULL);
		if (r.status != rows[i].status || !response_has(&r, STRICT) ||
			!response_has(&r, "X-Frame-Options: SAMEORIGIN"))
			fail_msg("%s: %ld %s", rows[i].path, r.status, r.headers);
		response_free(&r);
	}
}

static void what_the_page_says_of_itself_stands(void **unused)
{
	struct response r = http(server, "GET", "/ui/", NULL);
	assert_int_equal(r.status, 200);
	assert_true(response_has(&r, STRICT));
	assert_true(response_has(&r, "X-Frame-Options: DENY"));
	assert_false(response_has(&r, "X-Frame-Options: SAMEORIGIN"));
	response_free(&r);
}

static void expect_head(const char *path, const char *headers, const char *first)
{
	char text[4096];
	size_t got = 0;
	int fd = server_connect(server);
	int length = snprintf(
		text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", path, headers);
	assert_int_equal(send(fd, text, (size_t)length, MSG_NOSIGNAL), length);
	for (*text = '\0'; !strstr(text, "\r\n\r\n"); text[got] = '\0') {
		ssize_t some = recv(fd, text + got, sizeof text - 1 - got, 0);
		assert_true(some > 0);
		got += (size_t)some;
	}
	close(fd);
	if (strncmp(text, first, strlen(first)) != 0 || !strstr(text, "\r\n" STRICT "\r\n"))
		fail_msg("%s: %s", path, text);
}

static void streams_and_web_sockets_have_them(void **unused)
{
	expect_head("/v1/event/stream", "", "HTTP/1.1 200 ");
	// Refused in the frame that closes it.
	expect_head(
		"/v1/client/allocation/00000000-0000-0000-0000-000000000000/exec?command=%5B%5D",
		UPGRADE, "HTTP/1.1 101 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_answer_has_them),
		cmocka_unit_test(what_the_page_says_of_itself_stands),
		cmocka_unit_test(streams_and_web_sockets_have_them),
	};
	return cmocka_run_group_tests(tests, begin, server_group_end);
}
