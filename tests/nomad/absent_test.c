// What is not there is answered as the real server answers it: what a script repeats succeeds, lists are empty.
#include "tests/tools/api/server.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define NOBODY "12345678-1234-1234-1234-123456789abc"

struct expected {
	const char *method, *path;
	long status;
	const char *body;
};

static void expect_all(const struct expected *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct expected *e = &cases[i];
		struct response r = http(
			server, e->method, e->path, strcmp(e->method, "PUT") == 0 ? "{}" : NULL);
		if (r.status != e->status || strcmp(r.body, e->body) != 0)
			fail_msg("%s %s answered %ld \"%s\", not %ld \"%s\"", e->method, e->path,
				r.status, r.body, e->status, e->body);
		response_free(&r);
	}
}

static void a_job_is_stopped_twice(void **unused)
{
	json_t *reply = http_json(server, "DELETE", "/v1/job/nosuch", NULL);
	assert_string_equal(json_string_value(json_object_get(reply, "EvalID")), "");
	static const char *const zeros[] = {
		"EvalCreateIndex", "Index", "JobModifyIndex", "LastContact", "VolumeEvalIndex"};
	for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++) {
		const json_t *value = json_object_get(reply, zeros[i]);
		assert_true(json_is_integer(value) && json_integer_value(value) == 0);
	}
	json_decref(reply);
}

static void what_belongs_to_nothing_is_an_empty_list(void **unused)
{
	static const struct expected cases[] = {
		{"GET", "/v1/node/" NOBODY "/allocations", 200, "[]"},
		{"GET", "/v1/evaluation/" NOBODY "/allocations", 200, "[]"},
		{"GET", "/v1/deployment/allocations/" NOBODY, 200, "[]"},
		{"GET", "/v1/job/nosuch/allocations", 200, "[]"},
		{"GET", "/v1/job/nosuch/evaluations", 200, "[]"},
		{"GET", "/v1/job/nosuch/deployments", 200, "[]"},
		{"GET", "/v1/job/nosuch/deployment", 200, "null"},
		{"GET", "/v1/node/pool/nosuch/nodes", 200, "[]"},
		{"GET", "/v1/node/pool/nosuch/jobs", 200, "[]"},
	};
	expect_all(cases, sizeof cases / sizeof cases[0]);
}

static void lists_of_what_there_is_none_of_are_empty(void **unused)
{
	static const struct expected cases[] = {
		{"GET", "/v1/volumes", 200, "[]"},
		{"GET", "/v1/volumes?type=csi", 200, "[]"},
		{"GET", "/v1/plugins", 200, "[]"},
		{"GET", "/v1/services", 200, "[]"},
		{"GET", "/v1/service/web", 200, "[]"},
		{"GET", "/v1/volume/csi/x", 404, "volume not found"},
		{"GET", "/v1/plugin/csi/x", 404, "plugin not found"},
		{"GET", "/v1/volumes/external?plugin_id=x", 500, "no such plugin"},
		{"GET", "/v1/volumes/snapshot?plugin_id=x", 500, "no such plugin"},
		{"GET", "/v1/job/nosuch/submission?version=0", 404, "job source not found"},
		{"GET", "/v1/job/nosuch/submission", 400,
			"Unable to parse job submission version parameter"},
		{"GET", "/v1/job/nosuch/submission?version=x", 400,
			"Unable to parse job submission version parameter"},
		{"GET", "/v1/agent/pprof/profile", 403,
			"Permission denied: this server is no Go program and has no such profiles"},
	};
	expect_all(cases, sizeof cases / sizeof cases[0]);
}

static void enterprise_routes_say_so(void **unused)
{
	static const char text[] = "Nomad Enterprise only endpoint";
	const struct expected cases[] = {
		{"GET", "/v1/recommendations", 501, text},
		{"GET", "/v1/recommendation", 501, text},
		{"GET", "/v1/recommendation/x", 501, text},
		{"PUT", "/v1/recommendations/apply", 501, text},
		{"GET", "/v1/sentinel/policies", 501, text},
		{"GET", "/v1/sentinel/policy/x", 501, text},
		{"PUT", "/v1/sentinel/policy/x", 501, text},
		{"PUT", "/v1/operator/license", 501, text},
		{"GET", "/v1/operator/license", 204, ""},
	};
	expect_all(cases, sizeof cases / sizeof cases[0]);
}

static void access_control_is_disabled(void **unused)
{
	static const char text[] = "ACL support disabled";
	const struct expected cases[] = {
		{"GET", "/v1/acl/policies", 400, text},
		{"GET", "/v1/acl/policy/x", 400, text},
		{"PUT", "/v1/acl/policy/x", 400, text},
		{"DELETE", "/v1/acl/policy/x", 400, text},
		{"GET", "/v1/acl/tokens", 400, text},
		{"GET", "/v1/acl/token/self", 400, text},
		{"PUT", "/v1/acl/token", 400, text},
		{"GET", "/v1/acl/roles", 400, text},
		{"GET", "/v1/acl/auth-methods", 400, text},
		{"GET", "/v1/acl/binding-rules", 400, text},
		{"PUT", "/v1/acl/login", 400, text},
	};
	expect_all(cases, sizeof cases / sizeof cases[0]);
}

// What would be lost is refused with a sentence, never taken.
static void what_is_not_kept_is_not_taken(void **unused)
{
	static const struct {
		const char *method, *path;
	} cases[] = {
		{"PUT", "/v1/volume/csi/x"},
		{"PUT", "/v1/volumes"},
		{"DELETE", "/v1/service/web/x"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct response r = http(server, cases[i].method, cases[i].path,
			strcmp(cases[i].method, "PUT") == 0 ? "{}" : NULL);
		assert_int_equal(r.status, 501);
		assert_true(r.size > 20);
		response_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_stopped_twice),
		cmocka_unit_test(what_belongs_to_nothing_is_an_empty_list),
		cmocka_unit_test(lists_of_what_there_is_none_of_are_empty),
		cmocka_unit_test(enterprise_routes_say_so),
		cmocka_unit_test(access_control_is_disabled),
		cmocka_unit_test(what_is_not_kept_is_not_taken),
	};
	return cmocka_run_group_tests(tests, scheduler_group_begin, server_group_end);
}
