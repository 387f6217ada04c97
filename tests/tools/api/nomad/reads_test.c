// Every reading route, against the shapes in golden/.
#include "tests/tools/api/prometheus_reader.h"
#include "tests/tools/api/server.h"
#include "tests/tools/api/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NODES 10u

static struct uuid allocations[PLACE_COUNT_MAX];

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){0});
	for (uint32_t i = 0; i < NODES; i++)
		server_node(server, i);
	server_job(server, "web");
	server_job(server, "a/b");
	assert_int_equal(server_place(server, "web", 3, allocations), 3);
	return 0;
}

static const char *path_of(const char *start, const struct uuid *id)
{
	static char path[64];
	char text[UUID_TEXT_BYTES];
	snprintf(path, sizeof path, "%.20s%s", start, uuid_format(id, text));
	return path;
}

static void shapes_are_nomads(void **unused)
{
	struct uuid node = server_node_id(4);
	char node_path[128], placed_path[128], alloc_path[128];
	snprintf(node_path, sizeof node_path, "%s", path_of("/v1/node/", &node));
	snprintf(alloc_path, sizeof alloc_path, "%s", path_of("/v1/allocation/", &allocations[0]));
	json_t *allocation = http_json(server, "GET", alloc_path, NULL);
	snprintf(placed_path, sizeof placed_path, "/v1/node/%s/allocations",
		json_string_value(json_object_get(allocation, "NodeID")));
	json_decref(allocation);
	const struct {
		const char *path, *shape;
	} cases[] = {
		{"/v1/nodes", "nodes"},
		{"/v1/nodes?resources=true", "nodes_resources"},
		{node_path, "node"},
		{placed_path, "node_allocations"},
		{"/v1/jobs", "jobs"},
		{"/v1/job/web", "job"},
		{"/v1/job/web/summary", "job_summary"},
		{"/v1/job/web/versions", "job_versions"},
		{"/v1/job/web/allocations", "allocations"},
		{"/v1/allocations", "allocations"},
		{"/v1/allocations?resources=true", "allocations_resources"},
		{alloc_path, "allocation"},
		{"/v1/agent/self", "agent_self"},
		{"/v1/agent/health", "agent_health"},
		{"/v1/agent/members", "agent_members"},
		{"/v1/status/leader", "text"},
		{"/v1/status/peers", "texts"},
		{"/v1/regions", "texts"},
		{"/v1/metrics", "metrics"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		json_t *value = http_json(server, "GET", cases[i].path, NULL);
		assert_shape(value, cases[i].shape);
		json_decref(value);
	}
}

static const char *text(json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static json_int_t number(json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static void a_node_is_shown_as_it_registered(void **unused)
{
	struct uuid id = server_node_id(5);
	char expected[UUID_TEXT_BYTES];
	json_t *node = http_json(server, "GET", path_of("/v1/node/", &id), NULL);
	assert_string_equal(text(node, "ID"), uuid_format(&id, expected));
	assert_string_equal(text(node, "Name"), "node-000005");
	assert_string_equal(text(node, "Status"), "ready");
	assert_string_equal(text(node, "SchedulingEligibility"), "eligible");
	assert_string_equal(text(node, "NodeClass"), "large");
	assert_string_equal(text(node, "HTTPAddr"), "");
	json_t *attributes = json_object_get(node, "Attributes");
	assert_string_equal(text(attributes, "kernel.name"), "linux");
	assert_string_equal(text(attributes, "unique.hostname"), "n");
	assert_string_equal(text(json_object_get(node, "Meta"), "rack"), "r1");
	json_t *resources = json_object_get(node, "NodeResources");
	assert_int_equal(number(json_object_get(resources, "Cpu"), "CpuShares"), 4000);
	assert_int_equal(number(json_object_get(resources, "Cpu"), "TotalCpuCores"), 4);
	assert_int_equal(number(json_object_get(node, "Reserved"), "MemoryMB"), 256);
	json_t *exec = json_object_get(json_object_get(node, "Drivers"), "exec");
	assert_true(json_is_true(json_object_get(exec, "Healthy")));
	assert_string_equal(text(json_object_get(exec, "Attributes"), "driver.exec"), "1");
	json_t *gpus = json_array_get(json_object_get(resources, "Devices"), 0);
	assert_int_equal(json_array_size(json_object_get(gpus, "Instances")), 2);
	json_decref(node);
}

static void nodes_are_sorted_and_paged(void **unused)
{
	json_t *all = http_json(server, "GET", "/v1/nodes", NULL);
	assert_int_equal(json_array_size(all), NODES);
	for (uint32_t i = 1; i < NODES; i++)
		assert_true(strcmp(text(json_array_get(all, i - 1), "ID"),
				    text(json_array_get(all, i), "ID")) < 0);
	char path[256] = "/v1/nodes?per_page=4";
	uint32_t seen = 0;
	for (int pages = 0; pages < 3; pages++) {
		struct response r = http(server, "GET", path, NULL);
		json_t *page = json_loads(r.body, 0, NULL);
		assert_int_equal(json_array_size(page), pages < 2 ? 4 : 2);
		for (size_t i = 0; i < json_array_size(page); i++)
			assert_true(
				json_equal(json_array_get(page, i), json_array_get(all, seen++)));
		const char *token = strstr(r.headers, "X-Nomad-NextToken: ");
		assert_true((token != NULL) == (pages < 2));
		if (token)
			snprintf(path, sizeof path, "/v1/nodes?per_page=4&next_token=%.36s",
				token + 19);
		json_decref(page);
		response_free(&r);
	}
	assert_int_equal(seen, NODES);
	json_decref(all);
}

// Pages put together are the whole list.
static void lists_in_order_of_creation_are_paged(void **unused)
{
	static const struct {
		const char *path;
		size_t count;
	} lists[] = {{"/v1/allocations", 3}, {"/v1/jobs", 2}, {"/v1/job/web/allocations", 3}};
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		json_t *whole = http_json(server, "GET", lists[i].path, NULL);
		assert_int_equal(json_array_size(whole), lists[i].count);
		for (size_t size = 1; size <= lists[i].count + 1; size++) {
			char path[256];
			size_t seen = 0;
			snprintf(path, sizeof path, "%s?per_page=%zu", lists[i].path, size);
			while (*path) {
				struct response r = http(server, "GET", path, NULL);
				json_t *page = json_loads(r.body, 0, NULL);
				assert_true(json_array_size(page) <= size);
				for (size_t at = 0; at < json_array_size(page); at++)
					assert_true(json_equal(json_array_get(page, at),
						json_array_get(whole, seen++)));
				const char *token = strstr(r.headers, "X-Nomad-NextToken: ");
				*path = '\0';
				if (token)
					snprintf(path, sizeof path,
						"%s?per_page=%zu&next_token=%.*s", lists[i].path,
						size, (int)strcspn(token + 19, "\r"), token + 19);
				assert_true((token != NULL) == (seen < lists[i].count));
				json_decref(page);
				response_free(&r);
			}
			assert_int_equal(seen, lists[i].count);
		}
		json_decref(whole);
	}
}

static void prefixes_select(void **unused)
{
	struct uuid id = server_node_id(7);
	char path[128], whole[UUID_TEXT_BYTES];
	uuid_format(&id, whole);
	for (int size = 0; size <= 36; size += 9) {
		snprintf(path, sizeof path, "/v1/nodes?prefix=%.*s", size, whole);
		json_t *found = http_json(server, "GET", path, NULL);
		assert_true(json_array_size(found) >= 1);
		for (size_t i = 0; i < json_array_size(found); i++)
			assert_int_equal(
				strncmp(text(json_array_get(found, i), "ID"), whole, (size_t)size),
				0);
		json_decref(found);
	}
	json_t *none = http_json(server, "GET", "/v1/allocations?prefix=00000000-0000", NULL);
	assert_int_equal(json_array_size(none), 0);
	json_decref(none);
	json_t *jobs = http_json(server, "GET", "/v1/jobs?prefix=we", NULL);
	assert_int_equal(json_array_size(jobs), 1);
	json_decref(jobs);
	static const char *const bad[] = {"/v1/nodes?prefix=zz", "/v1/allocations?prefix=..",
		"/v1/nodes?prefix=0123456789012345678901234567890123456"};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct response r = http(server, "GET", bad[i], NULL);
		assert_int_equal(r.status, 500);
		assert_non_null(strstr(r.body, "Invalid UUID"));
		response_free(&r);
	}
}

static void search_finds_by_kind(void **unused)
{
	struct uuid id = server_node_id(3);
	char whole[UUID_TEXT_BYTES], body[128];
	snprintf(body, sizeof body, "{\"Prefix\":\"%.7s\",\"Context\":\"all\"}",
		uuid_format(&id, whole));
	json_t *reply = http_json(server, "PUT", "/v1/search", body);
	json_t *matches = json_object_get(reply, "Matches");
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(matches, "nodes"), 0)), whole);
	assert_int_equal(json_array_size(json_object_get(matches, "jobs")), 0);
	json_decref(reply);
	reply = http_json(server, "PUT", "/v1/search", "{\"Prefix\":\"w\",\"Context\":\"jobs\"}");
	matches = json_object_get(reply, "Matches");
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(matches, "jobs"), 0)), "web");
	assert_null(json_object_get(matches, "nodes"));
	assert_true(json_is_false(json_object_get(json_object_get(reply, "Truncations"), "jobs")));
	json_decref(reply);
	struct response r = http(server, "PUT", "/v1/search", "{}");
	assert_int_equal(r.status, 400);
	response_free(&r);
}

static void namespaces_select(void **unused)
{
	const struct {
		const char *path;
		size_t count;
	} cases[] = {
		{"/v1/jobs", 2},
		{"/v1/jobs?namespace=default", 2},
		{"/v1/jobs?namespace=*", 2},
		{"/v1/jobs?namespace=other", 0},
		{"/v1/allocations?namespace=*", 3},
		{"/v1/allocations?namespace=other", 0},
		{"/v1/job/none/allocations", 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		json_t *list = http_json(server, "GET", cases[i].path, NULL);
		assert_int_equal(json_array_size(list), cases[i].count);
		json_decref(list);
	}
	struct response r = http(server, "GET", "/v1/job/web?namespace=other", NULL);
	assert_int_equal(r.status, 404);
	response_free(&r);
}

static void allocations_say_where_and_why(void **unused)
{
	json_t *a = http_json(server, "GET", path_of("/v1/allocation/", &allocations[1]), NULL);
	assert_string_equal(text(a, "Name"), "web.g[1]");
	assert_string_equal(text(a, "JobID"), "web");
	assert_string_equal(text(a, "TaskGroup"), "g");
	assert_string_equal(text(a, "DesiredStatus"), "run");
	assert_string_equal(text(a, "ClientStatus"), "pending");
	assert_int_equal(number(json_object_get(a, "Resources"), "CPU"), 500);
	assert_int_equal(number(json_object_get(a, "Resources"), "DiskMB"), 100);
	json_t *metrics = json_object_get(a, "Metrics");
	assert_int_equal(number(metrics, "NodesEvaluated"), NODES);
	json_t *score = json_array_get(json_object_get(metrics, "ScoreMetaData"), 0);
	assert_string_equal(text(score, "NodeID"), text(a, "NodeID"));
	assert_true(json_number_value(json_object_get(score, "NormScore")) > 0);
	assert_string_equal(text(json_object_get(a, "Berth"), "Client"), "tester");
	char path[128];
	snprintf(path, sizeof path, "/v1/node/%s", text(a, "NodeID"));
	json_t *node = http_json(server, "GET", path, NULL);
	json_t *used = json_object_get(json_object_get(node, "Berth"), "Used");
	assert_true(number(used, "CPU") >= 500);
	json_decref(node);
	json_decref(a);
}

static void what_is_not_there_is_said(void **unused)
{
	const struct {
		const char *path;
		long status;
		const char *body;
	} cases[] = {
		{"/v1/node/00000000-dead-4000-8000-000000000000", 404, "node not found"},
		{"/v1/node/nonsense", 404, "node not found"},
		{"/v1/node/00000000-dead-4000-8000-000000000000/allocations", 200, "[]"},
		{"/v1/job/none", 404, "job not found"},
		{"/v1/job/none/summary", 404, "job not found"},
		{"/v1/allocation/00000000-dead-4000-8000-000000000000", 404, "alloc not found"},
		{"/v1/nothing", 404, ""},
		{"/v1/nodes?per_page=x", 400, NULL},
		{"/v1/nodes?next_token=x", 400, NULL},
		{"/v1/jobs?per_page=-1", 400, NULL},
		{"/v1/allocations?per_page=2&next_token=x", 400, NULL},
		{"/v1/nodes?index=x", 400, NULL},
		{"/v1/nodes?index=-1", 400, NULL},
		{"/v1/nodes?index=1&wait=soon", 400, NULL},
		{"/v1/nodes?wait=-1s", 400, NULL},
		{"/v1/metrics?format=xml", 400, NULL},
		{"/v1/job/%00", 400, NULL},
		{"/v1/jobs?prefix=%0", 400, NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct response r = http(server, "GET", cases[i].path, NULL);
		if (r.status != cases[i].status)
			fail_msg("%s answered %ld", cases[i].path, r.status);
		if (cases[i].body)
			assert_string_equal(r.body, cases[i].body);
		else
			assert_true(r.size > 10);
		response_free(&r);
	}
}

static void index_headers_are_sent(void **unused)
{
	struct response r = http(server, "GET", "/v1/nodes", NULL);
	assert_true(r.index >= NODES);
	assert_int_equal(r.index, state_table_index(server->state, STATE_NODES));
	assert_true(response_has(&r, "X-Nomad-KnownLeader: true"));
	assert_true(response_has(&r, "X-Nomad-LastContact: 0"));
	response_free(&r);
	r = http(server, "GET", "/v1/job/none", NULL);
	assert_true(r.index > 0);
	response_free(&r);
	r = http(server, "GET", "/v1/agent/self", NULL);
	assert_int_equal(r.index, 0);
	response_free(&r);
}

static void jobs_may_have_slashes(void **unused)
{
	json_t *job = http_json(server, "GET", "/v1/job/a%2Fb", NULL);
	assert_string_equal(text(job, "ID"), "a/b");
	json_decref(job);
	json_t *evaluations = http_json(server, "GET", "/v1/job/a%2Fb/evaluations", NULL);
	assert_true(json_is_array(evaluations));
	json_decref(evaluations);
	json_t *deployment = http_json(server, "GET", "/v1/job/web/deployment", NULL);
	assert_true(json_is_null(deployment));
	json_decref(deployment);
}

static void pretty_is_the_same_json(void **unused)
{
	struct response plain = http(server, "GET", "/v1/nodes", NULL);
	struct response pretty = http(server, "GET", "/v1/nodes?pretty", NULL);
	assert_null(strchr(plain.body, '\n'));
	assert_non_null(strstr(pretty.body, "\n    {\n        \"Address\": "));
	json_t *a = json_loads(plain.body, 0, NULL), *b = json_loads(pretty.body, 0, NULL);
	assert_true(json_equal(a, b));
	json_decref(a);
	json_decref(b);
	response_free(&plain);
	response_free(&pretty);
}

static void metrics_are_fit_for_a_scraper(void **unused)
{
	struct response r = http(server, "GET", "/v1/metrics?format=prometheus", NULL);
	assert_true(response_has(&r, "Content-Type: text/plain; version=0.0.4; charset=utf-8"));
	struct prometheus p;
	char problem[256];
	if (!prometheus_read(r.body, &p, problem, sizeof problem))
		fail_msg("%s\n%s", problem, r.body);
	assert_true(prometheus_value(&p, "berth_uptime_seconds", "") == 1.5);
	assert_true(prometheus_value(&p, "berth_place_seconds_count", "") == 3);
	assert_true(prometheus_value(&p, "berth_http_requests_total",
			    "method=\"GET\",route=\"/v1/nodes\",class=\"2xx\"") > 0);
	assert_true(prometheus_value(&p, "berth_http_requests_total",
			    "method=\"other\",route=\"other\",class=\"4xx\"") > 0);
	assert_true(p.count < 500);
	prometheus_free(&p);
	response_free(&r);
}

static void health_is_plain(void **unused)
{
	struct response r = http(server, "GET", "/healthz", NULL);
	assert_int_equal(r.status, 200);
	assert_string_equal(r.body, "ok\n");
	response_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_are_nomads),
		cmocka_unit_test(a_node_is_shown_as_it_registered),
		cmocka_unit_test(nodes_are_sorted_and_paged),
		cmocka_unit_test(lists_in_order_of_creation_are_paged),
		cmocka_unit_test(prefixes_select),
		cmocka_unit_test(search_finds_by_kind),
		cmocka_unit_test(namespaces_select),
		cmocka_unit_test(allocations_say_where_and_why),
		cmocka_unit_test(what_is_not_there_is_said),
		cmocka_unit_test(index_headers_are_sent),
		cmocka_unit_test(jobs_may_have_slashes),
		cmocka_unit_test(pretty_is_the_same_json),
		cmocka_unit_test(metrics_are_fit_for_a_scraper),
		cmocka_unit_test(health_is_plain),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
