// Indexes, pages, ids and topics: where answers differed from the real server's in a number or a word.
#include "tests/tools/api/server.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define JOB(id, type, more)                                                                        \
	"{\"Job\":{\"ID\":\"" id "\",\"Name\":\"n\",\"Type\":\"" type "\"," more "\"TaskGroups\":" \
	"[{\"Name\":\"g\",\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":" \
	"\"/bin/true\"}}]}]}}"

static uint64_t index_of(const char *path)
{
	struct response r = http(server, "GET", path, NULL);
	assert_int_equal(r.status, 200);
	assert_true(strstr(r.headers, "X-Nomad-Index: ") != NULL);
	uint64_t index = r.index;
	response_free(&r);
	return index;
}

// Runs first: nothing was ever written.
static void a_table_that_was_never_written_has_index_0(void **unused)
{
	static const char *const zero[] = {"/v1/jobs", "/v1/allocations", "/v1/evaluations",
		"/v1/evaluations/count", "/v1/deployments", "/v1/job/x/allocations",
		"/v1/job/x/evaluations", "/v1/job/x/deployments", "/v1/job/x/deployment"};
	server_node(server, 0);
	server_node(server, 1);
	for (size_t i = 0; i < sizeof zero / sizeof zero[0]; i++)
		assert_int_equal(index_of(zero[i]), 0);
	assert_true(index_of("/v1/node/pools") >= 1);
	assert_true(index_of("/v1/namespaces") >= 1);
}

static void a_list_has_the_index_of_its_table(void **unused)
{
	struct response r = http(server, "PUT", "/v1/jobs", JOB("table", "batch", ""));
	assert_int_equal(r.status, 200);
	response_free(&r);
	uint64_t jobs = index_of("/v1/jobs"), nodes = index_of("/v1/nodes");
	assert_true(jobs > nodes);
}

static void a_plan_has_the_index_of_the_job(void **unused)
{
	json_t *plan =
		http_json(server, "PUT", "/v1/job/planned/plan", JOB("planned", "batch", ""));
	assert_int_equal(json_integer_value(json_object_get(plan, "Index")), 0);
	json_decref(plan);
	json_t *made = http_json(server, "PUT", "/v1/jobs", JOB("planned", "batch", ""));
	json_int_t index = json_integer_value(json_object_get(made, "JobModifyIndex"));
	json_decref(made);
	struct response r =
		http(server, "PUT", "/v1/job/planned/plan", JOB("planned", "batch", ""));
	json_t *again = json_loads(r.body, 0, NULL);
	assert_int_equal(json_integer_value(json_object_get(again, "Index")), index);
	assert_int_equal(r.index, index);
	json_decref(again);
	response_free(&r);
}

static void pools_come_in_pages(void **unused)
{
	struct response r = http(server, "GET", "/v1/node/pools?per_page=1", NULL);
	json_t *page = json_loads(r.body, 0, NULL);
	assert_int_equal(json_array_size(page), 1);
	assert_true(response_has(&r, "X-Nomad-NextToken: default"));
	json_decref(page);
	response_free(&r);
	r = http(server, "GET", "/v1/node/pools?per_page=1&next_token=default", NULL);
	page = json_loads(r.body, 0, NULL);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(page, 0), "Name")), "default");
	assert_null(strstr(r.headers, "X-Nomad-NextToken"));
	json_decref(page);
	response_free(&r);
}

static void an_id_may_hold_a_line_break(void **unused)
{
	json_decref(http_json(server, "PUT", "/v1/jobs", JOB("two\\nlines", "batch", "")));
	json_t *job = http_json(server, "GET", "/v1/job/two%0Alines", NULL);
	assert_string_equal(json_string_value(json_object_get(job, "ID")), "two\nlines");
	json_decref(job);
}

// Members count in any case, and the prefix is no template.
static void a_dispatch_takes_a_prefix(void **unused)
{
	static const struct {
		const char *body, *begin;
	} cases[] = {
		{"{\"IdPrefixTemplate\":\"run-{{ .x }}\"}", "param/dispatch-run-{{ .x }}-1"},
		{"{\"idPrefixTemplate\":\"low\"}", "param/dispatch-low-1"},
		{"{\"IdPrefixTemplate\":\"\"}", "param/dispatch-1"},
	};
	json_decref(http_json(
		server, "PUT", "/v1/jobs", JOB("param", "batch", "\"ParameterizedJob\":{},")));
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		json_t *made = http_json(server, "PUT", "/v1/job/param/dispatch", cases[i].body);
		const char *id = json_string_value(json_object_get(made, "DispatchedJobID"));
		if (strncmp(id, cases[i].begin, strlen(cases[i].begin)) != 0)
			fail_msg("%s does not begin with %s", id, cases[i].begin);
		json_decref(made);
	}
}

static void a_topic_has_one_key(void **unused)
{
	struct response r = http(server, "GET", "/v1/event/stream?topic=Evaluation:::*", NULL);
	assert_int_equal(r.status, 400);
	assert_string_equal(r.body, "Invalid topic query: error parsing topics: Invalid key value "
				    "pair for topic, topic: Evaluation:::*");
	response_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_that_was_never_written_has_index_0),
		cmocka_unit_test(a_list_has_the_index_of_its_table),
		cmocka_unit_test(a_plan_has_the_index_of_the_job),
		cmocka_unit_test(pools_come_in_pages),
		cmocka_unit_test(an_id_may_hold_a_line_break),
		cmocka_unit_test(a_dispatch_takes_a_prefix),
		cmocka_unit_test(a_topic_has_one_key),
	};
	return cmocka_run_group_tests(tests, scheduler_group_begin, server_group_end);
}
