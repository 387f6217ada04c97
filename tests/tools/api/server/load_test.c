// A hundred clients of every kind, some of which never read what they asked for, and beside them an operator and a
// node: neither waits for the others.
#include "state/records/allocation.h"
#include "tests/tools/api/scheduling.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define NODES 17000u // more records than are visited at once
#define PLACED 3000u
#define ROUNDS 2

static struct node_slot reporter;
static struct uuid reported;
static _Atomic bool is_over;
static _Atomic uint64_t reports;

static void place_many(void)
{
	struct uuid ids[PLACE_COUNT_MAX];

	server_job(server, "first");
	assert_int_equal(server_place(server, "first", 1, ids), 1);
	reported = ids[0];
	server_nodes(server, NODES);
	server_job(server, "many");
	for (uint32_t placed = 0; placed < PLACED;)
		placed += server_place(server, "many", PLACE_COUNT_MAX, ids);
}

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){
		.nodes_max = NODES + 4096, .schedulers = 2, .watchers = true});
	server_node(server, NODES);
	reporter = server->newest;
	place_many();
	return 0;
}

// Returns the socket on which the answer comes.
static int ask(const char *method, const char *path, const char *body)
{
	char request[2048];
	int size = snprintf(request, sizeof request,
		"%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
		"Content-Length: %zu\r\n\r\n%s",
		method, path, strlen(body), body);
	int fd = server_connect(server);

	server_must(send(fd, request, (size_t)size, MSG_NOSIGNAL) == size, "a request is not sent");
	return fd;
}

// Reads the answer to its end, but no further than `most` bytes; an event stream ends with the test.
static void finish(int fd, size_t most)
{
	char some[65536];
	ssize_t got = 1;

	for (size_t seen = 0; got > 0 && seen < most && !atomic_load(&is_over); seen += (size_t)got)
		got = recv(fd, some, sizeof some, 0);
	close(fd);
}

static void never_read(int fd)
{
	while (!atomic_load(&is_over))
		usleep(10000);
	close(fd);
}

struct client {
	void (*act)(uint32_t number);
	uint32_t number;
	pthread_t thread;
};

static void stall_on_nodes(uint32_t number)
{
	never_read(ask("GET", "/v1/nodes?resources", ""));
}

static void stall_on_allocations(uint32_t number)
{
	never_read(ask("GET", "/v1/allocations?reverse", ""));
}

static void stall_on_events(uint32_t number)
{
	never_read(ask("GET", "/v1/event/stream?index=1", ""));
}

static void follow_events(uint32_t number)
{
	finish(ask("GET", "/v1/event/stream", ""), SIZE_MAX);
}

static void watch_jobs(uint32_t number)
{
	char path[64];

	snprintf(path, sizeof path, "/v1/jobs?wait=1s&index=%u", 1000000 - number);
	finish(ask("GET", path, ""), SIZE_MAX);
}

static void list_nodes(uint32_t number)
{
	finish(ask("GET", "/v1/nodes", ""), SIZE_MAX);
}

static void leave_a_list(uint32_t number)
{
	finish(ask("GET", number % 2 ? "/v1/nodes" : "/v1/allocations?reverse", ""), 4096);
}

static void filter_allocations(uint32_t number)
{
	finish(ask("GET", "/v1/allocations?per_page=5&filter=Name%20==%20none", ""), SIZE_MAX);
}

static void write_job(uint32_t number)
{
	char body[1024];

	snprintf(body, sizeof body,
		"{\"Job\":{\"ID\":\"w%u\",\"Name\":\"w%u\",\"Type\":\"service\",\"Datacenters\":["
		"\"dc1\"],\"TaskGroups\":[{\"Name\":\"g\",\"Count\":1,\"Tasks\":[{\"Name\":\"t\","
		"\"Driver\":\"exec\",\"Config\":{\"command\":\"/bin/true\"}}]}]}}",
		number, number);
	finish(ask("PUT", "/v1/jobs", body), SIZE_MAX);
}

static const struct {
	void (*act)(uint32_t number);
	uint32_t count;
} kinds[] = {{stall_on_nodes, 5}, {stall_on_allocations, 5}, {stall_on_events, 10},
	{follow_events, 10}, {watch_jobs, 20}, {list_nodes, 10}, {leave_a_list, 20},
	{filter_allocations, 10}, {write_job, 10}};
#define CLIENTS 100u

static void *client_run(void *context)
{
	const struct client *client = context;

	while (!atomic_load(&is_over))
		client->act(client->number);
	return NULL;
}

static void *report_run(void *unused)
{
	char id[UUID_TEXT_BYTES];

	while (!atomic_load(&is_over)) {
		server_report(server, reporter, uuid_format(&reported, id), ALLOC_RUNNING, 0);
		atomic_fetch_add(&reports, 1);
		usleep(1000);
	}
	return NULL;
}

// A node goes on to be answered.
static void await_reports(void)
{
	for (uint64_t first = atomic_load(&reports); atomic_load(&reports) < first + 10;)
		usleep(1000);
}

static char *deployment_of(const char *job)
{
	char path[128], *id = NULL;

	snprintf(path, sizeof path, "/v1/job/%s/deployment", job);
	while (!id) {
		struct response r = http(server, "GET", path, NULL);
		json_t *deployment = json_loads(r.body, JSON_DECODE_ANY, NULL);
		if (json_is_object(deployment))
			id = strdup(member_text(deployment, "ID"));
		json_decref(deployment);
		response_free(&r);
	}
	return id;
}

// Each of these is answered, however long the others wait; the client of the test gives up after a minute.
static void operate(int round)
{
	struct uuid node = server_node_id(NODES);
	char job[32], path[64], id[UUID_TEXT_BYTES];

	snprintf(job, sizeof job, "control-%d", round);
	json_decref(http_json(server, "PUT", "/v1/jobs", job_body(job, "service", "1", 64)));
	char *deployment = deployment_of(job);
	json_decref(api_put("/v1/deployment/fail/*", deployment, ""));
	free(deployment);
	uuid_format(&node, id);
	json_decref(
		api_put("/v1/node/*/drain", id, "{\"DrainSpec\":{\"Deadline\":3600000000000}}"));
	json_decref(api_put("/v1/node/*/drain", id, "{\"DrainSpec\":null,\"MarkEligible\":true}"));
	snprintf(path, sizeof path, "/v1/job/%s", job);
	json_decref(http_json(server, "DELETE", path, NULL));
}

static void nobody_waits_for_a_hundred_others(void **unused)
{
	static struct client clients[CLIENTS];
	uint32_t count = 0;
	pthread_t node;

	for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++)
		for (uint32_t i = 0; i < kinds[kind].count; i++, count++) {
			clients[count] = (struct client){kinds[kind].act, i, 0};
			assert_int_equal(pthread_create(&clients[count].thread, NULL, client_run,
						 &clients[count]),
				0);
		}
	assert_int_equal(count, CLIENTS);
	assert_int_equal(pthread_create(&node, NULL, report_run, NULL), 0);
	for (int round = 0; round < ROUNDS; round++) {
		await_reports();
		operate(round);
	}
	atomic_store(&is_over, true);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(pthread_join(clients[i].thread, NULL), 0);
	assert_int_equal(pthread_join(node, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_waits_for_a_hundred_others),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
