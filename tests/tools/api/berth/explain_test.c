// Why jobs run where they do, or nowhere, over HTTP.
#include "tests/tools/api/scheduling.h"
#include "tools/forms/explanation.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define NODES 10u
static struct node_slot slots[NODES];

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1});
	for (uint32_t i = 0; i < NODES; i++) {
		server_node(server, i);
		slots[i] = server->newest;
	}
	return 0;
}

static json_t *reason_of(json_t *holder, const char *said)
{
	size_t i;
	json_t *reason;
	json_array_foreach(json_object_get(holder, "Reasons"), i, reason)
	{
		if (strcmp(member_text(reason, "Reason"), said) == 0)
			return reason;
	}
	fail_msg("no reason %s", said);
	return NULL;
}

static const char picky[] =
	"{\"Job\":{\"ID\":\"picky\",\"Name\":\"picky\",\"Type\":\"system\",\"Datacenters\":["
	"\"dc1\"],\"Constraints\":[{\"LTarget\":\"${attr.cpu.arch}\",\"RTarget\":\"arm64\","
	"\"Operand\":\"=\"},{\"LTarget\":\"${node.class}\",\"RTarget\":\"large\",\"Operand\":"
	"\"=\"}],\"TaskGroups\":[{\"Name\":\"g\",\"EphemeralDisk\":{\"SizeMB\":101},\"Tasks\":["
	"{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":\"a\"},\"Resources\":{"
	"\"CPU\":4100,\"MemoryMB\":64}}]}]}}";

// Nodes have 3900 MHz to give; half of them are large, all are amd64.
static void every_reason_is_counted(void **unused)
{
	json_t *reply = api_put("/v1/jobs*", "", picky);
	json_decref(await_evaluation(member_text(reply, "EvalID")));
	json_decref(reply);
	json_t *why = api_get("/v1/berth/explain/job/*", "picky");
	json_t *group = json_array_get(json_object_get(why, "Groups"), 0);
	assert_int_equal(member_number(group, "Nodes"), NODES);
	assert_int_equal(member_number(group, "NodesRunning"), 0);
	assert_int_equal(member_number(group, "NodesFitting"), 0);
	assert_int_equal(
		member_number(reason_of(group, "${attr.cpu.arch} = arm64"), "Nodes"), NODES);
	assert_int_equal(
		member_number(reason_of(group, "${node.class} = large"), "Nodes"), NODES / 2);
	json_t *cpu = reason_of(group, "cpu");
	assert_string_equal(member_text(cpu, "Kind"), "exhausted");
	assert_int_equal(member_number(cpu, "Nodes"), NODES);
	assert_int_equal(member_number(json_object_get(cpu, "Nearest"), "Lack"), 200);
	assert_string_equal(member_text(json_object_get(cpu, "Nearest"), "Unit"), "MHz");
	assert_int_equal(json_array_size(json_object_get(group, "Reasons")), 3);
	json_decref(why);
	struct uuid id = server_node_id(3);
	char node[UUID_TEXT_BYTES];
	why = api_get("/v1/berth/explain/node/*", uuid_format(&id, node));
	assert_string_equal(member_text(why, "NodeName"), "node-000003");
	json_t *job = NULL;
	size_t i;
	json_array_foreach(json_object_get(why, "Jobs"), i, job)
	{
		if (strcmp(member_text(job, "JobID"), "picky") == 0)
			break;
	}
	assert_false(json_is_true(json_object_get(job, "Fits")));
	assert_int_equal(member_number(reason_of(job, "cpu"), "Nodes"), 1);
	assert_int_equal(json_array_size(json_object_get(job, "Reasons")), 2);
	json_decref(why);
	reply = http_json(server, "DELETE", "/v1/job/picky?purge=true", NULL);
	json_decref(await_evaluation(member_text(reply, "EvalID")));
	json_decref(reply);
}

static const char elsewhere[] =
	"{\"Job\":{\"ID\":\"elsewhere\",\"Name\":\"elsewhere\",\"Type\":\"system\","
	"\"Datacenters\":[\"dc1\"],%s\"TaskGroups\":[{\"Name\":\"g\",\"Tasks\":[{"
	"\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":\"a\"},\"Resources\":{"
	"\"CPU\":100,\"MemoryMB\":64}}]}]}}";

// The only reason of a job that asks for something else.
static void expect_reason(const char *asked, const char *said, uint32_t nodes)
{
	char body[1024];
	snprintf(body, sizeof body, elsewhere, asked);
	json_t *reply = api_put("/v1/jobs*", "", body);
	json_decref(await_evaluation(member_text(reply, "EvalID")));
	json_decref(reply);
	json_t *why = api_get("/v1/berth/explain/job/*", "elsewhere");
	json_t *group = json_array_get(json_object_get(why, "Groups"), 0);
	assert_int_equal(member_number(reason_of(group, said), "Nodes"), nodes);
	assert_int_equal(json_array_size(json_object_get(group, "Reasons")), 1);
	json_decref(why);
	reply = http_json(server, "DELETE", "/v1/job/elsewhere?purge=true", NULL);
	json_decref(await_evaluation(member_text(reply, "EvalID")));
	json_decref(reply);
}

static void nodes_of_another_name_or_pool_are_counted(void **unused)
{
	expect_reason("\"Constraints\":[{\"LTarget\":\"${node.unique.name}\",\"RTarget\":"
		      "\"node-000003\",\"Operand\":\"=\"}],",
		"${node.unique.name} = node-000003", NODES - 1);
	struct response r = http(server, "PUT", "/v1/node/pools", "{\"Name\":\"gpu\"}");
	assert_int_equal(r.status, 200);
	response_free(&r);
	expect_reason("\"NodePool\":\"gpu\",", "node pool default is not asked for", NODES);
}

static void nodes_that_take_nothing_are_counted(void **unused)
{
	struct uuid id = server_node_id(1);
	char node[UUID_TEXT_BYTES];
	json_decref(api_put("/v1/node/*/eligibility", uuid_format(&id, node),
		"{\"Eligibility\":\"ineligible\"}"));
	json_t *e = run_job(job_body("plain", "system", "1", 64));
	json_decref(e);
	json_t *why = api_get("/v1/berth/explain/job/*", "plain");
	json_t *group = json_array_get(json_object_get(why, "Groups"), 0);
	assert_int_equal(member_number(group, "NodesRunning"), NODES - 1);
	assert_int_equal(member_number(reason_of(group, "node is not eligible"), "Nodes"), 1);
	assert_int_equal(json_array_size(json_object_get(group, "Reasons")), 1);
	json_decref(why);
	json_t *all = api_get("/v1/job/*/allocations", "plain");
	why = api_get("/v1/berth/explain/allocation/*", member_text(json_array_get(all, 0), "ID"));
	assert_string_equal(member_text(why, "Name"), "plain.g[0]");
	json_t *sentences = json_object_get(why, "Sentences");
	assert_string_equal(json_string_value(json_array_get(sentences, 0)), "It is to run.");
	assert_non_null(strstr(json_string_value(json_array_get(sentences, 2)),
		"is ready and has not said yet that it runs"));
	json_decref(why);
	json_decref(all);
	json_decref(api_put("/v1/node/*/eligibility", node, "{\"Eligibility\":\"eligible\"}"));
	json_t *gone = http_json(server, "DELETE", "/v1/job/plain?purge=true", NULL);
	json_decref(await_evaluation(member_text(gone, "EvalID")));
	json_decref(gone);
	struct response r = http(server, "GET", "/v1/berth/explain/job/none", NULL);
	assert_int_equal(r.status, 404);
	response_free(&r);
}

static bool says(json_t *holder, const char *sentence)
{
	size_t i;
	json_t *item;
	json_array_foreach(json_object_get(holder, "Sentences"), i, item)
	{
		if (strcmp(json_string_value(item), sentence) == 0)
			return true;
	}
	return false;
}

static void expect_tiers(const char *job, int same, int none, int other, int busy)
{
	json_t *why = api_get("/v1/berth/explain/job/*", job);
	json_t *group = json_array_get(json_object_get(why, "Groups"), 0);
	json_t *snapshot = json_object_get(group, "Snapshot");
	assert_string_equal(member_text(snapshot, "ID"), "warm");
	assert_int_equal(member_number(snapshot, "NodesIdleWithIt"), same);
	assert_int_equal(member_number(snapshot, "NodesIdleWithout"), none);
	assert_int_equal(member_number(snapshot, "NodesIdleOther"), other);
	assert_int_equal(member_number(snapshot, "NodesBusy"), busy);
	assert_int_equal(member_number(group, "NodesFitting"), same + none + other + busy);
	json_decref(why);
}

static void nodes_that_are_not_healthy_are_counted(void **unused)
{
	struct uuid id = server_node_id(2);
	char node[UUID_TEXT_BYTES];
	json_decref(api_put("/v1/berth/node/*/offline", uuid_format(&id, node), ""));
	json_decref(run_job(job_body("off", "system", "1", 64)));
	json_t *why = api_get("/v1/berth/explain/job/*", "off");
	json_t *group = json_array_get(json_object_get(why, "Groups"), 0);
	assert_int_equal(member_number(group, "NodesRunning"), NODES - 1);
	assert_int_equal(member_number(reason_of(group, "node is offlined"), "Nodes"), 1);
	assert_int_equal(json_array_size(json_object_get(group, "Reasons")), 1);
	assert_true(json_is_null(json_object_get(group, "Snapshot")));
	json_decref(why);
	why = api_get("/v1/berth/explain/node/*", node);
	assert_true(says(why, "It takes no new work: it is offlined."));
	assert_false(says(why, "It takes new work."));
	json_decref(why);
	json_t *gone = http_json(server, "DELETE", "/v1/job/off?purge=true", NULL);
	json_decref(await_evaluation(member_text(gone, "EvalID")));
	json_decref(gone);
	json_decref(api_put("/v1/berth/node/*/online", node, ""));
}

static const char warm[] =
	"{\"Job\":{\"ID\":\"warm\",\"Name\":\"warm\",\"Type\":\"batch\",\"Datacenters\":["
	"\"dc1\"],\"TaskGroups\":[{\"Name\":\"g\",\"Count\":1,\"Snapshot\":\"warm\","
	"\"EphemeralDisk\":{\"SizeMB\":101},\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\","
	"\"Config\":{\"command\":\"a\"},\"Resources\":{\"CPU\":100,\"MemoryMB\":64}}]}]}}";

// Nodes have nothing on them, and what ended left its snapshot on one of them.
static void who_comes_first_by_the_snapshot_is_counted(void **unused)
{
	json_decref(run_job(warm));
	json_t *all = api_get("/v1/job/*/allocations", "warm");
	assert_int_equal(json_array_size(all), 1);
	const char *node = member_text(json_array_get(all, 0), "NodeID");
	expect_tiers("warm", 0, NODES - 1, 0, 1);
	for (uint32_t i = 0; i < NODES; i++) {
		char text[UUID_TEXT_BYTES];
		struct uuid id = server_node_id(i);
		if (strcmp(uuid_format(&id, text), node) == 0)
			server_report(server, slots[i], member_text(json_array_get(all, 0), "ID"),
				ALLOC_COMPLETE, 0);
	}
	expect_tiers("warm", 1, NODES - 1, 0, 0);
	json_t *why = api_get("/v1/berth/explain/node/*", node);
	assert_true(says(why, "The snapshot that it ran last is warm."));
	json_decref(why);
	json_decref(all);
}

static void how_a_node_stands_is_said(void **unused)
{
	struct standing lost = {.lost_ns = 1}, flaky = {.flaky_ns = 1};
	struct standing asked = {.readiness = READINESS_AWAITED}, out = {.offlined = true};
	assert_string_equal(explain_standing(&lost), "suspended: it was lost");
	assert_string_equal(explain_standing(&flaky), "suspended: it is flaky");
	assert_string_equal(explain_standing(&asked), "suspended: its probe has not said yes");
	assert_string_equal(explain_standing(&out), "offlined");
}

#define TOGETHER 64u

static long status_of(int fd)
{
	char answer[65536];
	size_t size = 0;
	ssize_t got;
	while ((got = recv(fd, answer + size, sizeof answer - 1 - size, 0)) > 0)
		size += (size_t)got;
	answer[size] = '\0';
	assert_int_equal(strncmp(answer, "HTTP/1.1 ", 9), 0);
	return strtol(answer + 9, NULL, 10);
}

// More than may wait come together: each is answered, with its reasons or with a word to come back,
// and who asks for something light meanwhile is served.
static void many_ask_together(void **unused)
{
	static const char ask[] = "GET /v1/berth/explain/job/crowd HTTP/1.1\r\nHost: localhost\r\n"
				  "Connection: close\r\n\r\n";
	int sockets[TOGETHER];
	uint32_t explained = 0, refused = 0;
	json_decref(run_job(job_body("crowd", "system", "1", 64)));
	for (uint32_t i = 0; i < TOGETHER; i++) {
		sockets[i] = server_connect(server);
		assert_int_equal(
			send(sockets[i], ask, sizeof ask - 1, MSG_NOSIGNAL), sizeof ask - 1);
	}
	struct response r = http(server, "GET", "/healthz", NULL);
	assert_int_equal(r.status, 200);
	response_free(&r);
	for (uint32_t i = 0; i < TOGETHER; i++) {
		long status = status_of(sockets[i]);
		explained += status == 200;
		refused += status == 429;
		close(sockets[i]);
	}
	assert_int_equal(explained + refused, TOGETHER);
	assert_true(explained >= 1);
}

// Who goes before the answer is worked out leaves nothing behind.
static void some_do_not_wait(void **unused)
{
	static const char ask[] =
		"GET /v1/berth/explain/job/crowd HTTP/1.1\r\nHost: localhost\r\n\r\n";
	for (uint32_t i = 0; i < TOGETHER; i++) {
		int fd = server_connect(server);
		assert_int_equal(send(fd, ask, sizeof ask - 1, MSG_NOSIGNAL), sizeof ask - 1);
		close(fd);
	}
	long status = 429;
	while (status == 429) {
		struct response r = http(server, "GET", "/v1/berth/explain/job/crowd", NULL);
		status = r.status;
		response_free(&r);
	}
	assert_int_equal(status, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reason_is_counted),
		cmocka_unit_test(nodes_of_another_name_or_pool_are_counted),
		cmocka_unit_test(nodes_that_take_nothing_are_counted),
		cmocka_unit_test(nodes_that_are_not_healthy_are_counted),
		cmocka_unit_test(who_comes_first_by_the_snapshot_is_counted),
		cmocka_unit_test(how_a_node_stands_is_said),
		cmocka_unit_test(many_ask_together),
		cmocka_unit_test(some_do_not_wait),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
