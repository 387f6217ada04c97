// What all lists and all answers have in common: compression, filters, order, pages, headers.
#include "state/base/memory.h"
#include "tests/tools/api/scheduling.h"
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

#define NODES 60u
#define UNPACKED_BYTES_MAX (1u << 20)
#define GZIP "Accept-Encoding: gzip"

static struct uuid placed[PLACE_COUNT_MAX];

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1});
	for (uint32_t i = 0; i < NODES; i++)
		server_node(server, i);
	for (int i = 0; i < 5; i++) {
		char name[16];
		snprintf(name, sizeof name, "direct-%d", i);
		server_job(server, name);
	}
	assert_int_equal(server_place(server, "direct-0", 8, placed), 8);
	json_decref(run_job(job_body("served", "service", "1", 10)));
	// Nothing has so much: what waits for room is an evaluation of its own.
	json_decref(run_job(job_body("huge", "batch", "1", 900000)));
	return 0;
}

static size_t unpack(const struct response *r, char *to)
{
	z_stream stream = {.next_in = (unsigned char *)r->body, .avail_in = (uInt)r->size};
	stream.next_out = (unsigned char *)to;
	stream.avail_out = UNPACKED_BYTES_MAX - 1;
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	size_t size = stream.total_out;
	inflateEnd(&stream);
	to[size] = '\0';
	return size;
}

static void large_answers_are_compressed_when_asked(void **unused)
{
	static const char *const paths[] = {"/v1/nodes", "/v1/nodes?resources=true&pretty",
		"/v1/nodes?per_page=7", "/v1/allocations", "/v1/job/direct-0", "/v1/job/served",
		"/v1/node/pool/all/nodes"};
	char *text = memory_take(UNPACKED_BYTES_MAX);
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct response plain = http(server, "GET", paths[i], NULL);
		struct response packed = http_with(server, "GET", paths[i], NULL, 0, GZIP);
		assert_int_equal(packed.status, 200);
		assert_false(response_has(&plain, "Content-Encoding: gzip"));
		assert_true(response_has(&packed, "Content-Encoding: gzip"));
		assert_true(response_has(&plain, "Vary: Accept-Encoding"));
		assert_true(response_has(&packed, "Vary: Accept-Encoding"));
		assert_true(packed.size < plain.size);
		assert_int_equal(unpack(&packed, text), plain.size);
		assert_string_equal(text, plain.body);
		assert_int_equal(packed.index, plain.index);
		response_free(&plain);
		response_free(&packed);
	}
	free(text);
}

static void small_answers_and_refusals_go_as_they_are(void **unused)
{
	static const char *const paths[] = {
		"/v1/regions", "/v1/status/leader", "/v1/job/none", "/v1/node/none", "/nothing"};
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct response r = http_with(server, "GET", paths[i], NULL, 0, GZIP);
		assert_false(response_has(&r, "Content-Encoding: gzip"));
		response_free(&r);
	}
	struct response r =
		http_with(server, "GET", "/v1/nodes", NULL, 0, "Accept-Encoding: gzip;q=0, br");
	assert_false(response_has(&r, "Content-Encoding: gzip"));
	response_free(&r);
}

static void event_streams_go_as_they_are(void **unused)
{
	static const char request[] = "GET /v1/event/stream?topic=Operator&topic=Service:x "
				      "HTTP/1.1\r\nHost: localhost\r\n" GZIP "\r\n\r\n";
	char text[65536];
	size_t size = 0;
	int socket = server_connect(server);
	assert_int_equal(send(socket, request, strlen(request), 0), strlen(request));
	text[0] = '\0';
	while (!strstr(text, "{}\n")) {
		ssize_t some = recv(socket, text + size, sizeof text - 1 - size, 0);
		assert_true(some > 0);
		text[size += (size_t)some] = '\0';
	}
	assert_null(strstr(text, "Content-Encoding"));
	// Of topics that are known and empty nothing comes.
	if (strstr(text, "Events"))
		fail_msg("%s", text);
	close(socket);
}

static size_t count_of(const char *path)
{
	json_t *list = http_json(server, "GET", path, NULL);
	size_t count = json_array_size(list);
	json_decref(list);
	return count;
}

static void filters_select(void **unused)
{
	static const struct {
		const char *path;
		size_t count;
	} cases[] = {
		{"/v1/nodes?filter=Status%3D%3Dready", NODES},
		{"/v1/nodes?filter=Status%20!=%20ready", 0},
		{"/v1/nodes?filter=Name%20matches%20%22-00001.%24%22", 10},
		// What only the long form has.
		{"/v1/nodes?filter=Meta.rack%20==%20r1", NODES},
		{"/v1/nodes?filter=Attributes[%22kernel.name%22]%20!=%20linux", 0},
		{"/v1/nodes?filter=Meta.rack%20is%20not%20empty%20and%20Name%20contains%20%2201%22",
			11},
		{"/v1/node/pool/default/nodes?filter=Name%20contains%20%2201%22", 11},
		{"/v1/jobs?filter=Type%20==%20direct", 5},
		{"/v1/jobs?filter=not%20Type%20==%20direct%20and%20ID%20!=%20huge", 1},
		{"/v1/jobs?filter=dc1%20in%20Datacenters", 7},
		{"/v1/jobs?filter=AllAtOnce%20==%20true", 0},
		{"/v1/allocations?filter=JobID%20==%20%22direct-0%22", 8},
		{"/v1/"
		 "allocations?filter=ClientStatus%20==%20pending%20and%20JobType%20==%20service",
			1},
		{"/v1/job/direct-0/allocations?filter=Name%20matches%20%22.(1|2).$%22", 2},
		{"/v1/evaluations?filter=Status%20==%20blocked", 1},
		// Evaluations leave out what is empty.
		{"/v1/evaluations?filter=BlockedEval%20is%20not%20empty", 1},
		{"/v1/job/huge/evaluations?filter=PreviousEval%20is%20empty", 1},
		{"/v1/deployments?filter=Status%20==%20failed", 0},
		{"/v1/deployments?filter=TaskGroups.g.DesiredTotal%20==%201", 1},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (count_of(cases[i].path) != cases[i].count)
			fail_msg("%s shows %zu", cases[i].path, count_of(cases[i].path));
}

static void filters_that_mean_nothing_are_refused(void **unused)
{
	expect_answer("GET", "/v1/nodes?filter=Status%20==", NULL, 400,
		"filter: at character 10: a value is expected");
	expect_answer("GET", "/v1/jobs?filter=(", NULL, 400, "filter: at character 2");
	expect_answer(
		"GET", "/v1/nodes?filter=status%20==%20ready", NULL, 400, "no member \"status\"");
	expect_answer("GET", "/v1/evaluations/count?filter=stat%20==%20x", NULL, 400,
		"no member \"stat\"");
	expect_answer("GET", "/v1/allocations?filter=Status%20matches%20%22(%22", NULL, 400,
		"filter: at character 16");
	struct response r = http(server, "GET", "/v1/nodes?filter=x", NULL);
	assert_int_equal(r.status, 400);
	assert_null(strstr(r.headers, "X-Nomad-Index"));
	response_free(&r);
}

static bool is_id_of(json_t *object, const char *id)
{
	return strcmp(member_text(object, "ID"), id) == 0;
}

// The list in pages, put together, is the list; whatever else is asked for.
static void assert_pages(const char *path, json_t *whole)
{
	for (size_t size = 1; size < 8; size += 3) {
		char page_path[512];
		size_t seen = 0;
		snprintf(page_path, sizeof page_path, "%s&per_page=%zu", path, size);
		while (*page_path) {
			struct response r = http(server, "GET", page_path, NULL);
			json_t *page = json_loads(r.body, 0, NULL);
			assert_true(json_array_size(page) <= size);
			for (size_t at = 0; at < json_array_size(page); at++)
				assert_true(is_id_of(json_array_get(page, at),
					member_text(json_array_get(whole, seen++), "ID")));
			const char *token = strstr(r.headers, "X-Nomad-NextToken: ");
			assert_int_equal(token != NULL, seen < json_array_size(whole));
			*page_path = '\0';
			if (token)
				snprintf(page_path, sizeof page_path,
					"%s&per_page=%zu&next_token=%.*s", path, size,
					(int)strcspn(token + 19, "\r"), token + 19);
			json_decref(page);
			response_free(&r);
		}
		assert_int_equal(seen, json_array_size(whole));
	}
}

static void lists_can_be_reversed_filtered_and_paged(void **unused)
{
	static const struct {
		const char *path;
		size_t count;
	} cases[] = {
		{"/v1/nodes?", NODES},
		{"/v1/nodes?filter=Name%20matches%20%22[02468]%24%22", NODES / 2},
		{"/v1/jobs?", 7},
		{"/v1/jobs?filter=Type%20==%20direct", 5},
		{"/v1/allocations?", 9},
		{"/v1/allocations?filter=JobType%20==%20direct", 8},
		{"/v1/job/direct-0/allocations?", 8},
		{"/v1/evaluations?", 3},
		{"/v1/evaluations?status=complete", 2},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char reverse_path[512];
		snprintf(reverse_path, sizeof reverse_path, "%s&reverse=true", cases[i].path);
		json_t *whole = http_json(server, "GET", cases[i].path, NULL);
		json_t *reverse = http_json(server, "GET", reverse_path, NULL);
		size_t count = json_array_size(whole);
		if (count != cases[i].count)
			fail_msg("%s shows %zu", cases[i].path, count);
		assert_int_equal(json_array_size(reverse), count);
		for (size_t at = 0; at < count; at++)
			assert_true(is_id_of(json_array_get(reverse, count - 1 - at),
				member_text(json_array_get(whole, at), "ID")));
		assert_pages(cases[i].path, whole);
		assert_pages(reverse_path, reverse);
		json_decref(whole);
		json_decref(reverse);
	}
}

static void lists_show_more_when_asked(void **unused)
{
	json_t *nodes = http_json(server, "GET", "/v1/nodes?os=true&per_page=1", NULL);
	json_t *attributes = json_object_get(json_array_get(nodes, 0), "Attributes");
	assert_int_equal(json_object_size(attributes), 1);
	assert_string_equal(member_text(attributes, "os.name"), "debian");
	json_decref(nodes);
	json_t *jobs = http_json(server, "GET", "/v1/jobs?meta=true&per_page=1", NULL);
	assert_true(json_is_object(json_object_get(json_array_get(jobs, 0), "Meta")));
	json_decref(jobs);
	jobs = http_json(server, "GET", "/v1/jobs?per_page=1", NULL);
	assert_null(json_object_get(json_array_get(jobs, 0), "Meta"));
	json_decref(jobs);
}

static json_int_t evaluations_counted(const char *query)
{
	char path[256];
	snprintf(path, sizeof path, "/v1/evaluations/count%s", query);
	json_t *reply = http_json(server, "GET", path, NULL);
	json_int_t count = member_number(reply, "Count");
	assert_true(member_number(reply, "Index") > 0);
	json_decref(reply);
	return count;
}

static void evaluations_are_counted(void **unused)
{
	assert_int_equal(evaluations_counted(""), 3);
	assert_int_equal(evaluations_counted("?status=blocked"), 1);
	assert_int_equal(evaluations_counted("?job=served&reverse=true"), 1);
	assert_int_equal(evaluations_counted("?namespace=other"), 0);
	assert_int_equal(evaluations_counted("?filter=Type%20==%20batch"), 2);
}

static void related_evaluations_are_shown(void **unused)
{
	json_t *list = http_json(server, "GET", "/v1/job/huge/evaluations", NULL);
	assert_int_equal(json_array_size(list), 2);
	for (size_t i = 0; i < 2; i++) {
		json_t *other = json_array_get(list, 1 - i);
		json_t *e = api_get("/v1/evaluation/*?related=true",
			member_text(json_array_get(list, i), "ID"));
		json_t *related = json_object_get(e, "RelatedEvals");
		assert_int_equal(json_array_size(related), 1);
		json_t *stub = json_array_get(related, 0);
		assert_string_equal(member_text(stub, "ID"), member_text(other, "ID"));
		assert_string_equal(member_text(stub, "Status"), member_text(other, "Status"));
		assert_string_equal(member_text(stub, "JobID"), "huge");
		assert_null(json_object_get(stub, "FailedTGAllocs"));
		json_decref(e);
	}
	json_t *e = api_get("/v1/evaluation/*", member_text(json_array_get(list, 0), "ID"));
	assert_null(json_object_get(e, "RelatedEvals"));
	json_decref(e);
	json_decref(list);
}

static void pools_follow_from_nodes(void **unused)
{
	json_t *pools = http_json(server, "GET", "/v1/node/pools", NULL);
	assert_int_equal(json_array_size(pools), 2);
	assert_string_equal(member_text(json_array_get(pools, 0), "Name"), "all");
	assert_string_equal(member_text(json_array_get(pools, 1), "Name"), "default");
	json_decref(pools);
	json_t *pool = http_json(server, "GET", "/v1/node/pool/all", NULL);
	assert_string_equal(
		member_text(pool, "Description"), "Node pool with all nodes in the cluster.");
	json_decref(pool);
	assert_int_equal(count_of("/v1/node/pools?prefix=d"), 1);
	assert_int_equal(count_of("/v1/node/pool/all/nodes"), NODES);
	assert_int_equal(count_of("/v1/node/pool/default/nodes"), NODES);
	assert_int_equal(count_of("/v1/node/pool/default/jobs"), 7);
	assert_int_equal(count_of("/v1/node/pool/all/jobs"), 0);
	expect_answer("GET", "/v1/node/pool/x", NULL, 404, "node pool not found");
	assert_int_equal(count_of("/v1/node/pool/x/nodes"), 0);
	assert_int_equal(count_of("/v1/node/pool/x/jobs"), 0);
}

static void namespaces_follow_from_jobs(void **unused)
{
	json_t *list = http_json(server, "GET", "/v1/namespaces", NULL);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(member_text(json_array_get(list, 0), "Name"), "default");
	assert_true(member_number(json_array_get(list, 0), "ModifyIndex") > 0);
	json_decref(list);
	assert_int_equal(count_of("/v1/namespaces?prefix=x"), 0);
	json_decref(http_json(server, "GET", "/v1/namespace/default", NULL));
	expect_answer("GET", "/v1/namespace/other", NULL, 404, "not found");
}

static void what_is_not_offered_is_501(void **unused)
{
	static const struct {
		const char *method, *path;
	} cases[] = {
		{"GET", "/v1/agent/host"},
		{"GET", "/v1/operator/snapshot"},
		{"PUT", "/v1/operator/autopilot/configuration"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct response r = http(server, cases[i].method, cases[i].path,
			strcmp(cases[i].method, "PUT") == 0 ? "{}" : NULL);
		assert_int_equal(r.status, 501);
		assert_true(r.size > 20);
		response_free(&r);
	}
}

static void indexes_are_sent_where_nomad_sends_them(void **unused)
{
	static const struct {
		const char *path;
		bool index;
	} cases[] = {
		{"/v1/nodes", true},
		{"/v1/node/00000000-0000-0000-0000-000000000000", true},
		{"/v1/node/pools", true},
		{"/v1/node/pool/all/nodes", true},
		{"/v1/node/pool/all/jobs", true},
		{"/v1/jobs", true},
		{"/v1/job/none", true},
		{"/v1/job/served/deployment", true},
		{"/v1/evaluations", true},
		{"/v1/evaluations/count", true},
		{"/v1/allocations?reverse", true},
		{"/v1/deployments", true},
		{"/v1/deployment/x", true},
		{"/v1/scaling/policies", true},
		{"/v1/namespaces", true},
		{"/v1/operator/scheduler/configuration", true},
		{"/v1/agent/self", false},
		{"/v1/agent/health", false},
		{"/v1/agent/members", false},
		{"/v1/status/leader", false},
		{"/v1/status/peers", false},
		{"/v1/regions", false},
		{"/v1/metrics", false},
		{"/v1/operator/raft/configuration", false},
		{"/v1/operator/autopilot/configuration", false},
		{"/v1/operator/autopilot/health", false},
		{"/v1/client/stats", false},
		{"/v1/nodes?prefix=zz", false},
		{"/v1/nodes?index=x", false},
		{"/v1/nodes?index=1&wait=x", false},
		{"/v1/jobs?per_page=x", false},
		{"/v1/jobs?next_token=x", false},
		{"/nothing", false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct response r = http(server, "GET", cases[i].path, NULL);
		bool all = strstr(r.headers, "X-Nomad-Index: ") != NULL &&
			   strstr(r.headers, "X-Nomad-KnownLeader: true\r") != NULL &&
			   strstr(r.headers, "X-Nomad-LastContact: 0\r") != NULL;
		bool any = strstr(r.headers, "X-Nomad-") != NULL;
		if (all != cases[i].index || any != cases[i].index)
			fail_msg("%s: %s", cases[i].path, r.headers);
		if (cases[i].index)
			assert_true(r.index > 0);
		response_free(&r);
	}
	struct response r = http(server, "PUT", "/v1/jobs", job_body("written", "batch", "1", 10));
	assert_int_equal(r.status, 200);
	assert_non_null(strstr(r.headers, "X-Nomad-Index: "));
	assert_null(strstr(r.headers, "X-Nomad-KnownLeader"));
	response_free(&r);
}

static void refusals_are_texts_that_clients_know(void **unused)
{
	static const struct {
		const char *method, *path;
		long status;
		const char *text;
	} cases[] = {
		{"GET", "/v1/job/none", 404, "job not found"},
		{"GET", "/v1/evaluation/none", 404, "eval not found"},
		{"GET", "/v1/allocation/none", 404, "alloc not found"},
		{"GET", "/v1/node/none", 404, "node not found"},
		{"GET", "/v1/deployment/none", 404, "deployment not found"},
		{"DELETE", "/v1/nodes", 405, "Invalid method"},
		{"GET", "/v1/nodes?prefix=zz", 500, "Invalid UUID"},
		{"GET", "/v1/nodes?index=x", 400, "Invalid index"},
		{"GET", "/v1/nodes?index=1&wait=x", 400, "Invalid wait time"},
		{"GET", "/v1/event/stream?topic=Nonsense", 400, "Invalid topic"},
		{"DELETE", "/v1/job/served?purge=yes", 400,
			"Failed to parse value of \"purge\" (yes) as a bool"},
		{"GET", "/v1/nodes?resources=2", 400, "as a bool"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct response r = http(server, cases[i].method, cases[i].path, NULL);
		if (r.status != cases[i].status || !strstr(r.body, cases[i].text))
			fail_msg("%s %s: %ld %s", cases[i].method, cases[i].path, r.status, r.body);
		assert_true(response_has(&r, "Content-Type: text/plain; charset=utf-8"));
		response_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_answers_are_compressed_when_asked),
		cmocka_unit_test(small_answers_and_refusals_go_as_they_are),
		cmocka_unit_test(event_streams_go_as_they_are),
		cmocka_unit_test(filters_select),
		cmocka_unit_test(filters_that_mean_nothing_are_refused),
		cmocka_unit_test(lists_can_be_reversed_filtered_and_paged),
		cmocka_unit_test(lists_show_more_when_asked),
		cmocka_unit_test(evaluations_are_counted),
		cmocka_unit_test(related_evaluations_are_shown),
		cmocka_unit_test(pools_follow_from_nodes),
		cmocka_unit_test(namespaces_follow_from_jobs),
		cmocka_unit_test(what_is_not_offered_is_501),
		cmocka_unit_test(refusals_are_texts_that_clients_know),
		cmocka_unit_test(indexes_are_sent_where_nomad_sends_them),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
