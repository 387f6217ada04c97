// Members that clients of Nomad rely on: defaults of what a job leaves out, and what nodes and allocations show.
#include "tests/tools/api/life.h"
#include "tests/tools/api/scheduling.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct node_slot slot;

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1, .watchers = true});
	server_node(server, 0);
	slot = server->newest;
	return 0;
}

#define JOB                                                                                     \
	"{\"Job\":{\"ID\":\"web\",\"Name\":\"web\",\"Type\":\"service\",\"TaskGroups\":[{"      \
	"\"Name\":\"g\",\"Networks\":[{\"DynamicPorts\":[{\"Label\":\"http\"}]}],\"Scaling\":{" \
	"\"Min\":1,\"Max\":3},\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{"      \
	"\"command\":\"/bin/true\"}}]}]}}"

static void expect_text(json_t *object, const char *member, const char *text)
{
	const char *value = json_string_value(json_object_get(object, member));
	if (!value || strcmp(value, text) != 0)
		fail_msg("%s is \"%s\", not \"%s\"", member, value ? value : "missing", text);
}

static json_t *first_of(json_t *object, const char *member)
{
	return json_array_get(json_object_get(object, member), 0);
}

static void a_job_shows_its_defaults(void **unused)
{
	json_decref(http_json(server, "PUT", "/v1/jobs", JOB));
	json_t *job = http_json(server, "GET", "/v1/job/web", NULL);
	json_t *group = first_of(job, "TaskGroups");
	json_t *logs = json_object_get(first_of(group, "Tasks"), "LogConfig");
	assert_int_equal(json_integer_value(json_object_get(logs, "MaxFiles")), 10);
	assert_int_equal(json_integer_value(json_object_get(logs, "MaxFileSizeMB")), 10);
	assert_true(json_is_false(json_object_get(logs, "Disabled")));
	expect_text(json_object_get(group, "Consul"), "Namespace", "");
	json_t *scaling = json_object_get(group, "Scaling");
	expect_text(scaling, "Type", "horizontal");
	expect_text(json_object_get(scaling, "Target"), "Namespace", "default");
	expect_text(json_object_get(scaling, "Target"), "Job", "web");
	expect_text(json_object_get(scaling, "Target"), "Group", "g");
	json_t *network = first_of(group, "Networks");
	expect_text(network, "CIDR", "");
	expect_text(network, "Device", "");
	expect_text(network, "IP", "");
	json_decref(job);
}

// What is shown may be registered again as it is, and is the same job.
static void what_is_shown_is_the_same_job(void **unused)
{
	json_t *job = http_json(server, "GET", "/v1/job/web", NULL);
	json_t *again = json_pack("{s:O}", "Job", job);
	char *body = json_dumps(again, 0);
	json_decref(http_json(server, "PUT", "/v1/jobs", body));
	json_t *after = http_json(server, "GET", "/v1/job/web", NULL);
	assert_int_equal(json_integer_value(json_object_get(after, "Version")), 0);
	json_decref(after);
	free(body);
	json_decref(again);
	json_decref(job);
}

static void a_node_answers_no_http(void **unused)
{
	char path[64], id[UUID_TEXT_BYTES];
	struct uuid node = server_node_id(0);
	snprintf(path, sizeof path, "/v1/node/%s", uuid_format(&node, id));
	json_t *shown = http_json(server, "GET", path, NULL);
	expect_text(shown, "HTTPAddr", "");
	json_t *driver = json_object_get(json_object_get(shown, "Drivers"), "exec");
	const char *time = json_string_value(json_object_get(driver, "UpdateTime"));
	assert_true(time && strncmp(time, "0001", 4) != 0);
	json_decref(shown);
	json_t *list = http_json(server, "GET", "/v1/nodes", NULL);
	expect_text(json_array_get(list, 0), "Version", "1.6.5+berth.0.1.0");
	json_decref(list);
	json_t *self = http_json(server, "GET", "/v1/agent/self", NULL);
	json_t *version = json_object_get(json_object_get(self, "config"), "Version");
	expect_text(version, "Version", "1.6.5");
	json_decref(self);
}

static void an_allocation_tells_of_its_network(void **unused)
{
	static const char body[] =
		"{\"Job\":{\"ID\":\"run\",\"Type\":\"service\",\"TaskGroups\":[{\"Name\":\"g\","
		"\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":\"/"
		"x\"}}]}]}}";
	json_t *list = NULL;
	json_decref(http_json(server, "PUT", "/v1/jobs", body));
	life_begin(&slot, 1);
	for (int i = 0; i < 3000 && json_array_size(list) == 0; i++) {
		struct timespec pause = {0, 20000000};
		json_decref(list);
		nanosleep(&pause, NULL);
		list = http_json(server, "GET", "/v1/job/run/allocations", NULL);
	}
	life_end();
	char path[64];
	snprintf(path, sizeof path, "/v1/allocation/%s",
		json_string_value(json_object_get(json_array_get(list, 0), "ID")));
	json_t *shown = http_json(server, "GET", path, NULL);
	json_t *metrics = json_object_get(shown, "Metrics");
	assert_true(json_integer_value(json_object_get(metrics, "AllocationTime")) > 0);
	json_t *status = json_object_get(shown, "NetworkStatus");
	expect_text(status, "InterfaceName", "");
	expect_text(status, "Address", "");
	assert_true(json_is_null(json_object_get(status, "DNS")));
	json_decref(shown);
	json_decref(list);
}

#define COUNTED(type, count)                                                               \
	"{\"Job\":{\"ID\":\"back\",\"Type\":\"" type                                       \
	"\",\"TaskGroups\":[{\"Name\":\"g\",\"Meta\":{"                                    \
	"\"n\":\"" count "\"},\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{" \
	"\"command\":\"/x\"}}]}]}}"

// A version that was stable is stable again as soon as the job goes back to it.
static void what_a_job_goes_back_to_is_as_stable_as_it_was(void **unused)
{
	json_decref(http_json(server, "PUT", "/v1/jobs", COUNTED("batch", "1")));
	json_decref(http_json(server, "PUT", "/v1/job/back/stable",
		"{\"JobID\":\"back\",\"JobVersion\":0,\"Stable\":true}"));
	json_decref(http_json(server, "PUT", "/v1/jobs", COUNTED("batch", "2")));
	json_t *job = http_json(server, "GET", "/v1/job/back", NULL);
	assert_true(json_is_false(json_object_get(job, "Stable")));
	json_decref(job);
	json_decref(http_json(server, "PUT", "/v1/job/back/revert", "{\"JobVersion\":0}"));
	job = http_json(server, "GET", "/v1/job/back", NULL);
	assert_int_equal(json_integer_value(json_object_get(job, "Version")), 2);
	assert_true(json_is_true(json_object_get(job, "Stable")));
	json_decref(job);
}

// A child has the parameters of its parent, and is none that takes some.
static void a_dispatched_job_is_not_parameterized(void **unused)
{
	static const char parent[] =
		"{\"Job\":{\"ID\":\"param\",\"Type\":\"batch\",\"ParameterizedJob\":{},"
		"\"TaskGroups\":["
		"{\"Name\":\"g\",\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{"
		"\"command\":\"/x\"}}]}]}}";
	json_decref(http_json(server, "PUT", "/v1/jobs", parent));
	json_decref(http_json(server, "PUT", "/v1/job/param/dispatch", "{}"));
	json_t *jobs = http_json(server, "GET", "/v1/jobs?prefix=param", NULL);
	assert_int_equal(json_array_size(jobs), 2);
	for (size_t i = 0; i < 2; i++) {
		json_t *job = json_array_get(jobs, i);
		bool is_parent =
			strcmp(json_string_value(json_object_get(job, "ID")), "param") == 0;
		assert_int_equal(json_is_true(json_object_get(job, "ParameterizedJob")), is_parent);
	}
	json_decref(jobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_shows_its_defaults),
		cmocka_unit_test(what_is_shown_is_the_same_job),
		cmocka_unit_test(a_node_answers_no_http),
		cmocka_unit_test(an_allocation_tells_of_its_network),
		cmocka_unit_test(a_dispatched_job_is_not_parameterized),
		cmocka_unit_test(what_a_job_goes_back_to_is_as_stable_as_it_was),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
