// A job that a real server took or refused, with one of its members changed at a time: Berth takes and refuses the
// same, but for what docs/nomad-differences.md tells.
#include "tests/nomad/differences.h"
#include "tests/tools/api/server.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SERVICE "shown as they were sent without their defaults"
#define POOL "a job that names one which is not there waits for nodes"
#define STRICTER "is refused: it would do nothing"

static const struct {
	const char *name, *words;
} meant[] = {
	{"no_name", "its ID stands for it"},
	{"unknown_node_pool", POOL},
	{"bad_node_pool_name", POOL},
	{"two_networks", STRICTER},
	{"volume_type", STRICTER},
	{"device_count_zero", STRICTER},
	{"service_bad_name", SERVICE},
	{"service_bad_provider", SERVICE},
	{"mixed_providers", SERVICE},
};

static const char *meant_words(const char *name)
{
	for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++)
		if (strcmp(meant[i].name, name) == 0)
			return meant[i].words;
	return NULL;
}

// Sets what the path leads to ("TaskGroups[0].Tasks[0].Driver"); the members on the way are there or become objects.
static void change(json_t *at, const char *path, json_t *value)
{
	char name[64];
	int size, number;

	assert_int_equal(sscanf(path, "%63[^.[]%n", name, &size), 1);
	for (path += size; *path; path += size) {
		json_t *next = json_object_get(at, name);
		if (json_is_null(next) || !next) {
			next = json_object();
			json_object_set_new(at, name, next);
		}
		at = next;
		if (sscanf(path, "[%d]%n", &number, &size) == 1) {
			at = json_array_get(at, (size_t)number);
			path += size;
		}
		assert_int_equal(sscanf(path, ".%63[^.[]%n", name, &size), 1);
	}
	assert_int_equal(json_object_set(at, name, value), 0);
}

static void expect_judgement(const json_t *base, const json_t *one)
{
	const char *name = json_string_value(json_object_get(one, "case")), *path;
	const char *words = meant_words(name);
	bool taken = json_integer_value(json_object_get(one, "status")) == 200;
	json_t *body = json_pack("{s:o}", "Job", json_deep_copy(base)), *value;

	json_object_set_new(json_object_get(body, "Job"), "ID", json_string(name));
	json_object_foreach(json_object_get(one, "change"), path, value)
		change(json_object_get(body, "Job"), path, value);
	char *text = json_dumps(body, JSON_COMPACT);
	struct response r = http(server, "PUT", "/v1/jobs", text);
	if (((r.status == 200) == taken) != !words)
		fail_msg("%s: answered %ld \"%s\" to %s", name, r.status, r.body, text);
	if (words && !differences_say(words))
		fail_msg("%s: the page does not say \"%s\"", name, words);
	response_free(&r);
	free(text);
	json_decref(body);
}

static void what_a_real_server_refuses_is_refused(void **unused)
{
	struct response made = http(server, "PUT", "/v1/namespace",
		"{\"Name\":\"team\",\"Capabilities\":{\"DisabledTaskDrivers\":[\"qemu\"]}}");
	size_t i, differ = 0;
	json_t *recorded = json_load_file(RECORDED_MISTAKES, JSON_ALLOW_NUL, NULL), *one;

	assert_int_equal(made.status, 200);
	response_free(&made);
	json_array_foreach(json_object_get(recorded, "cases"), i, one)
	{
		expect_judgement(json_object_get(recorded, "job"), one);
		differ += meant_words(json_string_value(json_object_get(one, "case"))) != NULL;
	}
	assert_true(i > 100);
	assert_int_equal(differ, sizeof meant / sizeof meant[0]);
	json_decref(recorded);
}

// In Nomad's words, with the place before them.
static void scaling_and_regions_are_checked(void **unused)
{
#define GROUP(type, region, group)                                  \
	"{\"Job\":{\"ID\":\"scaled\",\"Type\":\"" type "\"," region \
	"\"TaskGroups\":[{\"Name\":\"g\"," group                    \
	"\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":\"/x\"}}]}]}}"
	static const struct {
		const char *body;
		long status;
		const char *text;
	} cases[] = {
		{GROUP("service", "", "\"Count\":4,\"Scaling\":{\"Max\":3},"), 500,
			"group \"g\": Scaling policy invalid: task group count must not be greater "
			"than maximum count in scaling policy"},
		{GROUP("system", "", "\"Scaling\":{\"Max\":3},"), 400,
			"Task groups with job type system do not support scaling blocks"},
		{GROUP("direct", "", "\"Scaling\":{\"Max\":3},"), 400,
			"Task groups with job type direct do not support scaling blocks"},
		{GROUP("service", "\"Region\":\"mars\",", ""), 500, "No path to region"},
		{GROUP("service", "", "\"Scaling\":{\"Min\":2,\"Max\":3},"), 200, ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct response r = http(server, "PUT", "/v1/jobs", cases[i].body);
		assert_int_equal(r.status, cases[i].status);
		assert_non_null(strstr(r.body, cases[i].text));
		response_free(&r);
	}
	json_t *job = http_json(server, "GET", "/v1/job/scaled", NULL);
	json_t *group = json_array_get(json_object_get(job, "TaskGroups"), 0);
	assert_int_equal(json_integer_value(json_object_get(group, "Count")), 2); // the least
	assert_string_equal(json_string_value(json_object_get(job, "Region")), "global");
	json_decref(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_real_server_refuses_is_refused),
		cmocka_unit_test(scaling_and_regions_are_checked),
	};
	return cmocka_run_group_tests(tests, scheduler_group_begin, server_group_end);
}
