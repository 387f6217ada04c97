// Blocking queries: what wakes them, what does not, and how many may wait.
#include "tests/tools/api/prometheus_reader.h"
#include "tests/tools/api/server.h"
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t now_ms(void)
{
	return time_monotonic_ns(&time_source_real) / 1000000;
}

static double metric(struct server *s, const char *name, const char *labels)
{
	struct response r = http(s, "GET", "/v1/metrics?format=prometheus", NULL);
	struct prometheus p;
	char problem[256];
	assert_true(prometheus_read(r.body, &p, problem, sizeof problem));
	double value = prometheus_value(&p, name, labels);
	prometheus_free(&p);
	response_free(&r);
	return value;
}

static void await_parked(struct server *s, double count)
{
	while (metric(s, "berth_http_parked", "") != count)
		usleep(1000);
}

// A query that waits, on a socket of its own.
static int ask(struct server *s, const char *path)
{
	char request[512];
	int size = snprintf(request, sizeof request,
		"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
	int fd = server_connect(s);
	assert_int_equal(send(fd, request, (size_t)size, MSG_NOSIGNAL), size);
	return fd;
}

// The whole answer; fails the test when none comes in time.
static void expect_answer(int fd, const char *status)
{
	char answer[65536];
	size_t size = 0;
	ssize_t got;
	do {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		assert_int_equal(poll(&p, 1, 20000), 1);
		got = recv(fd, answer + size, sizeof answer - 1 - size, 0);
		size += got > 0 ? (size_t)got : 0;
	} while (got > 0 && size < sizeof answer - 1);
	answer[size] = '\0';
	char line[64];
	snprintf(line, sizeof line, "HTTP/1.1 %s", status);
	assert_int_equal(strncmp(answer, line, strlen(line)), 0);
	close(fd);
}

static bool has_answer(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	return poll(&p, 1, 0) == 1;
}

static void a_change_wakes_and_others_do_not(void **unused)
{
	struct server *s = server_start(&(struct server_options){0});
	char path[128], text[UUID_TEXT_BYTES];
	struct uuid first = server_node(s, 1), second = server_node(s, 2);
	snprintf(path, sizeof path, "/v1/node/%s", uuid_format(&first, text));
	struct response r = http(s, "GET", path, NULL);
	snprintf(path, sizeof path, "/v1/node/%s?index=%llu&wait=60s", text,
		(unsigned long long)r.index);
	response_free(&r);
	int list = 0, node = ask(s, path);
	snprintf(path, sizeof path, "/v1/nodes?index=%llu&wait=60s",
		(unsigned long long)state_index(s->state));
	list = ask(s, path);
	await_parked(s, 2);
	server_node_expires(s, s->newest); // the second
	expect_answer(list, "200");
	await_parked(s, 1);
	assert_false(has_answer(node));
	server_node(s, 1);
	struct node_slot first_slot = s->newest;
	server_node_expires(s, first_slot);
	expect_answer(node, "200");
	(void)second;
	server_stop(s);
}

// A list of one kind sleeps through changes of another.
static void other_tables_do_not_wake(void **unused)
{
	struct server *s = server_start(&(struct server_options){0});
	struct uuid ids[PLACE_COUNT_MAX];
	server_node(s, 1);
	server_job(s, "web");
	char path[128];
	unsigned long long index = state_index(s->state);
	snprintf(path, sizeof path, "/v1/nodes?index=%llu&wait=60s", index);
	int nodes = ask(s, path);
	snprintf(path, sizeof path, "/v1/jobs?index=%llu&wait=60s", index);
	int jobs = ask(s, path);
	snprintf(path, sizeof path, "/v1/job/web?index=%llu&wait=60s", index);
	int job = ask(s, path);
	snprintf(path, sizeof path, "/v1/allocations?index=%llu&wait=60s", index);
	int allocations = ask(s, path);
	await_parked(s, 4);
	server_job(s, "other");
	expect_answer(jobs, "200");
	await_parked(s, 3);
	// The job's status goes from pending to running.
	assert_int_equal(server_place(s, "web", 1, ids), 1);
	expect_answer(allocations, "200");
	expect_answer(job, "200");
	await_parked(s, 1);
	assert_false(has_answer(nodes));
	server_node(s, 2);
	expect_answer(nodes, "200");
	server_stop(s);
}

static void an_older_index_answers_at_once(void **unused)
{
	struct server *s = server_start(&(struct server_options){0});
	server_node(s, 1);
	server_node(s, 2);
	uint64_t before = now_ms();
	char path[128];
	snprintf(path, sizeof path, "/v1/nodes?index=%llu&wait=60s",
		(unsigned long long)state_index(s->state) - 1);
	struct response r = http(s, "GET", path, NULL);
	assert_int_equal(r.status, 200);
	assert_true(now_ms() - before < 30000);
	assert_int_equal(metric(s, "berth_http_parked_most", ""), 0);
	response_free(&r);
	server_stop(s);
}

static void waiting_ends(void **unused)
{
	struct server *s = server_start(&(struct server_options){0});
	server_node(s, 1);
	char path[128];
	snprintf(path, sizeof path, "/v1/nodes?index=%llu&wait=80ms",
		(unsigned long long)state_index(s->state));
	uint64_t before = now_ms();
	struct response r = http(s, "GET", path, NULL);
	assert_int_equal(r.status, 200);
	assert_true(now_ms() - before >= 80);
	assert_int_equal(r.index, state_index(s->state));
	response_free(&r);
	assert_int_equal(metric(s, "berth_http_woken_total", "why=\"deadline\""), 1);
	server_stop(s);
}

static void a_job_that_comes_or_goes_wakes(void **unused)
{
	struct server *s = server_start(&(struct server_options){0});
	server_node(s, 1);
	char path[128];
	snprintf(path, sizeof path, "/v1/job/late?index=%llu&wait=60s",
		(unsigned long long)state_index(s->state));
	int fd = ask(s, path);
	await_parked(s, 1);
	server_job(s, "other");
	await_parked(s, 1);
	server_job(s, "late");
	expect_answer(fd, "200");
	snprintf(path, sizeof path, "/v1/job/late?index=%llu&wait=60s",
		(unsigned long long)state_index(s->state));
	fd = ask(s, path);
	await_parked(s, 1);
	json_decref(http_json(s, "DELETE", "/v1/job/late?purge=true", NULL));
	expect_answer(fd, "404");
	server_stop(s);
}

static void placements_wake_those_they_concern(void **unused)
{
	struct server *s = server_start(&(struct server_options){0});
	struct uuid node = server_node(s, 1), ids[PLACE_COUNT_MAX];
	char path[128], text[UUID_TEXT_BYTES];
	server_job(s, "web");
	server_job(s, "idle");
	unsigned long long index = state_index(s->state);
	snprintf(path, sizeof path, "/v1/job/web/allocations?index=%llu&wait=60s", index);
	int web = ask(s, path);
	snprintf(path, sizeof path, "/v1/job/idle/allocations?index=%llu&wait=60s", index);
	int idle = ask(s, path);
	snprintf(path, sizeof path, "/v1/node/%s/allocations?index=%llu&wait=60s",
		uuid_format(&node, text), index);
	int on_node = ask(s, path);
	await_parked(s, 3);
	assert_int_equal(server_place(s, "web", 1, ids), 1);
	expect_answer(web, "200");
	expect_answer(on_node, "200");
	await_parked(s, 1);
	assert_false(has_answer(idle));
	close(idle);
	await_parked(s, 0);
	server_stop(s);
}

#define MANY 500

static void hundreds_wait_without_threads(void **unused)
{
	struct rlimit files;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
	setrlimit(RLIMIT_NOFILE, &files);
	struct server *s = server_start(&(struct server_options){0});
	server_node(s, 1);
	char path[128];
	int fds[MANY];
	snprintf(path, sizeof path, "/v1/nodes?index=%llu&wait=60s",
		(unsigned long long)state_index(s->state));
	for (int i = 0; i < MANY; i++)
		fds[i] = ask(s, path);
	await_parked(s, MANY);
	// Others are served meanwhile.
	json_decref(http_json(s, "GET", "/v1/nodes", NULL));
	server_node(s, 2);
	for (int i = 0; i < MANY; i++)
		expect_answer(fds[i], "200");
	assert_int_equal(metric(s, "berth_http_parked", ""), 0);
	assert_int_equal(metric(s, "berth_http_parked_most", ""), MANY);
	server_stop(s);
}

static void a_client_that_hangs_up_is_forgotten(void **unused)
{
	struct server *s = server_start(&(struct server_options){0});
	server_node(s, 1);
	char path[128];
	snprintf(path, sizeof path, "/v1/nodes?index=%llu&wait=60s",
		(unsigned long long)state_index(s->state));
	for (int i = 0; i < 8; i++) {
		int fd = ask(s, path);
		await_parked(s, 1);
		close(fd);
		await_parked(s, 0);
	}
	assert_int_equal(metric(s, "berth_http_woken_total", "why=\"hangup\""), 8);
	server_stop(s);
}

static void shutdown_answers_who_waits(void **unused)
{
	struct server *s = server_start(&(struct server_options){0});
	server_node(s, 1);
	char path[128];
	int fds[20];
	snprintf(path, sizeof path, "/v1/nodes?index=%llu&wait=300s",
		(unsigned long long)state_index(s->state));
	for (int i = 0; i < 20; i++)
		fds[i] = ask(s, path);
	await_parked(s, 20);
	api_stop(s->api);
	s->api = NULL;
	for (int i = 0; i < 20; i++)
		expect_answer(fds[i], "200");
	server_stop(s);
}

static void *stop_api(void *argument)
{
	struct server *s = argument;
	api_stop(s->api);
	return NULL;
}

// Nobody would resume it: a request that is still being sent when the server stops is not parked any more.
static void what_arrives_while_it_stops_is_refused(void **unused)
{
	static const char head[] =
		"PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
		"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n";
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct server *s = server_start(&(struct server_options){0});
	char path[128], said[sizeof go_on];
	pthread_t stopping;
	server_node(s, 1);
	snprintf(path, sizeof path, "/v1/nodes?index=%llu&wait=300s",
		(unsigned long long)state_index(s->state));
	int waiting = ask(s, path);
	await_parked(s, 1);
	int fd = server_connect(s);
	assert_int_equal(send(fd, head, sizeof head - 1, MSG_NOSIGNAL), sizeof head - 1);
	assert_int_equal(recv(fd, said, sizeof go_on - 1, MSG_WAITALL), sizeof go_on - 1);
	assert_memory_equal(said, go_on, sizeof go_on - 1);

	assert_int_equal(pthread_create(&stopping, NULL, stop_api, s), 0);
	expect_answer(waiting, "200"); // by now it parks nothing
	assert_int_equal(send(fd, "{}", 2, MSG_NOSIGNAL), 2);
	expect_answer(fd, "503");
	pthread_join(stopping, NULL);
	s->api = NULL;
	server_stop(s);
}

// Records come and go while queries wait on all of them: nobody may miss a change for good.
static void changes_under_waiting_lose_nobody(void **unused)
{
	struct server *s = server_start(&(struct server_options){0});
	server_node(s, 1);
	for (int round = 0; round < 40; round++) {
		char path[128];
		snprintf(path, sizeof path, "/v1/nodes?index=%llu&wait=60s",
			(unsigned long long)state_index(s->state));
		int fds[4];
		for (int i = 0; i < 4; i++)
			fds[i] = ask(s, path);
		server_node(s, 2 + (uint32_t)round);
		for (int i = 0; i < 4; i++)
			expect_answer(fds[i], "200");
	}
	server_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_wakes_and_others_do_not),
		cmocka_unit_test(other_tables_do_not_wake),
		cmocka_unit_test(an_older_index_answers_at_once),
		cmocka_unit_test(waiting_ends),
		cmocka_unit_test(a_job_that_comes_or_goes_wakes),
		cmocka_unit_test(placements_wake_those_they_concern),
		cmocka_unit_test(hundreds_wait_without_threads),
		cmocka_unit_test(a_client_that_hangs_up_is_forgotten),
		cmocka_unit_test(shutdown_answers_who_waits),
		cmocka_unit_test(what_arrives_while_it_stops_is_refused),
		cmocka_unit_test(changes_under_waiting_lose_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
