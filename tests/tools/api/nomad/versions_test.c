// Versions of jobs, how many instances they have, and what launchers launch.
#include "tests/tools/api/scheduling.h"
#include "tests/tools/api/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void register_version(const char *id, const char *env)
{
	json_decref(api_put("/v1/jobs*", "", job_body(id, "service", env, 64)));
}

static json_int_t version_of(const char *id)
{
	json_t *job = api_get("/v1/job/*", id);
	json_int_t version = member_number(job, "Version");
	json_decref(job);
	return version;
}

static void a_job_goes_back_to_a_version(void **unused)
{
	register_version("web", "1");
	register_version("web", "2");
	json_t *reply = api_put("/v1/job/*/revert", "web", "{\"JobID\":\"web\",\"JobVersion\":0}");
	assert_shape(reply, "job_register");
	assert_int_equal(strlen(member_text(reply, "EvalID")), 36);
	json_t *job = api_get("/v1/job/*", "web");
	assert_int_equal(member_number(job, "Version"), 2);
	assert_int_equal(
		member_number(job, "JobModifyIndex"), member_number(reply, "JobModifyIndex"));
	json_t *group = json_array_get(json_object_get(job, "TaskGroups"), 0);
	json_t *task = json_array_get(json_object_get(group, "Tasks"), 0);
	assert_string_equal(member_text(json_object_get(task, "Env"), "A"), "1");
	json_decref(job);
	json_decref(reply);
	reply = api_put("/v1/job/*/revert", "web",
		"{\"JobID\":\"web\",\"JobVersion\":1,\"EnforcePriorVersion\":2}");
	assert_int_equal(version_of("web"), 3);
	json_decref(reply);
}

static void what_cannot_be_reverted_is_refused(void **unused)
{
	json_int_t version = version_of("web");
	const char *path = "/v1/job/web/revert";
	expect_answer("PUT", path, "{\"JobVersion\":3}", 500, "can't revert to current version");
	expect_answer("PUT", path, "{\"JobVersion\":77}", 404,
		"job \"web\" in namespace \"default\" at version 77 not found");
	expect_answer("PUT", path, "{\"JobVersion\":0,\"EnforcePriorVersion\":1}", 500,
		"Current job has version 3; enforcing version 1");
	expect_answer("PUT", path, "{}", 400, "JobVersion: a number of a version is expected");
	expect_answer("PUT", path, "{\"JobVersion\":-1}", 400, "JobVersion");
	expect_answer("PUT", path, "{\"JobVersion\":0,\"EnforcePriorVersion\":\"1\"}", 400,
		"EnforcePriorVersion");
	expect_answer("PUT", path, "{\"JobID\":\"other\",\"JobVersion\":0}", 400,
		"Job ID does not match");
	expect_answer("PUT", "/v1/job/none/revert", "{\"JobVersion\":0}", 404, "job not found");
	assert_int_equal(version_of("web"), version);
}

static bool is_stable(const char *id, json_int_t version)
{
	json_t *reply = api_get("/v1/job/*/versions", id), *one;
	bool stable = false;
	size_t i;
	json_array_foreach(json_object_get(reply, "Versions"), i, one)
	{
		if (member_number(one, "Version") == version)
			stable = json_is_true(json_object_get(one, "Stable"));
	}
	json_decref(reply);
	return stable;
}

static void a_version_is_called_stable(void **unused)
{
	assert_false(is_stable("web", 1));
	json_t *reply = api_put(
		"/v1/job/*/stable", "web", "{\"JobID\":\"web\",\"JobVersion\":1,\"Stable\":true}");
	assert_shape(reply, "job_stable");
	json_decref(reply);
	assert_true(is_stable("web", 1));
	assert_false(is_stable("web", 2));
	json_decref(api_put("/v1/job/*/stable", "web", "{\"JobVersion\":1,\"Stable\":false}"));
	assert_false(is_stable("web", 1));
	expect_answer("PUT", "/v1/job/web/stable", "{\"JobVersion\":50,\"Stable\":true}", 404,
		"no such version");
}

static void versions_say_what_changed(void **unused)
{
	json_t *reply = api_get("/v1/job/*/versions?diffs=true", "web");
	json_t *diffs = json_object_get(reply, "Diffs");
	assert_int_equal(
		json_array_size(diffs), json_array_size(json_object_get(reply, "Versions")) - 1);
	assert_string_equal(member_text(json_array_get(diffs, 0), "Type"), "Edited");
	json_decref(reply);
}

static json_t *group_scale(json_t *scale)
{
	return json_object_get(json_object_get(scale, "TaskGroups"), "g");
}

static void a_group_is_scaled(void **unused)
{
	json_t *reply = api_put("/v1/job/*/scale", "web",
		"{\"Count\":5,\"Target\":{\"Group\":\"g\",\"Job\":\"web\"},"
		"\"Message\":\"more\",\"Error\":false,\"Meta\":{\"by\":{\"who\":7}}}");
	assert_shape(reply, "job_register");
	json_t *scale = api_get("/v1/job/*/scale", "web");
	assert_shape(scale, "job_scale");
	assert_shape(scale, "job_scale_events");
	json_t *group = group_scale(scale);
	assert_int_equal(member_number(group, "Desired"), 5);
	json_t *event = json_array_get(json_object_get(group, "Events"), 0);
	assert_int_equal(member_number(event, "Count"), 5);
	assert_int_equal(member_number(event, "PreviousCount"), 1);
	assert_string_equal(member_text(event, "Message"), "more");
	assert_string_equal(member_text(event, "EvalID"), member_text(reply, "EvalID"));
	json_t *by = json_object_get(json_object_get(event, "Meta"), "by");
	assert_int_equal(member_number(by, "who"), 7);
	json_decref(scale);
	json_decref(reply);
}

// Without a count something is only remembered.
static void an_event_without_a_count_is_noted(void **unused)
{
	json_int_t version = version_of("web");
	json_t *reply = api_put("/v1/job/*/scale", "web",
		"{\"Target\":{\"Group\":\"g\"},\"Message\":\"no data\",\"Error\":true}");
	assert_string_equal(member_text(reply, "EvalID"), "");
	json_decref(reply);
	json_t *scale = api_get("/v1/job/*/scale", "web");
	assert_shape(scale, "job_scale_events");
	json_t *events = json_object_get(group_scale(scale), "Events");
	json_t *newest = json_array_get(events, 0);
	assert_int_equal(json_array_size(events), 2);
	assert_true(json_is_null(json_object_get(newest, "Count")));
	assert_true(json_is_null(json_object_get(newest, "EvalID")));
	assert_true(json_is_true(json_object_get(newest, "Error")));
	json_decref(scale);
	assert_int_equal(version_of("web"), version);
}

static void what_cannot_be_scaled_is_refused(void **unused)
{
	const char *path = "/v1/job/web/scale";
	expect_answer("PUT", path, "{\"Count\":5}", 400, "missing task group name");
	expect_answer("PUT", path, "{\"Count\":5,\"Target\":{\"Group\":\"none\"}}", 400,
		"task group \"none\" specified for scaling does not exist in job");
	expect_answer("PUT", path, "{\"Count\":-1,\"Target\":{\"Group\":\"g\"}}", 400,
		"scaling action count can't be negative");
	expect_answer("PUT", path, "{\"Count\":1,\"Error\":true,\"Target\":{\"Group\":\"g\"}}", 400,
		"scaling action should not contain count if error is true");
	expect_answer("PUT", path, "{\"Count\":1.5,\"Target\":{\"Group\":\"g\"}}", 400, "Count");
	expect_answer("PUT", path, "{\"Meta\":[],\"Target\":{\"Group\":\"g\"}}", 400, "Meta");
	expect_answer("PUT", "/v1/job/none/scale", "{\"Count\":5,\"Target\":{\"Group\":\"g\"}}",
		404, "job not found");
	json_decref(api_put("/v1/jobs*", "", job_body("everywhere", "system", "1", 64)));
	expect_answer("PUT", "/v1/job/everywhere/scale",
		"{\"Count\":5,\"Target\":{\"Group\":\"g\"}}", 400, "system");
}

static void policies_are_listed(void **unused)
{
	json_t *reply = api_put("/v1/jobs*", "",
		"{\"Job\":{\"ID\":\"elastic\",\"Name\":\"e\",\"Type\":\"service\",\"Datacenters\":["
		"\"dc1\"],\"TaskGroups\":[{\"Name\":\"g\",\"Count\":3,\"Scaling\":{\"Enabled\":"
		"true,"
		"\"Min\":1,\"Max\":9,\"Policy\":{\"cooldown\":\"1m\"}},\"Tasks\":[{\"Name\":\"t\","
		"\"Driver\":\"exec\",\"Config\":{\"command\":\"/bin/true\"}}]}]}}");
	json_decref(reply);
	json_t *all = api_get("/v1/scaling/policies*", "");
	assert_shape(all, "scaling_policies");
	assert_int_equal(json_array_size(all), 1);
	json_t *stub = json_array_get(all, 0);
	assert_string_equal(member_text(json_object_get(stub, "Target"), "Job"), "elastic");
	json_t *policy = api_get("/v1/scaling/policy/*", member_text(stub, "ID"));
	assert_shape(policy, "scaling_policy");
	assert_int_equal(member_number(policy, "Max"), 9);
	assert_string_equal(member_text(json_object_get(policy, "Policy"), "cooldown"), "1m");
	json_decref(policy);
	json_decref(all);
	all = api_get("/v1/scaling/policies?job=*", "web");
	assert_int_equal(json_array_size(all), 0);
	json_decref(all);
	expect_answer("GET", "/v1/scaling/policy/00000000-dead-4000-8000-000000000000", NULL, 404,
		"policy not found");
}

// Of the job that policies_are_listed has registered.
static void counts_stay_within_the_policy(void **unused)
{
	static const char above[] = "group count was greater than scaling policy maximum: 10 > 9 "
				    "(group \"g\")";
	static const char below[] = "group count was less than scaling policy minimum: 0 < 1 "
				    "(group \"g\")";
	const char *path = "/v1/job/elastic/scale";
	json_int_t version = version_of("elastic");

	expect_answer("PUT", path, "{\"Count\":10,\"Target\":{\"Group\":\"g\"}}", 400, above);
	expect_answer("PUT", path, "{\"Count\":0,\"Target\":{\"Group\":\"g\"}}", 400, below);
	assert_int_equal(version_of("elastic"), version);
	expect_answer("PUT", path, "{\"Count\":99,\"Target\":{\"Group\":\"none\"}}", 400,
		"task group \"none\" specified for scaling does not exist in job");
	expect_answer("PUT", path, "{\"Count\":9,\"Target\":{\"Group\":\"g\"}}", 200, "");
	expect_answer("PUT", path, "{\"Count\":1,\"Target\":{\"Group\":\"g\"}}", 200, "");
	expect_answer(
		"PUT", path, "{\"Target\":{\"Group\":\"g\"},\"Message\":\"no data\"}", 200, "");
	assert_int_equal(version_of("elastic"), version + 2);
}

static const char *launcher_body(const char *id, const char *launcher)
{
	static char body[1024];
	snprintf(body, sizeof body,
		"{\"Job\":{\"ID\":\"%s\",\"Name\":\"%s\",\"Type\":\"batch\",\"Datacenters\":["
		"\"dc1\"],"
		"%s,\"TaskGroups\":[{\"Name\":\"g\",\"Count\":1,\"Tasks\":[{\"Name\":\"t\","
		"\"Driver\":\"exec\",\"Config\":{\"command\":\"/bin/true\"}}]}]}}",
		id, id, launcher);
	return body;
}

static json_t *children_of(const char *id)
{
	json_t *summary = api_get("/v1/job/*/summary", id);
	assert_shape(summary, "job_summary");
	json_t *children = json_incref(json_object_get(summary, "Children"));
	json_decref(summary);
	return children;
}

static void a_parameterized_job_is_dispatched(void **unused)
{
	json_decref(api_put("/v1/jobs*", "",
		launcher_body("mill",
			"\"ParameterizedJob\":{\"Payload\":\"optional\",\"MetaRequired\":[\"who\"],"
			"\"MetaOptional\":[\"why\"]}")));
	struct response before = http(server, "GET", "/v1/job/mill/summary", NULL);
	json_t *reply = api_put("/v1/job/*/dispatch?idempotency_token=t1", "mill",
		"{\"JobID\":\"mill\",\"Payload\":\"aGVsbG8=\",\"Meta\":{\"who\":\"me\"}}");
	assert_shape(reply, "job_dispatch");
	char id[256];
	snprintf(id, sizeof id, "%s", member_text(reply, "DispatchedJobID"));
	assert_memory_equal(id, "mill/dispatch-", 14);
	json_decref(reply);
	char path[128];
	snprintf(path, sizeof path, "/v1/job/mill/summary?index=%llu&wait=60s",
		(unsigned long long)before.index);
	struct response after = http(server, "GET", path, NULL);
	assert_true(after.index > before.index);
	response_free(&before);
	response_free(&after);
	char escaped[300];
	snprintf(escaped, sizeof escaped, "mill%%2F%s", id + 5);
	json_t *child = api_get("/v1/job/*", escaped);
	assert_string_equal(member_text(child, "ParentID"), "mill");
	assert_string_equal(member_text(child, "Payload"), "aGVsbG8=");
	assert_string_equal(member_text(json_object_get(child, "Meta"), "who"), "me");
	assert_true(json_is_true(json_object_get(child, "Dispatched")));
	json_decref(child);
	json_t *again = api_put(
		"/v1/job/*/dispatch?idempotency_token=t1", "mill", "{\"Meta\":{\"who\":\"me\"}}");
	assert_string_equal(member_text(again, "DispatchedJobID"), id);
	json_decref(again);
	json_t *children = children_of("mill");
	assert_int_equal(member_number(children, "Pending"), 1);
	assert_int_equal(member_number(children, "Dead"), 0);
	json_decref(children);
}

static void what_cannot_be_dispatched_is_refused(void **unused)
{
	const char *path = "/v1/job/mill/dispatch";
	expect_answer("PUT", path, "{}", 500, "Dispatch did not provide required meta keys: [who]");
	expect_answer("PUT", path, "{\"Meta\":{\"who\":\"x\",\"how\":\"y\"}}", 500,
		"Dispatch request included unpermitted metadata keys: [how]");
	expect_answer("PUT", path, "{\"Meta\":{\"who\":7}}", 400, "Meta: an object of");
	expect_answer("PUT", path, "{\"Payload\":\"!\",\"Meta\":{\"who\":\"x\"}}", 400,
		"Payload: bytes in base64 are expected");
	expect_answer("PUT", path, "{\"Payload\":7,\"Meta\":{\"who\":\"x\"}}", 400, "Payload");
	expect_answer("PUT", "/v1/job/web/dispatch", "{}", 500,
		"Specified job \"web\" is not a parameterized job");
	expect_answer("PUT", "/v1/job/none/dispatch", "{}", 404, "job not found");
}

// Of two that follow at once at least one pair falls into one second.
static void expect_one_launch_in_a_second(void)
{
	long status = 200;
	for (uint32_t i = 0; i < 5 && status == 200; i++) {
		struct response r = http(server, "PUT", "/v1/job/clock/periodic/force", "");
		status = r.status;
		if (status != 200)
			assert_non_null(strstr(r.body, "in this second already"));
		response_free(&r);
	}
	assert_int_equal(status, 409);
}

static void a_periodic_job_is_launched_now(void **unused)
{
	json_t *plan = api_put("/v1/job/*/plan", "clock",
		launcher_body("clock", "\"Periodic\":{\"Spec\":\"0 4 * * *\",\"Enabled\":true}"));
	const char *next = member_text(plan, "NextPeriodicLaunch");
	assert_int_equal(strlen(next), 20);
	assert_string_equal(next + 10, "T04:00:00Z");
	json_decref(plan);
	json_decref(api_put("/v1/jobs*", "",
		launcher_body("clock", "\"Periodic\":{\"Spec\":\"0 4 * * *\",\"Enabled\":true}")));
	json_t *reply = api_put("/v1/job/*/periodic/force", "clock", "");
	assert_shape(reply, "job_periodic_force");
	assert_int_equal(strlen(member_text(reply, "EvalID")), 36);
	json_t *evaluation = api_get("/v1/evaluation/*", member_text(reply, "EvalID"));
	assert_string_equal(member_text(evaluation, "TriggeredBy"), "periodic-job");
	assert_memory_equal(member_text(evaluation, "JobID"), "clock/periodic-", 15);
	json_decref(evaluation);
	json_decref(reply);
	json_t *children = children_of("clock");
	assert_int_equal(member_number(children, "Pending"), 1);
	json_decref(children);
	expect_one_launch_in_a_second();
	expect_answer("PUT", "/v1/job/web/periodic/force", "", 500, "non-periodic");
	expect_answer("PUT", "/v1/job/none/periodic/force", "", 404, "job not found");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_goes_back_to_a_version),
		cmocka_unit_test(what_cannot_be_reverted_is_refused),
		cmocka_unit_test(a_version_is_called_stable),
		cmocka_unit_test(versions_say_what_changed),
		cmocka_unit_test(a_group_is_scaled),
		cmocka_unit_test(an_event_without_a_count_is_noted),
		cmocka_unit_test(what_cannot_be_scaled_is_refused),
		cmocka_unit_test(policies_are_listed),
		cmocka_unit_test(counts_stay_within_the_policy),
		cmocka_unit_test(a_parameterized_job_is_dispatched),
		cmocka_unit_test(what_cannot_be_dispatched_is_refused),
		cmocka_unit_test(a_periodic_job_is_launched_now),
	};
	return cmocka_run_group_tests(tests, server_group_begin, server_group_end);
}
