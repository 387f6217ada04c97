// Pages of other sites: what Nomad tells their browsers, of the sites that may read here, and nothing of others.
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

#define SITE "http://a.example"
#define ASKS "Access-Control-Request-Method: "

// The head of the answer.
static void ask_from(const char *site, const char *line, const char *more, char *text, size_t size)
{
	size_t got = 0;
	int fd = server_connect(server);
	int length = snprintf(text, size, "%s HTTP/1.1\r\nHost: localhost\r\nOrigin: %s\r\n%s\r\n",
		line, site, more);
	assert_int_equal(send(fd, text, (size_t)length, MSG_NOSIGNAL), length);
	for (*text = '\0'; !strstr(text, "\r\n\r\n"); text[got] = '\0') {
		ssize_t some = recv(fd, text + got, size - 1 - got, 0);
		assert_true(some > 0);
		got += (size_t)some;
	}
	close(fd);
}

static int status_from(const char *site, const char *line, const char *more)
{
	char text[4096];
	int status = 0;
	ask_from(site, line, more, text, sizeof text);
	assert_int_equal(sscanf(text, "HTTP/1.1 %d", &status), 1);
	return status;
}

static void expect_lines(const char *text, const char *const *lines)
{
	char line[128];
	for (; *lines; lines++) {
		snprintf(line, sizeof line, "\r\n%s\r\n", *lines);
		if (!strstr(text, line))
			fail_msg("no \"%s\" in %s", *lines, text);
	}
}

static int begin(const char *origins)
{
	server = server_start(&(struct server_options){.origins = origins});
	return 0;
}

static int begin_with_any(void **unused)
{
	return begin("*");
}

static int begin_with_some(void **unused)
{
	return begin("https://b.example, " SITE);
}

// As a real server was recorded.
static void a_browser_is_told_what_a_page_may_read(void **unused)
{
	static const char *const asked[] = {"Access-Control-Allow-Credentials: true",
		"Access-Control-Allow-Headers: X-Nomad-Token", "Access-Control-Allow-Methods: GET",
		"Access-Control-Allow-Origin: *", "Vary: Accept-Encoding", "Vary: Origin",
		"Vary: Access-Control-Request-Method", "Vary: Access-Control-Request-Headers",
		NULL};
	static const char *const read[] = {"Access-Control-Allow-Credentials: true",
		"Access-Control-Allow-Origin: *", "Vary: Accept-Encoding", "Vary: Origin", NULL};
	static const char *const refused[] = {"Vary: Origin", NULL};
	char text[4096];
	ask_from(SITE, "OPTIONS /v1/client/fs/ls/x",
		ASKS "GET\r\nAccess-Control-Request-Headers: X-Nomad-Token\r\n", text, sizeof text);
	assert_memory_equal(text, "HTTP/1.1 204 ", 13);
	expect_lines(text, asked);
	ask_from(SITE, "GET /v1/vars", "", text, sizeof text);
	assert_memory_equal(text, "HTTP/1.1 200 ", 13);
	expect_lines(text, read);
	assert_null(strstr(text, "Access-Control-Allow-Methods"));
	ask_from(
		SITE, "OPTIONS /v1/client/allocation/x/restart", ASKS "PUT\r\n", text, sizeof text);
	assert_memory_equal(text, "HTTP/1.1 204 ", 13);
	expect_lines(text, refused);
	assert_null(strstr(text, "Access-Control-Allow"));
}

static void other_routes_are_for_no_page(void **unused)
{
	static const char *const paths[] = {
		"/v1/jobs", "/v1/event/stream", "/v1/client/gc", "/v1/client/nosuch/x"};
	char line[64], text[4096];
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		snprintf(line, sizeof line, "OPTIONS %s", paths[i]);
		ask_from(SITE, line, ASKS "GET\r\n", text, sizeof text);
		assert_memory_equal(text, i < 3 ? "HTTP/1.1 405 " : "HTTP/1.1 404 ", 13);
		assert_null(strstr(text, "Access-Control-Allow"));
	}
	ask_from(SITE, "GET /v1/jobs", "", text, sizeof text);
	assert_memory_equal(text, "HTTP/1.1 200 ", 13);
	assert_null(strstr(text, "Access-Control-Allow"));
	assert_int_equal(status_from(SITE, "OPTIONS /v1/client/fs/ls/x", ""), 405);
}

// Whatever its browser is told: some things it sends without asking.
static void a_page_changes_nothing(void **unused)
{
	assert_int_equal(status_from(SITE, "PUT /v1/jobs", "Content-Length: 0\r\n"), 403);
	assert_int_equal(status_from(SITE, "POST /v1/jobs", "Content-Length: 0\r\n"), 403);
	assert_int_equal(status_from(SITE, "DELETE /v1/job/x", ""), 403);
}

static void only_sites_that_are_named_may_read(void **unused)
{
	static const char *const told[] = {"Access-Control-Allow-Origin: " SITE, NULL};
	char text[4096];
	ask_from(SITE, "GET /v1/vars", "", text, sizeof text);
	expect_lines(text, told);
	assert_int_equal(status_from("https://b.example", "GET /v1/vars", ""), 200);
	assert_int_equal(status_from("http://b.example", "GET /v1/vars", ""), 403);
	assert_int_equal(status_from(SITE ".evil.example", "GET /v1/vars", ""), 403);
	assert_int_equal(
		status_from("http://c.example", "OPTIONS /v1/client/fs/ls/x", ASKS "GET\r\n"), 403);
}

static void preset_is_nobody(void **unused)
{
	assert_int_equal(status_from(SITE, "GET /v1/vars", ""), 403);
	assert_int_equal(status_from(SITE, "OPTIONS /v1/vars", ASKS "GET\r\n"), 403);
	assert_int_equal(status_from("*", "GET /v1/vars", ""), 403);
}

int main(void)
{
	const struct CMUnitTest any[] = {
		cmocka_unit_test(a_browser_is_told_what_a_page_may_read),
		cmocka_unit_test(other_routes_are_for_no_page),
		cmocka_unit_test(a_page_changes_nothing),
	};
	const struct CMUnitTest some[] = {
		cmocka_unit_test(only_sites_that_are_named_may_read),
		cmocka_unit_test(a_page_changes_nothing),
	};
	const struct CMUnitTest none[] = {cmocka_unit_test(preset_is_nobody)};
	return cmocka_run_group_tests(any, begin_with_any, server_group_end) +
	       cmocka_run_group_tests(some, begin_with_some, server_group_end) +
	       cmocka_run_group_tests(none, server_group_begin, server_group_end);
}
