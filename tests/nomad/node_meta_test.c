// A node's metadata as Nomad's clients read and set it, and jobs that ask for it.
#include "tests/tools/api/scheduling.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NOBODY "12345678-1234-1234-1234-123456789abc"

static char id[UUID_TEXT_BYTES];

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1});
	const struct uuid node = server_node(server, 0);
	uuid_format(&node, id);
	return 0;
}

static int tear_down(void **unused)
{
	server_stop(server);
	return 0;
}

static void expect_text(
	const char *method, const char *query, const char *body, long status, const char *answer)
{
	char path[128];
	snprintf(path, sizeof path, "/v1/client/metadata%s", query);
	expect_answer(method, path, body, status, answer);
}

// Both, and later reads, answer the same. Quotes in `answer` are single ones.
static void expect_set(const char *meta, const char *answer)
{
	char query[64], body[256], expected[512];
	snprintf(query, sizeof query, "?node_id=%s", id);
	snprintf(body, sizeof body, "{\"NodeID\":\"%s\",\"Meta\":%s}", id, meta);
	snprintf(expected, sizeof expected, "%s", answer);
	for (char *quote = expected; (quote = strchr(quote, '\'')); quote++)
		*quote = '"';
	expect_text("POST", "", body, 200, expected);
	expect_text("GET", query, NULL, 200, expected);
}

static void bad_requests_are_refused(void **unused)
{
	char query[64];
	snprintf(query, sizeof query, "?node_id=%s", id);
	expect_text("GET", "", NULL, 500, "Unknown node ID");
	expect_text("GET", "?node_id=" NOBODY, NULL, 500, "Unknown node " NOBODY);
	expect_text("POST", query, "{\"Meta\":{}}", 400, "missing required Meta object");
	expect_text("POST", query, "{\"Meta\":{\"a b\":\"c\"}}", 400,
		"\"a b\" is invalid; metadata keys must be valid dotted hcl identifiers");
	expect_text(
		"POST", query, "{\"Meta\":{\"\":\"c\"}}", 400, "metadata keys must not be empty");
	expect_text("POST", query, "{\"Meta\":{\"a\":1}}", 400, "Meta.a: a text is expected");
	expect_text("POST", query, "{\"Meta\":{\"a\":\"b\\nc\"}}", 400, "metadata is too large");
	expect_text("POST", "?node_id=" NOBODY, "{\"Meta\":{\"a.b-c\":\"c\"}}", 500,
		"Unknown node " NOBODY);
	expect_text("POST", "", "{\"Meta\":{\"a\":\"c\"}}", 500, "Unknown node ID");
	expect_text("POST", query, "", 400, "Request body is empty");
	expect_text("PUT", query, "{\"Meta\":{\"a\":\"c\"}}", 405, "Invalid method");
	expect_text("GET", query, NULL, 200,
		"{\"Meta\":{\"rack\":\"r1\"},\"Dynamic\":{},\"Static\":{\"rack\":\"r1\"}}");
}

static void it_is_set_and_taken_away(void **unused)
{
	expect_set("{\"dyn\":\"1\"}",
		"{'Meta':{'dyn':'1','rack':'r1'},'Dynamic':{'dyn':'1'},'Static':{'rack':'r1'}}");
	expect_set("{\"rack\":\"r2\"}", "{'Meta':{'dyn':'1','rack':'r2'},'Dynamic':{'dyn':'1',"
					"'rack':'r2'},'Static':{'rack':'r1'}}");
	expect_set("{\"dyn\":null,\"rack\":null}",
		"{'Meta':{},'Dynamic':{'rack':null},'Static':{'rack':'r1'}}");
	expect_set("{\"rack\":\"r1\"}",
		"{'Meta':{'rack':'r1'},'Dynamic':{'rack':'r1'},'Static':{'rack':'r1'}}");
}

// An evaluation of a job that waits for a node of the rack "r9".
static json_t *ask_for_rack(void)
{
	return run_job("{\"Job\":{\"ID\":\"r\",\"Type\":\"batch\",\"Datacenters\":[\"*\"],"
		       "\"Constraints\":[{\"LTarget\":\"${meta.rack}\",\"RTarget\":\"r9\","
		       "\"Operand\":\"=\"}],\"TaskGroups\":[{\"Name\":\"g\",\"Tasks\":[{\"Name\":"
		       "\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":\"/bin/true\"},"
		       "\"Resources\":{\"CPU\":100,\"MemoryMB\":64}}]}]}}");
}

static void a_job_that_waits_for_it_is_placed(void **unused)
{
	json_t *evaluation = ask_for_rack();
	const char *blocked = member_text(evaluation, "BlockedEval");
	assert_int_equal(strlen(blocked), 36);
	expect_set("{\"rack\":\"r9\"}",
		"{'Meta':{'rack':'r9'},'Dynamic':{'rack':'r9'},'Static':{'rack':'r1'}}");
	json_t *unblocked = api_get("/v1/evaluation/*", blocked);
	for (int looks = 0;
		looks < 100 && strcmp(member_text(unblocked, "Status"), "complete") != 0; looks++) {
		char path[128];
		snprintf(path, sizeof path, "/v1/evaluation/%s?index=%lld&wait=10s", blocked,
			(long long)member_number(unblocked, "ModifyIndex"));
		json_decref(unblocked);
		unblocked = http_json(server, "GET", path, NULL);
	}
	json_t *allocations = api_get("/v1/job/*/allocations", "r");
	assert_int_equal(json_array_size(allocations), 1);
	assert_string_equal(member_text(json_array_get(allocations, 0), "NodeID"), id);
	json_t *node = api_get("/v1/node/*", id);
	assert_string_equal(member_text(json_object_get(node, "Meta"), "rack"), "r9");
	json_decref(node);
	json_decref(allocations);
	json_decref(unblocked);
	json_decref(evaluation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_requests_are_refused),
		cmocka_unit_test(it_is_set_and_taken_away),
		cmocka_unit_test(a_job_that_waits_for_it_is_placed),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
