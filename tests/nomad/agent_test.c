// What the command line asks about servers, schedulers and names.
#include "tests/tools/api/server.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *method, const char *path, long status, const char *body)
{
	struct response r = http(server, method, path, strcmp(method, "PUT") == 0 ? "" : NULL);
	if (r.status != status || strcmp(r.body, body) != 0)
		fail_msg("%s %s answered %ld \"%s\"", method, path, r.status, r.body);
	response_free(&r);
}

static void servers_are_joined_and_left(void **unused)
{
	expect("GET", "/v1/agent/join?address=x", 405, "Invalid method");
	expect("PUT", "/v1/agent/join", 400, "missing address to join");
	expect("PUT", "/v1/agent/force-leave", 400, "missing node to force leave");
	expect("PUT", "/v1/agent/force-leave?node=nosuch", 200, "");
	expect("PUT", "/v1/agent/force-leave?node=nosuch&prune=true", 200, "");
	expect("PUT", "/v1/agent/servers", 400, "missing server address");
	expect("PUT", "/v1/agent/servers?address=127.0.0.1:4647", 200, "");
	expect("PUT", "/v1/agent/servers?address=host", 200, "");
	expect("PUT", "/v1/agent/servers?address=::1", 200, "");
	expect("PUT", "/v1/agent/servers?address=[::1]:4647", 200, "");
	expect("PUT", "/v1/agent/servers?address=zzz:yy", 400,
		"1 error occurred:\n\t* lookup tcp/yy: unknown port\n\n");
	expect("PUT", "/v1/agent/servers?address=[::1]:65536", 400,
		"1 error occurred:\n\t* lookup tcp/65536: unknown port\n\n");
	json_t *joined = http_json(server, "PUT", "/v1/agent/join?address=127.0.0.1:1", "");
	assert_int_equal(json_integer_value(json_object_get(joined, "num_joined")), 0);
	assert_true(json_string_length(json_object_get(joined, "error")) > 0);
	json_decref(joined);
	json_t *self = http_json(server, "GET", "/v1/status/leader", NULL);
	char path[256];
	snprintf(path, sizeof path, "/v1/agent/join?address=%s", json_string_value(self));
	joined = http_json(server, "PUT", path, "");
	assert_int_equal(json_integer_value(json_object_get(joined, "num_joined")), 1);
	assert_string_equal(json_string_value(json_object_get(joined, "error")), "");
	json_decref(joined);
	json_decref(self);
	json_t *servers = http_json(server, "GET", "/v1/agent/servers", NULL);
	assert_int_equal(json_array_size(servers), 1);
	json_decref(servers);
}

static void the_only_server_stays(void **unused)
{
	expect("DELETE", "/v1/operator/raft/peer", 400,
		"Must specify either ?id with the server's ID or ?address with IP:port of peer to "
		"remove");
	expect("DELETE", "/v1/operator/raft/peer?id=x&address=127.0.0.1:1", 400,
		"Must specify only one of ?id or ?address");
	expect("DELETE", "/v1/operator/raft/peer?id=nope", 500,
		"id \"nope\" was not found in the Raft configuration");
	expect("DELETE", "/v1/operator/raft/peer?address=nope", 500,
		"address \"nope\" was not found in the Raft configuration");
	json_t *all = http_json(server, "GET", "/v1/operator/raft/configuration", NULL);
	json_t *self = json_array_get(json_object_get(all, "Servers"), 0);
	char path[256];
	snprintf(path, sizeof path, "/v1/operator/raft/peer?address=%s",
		json_string_value(json_object_get(self, "Address")));
	expect("DELETE", path, 501, "the only server cannot be removed; stop it instead");
	json_decref(all);
}

static void schedulers_are_listed(void **unused)
{
	json_t *all = http_json(server, "GET", "/v1/agent/schedulers", NULL);
	assert_string_equal(json_string_value(json_object_get(all, "server_id")), "test.global");
	json_t *list = json_object_get(all, "schedulers");
	assert_int_equal(json_array_size(list), 2);
	static const char *const texts[] = {"id", "started", "status", "workload_status"};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		assert_true(json_is_string(json_object_get(json_array_get(list, 0), texts[i])));
	assert_int_equal(
		json_array_size(json_object_get(json_array_get(list, 0), "enabled_schedulers")), 5);
	json_decref(all);
	json_t *config = http_json(server, "GET", "/v1/agent/schedulers/config", NULL);
	assert_int_equal(json_integer_value(json_object_get(config, "num_schedulers")), 2);
	json_decref(config);
}

static void expect_config(const char *body, long status, const char *answer)
{
	struct response r = http(server, "PUT", "/v1/agent/schedulers/config", body);
	if (r.status != status || (answer && strcmp(r.body, answer) != 0))
		fail_msg("%s answered %ld \"%s\"", body, r.status, r.body);
	response_free(&r);
}

#define SCHEDULERS(count, types) "{\"num_schedulers\":" count ",\"enabled_schedulers\":[" types "]}"
#define MOST "\"_core\",\"service\",\"batch\",\"system\""

static void schedulers_are_as_configured(void **unused)
{
	expect_config("", 400, "Invalid request: Request body is empty");
	expect_config("{}", 400, "Invalid request");
	expect_config(SCHEDULERS("2", "\"_core\",\"foo\""), 400, "Invalid request");
	expect_config(SCHEDULERS("-1", "\"_core\",\"service\""), 400, "Invalid request");
	expect_config(SCHEDULERS("2", "\"service\",\"batch\""), 400, "Invalid request");
	expect_config(SCHEDULERS("2", MOST ",\"sysbatch\""), 200, NULL);
	expect_config(SCHEDULERS("64", MOST ",\"sysbatch\""), 501, NULL);
	expect_config(SCHEDULERS("2", MOST), 501, NULL);
}

static void expect_scope(const char *context, const char *id, const char *const *scope, size_t size)
{
	static const char body[] = "{\"Text\":\"find\",\"Context\":\"jobs\"}";
	json_t *found = http_json(server, "PUT", "/v1/search/fuzzy", body);
	json_t *list = json_object_get(json_object_get(found, "Matches"), context);
	json_t *match = json_array_get(list, 0);
	assert_string_equal(json_string_value(json_object_get(match, "ID")), id);
	json_t *said = json_object_get(match, "Scope");
	assert_int_equal(json_array_size(said), size);
	for (size_t i = 0; i < size; i++)
		assert_string_equal(json_string_value(json_array_get(said, i)), scope[i]);
	json_decref(found);
}

static void names_are_found_in_parts_of_jobs(void **unused)
{
	static const char *const scope[] = {"default", "j", "find-group", "find-task"};
	json_decref(http_json(server, "PUT", "/v1/jobs",
		"{\"Job\":{\"ID\":\"j\",\"Name\":\"find-job\",\"Type\":\"batch\",\"TaskGroups\":[{"
		"\"Name\":\"find-group\",\"Services\":[{\"Name\":\"find-service\"}],\"Tasks\":[{"
		"\"Name\":\"find-task\",\"Driver\":\"exec\",\"Config\":{\"command\":\"/bin/find\"}}"
		"]}]}}"));
	expect_scope("jobs", "find-job", scope, 2);
	expect_scope("groups", "find-group", scope, 2);
	expect_scope("tasks", "find-task", scope, 3);
	expect_scope("services", "find-service", scope, 3);
	expect_scope("commands", "/bin/find", scope, 4);
}

static void scaling_policies_are_found(void **unused)
{
	json_decref(http_json(server, "PUT", "/v1/jobs",
		"{\"Job\":{\"ID\":\"s\",\"Name\":\"s\",\"Type\":\"service\",\"TaskGroups\":[{"
		"\"Name\":\"g\",\"Scaling\":{\"Max\":3},\"Tasks\":[{\"Name\":\"t\","
		"\"Driver\":\"exec\",\"Config\":{\"command\":\"/bin/true\"}}]}]}}"));
	json_t *list = http_json(server, "GET", "/v1/scaling/policies", NULL);
	json_t *id = json_object_get(json_array_get(list, 0), "ID");
	json_t *found = http_json(
		server, "PUT", "/v1/search", "{\"Prefix\":\"\",\"Context\":\"scaling_policy\"}");
	json_t *ids = json_object_get(json_object_get(found, "Matches"), "scaling_policy");
	assert_int_equal(json_array_size(ids), 1);
	assert_true(json_equal(json_array_get(ids, 0), id));
	json_decref(found);
	json_decref(list);
}

static void unknown_contexts_are_refused(void **unused)
{
	static const char *const paths[] = {"/v1/search", "/v1/search/fuzzy"};
	for (size_t i = 0; i < 2; i++) {
		struct response r = http(server, "PUT", paths[i],
			"{\"Prefix\":\"web\",\"Text\":\"web\",\"Context\":\"commands\"}");
		assert_int_equal(r.status, 500);
		assert_string_equal(r.body,
			"context must be one of [allocs jobs nodes node_pools evals deployment "
			"plugins volumes scaling_policy vars namespaces] or 'all' for all "
			"contexts; got \"commands\"");
		response_free(&r);
	}
	struct response r =
		http(server, "PUT", "/v1/search/fuzzy", "{\"Text\":\"w\",\"Context\":\"all\"}");
	assert_int_equal(r.status, 500);
	assert_string_equal(r.body, "fuzzy search query must be at least 2 characters, got 1");
	response_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(servers_are_joined_and_left),
		cmocka_unit_test(the_only_server_stays),
		cmocka_unit_test(schedulers_are_listed),
		cmocka_unit_test(schedulers_are_as_configured),
		cmocka_unit_test(names_are_found_in_parts_of_jobs),
		cmocka_unit_test(scaling_policies_are_found),
		cmocka_unit_test(unknown_contexts_are_refused),
	};
	return cmocka_run_group_tests(tests, scheduler_group_begin, server_group_end);
}
