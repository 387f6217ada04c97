// Which namespace a job lands in: the query's, else the body's, else "default".
#include "tests/tools/api/server.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

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
		cmocka_unit_test(the_query_wins_over_the_body),
		cmocka_unit_test(a_namesake_is_left_alone),
		cmocka_unit_test(a_plan_looks_at_the_job_of_the_query),
	};
	return cmocka_run_group_tests(tests, scheduler_group_begin, server_group_end);
}
