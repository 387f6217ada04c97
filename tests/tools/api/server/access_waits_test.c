// Requests that take their time and tokens that end meanwhile: whoever waits is asked again, and a stream ends.
#include "tests/tools/api/acl_world.h"
#include "tests/tools/api/scheduling.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char management[SECRET_BYTES];

static int waits_begin(void **unused)
{
	assert_int_equal(server_group_begin(unused), 0);
	server_job(server, "first");
	server_namespace(server, "other");
	acl_world_bootstrap(management);
	acl_world_policy("read", "namespace \"default\" { policy = \"read\" } vm { policy = "
				 "\"read\" }");
	return 0;
}

static void put_job(const char *namespace_name, const char *id)
{
	char path[64];
	snprintf(path, sizeof path, "/v1/jobs?namespace=%s", namespace_name);
	assert_int_equal(
		ask_with(management, "PUT", path, job_body(id, "service", "a", 32)).status, 200);
}

struct waiting {
	char secret[SECRET_BYTES], path[128];
	struct answer answer;
	pthread_t thread;
};

static void *wait_for_change(void *context)
{
	struct waiting *w = context;
	w->answer = ask_with(w->secret, "GET", w->path, NULL);
	return NULL;
}

static void a_query_that_waits_is_asked_again(void **unused)
{
	static struct waiting stays, goes;
	struct uuid accessor = acl_world_token("read", 0, goes.secret);
	(void)acl_world_token("read", 0, stays.secret);
	snprintf(goes.path, sizeof goes.path, "/v1/jobs?index=%llu&wait=60s",
		(unsigned long long)state_index(server->state));
	memcpy(stays.path, goes.path, sizeof stays.path);
	pthread_create(&goes.thread, NULL, wait_for_change, &goes);
	pthread_create(&stays.thread, NULL, wait_for_change, &stays);
	nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
	acl_world_delete_token(accessor);
	put_job("default", "second");
	pthread_join(goes.thread, NULL);
	pthread_join(stays.thread, NULL);
	assert_int_equal(goes.answer.status, 403);
	assert_int_equal(stays.answer.status, 200);
	assert_non_null(strstr(stays.answer.text, "second"));
}

static void who_waits_for_a_machine_is_told(void **unused)
{
	static struct waiting goes;
	acl_world_policy("reaches", "vm_connect { policy = \"write\" }");
	struct uuid accessor = acl_world_token("reaches", 0, goes.secret);
	assert_int_equal(
		ask_with(management, "PUT", "/v1/vms", "{\"name\":\"awaited\",\"image\":\"i\"}")
			.status,
		200);
	snprintf(goes.path, sizeof goes.path, "/v1/vms/awaited/port-forward?port=22&wait=300");
	pthread_create(&goes.thread, NULL, wait_for_change, &goes);
	nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
	acl_world_delete_token(accessor);
	pthread_join(goes.thread, NULL);
	assert_int_equal(goes.answer.status, 403);
}

// Nothing changes but the tokens.
static void a_query_ends_with_its_token(void **unused)
{
	static struct waiting deleted, over;
	int64_t soon_ns = (int64_t)time_wall_ns(&time_source_real) + 1000000000;
	struct uuid accessor = acl_world_token("read", 0, deleted.secret);
	(void)acl_world_token("read", soon_ns, over.secret);
	snprintf(deleted.path, sizeof deleted.path, "/v1/jobs?index=%llu&wait=300s",
		(unsigned long long)state_index(server->state));
	memcpy(over.path, deleted.path, sizeof over.path);
	pthread_create(&deleted.thread, NULL, wait_for_change, &deleted);
	pthread_create(&over.thread, NULL, wait_for_change, &over);
	nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
	acl_world_delete_token(accessor);
	pthread_join(deleted.thread, NULL);
	pthread_join(over.thread, NULL);
	assert_int_equal(deleted.answer.status, 403);
	assert_int_equal(over.answer.status, 403);
	assert_in_range((int64_t)time_wall_ns(&time_source_real), soon_ns, soon_ns + 30000000000);
}

// -1: it is forbidden.
static int try_stream(const char *secret, const char *path)
{
	char text[512];
	int fd = server_connect(server);
	struct timeval patience = {.tv_sec = 30};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	int size = snprintf(text, sizeof text,
		"GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX-Nomad-Token: %s\r\n\r\n", path,
		api_port(server->api), secret);
	assert_int_equal(send(fd, text, (size_t)size, MSG_NOSIGNAL), size);
	ssize_t got = recv(fd, text, sizeof text - 1, 0);
	assert_true(got > 12);
	text[got] = '\0';
	if (strncmp(text, "HTTP/1.1 403", 12) != 0) {
		assert_memory_equal(text, "HTTP/1.1 200", 12);
		return fd;
	}
	close(fd);
	return -1;
}

static int open_stream(const char *secret, const char *path)
{
	int fd = try_stream(secret, path);
	assert_true(fd >= 0);
	return fd;
}

// What a stream ends with: an empty chunk.
#define LAST_CHUNK "0\r\n\r\n"

// Adds to the text what comes of a stream, up to these words of it.
static void read_until(int fd, const char *words, char *text, size_t size)
{
	size_t got = strlen(text);
	while (!strstr(text, words)) {
		ssize_t some = recv(fd, text + got, size - 1 - got, 0);
		assert_true(some > 0); // else patience is over
		got += (size_t)some;
		text[got] = '\0';
	}
}

// Reads until the server ends the stream.
static void read_to_end(int fd, char *text, size_t size)
{
	read_until(fd, LAST_CHUNK, text, size);
	close(fd);
}

static void a_stream_ends_with_its_token(void **unused)
{
	static const char *const paths[] = {
		"/v1/event/stream?topic=Job&index=9999999", "/v1/vms?watch=true&filter=worker=w"};
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		char secret[SECRET_BYTES], text[8192] = "";
		struct uuid accessor = acl_world_token("read", 0, secret);
		int fd = open_stream(secret, paths[i]);
		acl_world_delete_token(accessor);
		read_to_end(fd, text, sizeof text);
	}
}

static void a_stream_ends_when_its_policies_forbid_it(void **unused)
{
	char secret[SECRET_BYTES], text[8192] = "";
	acl_world_policy("nodes", "node { policy = \"read\" }");
	(void)acl_world_token("nodes", 0, secret);
	int fd = open_stream(secret, "/v1/event/stream?topic=Node&index=9999999");
	acl_world_policy("nodes", "node { policy = \"deny\" }");
	read_to_end(fd, text, sizeof text);
}

static void a_stream_ends_when_its_token_expires(void **unused)
{
	char secret[SECRET_BYTES], text[8192] = "";
	int64_t ttl_ns = 500000000;
	int fd;
	do { // until there is time left to open it
		ttl_ns *= 2;
		(void)acl_world_token(
			"read", (int64_t)time_wall_ns(&time_source_real) + ttl_ns, secret);
		fd = try_stream(secret, "/v1/event/stream?topic=Job&index=9999999");
	} while (fd < 0);
	read_to_end(fd, text, sizeof text);
	assert_int_equal(ask_with(secret, "GET", "/v1/jobs", NULL).status, 403);
}

static void a_stream_shows_what_the_token_allows(void **unused)
{
	char secret[SECRET_BYTES], text[8192] = "";
	struct uuid accessor = acl_world_token("read", 0, secret);
	put_job("other", "hidden-before");
	int fd = open_stream(secret, "/v1/event/stream?topic=Job&namespace=*");
	put_job("other", "hidden");
	put_job("default", "shown");
	read_until(fd, "shown", text, sizeof text);
	acl_world_delete_token(accessor);
	read_to_end(fd, text, sizeof text);
	assert_null(strstr(text, "hidden"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_for_a_machine_is_told),
		cmocka_unit_test(a_query_that_waits_is_asked_again),
		cmocka_unit_test(a_query_ends_with_its_token),
		cmocka_unit_test(a_stream_ends_with_its_token),
		cmocka_unit_test(a_stream_ends_when_its_policies_forbid_it),
		cmocka_unit_test(a_stream_ends_when_its_token_expires),
		cmocka_unit_test(a_stream_shows_what_the_token_allows),
	};
	return cmocka_run_group_tests(tests, waits_begin, server_group_end);
}
