// Lists of a large fleet: complete, in order, and never in memory as a whole.
#include "tests/support/core/slowness.h"
#include "tests/tools/api/acl_world.h"
#include "tests/tools/api/prometheus_reader.h"
#include "tests/tools/api/server.h"
#include "tools/api/lists/list_stream.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/http.h"
#include "tools/api/server/parking.h"
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#define NODES (BUILD_SLOWNESS > 1 ? 25000u : 100000u)
#define BUFFER_BYTES_MAX (256u * 1024)

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.nodes_max = NODES + 4096});
	server_nodes(server, NODES);
	return 0;
}

static double metric(const char *name)
{
	struct response r = http(server, "GET", "/v1/metrics?format=prometheus", NULL);
	struct prometheus p;
	char problem[256];
	assert_true(prometheus_read(r.body, &p, problem, sizeof problem));
	double value = prometheus_value(&p, name, "");
	prometheus_free(&p);
	response_free(&r);
	return value;
}

static double buffer_most(void)
{
	return metric("berth_http_stream_buffer_bytes_most");
}

// Counts the ids of a list and checks their order, without parsing a hundred megabytes.
static uint32_t count_sorted(const char *body, size_t size)
{
	static const char key[] = "\"ID\":\"";
	char last[37] = "";
	uint32_t count = 0;
	for (size_t at = 0; at + sizeof key + 36 < size; at++) {
		if (body[at] != '"' || memcmp(body + at, key, sizeof key - 1) != 0)
			continue;
		char id[37] = "";
		memcpy(id, body + at + sizeof key - 1, 36);
		assert_true(strcmp(last, id) < 0);
		memcpy(last, id, sizeof last);
		count++;
	}
	return count;
}

static void a_large_list_is_whole_and_bounded(void **unused)
{
	struct response r = http(server, "GET", "/v1/nodes", NULL);
	assert_int_equal(r.status, 200);
	assert_true(r.size > 500u * NODES);
	assert_int_equal(count_sorted(r.body, r.size), NODES);
	assert_int_equal(r.body[0], '[');
	assert_int_equal(r.body[r.size - 1], ']');
	response_free(&r);
	double most = buffer_most();
	assert_true(most > 1024 && most < BUFFER_BYTES_MAX);
}

static void a_large_list_is_compressed_on_its_way(void **unused)
{
	struct response plain = http(server, "GET", "/v1/nodes", NULL);
	struct response packed =
		http_with(server, "GET", "/v1/nodes", NULL, 0, "Accept-Encoding: gzip");
	assert_true(response_has(&packed, "Content-Encoding: gzip"));
	assert_true(packed.size < plain.size / 5);
	unsigned char *text = malloc(plain.size + 1);
	assert_non_null(text);
	z_stream stream = {.next_in = (unsigned char *)packed.body, .avail_in = (uInt)packed.size};
	stream.next_out = text;
	stream.avail_out = (uInt)plain.size + 1;
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	inflateEnd(&stream);
	assert_int_equal(stream.total_out, plain.size);
	assert_memory_equal(text, plain.body, plain.size);
	free(text);
	response_free(&plain);
	response_free(&packed);
	assert_true(buffer_most() < BUFFER_BYTES_MAX);
}

// Items that a filter leaves out: there is always one more, and none writes anything.
static bool leave_out(void *visited, struct json_writer *w, size_t bytes_wanted)
{
	++*(uint32_t *)visited;
	return true;
}

static void leave_alone(void *visited)
{
}

// A turn of a list ends after a few pieces, also when they have not given a byte: the other connections of its thread
// are waiting.
static void a_list_that_finds_nothing_gives_up_its_turn(void **unused)
{
	const struct route route = {.pattern = "/v1/nodes", .right = RIGHT_OPEN};
	struct request request = {.api = server->api, .route = &route};
	struct reply reply = {0};
	char some[64];
	uint32_t visited = 0;
	reply_stream(&request, &reply, &visited, NULL, leave_out, leave_alone);
	assert_int_equal(reply.source->read(reply.source, 0, some, sizeof some), 1); // "["
	for (uint32_t turn = 1, before = visited; turn < 100; turn++, before = visited) {
		assert_int_equal(reply.source->read(reply.source, 1, some, sizeof some), 0);
		assert_in_range(visited - before, 1, 16);
	}
	reply.source->free(reply.source);
}

// A filter is looked at node by node, on a thread that has other connections: they are answered.
static void a_filter_that_finds_nothing_holds_up_nobody(void **unused)
{
	static const char request[] = "GET /v1/nodes?filter=Meta.rack%20==%20none HTTP/1.1\r\n"
				      "Host: localhost\r\nConnection: close\r\n\r\n";
	int filtered[API_THREADS];
	for (uint32_t i = 0; i < API_THREADS; i++) {
		filtered[i] = server_connect(server);
		assert_int_equal(send(filtered[i], request, sizeof request - 1, 0),
			(ssize_t)sizeof request - 1);
	}
	for (int i = 0; i < 40; i++) {
		struct response r = http(server, "GET", "/v1/regions", NULL);
		assert_int_equal(r.status, 200);
		response_free(&r);
	}
	for (uint32_t i = 0; i < API_THREADS; i++)
		close(filtered[i]);
}

// What looks at all nodes before its first byte does so on the thread for lists, so that nobody else waits for it: the
// first list, which puts the ids in order, and what finds no page early. Other lists begin at once.
static void what_takes_long_begins_on_a_thread_of_its_own(void **unused)
{
	static const struct {
		const char *path;
		int on_the_thread;
	} asked[] = {
		{"/v1/nodes?per_page=10", 1},
		{"/v1/nodes?per_page=10", 0},
		{"/v1/"
		 "nodes?per_page=10&reverse=true&next_token=80000000-0000-4000-8000-000000000000",
			0},
		{"/v1/nodes", 0},
		{"/v1/nodes?prefix=1234", 0},
		{"/v1/nodes?per_page=10&filter=NodeClass%20==%20large", 0},
		{"/v1/nodes?per_page=10&filter=NodeClass%20==%20none", 1},
		{"/v1/node/pools", 1},
		{"/v1/search/fuzzy", 1},
	};
	for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
		bool is_search = strstr(asked[i].path, "search") != NULL;
		double before = metric("berth_http_lists_total");
		struct response r = http(server, is_search ? "PUT" : "GET", asked[i].path,
			is_search ? "{\"Text\":\"zzz\",\"Context\":\"nodes\"}" : NULL);
		assert_int_equal(r.status, 200);
		response_free(&r);
		assert_int_equal(metric("berth_http_lists_total") - before, asked[i].on_the_thread);
	}
	double before = metric("berth_http_lists_total");
	json_decref(http_json(server, "GET", "/v1/regions", NULL));
	assert_int_equal(metric("berth_http_lists_total") - before, 0);
}

// A piece of work that takes some turns and notes each.
struct turns {
	struct request request;
	char name;
	uint32_t left;
	sem_t *begins; // what its first turn waits for; NULL: nothing
};

static char turns_taken[16];

static void take_turn(struct request *request, struct reply *reply)
{
	struct turns *t = caa_container_of(request, struct turns, request);
	if (t->begins)
		assert_int_equal(sem_wait(t->begins), 0);
	t->begins = NULL;
	turns_taken[strlen(turns_taken)] = t->name;
	if (--t->left == 0)
		reply->status = 200;
}

// What is not done yet goes behind the others that wait.
static void pieces_of_long_answers_take_turns(void **unused)
{
	sem_t begins;
	struct turns all[] = {{.name = 'a', .left = 4, .begins = &begins}, {.name = 'b', .left = 1},
		{.name = 'c', .left = 2}};
	memset(turns_taken, 0, sizeof turns_taken);
	assert_int_equal(sem_init(&begins, 0, 0), 0);
	for (size_t i = 0; i < 3; i++) {
		struct reply reply = {0};
		all[i].request.api = server->api;
		answer_in_background(&all[i].request, &reply, BACKGROUND_LISTS, take_turn);
		assert_int_equal(reply.status, 0);
	}
	assert_int_equal(sem_post(&begins), 0);
	while (atomic_load(&server->api->commands_under_way) > 0)
		sched_yield();
	assert_string_equal(turns_taken, "abcacaa");
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(background_answer_take(&all[i].request).status, 200);
	sem_destroy(&begins);
}

static void pages_of_a_large_list(void **unused)
{
	struct response r = http(server, "GET", "/v1/nodes?per_page=10", NULL);
	json_t *page = json_loads(r.body, 0, NULL);
	assert_int_equal(json_array_size(page), 10);
	json_decref(page);
	response_free(&r);
}

// Reads the pages of a job's allocations; returns how many there are, whose ids follow each other.
static uint32_t count_paged(const char *job, uint32_t per_page)
{
	char path[256], token[64] = "", last[37] = "";
	uint32_t count = 0;
	for (bool more = true; more;) {
		snprintf(path, sizeof path, "/v1/job/%s/allocations?per_page=%u&next_token=%s", job,
			per_page, token);
		struct response r = http(server, "GET", path, NULL);
		assert_int_equal(r.status, 200);
		const char *next = strstr(r.headers, "X-Nomad-NextToken: ");
		more = next && sscanf(next + 19, "%63[^\r]", token) == 1;
		json_t *page = json_loads(r.body, 0, NULL);
		for (size_t i = 0; i < json_array_size(page); i++, count++) {
			const json_t *item = json_array_get(page, i);
			const char *id = json_string_value(json_object_get(item, "ID"));
			assert_string_equal(json_string_value(json_object_get(item, "JobID")), job);
			assert_true(strcmp(last, id) < 0);
			snprintf(last, sizeof last, "%s", id);
		}
		json_decref(page);
		response_free(&r);
	}
	return count;
}

// The ids of a job that has many are not held: its list is looked for among all allocations.
static void a_job_of_many_allocations_is_listed(void **unused)
{
	static const struct {
		const char *job;
		uint32_t count;
	} jobs[] = {{"few", 30}, {"many", RECORDS_VISITED_AT_ONCE + 500}};
	for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
		struct uuid ids[PLACE_COUNT_MAX];
		server_job(server, jobs[i].job);
		for (uint32_t left = jobs[i].count; left;) {
			uint32_t some = left < PLACE_COUNT_MAX ? left : PLACE_COUNT_MAX;
			assert_int_equal(
				server_place(server, jobs[i].job, (uint8_t)some, ids), some);
			left -= some;
		}
	}
	for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
		char path[64];
		assert_int_equal(count_paged(jobs[i].job, 4999), jobs[i].count);
		assert_int_equal(count_paged(jobs[i].job, 1000000), jobs[i].count);
		snprintf(path, sizeof path, "/v1/job/%s/allocations", jobs[i].job);
		json_t *whole = http_json(server, "GET", path, NULL);
		assert_int_equal(json_array_size(whole), jobs[i].count);
		json_decref(whole);
	}
	assert_true(buffer_most() < BUFFER_BYTES_MAX);
}

static _Atomic bool stop;

static void *change(void *unused)
{
	for (uint32_t i = 0; !stop; i++)
		server_node(server, i % 1000);
	return NULL;
}

// A list that is read slowly while the fleet changes is still valid and complete.
static void a_slow_reader_gets_it_all(void **unused)
{
	static const char request[] =
		"GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	pthread_t thread;
	stop = false;
	pthread_create(&thread, NULL, change, NULL);
	int fd = server_connect(server);
	assert_int_equal(send(fd, request, sizeof request - 1, 0), (ssize_t)sizeof request - 1);
	size_t capacity = 256u * 1024 * 1024, size = 0;
	char *answer = malloc(capacity);
	assert_non_null(answer);
	ssize_t got;
	for (int i = 0; (got = recv(fd, answer + size, 256u * 1024, 0)) > 0; i++) {
		size += (size_t)got;
		assert_true(capacity - size > 256u * 1024);
		if (i < 100)
			usleep(1000);
	}
	answer[size] = '\0';
	stop = true;
	pthread_join(thread, NULL);
	close(fd);
	assert_int_equal(strncmp(answer, "HTTP/1.1 200", 12), 0);
	assert_int_equal(size > 7 ? memcmp(answer + size - 7, "\r\n0\r\n\r\n", 7) : 1, 0);
	free(answer);
	assert_true(buffer_most() < BUFFER_BYTES_MAX);
}

// One that reads a little and leaves must not keep anything.
static void readers_may_leave(void **unused)
{
	static const char request[] = "GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\n\r\n";
	for (int i = 0; i < 20; i++) {
		char some[4096];
		int fd = server_connect(server);
		assert_int_equal(
			send(fd, request, sizeof request - 1, 0), (ssize_t)sizeof request - 1);
		assert_true(recv(fd, some, sizeof some, 0) > 0);
		close(fd);
	}
}

// Access control is on from then on.
static void a_list_breaks_off_when_its_token_ends(void **unused)
{
	char management[SECRET_BYTES], secret[SECRET_BYTES], request[256];
	acl_world_bootstrap(management);
	acl_world_policy("nodes", "node { policy = \"read\" }");
	struct uuid accessor = acl_world_token("nodes", 0, secret);
	int fd = server_connect(server);
	int length = snprintf(request, sizeof request,
		"GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\nX-Nomad-Token: %s\r\n\r\n", secret);
	assert_int_equal(send(fd, request, (size_t)length, 0), length);
	size_t capacity = 256u * 1024 * 1024, size = 0;
	char *answer = malloc(capacity);
	assert_non_null(answer);
	for (ssize_t got = 1; got > 0; size += got > 0 ? (size_t)got : 0) {
		got = recv(fd, answer + size, 256u * 1024, 0);
		if (size == 0) {
			acl_world_delete_token(accessor);
			usleep(1000000);
		}
	}
	close(fd);
	assert_int_equal(strncmp(answer, "HTTP/1.1 200", 12), 0);
	assert_true(memcmp(answer + size - 7, "\r\n0\r\n\r\n", 7) != 0);
	assert_true(size < 500u * NODES);
	free(answer);
}

// The last: nobody waits for answers any more.
static void what_waits_when_the_server_stops_is_not_begun(void **unused)
{
	struct turns late = {.name = 'a', .left = 1};
	struct reply reply = {0};
	memset(turns_taken, 0, sizeof turns_taken);
	parking_close(server->api->parking);
	late.request.api = server->api;
	answer_in_background(&late.request, &reply, BACKGROUND_LISTS, take_turn);
	while (atomic_load(&server->api->commands_under_way) > 0)
		sched_yield();
	reply = background_answer_take(&late.request);
	assert_int_equal(reply.status, MHD_HTTP_SERVICE_UNAVAILABLE);
	assert_string_equal(turns_taken, "");
	reply_free(&reply);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		// First: tests after it leave lists that nobody waits for.
		cmocka_unit_test(what_takes_long_begins_on_a_thread_of_its_own),
		cmocka_unit_test(pieces_of_long_answers_take_turns),
		cmocka_unit_test(a_large_list_is_whole_and_bounded),
		cmocka_unit_test(a_large_list_is_compressed_on_its_way),
		cmocka_unit_test(a_list_that_finds_nothing_gives_up_its_turn),
		cmocka_unit_test(a_filter_that_finds_nothing_holds_up_nobody),
		cmocka_unit_test(pages_of_a_large_list),
		cmocka_unit_test(a_job_of_many_allocations_is_listed),
		cmocka_unit_test(a_slow_reader_gets_it_all),
		cmocka_unit_test(readers_may_leave),
		cmocka_unit_test(a_list_breaks_off_when_its_token_ends),
		cmocka_unit_test(what_waits_when_the_server_stops_is_not_begun),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
