// A real server and the agent's end of the line: what clients ask of allocations is answered by their node, and a node
// asks for the variables of its tasks.
#include "state/base/time_units.h"
#include "tests/tools/api/acl_world.h"
#include "tests/tools/api/line_stage.h"
#include "tools/agent/line/line_ask.h"
#include "tools/api/line/line_hub.h"
#include "tools/api/server/server.h"
#include "tools/web_socket/frame.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

// The other side has ended the connection, and has not only fallen silent.
static bool has_been_ended(int fd)
{
	char byte;
	ssize_t size = recv(fd, &byte, 1, MSG_DONTWAIT);
	return size == 0 || (size < 0 && errno == ECONNRESET);
}

static int line_begin(void **unused)
{
	server = server_start(&(struct server_options){.has_line = true});
	server_job(server, "other");
	stage_begin(server);
	return 0;
}

static int line_end(void **unused)
{
	stage_end();
	return server_group_end(unused);
}

static int status_of(const char *path, char *body, size_t room)
{
	struct response r = http(server, "GET", path, NULL);
	int status = (int)r.status;
	snprintf(body, room, "%s", r.body ? r.body : "");
	response_free(&r);
	return status;
}

static void a_request_goes_to_its_node_as_it_came(void **unused)
{
	char path[128], body[4096], expected[256];
	snprintf(path, sizeof path, "/v1/client/fs/ls/%s?path=/a%%20b&x", stage.id);
	struct response r = http_with(server, "GET", path, NULL, 0,
		"X-Nomad-Token: e9a5f1e2-0000-0000-0000-000000000000");
	assert_int_equal(r.status, 200);
	assert_true(response_has(&r, "Content-Type: text/x-test"));
	snprintf(expected, sizeof expected, "GET /v1/client/fs/ls/%s?path=/a%%20b&x HTTP/1.1\r\n",
		stage.id);
	assert_memory_equal(r.body, expected, strlen(expected));
	// What it shows to the controller is no business of the node's.
	assert_null(strstr(r.body, "e9a5f1e2"));
	response_free(&r);
	snprintf(path, sizeof path, "/v1/client/allocation/%s/restart?path=/", stage.id);
	r = http(server, "PUT", path, "{\"TaskName\":\"t\"}");
	assert_int_equal(r.status, 200);
	assert_memory_equal(r.body, "PUT /v1/client/allocation/", 26);
	assert_non_null(strstr(r.body, "Content-Length: 16\r\n\r\n"));
	response_free(&r);
	assert_int_equal(status_of("/v1/client/stats", body, sizeof body), 400);
	char text[UUID_TEXT_BYTES];
	snprintf(path, sizeof path, "/v1/client/stats?node_id=%s&path=/",
		uuid_format(&stage.node, text));
	assert_int_equal(status_of(path, body, sizeof body), 200);
	snprintf(path, sizeof path, "/v1/agent/monitor?log_level=warn&node_id=%s&path=/", text);
	assert_int_equal(status_of(path, body, sizeof body), 200);
	assert_memory_equal(body, "GET /v1/agent/monitor?log_level=warn&node_id=", 44);
	assert_int_equal(status_of("/v1/client/stats?node_id=x", body, sizeof body), 500);
	assert_string_equal(body, "node lookup failed: index error: UUID must be 36 characters");
	assert_int_equal(status_of("/v1/client/stats?node_id=00000000-0000-0000-0000-00000000ffff",
				 body, sizeof body),
		404);
	assert_string_equal(body, "Unknown node ID");
}

static void what_is_not_there_is_said_in_known_words(void **unused)
{
	static const struct {
		const char *path;
		int status;
		const char *words;
	} cases[] = {
		{"/v1/client/fs/ls/", 400, "must provide a valid alloc id"},
		{"/v1/client/fs/ls/1234", 500,
			"alloc lookup failed: index error: UUID must be 36 characters"},
		{"/v1/client/fs/logs/12345678-1234-1234-1234-123456789abc", 404,
			"Unknown allocation \"12345678-1234-1234-1234-123456789abc\""},
		{"/v1/client/fs/cat/12345678-1234-1234-1234-123456789abc", 200,
			"Unknown allocation \"12345678-1234-1234-1234-123456789abc\""},
	};
	char body[4096];
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(status_of(cases[i].path, body, sizeof body), cases[i].status);
		assert_string_equal(body, cases[i].words);
	}
}

static int ask_raw(const char *what, const char *headers)
{
	char text[1024];
	int fd = server_connect(server);
	int size = snprintf(text, sizeof text,
		"GET /v1/client/%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", what, headers);
	stage_say(fd, text, (size_t)size);
	return fd;
}

// The node learns that nobody reads any more.
static void a_stream_ends_with_its_reader(void **unused)
{
	char what[128], text[65536] = "";
	snprintf(what, sizeof what, "fs/logs/%s?follow=true", stage.id);
	int fd = ask_raw(what, "");
	while (!strstr(text, "line\n\r\n5\r\nline\n"))
		assert_true(stage_hear(fd, text, sizeof text));
	assert_true(atomic_load(&stage.answering) > 0);
	close(fd);
	stage_until_quiet();
}

static void a_node_that_dies_ends_the_answer(void **unused)
{
	char what[128], text[4096] = "";
	snprintf(what, sizeof what, "fs/cat/%s?path=dies", stage.id);
	int fd = ask_raw(what, "");
	while (stage_hear(fd, text, sizeof text))
		continue;
	assert_non_null(strstr(text, "Content-Length: 100\r\n"));
	assert_non_null(strstr(text, "\r\n\r\nhalf"));
	close(fd);
}

static void a_web_socket_goes_both_ways(void **unused)
{
	char what[128], text[4096] = "", *body;
	snprintf(what, sizeof what, "allocation/%s/exec?task=t", stage.id);
	int fd = ask_raw(what, STAGE_UPGRADE);
	while (!(body = strstr(text, "\r\n\r\n")))
		assert_true(stage_hear(fd, text, sizeof text));
	assert_memory_equal(text, "HTTP/1.1 101 ", 13);
	assert_non_null(strstr(text, STAGE_ACCEPTED));
	assert_non_null(strstr(text, "Upgrade: websocket\r\n"));
	for (int i = 0; i < 3; i++) {
		*text = '\0';
		stage_say_text(fd, "typed");
		while (!strstr(text, "typed"))
			assert_true(stage_hear(fd, text, sizeof text));
		assert_string_equal(text, "typed");
	}
	close(fd);
	stage_until_quiet();
}

static uint64_t dials(void)
{
	struct line_counts counts;
	line_count(stage.line, &counts);
	return counts.dialling + counts.dialled;
}

// A notice that somebody sends again opens no connection; one of a newer registration counts anew, and so does an
// answer's.
static void a_call_that_comes_again_is_none(void **unused)
{
	struct line_call call = {1, 9, 1, 5};
	stage_until_called();
	uint64_t before = dials();
	line_called(stage.line, &call);
	assert_int_equal(dials(), before + 1);
	line_called(stage.line, &call);
	call.number = 4;
	line_called(stage.line, &call);
	assert_int_equal(dials(), before + 1);
	call.number = 6;
	line_called(stage.line, &call);
	assert_int_equal(dials(), before + 2);
	call.number = 0;
	line_called(stage.line, &call);
	assert_int_equal(dials(), before + 3);
	call.port = 0;
	line_called(stage.line, &call);
	assert_int_equal(dials(), before + 3);
}

static int put_variable(const char *path, const char *value)
{
	char whole[128], body[128];
	snprintf(whole, sizeof whole, "/v1/var/%s", path);
	snprintf(body, sizeof body, "{\"Items\":{\"a\":\"%s\"}}", value);
	struct response r = http(server, "PUT", whole, body);
	int status = (int)r.status;
	response_free(&r);
	return status;
}

static int asked(const char *method, const char *target, const struct uuid *of, const char *task,
	struct line_answer *got)
{
	char message[256];
	const struct line_question q = {
		.method = method, .target = target, .allocation = *of, .task = task, .stop_fd = -1};
	int error = line_ask(stage.line, &q, got, message, sizeof message);
	if (error != 0)
		fail_msg("%s", message);
	return (int)got->status;
}

static int asked_status(
	const char *method, const char *target, const struct uuid *of, const char *task)
{
	struct line_answer got;
	int status = asked(method, target, of, task, &got);
	line_answer_free(&got);
	return status;
}

static void a_node_reads_variables_of_its_tasks(void **unused)
{
	struct line_answer got;
	const struct uuid nobody = {{1}};
	assert_int_equal(put_variable("nomad/jobs/web", "one"), 200);
	assert_int_equal(put_variable("nomad/jobs/other", "two"), 200);
	assert_int_equal(asked("GET", "/v1/var/nomad/jobs/web?namespace=default", &stage.allocation,
				 "t", &got),
		200);
	assert_non_null(strstr(got.body, "\"one\""));
	assert_true(got.index > 0);
	line_answer_free(&got);
	assert_int_equal(
		asked_status("GET", "/v1/var/nomad/jobs/web/g/t", &stage.allocation, "t"), 404);
	assert_int_equal(asked("GET", "/v1/vars?prefix=nomad", &stage.allocation, "t", &got), 200);
	assert_non_null(strstr(got.body, "nomad/jobs/web"));
	assert_null(strstr(got.body, "nomad/jobs/other"));
	line_answer_free(&got);
	// Nothing else, although access control is off.
	assert_int_equal(
		asked_status("GET", "/v1/var/nomad/jobs/other", &stage.allocation, "t"), 403);
	assert_int_equal(
		asked_status("GET", "/v1/var/nomad/jobs/web", &stage.allocation, "u"), 403);
	assert_int_equal(asked_status("GET", "/v1/var/nomad/jobs/web", &nobody, "t"), 403);
	assert_int_equal(
		asked_status("DELETE", "/v1/var/nomad/jobs/web", &stage.allocation, "t"), 403);
	assert_int_equal(asked_status("GET", "/v1/jobs", &stage.allocation, "t"), 403);
	assert_int_equal(asked_status("GET", "/v1/agent/health", &stage.allocation, "t"), 403);
}

static void *change_later(void *unused)
{
	nanosleep(&(struct timespec){.tv_nsec = 100 * NS_PER_MS}, NULL);
	server_must(put_variable("nomad/jobs/web", "new") == 200, "a variable");
	return NULL;
}

static void a_change_is_waited_for(void **unused)
{
	struct line_answer got;
	char target[128];
	pthread_t thread;
	assert_int_equal(put_variable("nomad/jobs/web", "old"), 200);
	assert_int_equal(asked("GET", "/v1/var/nomad/jobs/web", &stage.allocation, "t", &got), 200);
	snprintf(target, sizeof target, "/v1/var/nomad/jobs/web?index=%llu&wait=60s",
		(unsigned long long)got.index);
	uint64_t before = got.index;
	line_answer_free(&got);
	assert_int_equal(pthread_create(&thread, NULL, change_later, NULL), 0);
	assert_int_equal(asked("GET", target, &stage.allocation, "t", &got), 200);
	pthread_join(thread, NULL);
	assert_non_null(strstr(got.body, "\"new\""));
	assert_true(got.index > before);
	line_answer_free(&got);
}

static void whoever_asks_can_be_stopped(void **unused)
{
	struct line_answer got;
	char message[256], target[128];
	int fds[2];
	assert_return_code(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(put_variable("nomad/jobs/web", "same"), 200);
	assert_int_equal(asked("GET", "/v1/var/nomad/jobs/web", &stage.allocation, "t", &got), 200);
	snprintf(target, sizeof target, "/v1/var/nomad/jobs/web?index=%llu&wait=60s",
		(unsigned long long)got.index);
	line_answer_free(&got);
	struct line_question q = {.method = "GET",
		.target = target,
		.allocation = stage.allocation,
		.task = "t",
		.timeout_ms = 200,
		.stop_fd = fds[0]};
	assert_int_equal(line_ask(stage.line, &q, &got, message, sizeof message), -ETIMEDOUT);
	q.timeout_ms = 60000;
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(line_ask(stage.line, &q, &got, message, sizeof message), -ECANCELED);
	close(fds[0]);
	close(fds[1]);
}

static void make_token(const char *management, char accessor[static 40], char secret[static 40])
{
	struct answer a = ask_with(
		management, "PUT", "/v1/acl/token", "{\"Name\":\"x\",\"Type\":\"management\"}");
	const char *found = strstr(a.text, "\"AccessorID\":\""),
		   *shown = strstr(a.text, "\"SecretID\":\"");
	assert_non_null(found);
	assert_non_null(shown);
	snprintf(accessor, 37, "%s", found + 14);
	snprintf(secret, 37, "%s", shown + 12);
}

// A log that is followed, and a command that runs, end with the token that they were begun with.
static void a_token_that_ends_ends_what_it_began(const char *management)
{
	for (size_t i = 0; i < 2; i++) {
		char accessor[40], secret[40], what[128], headers[512], path[100], text[65536] = "";
		make_token(management, accessor, secret);
		snprintf(what, sizeof what,
			i == 0 ? "fs/logs/%s?follow=true" : "allocation/%s/exec?task=t", stage.id);
		snprintf(headers, sizeof headers, "X-Nomad-Token: %s\r\n%s", secret,
			i == 0 ? "" : STAGE_UPGRADE);
		int fd = ask_raw(what, headers);
		while (!strstr(text, i == 0 ? "line\n" : "\r\n\r\n"))
			assert_true(stage_hear(fd, text, sizeof text));
		// By the node, and not a refusal of the server's.
		assert_true(i == 0 || strstr(text, STAGE_ACCEPTED));
		snprintf(path, sizeof path, "/v1/acl/token/%s", accessor);
		assert_int_equal(ask_with(management, "DELETE", path, NULL).status, 200);
		for (*text = '\0'; stage_hear(fd, text, sizeof text); *text = '\0')
			continue;
		assert_true(has_been_ended(fd));
		close(fd);
		stage_until_quiet();
	}
}

// A client's message, masked as clients do.
static size_t put_message(char *frame, const char *text)
{
	static const uint8_t mask[4] = {7, 77, 3, 1};
	size_t size = strlen(text);
	size_t head = web_socket_head((uint8_t *)frame, WEB_SOCKET_TEXT, size, mask);
	memcpy(frame + head, text, size);
	web_socket_mask((uint8_t *)frame + head, size, mask);
	return head + size;
}

// A command's WebSocket that is open, and has been told nothing yet.
static int open_greeted(const char *headers)
{
	char what[128], text[4096] = "";
	snprintf(what, sizeof what, "allocation/%s/exec?task=t&ws_handshake=true", stage.id);
	int fd = ask_raw(what, headers);
	while (!strstr(text, "\r\n\r\n"))
		assert_true(stage_hear(fd, text, sizeof text));
	assert_memory_equal(text, "HTTP/1.1 101 ", 13);
	assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n");
	return fd;
}

// What the node hears, and echoes: a greeting without a token, and what came behind it.
static void expect_heard(int fd, const char *behind)
{
	static const char greeting[] = "\x81\x8d\0\0\0\0{\"version\":1}";
	char text[64];
	size_t want = sizeof greeting - 1 + strlen(behind), used = 0;
	while (used < want) {
		struct pollfd polled = {fd, POLLIN, 0};
		assert_int_equal(poll(&polled, 1, 60000), 1);
		ssize_t size = recv(fd, text + used, sizeof text - used, 0);
		assert_true(size > 0);
		used += (size_t)size;
	}
	assert_int_equal(used, want);
	assert_memory_equal(text, greeting, sizeof greeting - 1);
	assert_memory_equal(text + sizeof greeting - 1, behind, strlen(behind));
	close(fd);
	stage_until_quiet();
}

static void expect_closed(int fd, unsigned code, const char *reason)
{
	char text[256] = {0};
	const unsigned char *frame = (const unsigned char *)text;
	size_t size = 4 + strlen(reason), used = 0;
	for (ssize_t more = 1; used < sizeof text && more > 0; used += more > 0 ? (size_t)more : 0)
		more = recv(fd, text + used, sizeof text - used, 0);
	assert_int_equal(used, size);
	assert_int_equal(frame[0], 0x88);
	assert_int_equal(frame[1], size - 2);
	assert_int_equal(frame[2] << 8 | frame[3], code);
	assert_memory_equal(text + 4, reason, size - 4);
	close(fd);
	stage_until_quiet();
}

#define GREETING "{\"version\":1,\"auth_token\":\"%s\"}"

// As a browser has to, which puts no headers into such a request.
static void a_token_comes_with_the_first_message(const char *management)
{
	static const struct {
		const char *greeting;
		unsigned code;
		const char *reason;
	} refused[] = {
		{"{\"version\":1,\"auth_token\":\"\"}", 1011, "Permission denied"},
		{"{\"version\":1}", 1011, "Permission denied"},
		{"{\"version\":1,\"auth_token\":\"12345678-1234-1234-1234-123456789abc\"}", 1011,
			"Permission denied"},
		{"{\"version\":2}", 1008, "unexpected handshake value: 2"},
		{"{\"stdin\":{}}", 1008, "unexpected handshake value: 0"},
	};
	char text[512], frame[512], headers[512];
	snprintf(text, sizeof text, GREETING, management);
	size_t size = put_message(frame, text);
	memcpy(frame + size, "typed", 5);
	int fd = open_greeted(STAGE_UPGRADE);
	stage_say(fd, frame, 20);
	stage_say(fd, frame + 20, size - 20 + 5);
	expect_heard(fd, "typed");
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		fd = open_greeted(STAGE_UPGRADE);
		stage_say(fd, frame, put_message(frame, refused[i].greeting));
		expect_closed(fd, refused[i].code, refused[i].reason);
	}
	memset(frame, 0, sizeof frame);
	fd = open_greeted(STAGE_UPGRADE);
	stage_say(fd, frame, sizeof frame);
	expect_closed(fd, 1008, "the first message is no handshake");
	// A header's is the one that holds, and is no reason to tell the node the other.
	snprintf(headers, sizeof headers, "X-Nomad-Token: %s\r\n" STAGE_UPGRADE, management);
	fd = open_greeted(headers);
	stage_say(fd, frame, put_message(frame, refused[2].greeting));
	expect_heard(fd, "");
}

// Its own right, and that of the namespace: as the matrix of rights says. Last, because access control stays on.
static void rights_are_asked_before_the_node_is(void **unused)
{
	char management[SECRET_BYTES], path[128], what[128], text[4096] = "";
	acl_world_bootstrap(management);
	snprintf(path, sizeof path, "/v1/client/fs/ls/%s?path=/", stage.id);
	assert_int_equal(ask_with(NULL, "GET", path, NULL).status, 403);
	assert_int_equal(ask_with(management, "GET", path, NULL).status, 200);
	snprintf(path, sizeof path, "/v1/client/fs/logs/%s?path=/", stage.id);
	assert_int_equal(ask_with(NULL, "GET", path, NULL).status, 500);
	assert_int_equal(
		ask_with(NULL, "GET", "/v1/client/fs/ls/12345678-1234-1234-1234-123456789abc", NULL)
			.status,
		404);
	snprintf(what, sizeof what, "allocation/%s/exec?task=t", stage.id);
	int fd = ask_raw(what, STAGE_UPGRADE);
	while (stage_hear(fd, text, sizeof text))
		continue;
	assert_memory_equal(text, "HTTP/1.1 101 ", 13);
	const unsigned char *frame = (const unsigned char *)strstr(text, "\r\n\r\n") + 4;
	assert_int_equal(frame[2] << 8 | frame[3], 1011);
	assert_memory_equal(frame + 4, "Permission denied", 17);
	close(fd);
	assert_int_equal(
		asked_status("GET", "/v1/var/nomad/jobs/web", &stage.allocation, "t"), 200);
	a_token_that_ends_ends_what_it_began(management);
	a_token_comes_with_the_first_message(management);
}

// Of a hub that takes no more requests, because it has too many or, as here, ends. The server itself goes on.
static void who_cannot_wait_for_a_node_is_told_when_to_come_again(void **unused)
{
	char path[128];
	line_hub_close(server->api->line);
	snprintf(path, sizeof path, "/v1/client/fs/ls/%s?path=/", stage.id);
	struct response r = http(server, "GET", path, NULL);
	assert_int_equal(r.status, 429);
	assert_true(response_has(&r, "Retry-After: 1"));
	assert_string_equal(r.body, "too many requests wait for nodes; try again in a second");
	response_free(&r);
}

int main(void)
{
	const struct CMUnitTest closing[] = {
		cmocka_unit_test(who_cannot_wait_for_a_node_is_told_when_to_come_again),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_goes_to_its_node_as_it_came),
		cmocka_unit_test(what_is_not_there_is_said_in_known_words),
		cmocka_unit_test(a_stream_ends_with_its_reader),
		cmocka_unit_test(a_node_that_dies_ends_the_answer),
		cmocka_unit_test(a_web_socket_goes_both_ways),
		cmocka_unit_test(a_call_that_comes_again_is_none),
		cmocka_unit_test(a_node_reads_variables_of_its_tasks),
		cmocka_unit_test(a_change_is_waited_for),
		cmocka_unit_test(whoever_asks_can_be_stopped),
		cmocka_unit_test(rights_are_asked_before_the_node_is),
	};
	int failed = cmocka_run_group_tests(tests, line_begin, line_end);
	return failed + cmocka_run_group_tests(closing, line_begin, line_end);
}
