// A snapshot is taken back: a body of any size, which goes into a file. Each test has a server of its own, because one
// that has restored answers nothing any more.
#include "state/base/memory.h"
#include "tests/tools/api/server.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define PATH "/v1/operator/snapshot"
#define LARGE_BYTES ((size_t)80 * 1024 * 1024)

static int begin(void **unused)
{
	return server_group_begin(unused);
}

static int end(void **unused)
{
	return server_group_end(unused);
}

static void await_begun_anew(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	for (int i = 0; i < 60000 && !server->begun_anew; i++)
		nanosleep(&pause, NULL);
	assert_int_equal(server->begun_anew, 1);
}

static void expect(struct response r, long status, const char *text)
{
	if (r.status != status || !strstr(r.body, text))
		fail_msg("%ld %s", r.status, r.body);
	response_free(&r);
}

static void a_small_one_is_taken_and_the_process_begins_anew(void **unused)
{
	struct response r = http(server, "PUT", PATH, "good and small");
	assert_int_equal(r.status, 200);
	assert_int_equal(r.size, 0);
	response_free(&r);
	assert_int_equal(server->restored_bytes, strlen("good and small"));
	await_begun_anew();
}

static void a_large_one_is_taken(void **unused)
{
	char *body = memory_take(LARGE_BYTES);
	memcpy(body, "good", 4);
	expect(http_with(server, "PUT", PATH, body, LARGE_BYTES, NULL), 200, "");
	free(body);
	assert_int_equal(server->restored_bytes, LARGE_BYTES);
	await_begun_anew();
}

static void one_of_unknown_size_is_taken(void **unused)
{
	char *body = memory_take(LARGE_BYTES);
	memcpy(body, "good", 4);
	expect(http_with(server, "PUT", PATH, body, LARGE_BYTES, "Transfer-Encoding: chunked"), 200,
		"");
	free(body);
	assert_int_equal(server->restored_bytes, LARGE_BYTES);
	await_begun_anew();
}

static void a_damaged_one_changes_nothing(void **unused)
{
	expect(http(server, "PUT", PATH, "bad"), 500,
		"failed to restore from snapshot: it is damaged");
	expect(http(server, "PUT", PATH, ""), 500, "it is damaged");
	server_namespace(server, "later");
	json_decref(http_json(server, "GET", "/v1/namespace/later", NULL));
	assert_int_equal(server->restored_bytes, 0);
	assert_int_equal(server->begun_anew, 0);
}

static void after_one_nothing_is_answered_any_more(void **unused)
{
	int waiting = http_wait(server, "/v1/jobs", 1000000, NULL);
	expect(http(server, "PUT", PATH, "good"), 200, "");
	expect(http(server, "GET", "/v1/jobs", NULL), 503, "the server stops");
	expect(http(server, "PUT", "/v1/namespaces", "{\"Name\":\"n\"}"), 503, "the server stops");
	expect(http(server, "PUT", PATH, "good"), 503, "the server stops");
	char text[4096];
	http_waited(waiting, text, sizeof text);
	await_begun_anew();
}

static void one_for_which_there_is_no_room_is_refused(void **unused)
{
	int fd = server_connect(server);
	char text[1024];
	static const char request[] = "PUT " PATH " HTTP/1.0\r\nHost: localhost\r\n"
				      "Content-Length: 4000000000000000\r\n\r\n";
	assert_int_equal(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
	http_waited(fd, text, sizeof text);
	assert_non_null(strstr(text, " 507 "));
	assert_non_null(strstr(text, "has room for "));
}

static void one_that_cannot_be_written_is_refused_when_all_of_it_came(void **unused)
{
	struct rlimit before, less;
	char *body = memory_take(LARGE_BYTES);
	memcpy(body, "good", 4);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	less = (struct rlimit){1024 * 1024, before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
	struct response r = http_with(server, "PUT", PATH, body, LARGE_BYTES, NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	expect(r, 507, "the body cannot be written into a file of the server's");
	assert_int_equal(server->restored_bytes, 0);
	expect(http(server, "PUT", PATH, "good"), 200, "");
	free(body);
}

// What the system says of the file, or of its file system.
static void one_whose_file_is_refused_is_refused(void **unused)
{
	static const struct {
		int file;
		long status;
		const char *why;
	} rows[] = {{-ENOSPC, 507, "No space left on device"}, {-EACCES, 500, "Permission denied"},
		{1 << 20, 500, "Bad file descriptor"}};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		server->body_file = rows[i].file;
		struct response r = http(server, "PUT", PATH, "good");
		assert_non_null(strstr(r.body, rows[i].why));
		expect(r, rows[i].status, "the body cannot be written into a file of the server's");
	}
	server->body_file = 0;
	expect(http(server, "PUT", PATH, "good"), 200, "");
}

static int begin_sending(void **unused)
{
	server = server_start(&(struct server_options){.has_snapshots = true});
	return 0;
}

static void one_that_is_not_made_is_not_sent(void **unused)
{
	server->snapshot_file = -1;
	expect(http(server, "GET", PATH, NULL), 500, "there is no room for it");
}

// The connection ends before the answer does.
static void one_that_cannot_be_read_breaks_off(void **unused)
{
	char text[4096];
	int fd = server_connect(server);
	static const char request[] = "GET " PATH " HTTP/1.1\r\nHost: localhost\r\n\r\n";
	server->snapshot_file = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(server->snapshot_file >= 0);
	assert_int_equal(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
	http_waited(fd, text, sizeof text);
	assert_non_null(strstr(text, "200 OK"));
	assert_null(strstr(text, "\r\n0\r\n\r\n"));
}

static void who_may_not_manage_is_refused(void **unused)
{
	json_t *token = http_json(server, "PUT", "/v1/acl/bootstrap", NULL);
	char header[128];
	snprintf(header, sizeof header, "X-Nomad-Token: %s",
		json_string_value(json_object_get(token, "SecretID")));
	expect(http(server, "PUT", PATH, "good"), 403, "Permission denied");
	char *body = memory_take(LARGE_BYTES);
	memcpy(body, "good", 4);
	expect(http_with(server, "PUT", PATH, body, LARGE_BYTES, NULL), 403, "Permission denied");
	free(body);
	assert_int_equal(server->restored_bytes, 0);
	expect(http_with(server, "PUT", PATH, "good", 4, header), 200, "");
	json_decref(token);
}

#define ALONE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ALONE(a_small_one_is_taken_and_the_process_begins_anew),
		ALONE(a_large_one_is_taken),
		ALONE(one_of_unknown_size_is_taken),
		ALONE(a_damaged_one_changes_nothing),
		ALONE(after_one_nothing_is_answered_any_more),
		ALONE(one_for_which_there_is_no_room_is_refused),
		ALONE(one_that_cannot_be_written_is_refused_when_all_of_it_came),
		ALONE(one_whose_file_is_refused_is_refused),
		cmocka_unit_test_setup_teardown(
			one_that_is_not_made_is_not_sent, begin_sending, end),
		cmocka_unit_test_setup_teardown(
			one_that_cannot_be_read_breaks_off, begin_sending, end),
		ALONE(who_may_not_manage_is_refused),
	};
	return cmocka_run_group_tests_name("restore", tests, NULL, NULL);
}
