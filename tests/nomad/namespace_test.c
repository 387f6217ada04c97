// Namespaces as a real server answered: recorded_namespaces.json holds requests in their order. And which namespace a
// job lands in: the query's, else the body's, else "default".
#include "tests/tools/api/server.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// member: the body's Namespace, "" for none.
static void job_body(char *body, size_t size, const char *id, const char *member, int cpu)
{
	char said[64] = "";
	if (*member)
		snprintf(said, sizeof said, "\"Namespace\":\"%s\",", member);
	snprintf(body, size,
		"{\"Job\":{\"ID\":\"%s\",\"Name\":\"%s\",%s\"Type\":\"service\",\"TaskGroups\":[{"
		"\"Name\":\"g\",\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{"
		"\"command\":\"/bin/true\"},\"Resources\":{\"CPU\":%d}}]}]}}",
		id, id, said, cpu);
}

static long status_of(const char *path)
{
	struct response r = http(server, "GET", path, NULL);
	long status = r.status;
	response_free(&r);
	return status;
}

// What no two servers have in common.
static bool is_of_its_server(const char *key)
{
	static const char *const keys[] = {"CreateIndex", "ModifyIndex", "Index", "JobModifyIndex",
		"EvalCreateIndex", "EvalID"};

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static void drop_indexes(json_t *value)
{
	const char *key;
	json_t *member;
	size_t i;
	void *next;

	json_array_foreach(value, i, member) drop_indexes(member);
	json_object_foreach_safe(value, next, key, member)
	{
		if (is_of_its_server(key))
			json_object_del(value, key);
		else
			drop_indexes(member);
	}
}

static void expect_recorded(json_t *one)
{
	const char *what = json_string_value(json_object_get(one, "case"));
	json_t *body = json_object_get(one, "body"), *answer = json_object_get(one, "answer");
	char *text = json_is_null(body) ? NULL : json_dumps(body, JSON_COMPACT);
	struct response r = http(server, json_string_value(json_object_get(one, "method")),
		json_string_value(json_object_get(one, "path")), text);
	json_t *here = json_is_string(answer) ? json_string(r.body)
					      : json_loads(r.body, JSON_DECODE_ANY, NULL);

	drop_indexes(here);
	drop_indexes(answer);
	if (r.status != json_integer_value(json_object_get(one, "status")) ||
		!json_equal(here, answer))
		fail_msg("%s: answered %ld \"%s\"", what, r.status, r.body);
	json_decref(here);
	response_free(&r);
	free(text);
}

static void a_real_server_answers_the_same(void **unused)
{
	json_t *recorded = json_load_file(RECORDED_NAMESPACES, JSON_ALLOW_NUL, NULL), *one;
	size_t i;

	json_array_foreach(recorded, i, one) expect_recorded(one);
	assert_true(i > 25);
	json_decref(recorded);
}

static void expect(
	const char *method, const char *path, const char *body, long status, const char *text)
{
	struct response r = http(server, method, path, body);

	if (r.status != status || strcmp(r.body, text) != 0)
		fail_msg("%s %s: answered %ld \"%s\"", method, path, r.status, r.body);
	response_free(&r);
}

static void a_driver_is_used_where_it_is_allowed(void **unused)
{
	char body[1024];

	expect("PUT", "/v1/namespace",
		"{\"Name\":\"strict\",\"Capabilities\":{\"EnabledTaskDrivers\":[\"raw_exec\"]}}",
		200, "");
	job_body(body, sizeof body, "driven", "strict", 100);
	expect("PUT", "/v1/jobs", body, 500,
		"1 error occurred:\n\t* used task driver \"exec\" is not allowed in namespace "
		"\"strict\"\n\n");
	expect("PUT", "/v1/namespace/strict",
		"{\"Name\":\"strict\",\"Capabilities\":{\"EnabledTaskDrivers\":[\"exec\"]}}", 200,
		"");
	json_decref(http_json(server, "PUT", "/v1/jobs", body));
	expect("PUT", "/v1/namespace/strict",
		"{\"Name\":\"strict\",\"Capabilities\":{\"EnabledTaskDrivers\":[\"exec\"],"
		"\"DisabledTaskDrivers\":[\"exec\"]}}",
		200, "");
	job_body(body, sizeof body, "driven", "strict", 200);
	expect("PUT", "/v1/jobs", body, 500,
		"1 error occurred:\n\t* used task driver \"exec\" is not allowed in namespace "
		"\"strict\"\n\n");
}

// Also the one that is always there can be described, and it stays.
static void the_default_namespace_is_described(void **unused)
{
	expect("PUT", "/v1/namespace/default", "{\"Name\":\"default\",\"Description\":\"of all\"}",
		200, "");
	json_t *n = http_json(server, "GET", "/v1/namespace/default", NULL);
	assert_string_equal(json_string_value(json_object_get(n, "Description")), "of all");
	json_decref(n);
	expect("DELETE", "/v1/namespace/default", NULL, 500, "can not delete default namespace");
}

// Otherwise whoever makes one of the same name would have what it holds.
static void none_goes_that_has_variables(void **unused)
{
	expect("PUT", "/v1/namespace", "{\"Name\":\"sealed\"}", 200, "");
	json_decref(http_json(server, "PUT", "/v1/var/a/b?namespace=sealed",
		"{\"Namespace\":\"sealed\",\"Path\":\"a/b\",\"Items\":{\"k\":\"v\"}}"));
	expect("DELETE", "/v1/namespace/sealed", NULL, 500,
		"namespace \"sealed\" contains at least one variable. All variables in namespace "
		"must be deleted before it can be deleted");
	assert_int_equal(status_of("/v1/namespace/sealed"), 200);
	expect("DELETE", "/v1/var/a/b?namespace=sealed", NULL, 204, "");
	expect("DELETE", "/v1/namespace/sealed", NULL, 200, "");
	assert_int_equal(status_of("/v1/namespace/sealed"), 404);
}

static void the_query_wins_over_the_body(void **unused)
{
	static const struct {
		const char *query, *member, *lands;
	} cases[] = {
		{"", "", "default"},
		{"team", "", "team"},
		{"", "team", "team"},
		{"team", "default", "team"},
		{"default", "team", "default"},
		{"ns3", "team", "ns3"},
		{"team", "ns3", "team"},
	};
	static const char *const all[] = {"default", "team", "ns3"};
	expect("PUT", "/v1/namespace", "{\"Name\":\"team\"}", 200, "");
	expect("PUT", "/v1/namespace", "{\"Name\":\"ns3\"}", 200, "");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char id[32], path[128], body[1024];
		snprintf(id, sizeof id, "precedence-%zu", i);
		snprintf(path, sizeof path, "/v1/jobs?namespace=%s", cases[i].query);
		job_body(body, sizeof body, id, cases[i].member, 100);
		json_decref(http_json(server, "PUT", path, body));
		for (size_t n = 0; n < 3; n++) {
			snprintf(path, sizeof path, "/v1/job/%s?namespace=%s", id, all[n]);
			assert_int_equal(
				status_of(path), strcmp(all[n], cases[i].lands) == 0 ? 200 : 404);
		}
	}
}

// A job of one namespace is never overwritten by one of the same name that goes to another.
static void a_namesake_is_left_alone(void **unused)
{
	char body[1024];
	job_body(body, sizeof body, "twin", "", 100);
	json_decref(http_json(server, "PUT", "/v1/jobs", body));
	job_body(body, sizeof body, "twin", "", 200);
	json_decref(http_json(server, "PUT", "/v1/job/twin?namespace=team", body));
	json_t *job = http_json(server, "GET", "/v1/job/twin", NULL);
	assert_int_equal(json_integer_value(json_object_get(job, "Version")), 0);
	json_decref(job);
}

static void a_plan_looks_at_the_job_of_the_query(void **unused)
{
	char body[1024];
	job_body(body, sizeof body, "planned", "", 100);
	json_decref(http_json(server, "PUT", "/v1/jobs?namespace=team", body));
	json_t *of_team = http_json(server, "PUT", "/v1/job/planned/plan?namespace=team", body);
	json_t *of_default = http_json(server, "PUT", "/v1/job/planned/plan", body);
	assert_true(json_integer_value(json_object_get(of_team, "JobModifyIndex")) > 0);
	assert_int_equal(json_integer_value(json_object_get(of_default, "JobModifyIndex")), 0);
	json_decref(of_team);
	json_decref(of_default);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_real_server_answers_the_same),
		cmocka_unit_test(a_driver_is_used_where_it_is_allowed),
		cmocka_unit_test(the_default_namespace_is_described),
		cmocka_unit_test(none_goes_that_has_variables),
		cmocka_unit_test(the_query_wins_over_the_body),
		cmocka_unit_test(a_namesake_is_left_alone),
		cmocka_unit_test(a_plan_looks_at_the_job_of_the_query),
	};
	return cmocka_run_group_tests(tests, scheduler_group_begin, server_group_end);
}
