// Registering, validating and stopping jobs, and an operator's release.
#include "tests/tools/api/server.h"
#include "tests/tools/api/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){0});
	for (uint32_t i = 0; i < 4; i++)
		server_node(server, i);
	return 0;
}

#define TASKS(cpu)                                                                        \
	"\"TaskGroups\":[{\"Name\":\"g\",\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\"," \
	"\"Config\":{\"command\":\"/bin/true\"},\"Resources\":{\"CPU\":" cpu              \
	",\"MemoryMB\":64}}]}]"

static json_int_t number(json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static const char *text(json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static void expect(
	const char *method, const char *path, const char *body, long status, const char *part)
{
	struct response r = http(server, method, path, body);
	if (r.status != status || !strstr(r.body, part))
		fail_msg("%s %s answered %ld \"%s\", not %ld with \"%s\"", method, path, r.status,
			r.body, status, part);
	response_free(&r);
}

static void a_job_is_registered_and_shown(void **unused)
{
	json_t *reply = http_json(server, "PUT", "/v1/jobs",
		"{\"Job\":{\"ID\":\"one\",\"Name\":\"One\",\"Type\":\"direct\",\"Priority\":70,"
		"\"Datacenters\":[\"dc1\"],\"Meta\":{\"b\":\"2\",\"a\":\"1\"}," TASKS("100") "}}");
	assert_shape(reply, "job_register");
	assert_string_equal(text(reply, "EvalID"), "");
	assert_string_equal(text(reply, "Warnings"), "");
	json_int_t index = number(reply, "JobModifyIndex");
	json_decref(reply);
	json_t *job = http_json(server, "GET", "/v1/job/one", NULL);
	assert_string_equal(text(job, "Name"), "One");
	assert_string_equal(text(job, "Region"), "global");
	assert_int_equal(number(job, "Priority"), 70);
	assert_int_equal(number(job, "Version"), 0);
	assert_int_equal(number(job, "JobModifyIndex"), index);
	assert_string_equal(text(json_object_get(job, "Meta"), "a"), "1");
	assert_true(number(job, "SubmitTime") > 0);
	json_t *group = json_array_get(json_object_get(job, "TaskGroups"), 0);
	assert_int_equal(number(json_object_get(group, "EphemeralDisk"), "SizeMB"), 300);
	json_t *task = json_array_get(json_object_get(group, "Tasks"), 0);
	assert_string_equal(text(json_object_get(task, "Config"), "command"), "/bin/true");
	json_decref(job);
}

static void the_same_job_again_changes_nothing(void **unused)
{
	static const char *const body =
		"{\"Job\":{\"ID\":\"same\",\"Name\":\"same\",\"Type\":\"direct\","
		"\"Datacenters\":[\"dc1\"]," TASKS("100") "}}";
	json_t *first = http_json(server, "PUT", "/v1/jobs", body);
	json_t *second = http_json(server, "POST", "/v1/jobs", body);
	assert_int_equal(number(first, "JobModifyIndex"), number(second, "JobModifyIndex"));
	json_decref(first);
	json_decref(second);
	json_t *job = http_json(server, "GET", "/v1/job/same", NULL);
	assert_int_equal(number(job, "Version"), 0);
	json_decref(job);
}

static void a_change_makes_a_version(void **unused)
{
	static const char *const cpus[] = {"100", "200", "300"};
	for (int i = 0; i < 3; i++) {
		char body[1024];
		snprintf(body, sizeof body,
			"{\"Job\":{\"ID\":\"versions\",\"Name\":\"v\",\"Type\":\"direct\","
			"\"Datacenters\":[\"dc1\"]," TASKS("%s") "}}",
			cpus[i]);
		json_decref(http_json(server, "PUT", "/v1/job/versions", body));
	}
	json_t *root = http_json(server, "GET", "/v1/job/versions/versions", NULL);
	json_t *versions = json_object_get(root, "Versions");
	assert_int_equal(json_array_size(versions), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(number(json_array_get(versions, i), "Version"), 2 - (json_int_t)i);
	json_decref(root);
}

static void enforced_indexes_conflict(void **unused)
{
	char body[1024];
	const char *job = "\"Job\":{\"ID\":\"cas\",\"Name\":\"cas\",\"Type\":\"direct\","
			  "\"Datacenters\":[\"dc1\"]," TASKS("100") "}";
	snprintf(body, sizeof body, "{%s,\"EnforceIndex\":true,\"JobModifyIndex\":7}", job);
	expect("PUT", "/v1/jobs", body, 500, "Enforcing job modify index 7: job does not exist");
	snprintf(body, sizeof body, "{%s,\"EnforceIndex\":true,\"JobModifyIndex\":0}", job);
	json_t *reply = http_json(server, "PUT", "/v1/jobs", body);
	json_int_t index = number(reply, "JobModifyIndex");
	json_decref(reply);
	expect("PUT", "/v1/jobs", body, 500, "Enforcing job modify index 0: job already exists");
	char sentence[128];
	snprintf(body, sizeof body, "{%s,\"EnforceIndex\":true,\"JobModifyIndex\":%d}", job, 1);
	snprintf(sentence, sizeof sentence,
		"Enforcing job modify index 1: job exists with conflicting job modify index: %lld",
		(long long)index);
	expect("PUT", "/v1/jobs", body, 500, sentence);
	snprintf(body, sizeof body, "{%s,\"EnforceIndex\":true,\"JobModifyIndex\":%lld}", job,
		(long long)index);
	json_decref(http_json(server, "PUT", "/v1/jobs", body));
}

static void broken_json_is_pointed_at(void **unused)
{
	expect("PUT", "/v1/jobs", "", 400, "the body is empty");
	expect("PUT", "/v1/jobs", "{", 400, "line 1 column 1: ");
	expect("PUT", "/v1/jobs", "{\"Job\":{\n\"ID\": x}}", 400, "line 2 column 7: ");
	expect("PUT", "/v1/jobs", "{\"Job\":{\"ID\":\"a\",\"ID\":\"b\"}}", 400,
		"duplicate object key");
	expect("PUT", "/v1/jobs", "{}", 400, "Job: must be specified");
	expect("PUT", "/v1/jobs", "{\"Job\":null}", 400, "Job: must be specified");
	expect("PUT", "/v1/jobs", "{\"Job\":{}}", 400, "Job ID hasn't been provided");
	expect("PUT", "/v1/jobs", "{\"Job\":{\"ID\":null}}", 400, "Job ID hasn't been provided");
	expect("PUT", "/v1/job/web", "{\"Job\":{}}", 400, "Job ID hasn't been provided");
	expect("PUT", "/v1/job/web/plan", "{\"Job\":{}}", 400, "Job must have a valid ID");
	expect("PUT", "/v1/jobs", "{\"Job\":{\"ID\":\"\"}}", 500, "ID is missing");
	expect("PUT", "/v1/validate/job", "[]", 400, "a JSON object is expected");
	char deep[512] = "{\"Job\":";
	memset(deep + strlen(deep), '[', 70);
	expect("PUT", "/v1/jobs", deep, 400, "nested deeper than 64 levels");
}

static void mistakes_of_form_name_their_path(void **unused)
{
	expect("PUT", "/v1/jobs",
		"{\"Job\":{\"ID\":5,\"Priority\":\"high\",\"TaskGroups\":[{\"Tasks\":[{},"
		"{\"Resources\":{\"CPU\":\"lots\"},\"KillTimeout\":\"soon\"}]}]},\"EnforceIndex\":"
		"1}",
		400,
		"5 errors occurred:\n"
		"\t* EnforceIndex: expected true or false, not a number\n"
		"\t* Job.ID: expected a string, not a number\n"
		"\t* Job.Priority: expected an integer, not a string\n"
		"\t* Job.TaskGroups[0].Tasks[1].Resources.CPU: expected an integer, not a string\n"
		"\t* Job.TaskGroups[0].Tasks[1].KillTimeout: \"soon\" is no duration");
}

// A job with twenty mistakes is told all of them, by registration and by validation alike.
static void twenty_mistakes_in_one_answer(void **unused)
{
	char body[8192] =
		"{\"Job\":{\"ID\":\"a b\",\"Name\":\"\",\"Type\":\"direct\",\"Priority\":1000,"
		"\"Datacenters\":[\"\"],\"Constraints\":[{\"LTarget\":\"\",\"Operand\":\"~\"}],"
		"\"TaskGroups\":[";
	for (int i = 0; i < 6; i++)
		snprintf(body + strlen(body), sizeof body - strlen(body),
			"%s{\"Name\":\"%s\",\"Count\":-1,\"Tasks\":[{\"Name\":\"\",\"Driver\":\"\","
			"\"Resources\":{\"CPU\":-5,\"MemoryMB\":-1}}]}",
			i ? "," : "", i < 2 ? "" : "same");
	snprintf(body + strlen(body), sizeof body - strlen(body), "]}}");
	struct response r = http(server, "PUT", "/v1/jobs", body);
	assert_int_equal(r.status, 500);
	long mistakes = strtol(r.body, NULL, 10);
	assert_true(mistakes >= 20);
	long lines = 0;
	for (const char *at = r.body; (at = strstr(at, "\n\t* ")); at++)
		lines++;
	assert_int_equal(lines, mistakes);
	assert_true(response_has(&r, "Content-Type: text/plain; charset=utf-8"));
	json_t *reply = http_json(server, "PUT", "/v1/validate/job", body);
	assert_shape(reply, "job_validate");
	assert_string_equal(text(reply, "Error"), r.body);
	assert_int_equal(json_array_size(json_object_get(reply, "ValidationErrors")), mistakes);
	json_decref(reply);
	response_free(&r);
	expect("GET", "/v1/job/a%20b", NULL, 404, "job not found");
}

// The server of these tests can know 65,536 allocations.
static void counts_have_their_bound(void **unused)
{
	static const char body[] =
		"{\"Job\":{\"ID\":\"huge\",\"TaskGroups\":["
		"{\"Name\":\"a\",\"Count\":65536,\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\"}]},"
		"{\"Name\":\"b\",\"Count\":1,\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\"}]}]}}";
	static const char sentence[] =
		"Count of all groups together is 65537 instances, more than the 65536 that "
		"limits.allocations allows";
	expect("PUT", "/v1/jobs", body, 500, sentence);
	expect("PUT", "/v1/job/huge/plan", body, 500, sentence);
	expect("PUT", "/v1/validate/job", body, 200, sentence);
	expect("GET", "/v1/job/huge", NULL, 404, "job not found");
}

static void every_type_is_taken(void **unused)
{
	static const char *const types[] = {"service", "batch", "system", "sysbatch"};
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		char body[1024], path[64];
		snprintf(body, sizeof body,
			"{\"Job\":{\"ID\":\"of-%s\",\"Name\":\"x\",\"Type\":\"%s\","
			"\"Datacenters\":[\"dc1\"]," TASKS("100") "}}",
			types[i], types[i]);
		json_t *reply = http_json(server, "PUT", "/v1/jobs", body);
		assert_int_equal(strlen(text(reply, "EvalID")), 36);
		json_decref(reply);
		snprintf(path, sizeof path, "/v1/job/of-%s", types[i]);
		json_t *job = http_json(server, "GET", path, NULL);
		assert_string_equal(text(job, "Type"), types[i]);
		json_decref(job);
	}
	expect("PUT", "/v1/jobs", "{\"Job\":{\"ID\":\"x\",\"Type\":\"nonsense\"}}", 400,
		"Job.Type: \"nonsense\" is none of service, batch, system, sysbatch, direct");
}

// They make others and are not evaluated themselves.
static void launchers_have_no_evaluation(void **unused)
{
	static const char *const launchers[] = {
		"\"Periodic\":{\"Spec\":\"0 4 * * *\"},", "\"ParameterizedJob\":{},"};
	for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
		char body[1024];
		snprintf(body, sizeof body,
			"{\"Job\":{\"ID\":\"l%zu\",\"Name\":\"l\",\"Type\":\"batch\","
			"\"Datacenters\":[\"dc1\"],%s" TASKS("100") "}}",
			i, launchers[i]);
		json_t *reply = http_json(server, "PUT", "/v1/jobs", body);
		assert_string_equal(text(reply, "EvalID"), "");
		json_decref(reply);
	}
	expect("PUT", "/v1/job/l0/evaluate", "", 500, "can't evaluate periodic job");
	expect("PUT", "/v1/job/l1/evaluate", "", 500, "can't evaluate parameterized job");
	expect("PUT", "/v1/jobs",
		"{\"Job\":{\"ID\":\"p\",\"Name\":\"p\",\"Type\":\"service\",\"Datacenters\":["
		"\"dc1\"],"
		"\"Periodic\":{\"Spec\":\"0 4 * * *\"}," TASKS("100") "}}",
		500, "Periodic is");
}

static void a_type_does_not_change(void **unused)
{
	json_t *reply = http_json(server, "PUT", "/v1/jobs",
		"{\"Job\":{\"ID\":\"fixed\",\"Name\":\"f\",\"Type\":\"direct\",\"Datacenters\":["
		"\"dc1\"]," TASKS("100") "}}");
	json_decref(reply);
	expect("PUT", "/v1/jobs",
		"{\"Job\":{\"ID\":\"fixed\",\"Name\":\"f\",\"Type\":\"system\",\"Datacenters\":["
		"\"dc1\"]," TASKS("100") "}}",
		500, "Type may not change from \"direct\" to \"system\"");
}

static void an_evaluation_has_a_priority_in_bounds(void **unused)
{
	expect("PUT", "/v1/jobs",
		"{\"EvalPriority\":101,\"Job\":{\"ID\":\"pr\",\"Name\":\"p\",\"Type\":\"direct\","
		"\"Datacenters\":[\"dc1\"]," TASKS("100") "}}",
		400, "Eval priority must be between 1 and 100 inclusively");
	expect("DELETE", "/v1/job/pr?eval_priority=101", NULL, 400,
		"Eval priority must be between 1 and 100 inclusively");
	expect("DELETE", "/v1/job/pr?eval_priority=x", NULL, 400, "Eval priority must be");
}

// Clients place the instances of a direct job: registering it does nothing to them.
static void a_plan_of_a_direct_job_is_its_difference(void **unused)
{
	static const char first[] =
		"{\"Diff\":true,\"Job\":{\"ID\":\"planned\",\"Name\":\"p\",\"Type\":\"direct\","
		"\"Datacenters\":[\"dc1\"]," TASKS("100") "}}";
	static const char second[] =
		"{\"Diff\":true,\"Job\":{\"ID\":\"planned\",\"Name\":\"p\",\"Type\":\"direct\","
		"\"Datacenters\":[\"dc1\"]," TASKS("200") "}}";
	json_t *plan = http_json(server, "PUT", "/v1/job/planned/plan", first);
	assert_string_equal(text(json_object_get(plan, "Diff"), "Type"), "Added");
	json_t *updates = json_object_get(json_object_get(plan, "Annotations"), "DesiredTGUpdates");
	assert_int_equal(json_object_size(updates), 0);
	json_decref(plan);
	expect("GET", "/v1/job/planned", NULL, 404, "job not found");
	json_decref(http_json(server, "PUT", "/v1/jobs", first));
	plan = http_json(server, "PUT", "/v1/job/planned/plan", second);
	assert_string_equal(text(json_object_get(plan, "Diff"), "Type"), "Edited");
	assert_true(number(plan, "JobModifyIndex") > 0);
	json_decref(plan);
	expect("PUT", "/v1/job/other/plan", first, 400, "Job ID does not match");
	expect("PUT", "/v1/job/planned/plan", "{\"Job\":{\"ID\":\"planned\"}}", 500, "");
	expect("PUT", "/v1/job/planned/plan", "{", 400, "line 1");
}

static void what_is_ignored_is_a_warning(void **unused)
{
	json_t *reply = http_json(server, "PUT", "/v1/jobs",
		"{\"Job\":{\"ID\":\"warned\",\"Name\":\"w\",\"Type\":\"direct\",\"Datacentres\":["
		"\"dc1\"],"
		"\"ConsulToken\":null,\"Datacenters\":[\"dc1\"]," TASKS("100") "}}");
	assert_string_equal(
		text(reply, "Warnings"), "1 warning:\n\n* Job.Datacentres: not known, ignored");
	json_decref(reply);
}

static void the_path_must_name_the_job(void **unused)
{
	expect("PUT", "/v1/job/other",
		"{\"Job\":{\"ID\":\"x\",\"Name\":\"x\",\"Type\":\"direct\","
		"\"Datacenters\":[\"dc1\"]," TASKS("100") "}}",
		400, "Job ID does not match");
}

static void stopping_ends_allocations(void **unused)
{
	struct uuid ids[PLACE_COUNT_MAX];
	server_job(server, "stopped");
	assert_int_equal(server_place(server, "stopped", 2, ids), 2);
	json_t *reply = http_json(server, "DELETE", "/v1/job/stopped?purge=false", NULL);
	assert_shape(reply, "job_deregister");
	json_decref(reply);
	json_t *job = http_json(server, "GET", "/v1/job/stopped", NULL);
	assert_true(json_is_true(json_object_get(job, "Stop")));
	assert_string_equal(text(job, "Status"), "dead");
	json_decref(job);
	json_t *list = http_json(server, "GET", "/v1/job/stopped/allocations", NULL);
	assert_int_equal(json_array_size(list), 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(text(json_array_get(list, i), "DesiredStatus"), "stop");
	json_decref(list);
	expect("DELETE", "/v1/job/none", NULL, 200, "\"EvalID\":\"\"");
	json_decref(http_json(server, "DELETE", "/v1/job/stopped?purge=true", NULL));
	expect("GET", "/v1/job/stopped", NULL, 404, "job not found");
}

static void an_operator_releases(void **unused)
{
	struct uuid ids[PLACE_COUNT_MAX];
	server_job(server, "released");
	assert_int_equal(server_place(server, "released", 2, ids), 2);
	char body[4096], id[UUID_TEXT_BYTES];
	snprintf(body, sizeof body, "{\"IDs\":[\"%s\",\"00000000-dead-4000-8000-000000000000\"]}",
		uuid_format(&ids[0], id));
	json_t *reply = http_json(server, "PUT", "/v1/berth/release", body);
	assert_shape(reply, "release");
	json_t *results = json_object_get(reply, "Results");
	assert_string_equal(text(json_array_get(results, 0), "ID"), id);
	assert_string_equal(text(json_array_get(results, 0), "Result"), "released");
	assert_string_equal(text(json_array_get(results, 1), "Result"), "unknown");
	json_decref(reply);
	reply = http_json(server, "PUT", "/v1/berth/release", body);
	results = json_object_get(reply, "Results");
	assert_string_equal(text(json_array_get(results, 0), "Result"), "already-released");
	json_decref(reply);
	expect("PUT", "/v1/berth/release", "{}", 400, "IDs: a list of 1 to ");
	expect("PUT", "/v1/berth/release", "{\"IDs\":[\"x\"]}", 400,
		"IDs[0]: \"x\" is no allocation id");
	expect("PUT", "/v1/berth/release", "{\"IDs\":[7]}", 400,
		"IDs[0]: \"\" is no allocation id");
	expect("PUT", "/v1/berth/release", "", 400, "the body is empty");
}

// More ids than one command takes go out as several, and come back in order.
static void many_are_released_at_once(void **unused)
{
	json_t *ids = json_array();
	struct uuid placed[3][PLACE_COUNT_MAX];
	server_job(server, "many");
	for (int round = 0; round < 3; round++)
		assert_int_equal(server_place(server, "many", 8, placed[round]), 8);
	char id[UUID_TEXT_BYTES];
	for (int i = 0; i < 90; i++) {
		struct uuid fake = server_node_id((uint32_t)i + 1000);
		const struct uuid *one = i % 30 < 8 ? &placed[i / 30][i % 30] : &fake;
		json_array_append_new(ids, json_string(uuid_format(one, id)));
	}
	json_t *request = json_pack("{s:O}", "IDs", ids);
	char *body = json_dumps(request, 0);
	json_t *reply = http_json(server, "PUT", "/v1/berth/release", body);
	json_t *results = json_object_get(reply, "Results");
	assert_int_equal(json_array_size(results), 90);
	for (size_t i = 0; i < 90; i++) {
		assert_string_equal(text(json_array_get(results, i), "ID"),
			json_string_value(json_array_get(ids, i)));
		assert_string_equal(text(json_array_get(results, i), "Result"),
			i % 30 < 8 ? "released" : "unknown");
	}
	json_decref(reply);
	free(body);
	json_decref(request);
	json_decref(ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_registered_and_shown),
		cmocka_unit_test(the_same_job_again_changes_nothing),
		cmocka_unit_test(a_change_makes_a_version),
		cmocka_unit_test(enforced_indexes_conflict),
		cmocka_unit_test(broken_json_is_pointed_at),
		cmocka_unit_test(mistakes_of_form_name_their_path),
		cmocka_unit_test(twenty_mistakes_in_one_answer),
		cmocka_unit_test(counts_have_their_bound),
		cmocka_unit_test(every_type_is_taken),
		cmocka_unit_test(launchers_have_no_evaluation),
		cmocka_unit_test(a_type_does_not_change),
		cmocka_unit_test(an_evaluation_has_a_priority_in_bounds),
		cmocka_unit_test(a_plan_of_a_direct_job_is_its_difference),
		cmocka_unit_test(what_is_ignored_is_a_warning),
		cmocka_unit_test(the_path_must_name_the_job),
		cmocka_unit_test(stopping_ends_allocations),
		cmocka_unit_test(an_operator_releases),
		cmocka_unit_test(many_are_released_at_once),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
