// What a request may without a token, and with one: nothing is asked while access control is off, and nothing is shown
// or done beyond what the token allows once it is on. The matrix of all routes is tests/nomad/matrix_test.c.
#include "tests/tools/api/acl_world.h"
#include "tests/tools/api/life.h"
#include "tests/tools/api/scheduling.h"
#include "tools/api/routes.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define DENIED "Permission denied"

static char management[SECRET_BYTES], reader[SECRET_BYTES], writer[SECRET_BYTES];

static void expect_with(
	const char *secret, const char *method, const char *path, const char *body, int status)
{
	struct answer answer = ask_with(secret, method, path, body);
	if (answer.status != status)
		fail_msg("%s %s answered %d \"%s\", not %d", method, path, answer.status,
			answer.text, status);
}

// Whether the answer has the words.
static bool answer_has(const char *secret, const char *method, const char *path, const char *body,
	const char *words)
{
	struct answer answer = ask_with(secret, method, path, body);
	if (answer.status != 200)
		fail_msg("%s %s answered %d \"%s\"", method, path, answer.status, answer.text);
	return strstr(answer.text, words);
}

static void put_job(const char *path, const char *id, const char *driver)
{
	char body[1024];
	const char *text = job_body(id, "service", "a", 32), *at = strstr(text, "\"exec\"");
	assert_non_null(at);
	snprintf(body, sizeof body, "%.*s\"%s\"%s", (int)(at - text), text, driver,
		at + strlen("\"exec\""));
	json_t *made = http_json(server, "PUT", path, body);
	json_decref(await_evaluation(member_text(made, "EvalID")));
	json_decref(made);
}

// A node, a job "here" in the namespace default, and a job "there", which nothing shuts in, in the namespace other.
static int world_begin(void **unused)
{
	static struct node_slot slot;
	assert_int_equal(scheduler_group_begin(unused), 0);
	(void)server_node(server, 0);
	slot = server->newest;
	life_begin(&slot, 1);
	put_job("/v1/jobs", "here", "exec");
	server_namespace(server, "other");
	put_job("/v1/jobs?namespace=other", "there", "raw_exec");
	acl_world_bootstrap(management);
	acl_world_policy("read", "namespace \"default\" { policy = \"read\" } node { policy = "
				 "\"read\" } node_pool \"default\" { policy = \"read\" }");
	acl_world_policy("write", "namespace \"default\" { policy = \"write\" } node { policy = "
				  "\"write\" } node_pool \"g*\" { policy = \"write\" }");
	(void)acl_world_token("read", 0, reader);
	(void)acl_world_token("write", 0, writer);
	return 0;
}

static int world_end(void **unused)
{
	life_end();
	return server_group_end(unused);
}

static void nothing_is_asked_while_it_is_off(void **unused)
{
	struct server *before = server;
	server = server_start(&(struct server_options){0});
	expect_with(NULL, "GET", "/v1/nodes", NULL, 200);
	expect_with("abc", "GET", "/v1/nodes", NULL, 200);
	expect_with("12345678-1234-1234-1234-123456789abc", "PUT", "/v1/system/gc", NULL, 200);
	server_stop(server);
	server = before;
}

static void what_is_forced_on_refuses_without_a_first_token(void **unused)
{
	struct server *before = server;
	server = server_start(&(struct server_options){.acl_forced = true});
	expect_with(NULL, "GET", "/v1/nodes", NULL, 403);
	expect_with("12345678-1234-1234-1234-123456789abc", "GET", "/v1/nodes", NULL, 403);
	expect_with(NULL, "GET", "/v1/agent/health", NULL, 200);
	expect_with(NULL, "GET", "/healthz", NULL, 200);
	server_stop(server);
	server = before;
}

static void tokens_are_shown_in_headers_only(void **unused)
{
	char text[256];
	snprintf(text, sizeof text, "X-Nomad-Token: %s", management);
	assert_int_equal(ask_saying(text, "GET", "/v1/nodes", NULL).status, 200);
	snprintf(text, sizeof text, "Authorization: bEaReR %s", management);
	assert_int_equal(ask_saying(text, "GET", "/v1/nodes", NULL).status, 200);
	snprintf(text, sizeof text, "Authorization: %s", management);
	assert_int_equal(ask_saying(text, "GET", "/v1/nodes", NULL).status, 403);
	snprintf(text, sizeof text, "/v1/nodes?token=%s", management);
	assert_int_equal(ask_saying(NULL, "GET", text, NULL).status, 403);
	snprintf(text, sizeof text, "/v1/nodes?X-Nomad-Token=%s", management);
	assert_int_equal(ask_saying(NULL, "GET", text, NULL).status, 403);
	// The last bits of a secret count as much as the first.
	snprintf(text, sizeof text, "X-Nomad-Token: %.35s%c", management,
		management[35] == 'f' ? 'e' : 'f');
	assert_int_equal(ask_saying(text, "GET", "/v1/nodes", NULL).status, 403);
}

static bool is_open(const struct route *route)
{
	static const char *const open[] = {"/v1/", "/v1/agent/health", "/v1/status/leader",
		"/v1/status/peers", "/v1/regions", "/healthz", "/livez", "/v1/openapi.json",
		"/readyz", "/v1/operator/license", "/", "/ui", "/ui/", "/ui/jobs/:path",
		"/ui/allocations/:path", "/ui/clients/:path", "/ui/settings/:path"};
	// They show what may be seen, which is nothing.
	static const char *const empty[] = {"/v1/namespaces", "/v1/node/pools", "/v1/vars",
		"/v1/acl/policies", "/v1/acl/roles"};
	for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
		if (strcmp(route->pattern, open[i]) == 0)
			return !route->submit;
	for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++)
		if (strcmp(route->pattern, empty[i]) == 0)
			return !route->submit;
	return false;
}

static void without_a_token_no_route_says_anything(void **unused)
{
	for (uint32_t i = 0; i < api_routes.count; i++) {
		const struct route *route = &api_routes.routes[i];
		struct answer answer = ask_with(NULL, route->method, route->pattern, "{}");
		// That there is no such allocation anybody may hear; of these two it is the text of a 200.
		bool is_mistake = strncmp(answer.text, "alloc lookup failed: ", 21) == 0;
		if (is_mistake && strstr(route->pattern, "/fs/"))
			continue;
		if (is_open(route) ? answer.status >= 400 : answer.status < 400)
			fail_msg("%s %s answered %d \"%s\"", route->method, route->pattern,
				answer.status, answer.text);
	}
}

static void lists_show_what_the_token_allows(void **unused)
{
	static const struct {
		const char *method, *path, *body;
	} lists[] = {
		{"GET", "/v1/jobs?namespace=*"},
		{"GET", "/v1/allocations?namespace=*"},
		{"GET", "/v1/evaluations?namespace=*"},
		{"PUT", "/v1/search?namespace=*", "{\"Prefix\":\"\",\"Context\":\"jobs\"}"},
		{"PUT", "/v1/search/fuzzy?namespace=*", "{\"Text\":\"ere\",\"Context\":\"all\"}"},
	};
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		const char *method = lists[i].method, *path = lists[i].path, *body = lists[i].body;
		assert_true(answer_has(management, method, path, body, "\"there"));
		assert_true(answer_has(reader, method, path, body, "\"here"));
		assert_false(answer_has(reader, method, path, body, "\"there"));
	}
	expect_with(reader, "GET", "/v1/jobs?namespace=other", NULL, 403);
	expect_with(reader, "GET", "/v1/job/there?namespace=other", NULL, 403);
	assert_true(answer_has(management, "GET", "/v1/namespaces", NULL, "\"other\""));
	assert_false(answer_has(reader, "GET", "/v1/namespaces", NULL, "\"other\""));
	assert_true(answer_has(management, "GET", "/v1/node/pools", NULL, "\"all\""));
	assert_false(answer_has(reader, "GET", "/v1/node/pools", NULL, "\"all\""));
	assert_true(answer_has(reader, "GET", "/v1/node/pools", NULL, "\"default\""));
}

static void counts_count_what_the_token_allows(void **unused)
{
	assert_true(answer_has(
		management, "GET", "/v1/evaluations/count?namespace=*", NULL, "\"Count\":2"));
	assert_true(answer_has(
		reader, "GET", "/v1/evaluations/count?namespace=*", NULL, "\"Count\":1"));
}

static const char *node_path(const char *before, const char *after)
{
	static char path[128];
	char id[UUID_TEXT_BYTES];
	struct uuid node = server_node_id(0);
	uuid_format(&node, id);
	snprintf(path, sizeof path, "%s%s%s", before, id, after);
	return path;
}

static void reports_about_a_node_show_what_the_token_allows(void **unused)
{
	static const char *const paths[][2] = {{"/v1/node/", "/allocations?namespace=*"},
		{"/v1/berth/explain/node/", ""}, {"/v1/berth/node/", "/what-if"}};
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		const char *path = node_path(paths[i][0], paths[i][1]);
		assert_true(answer_has(management, "GET", path, NULL, "\"there\""));
		assert_false(answer_has(reader, "GET", path, NULL, "\"there\""));
	}
}

// Of all outcomes.
static json_int_t outcomes_seen(const char *secret, const char *path)
{
	struct answer answer = ask_with(secret, "GET", path, NULL);
	json_t *root = json_loads(answer.text, 0, NULL), *count;
	json_int_t sum = 0;
	const char *name;
	json_object_foreach(json_object_get(root, "Outcomes"), name, count) sum +=
		json_integer_value(count);
	json_decref(root);
	return sum;
}

static void totals_count_what_the_token_allows(void **unused)
{
	const char *path = node_path("/v1/berth/node/", "/what-if?kind=down");
	assert_int_equal(outcomes_seen(management, path), 2);
	assert_int_equal(outcomes_seen(reader, path), 1);
}

static void a_job_is_of_the_namespace_in_its_body(void **unused)
{
	static const char job[] =
		"{\"Job\":{\"ID\":\"new\",\"Namespace\":\"%s\",\"Type\":\"service\","
		"\"Datacenters\":[\"dc1\"],\"TaskGroups\":[{\"Name\":\"g\",\"Count\":0,%s\"Tasks\":"
		"[{"
		"\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":\"/x\"}}]}]}}";
	char body[1024];
	snprintf(body, sizeof body, job, "other", "");
	expect_with(writer, "PUT", "/v1/jobs", body, 403);
	expect_with(writer, "PUT", "/v1/job/new/plan", body, 403);
	expect_with(writer, "PUT", "/v1/validate/job", body, 403);
	// The namespace of the request counts before it.
	expect_with(writer, "PUT", "/v1/jobs?namespace=default", body, 200);
	snprintf(body, sizeof body, job, "default", "");
	expect_with(writer, "PUT", "/v1/jobs?namespace=other", body, 403);
	expect_with(writer, "PUT", "/v1/jobs", body, 200);
	expect_with(writer, "PUT", "/v1/jobs?namespace=", body, 200);
	snprintf(body, sizeof body, job, "default",
		"\"Volumes\":{\"v\":{\"Type\":\"host\",\"Source\":\"data\"}},");
	expect_with(writer, "PUT", "/v1/jobs", body, 403);
	expect_with(management, "PUT", "/v1/jobs", body, 200);
}

static void a_volume_is_mounted_as_the_token_allows(void **unused)
{
	static const char job[] =
		"{\"Job\":{\"ID\":\"mount\",\"Type\":\"service\",\"Datacenters\":[\"dc1\"],"
		"\"TaskGroups\":[{\"Name\":\"g\",\"Count\":0,\"Volumes\":{\"v\":{\"Type\":\"host\","
		"\"Source\":\"data\",\"ReadOnly\":%s}},\"Tasks\":[{\"Name\":\"t\",\"Driver\":"
		"\"exec\","
		"\"Config\":{\"command\":\"/x\"}}]}]}}";
	char secret[SECRET_BYTES], body[1024];
	acl_world_policy("mount", "host_volume \"data\" { policy = \"read\" }");
	(void)acl_world_token("write mount", 0, secret);
	snprintf(body, sizeof body, job, "true");
	expect_with(secret, "PUT", "/v1/jobs", body, 200);
	snprintf(body, sizeof body, job, "false");
	expect_with(secret, "PUT", "/v1/jobs", body, 403);
	acl_world_policy("mount", "host_volume \"data\" { policy = \"write\" }");
	expect_with(secret, "PUT", "/v1/jobs", body, 200);
}

static void pools_are_described_as_the_token_allows(void **unused)
{
	expect_with(writer, "PUT", "/v1/node/pools", "{\"Name\":\"gpu\"}", 200);
	expect_with(writer, "PUT", "/v1/node/pool/gpu", "{\"Name\":\"gpu\"}", 200);
	expect_with(writer, "PUT", "/v1/node/pools", "{\"Name\":\"cpu\"}", 403);
	expect_with(writer, "PUT", "/v1/node/pool/gpu", "{\"Name\":\"cpu\"}", 403);
	expect_with(writer, "DELETE", "/v1/node/pool/cpu", NULL, 403);
	expect_with(writer, "DELETE", "/v1/node/pool/gpu", NULL, 200);
}

// The id of the first allocation of a namespace.
static void first_allocation(const char *namespace_name, char id[static UUID_TEXT_BYTES])
{
	char path[64];
	snprintf(path, sizeof path, "/v1/allocations?namespace=%s", namespace_name);
	struct answer answer = ask_with(management, "GET", path, NULL);
	const char *at = strstr(answer.text, "\"ID\":\"");
	assert_non_null(at);
	snprintf(id, UUID_TEXT_BYTES, "%.36s", at + 6);
}

static void what_is_released_must_be_in_an_allowed_namespace(void **unused)
{
	char id[UUID_TEXT_BYTES], other[UUID_TEXT_BYTES], body[256];
	first_allocation("default", id);
	first_allocation("other", other);
	snprintf(body, sizeof body, "{\"IDs\":[\"%s\",\"%s\"]}", id, other);
	expect_with(writer, "PUT", "/v1/berth/release", body, 403);
	expect_with(NULL, "PUT", "/v1/berth/release", body, 403);
	snprintf(body, sizeof body, "{\"IDs\":[\"%s\"]}", id);
	expect_with(reader, "PUT", "/v1/berth/release", body, 403);
	assert_int_not_equal(ask_with(writer, "PUT", "/v1/berth/release", body).status, 403);
}

// Without a WebSocket it goes no further than to be allowed.
static void expect_exec(const char *secret, const char *id, const char *task, int status)
{
	char path[160];
	snprintf(path, sizeof path,
		"/v1/client/allocation/%s/exec?task=%s&command=%%5B%%22a%%22%%5D", id, task);
	expect_with(secret, "GET", path, NULL, status);
}

static void commands_on_the_node_itself_need_a_word_of_their_own(void **unused)
{
	char writes[SECRET_BYTES], may_all[SECRET_BYTES], shut_in[UUID_TEXT_BYTES],
		open[UUID_TEXT_BYTES];
	acl_world_policy("other", "namespace \"other\" { policy = \"write\" }");
	acl_world_policy("node-exec", "namespace \"other\" { capabilities = [\"alloc-exec\", "
				      "\"alloc-node-exec\"] }");
	(void)acl_world_token("other", 0, writes);
	(void)acl_world_token("node-exec", 0, may_all);
	first_allocation("default", shut_in);
	first_allocation("other", open);
	expect_exec(reader, shut_in, "t", 403);
	expect_exec(writer, shut_in, "t", 400);
	expect_exec(writer, shut_in, "none", 400);
	expect_exec(writes, open, "t", 403);
	expect_exec(writes, open, "none", 403);
	expect_exec(may_all, open, "t", 400);
}

static void machines_need_their_own_word(void **unused)
{
	char reads[SECRET_BYTES], writes[SECRET_BYTES];
	acl_world_policy("vmread", "vm { policy = \"read\" }");
	acl_world_policy("vmwrite", "vm { policy = \"write\" }");
	(void)acl_world_token("vmread", 0, reads);
	(void)acl_world_token("vmwrite", 0, writes);
	expect_with(reader, "GET", "/v1/vms", NULL, 403);
	expect_with(reads, "GET", "/v1/vms", NULL, 200);
	expect_with(reads, "GET", "/v1/workers", NULL, 200);
	expect_with(reads, "DELETE", "/v1/vms/nosuch", NULL, 403);
	expect_with(writes, "DELETE", "/v1/vms/nosuch", NULL, 404);
	// Orchard's clients are refused in JSON.
	assert_non_null(strstr(
		ask_with(reads, "PUT", "/v1/workers", "{}").text, "{\"message\":\"" DENIED "\"}"));
}

static void policies_count_as_they_are_now(void **unused)
{
	char secret[SECRET_BYTES];
	acl_world_policy("moving", "node { policy = \"read\" }");
	struct uuid accessor = acl_world_token("moving", 0, secret);
	expect_with(secret, "GET", "/v1/nodes", NULL, 200);
	acl_world_policy("moving", "node { policy = \"deny\" }");
	expect_with(secret, "GET", "/v1/nodes", NULL, 403);
	acl_world_policy("moving", "node { policy = \"write\" }");
	expect_with(secret, "GET", "/v1/nodes", NULL, 200);
	acl_world_delete_token(accessor);
	expect_with(secret, "GET", "/v1/nodes", NULL, 403);
	expect_with(secret, "GET", "/v1/namespaces", NULL, 403);
}

static void whoever_shows_no_token_has_the_policy_anonymous(void **unused)
{
	char other[SECRET_BYTES];
	expect_with(NULL, "GET", "/v1/jobs", NULL, 403);
	acl_world_policy("anonymous", "namespace \"default\" { policy = \"read\" }");
	expect_with(NULL, "GET", "/v1/jobs", NULL, 200);
	expect_with(NULL, "GET", "/v1/nodes", NULL, 403);
	acl_world_policy("elsewhere", "namespace \"prod\" { policy = \"read\" }");
	(void)acl_world_token("elsewhere", 0, other);
	expect_with(other, "GET", "/v1/jobs", NULL, 403);
	expect_with("12345678-1234-1234-1234-123456789abc", "GET", "/v1/jobs", NULL, 403);
	acl_world_policy("anonymous", "");
	expect_with(NULL, "GET", "/v1/jobs", NULL, 403);
}

static void a_policy_that_cannot_be_read_takes_everything(void **unused)
{
	char secret[SECRET_BYTES];
	acl_world_policy("broken", "node { policy = \"read\" ");
	(void)acl_world_token("read broken", 0, secret);
	expect_with(secret, "GET", "/v1/nodes", NULL, 403);
}

static void many_tokens_do_not_mix(void **unused)
{
	static char secrets[200][SECRET_BYTES];
	for (uint32_t i = 0; i < 200; i++)
		(void)acl_world_token(i % 2 ? "read" : "vmread", 0, secrets[i]);
	for (uint32_t turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < 200; i++)
			expect_with(secrets[i], "GET", "/v1/nodes", NULL, i % 2 ? 200 : 403);
}

// The last: the node is drained from now on.
static void a_drain_shows_what_the_token_allows(void **unused)
{
	const char *path = node_path("/v1/node/", "/drain");
	static const char drain[] = "{\"DrainSpec\":{\"Deadline\":3600000000000}}";
	expect_with(management, "PUT", path, drain, 200);
	path = node_path("/v1/berth/node/", "/drain");
	assert_true(answer_has(management, "GET", path, NULL, "\"there\""));
	assert_false(answer_has(reader, "GET", path, NULL, "\"there\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_asked_while_it_is_off),
		cmocka_unit_test(what_is_forced_on_refuses_without_a_first_token),
		cmocka_unit_test(tokens_are_shown_in_headers_only),
		cmocka_unit_test(without_a_token_no_route_says_anything),
		cmocka_unit_test(lists_show_what_the_token_allows),
		cmocka_unit_test(counts_count_what_the_token_allows),
		cmocka_unit_test(reports_about_a_node_show_what_the_token_allows),
		cmocka_unit_test(totals_count_what_the_token_allows),
		cmocka_unit_test(a_job_is_of_the_namespace_in_its_body),
		cmocka_unit_test(a_volume_is_mounted_as_the_token_allows),
		cmocka_unit_test(pools_are_described_as_the_token_allows),
		cmocka_unit_test(machines_need_their_own_word),
		cmocka_unit_test(commands_on_the_node_itself_need_a_word_of_their_own),
		cmocka_unit_test(policies_count_as_they_are_now),
		cmocka_unit_test(whoever_shows_no_token_has_the_policy_anonymous),
		cmocka_unit_test(a_policy_that_cannot_be_read_takes_everything),
		cmocka_unit_test(many_tokens_do_not_mix),
		cmocka_unit_test(what_is_released_must_be_in_an_allowed_namespace),
		cmocka_unit_test(a_drain_shows_what_the_token_allows),
	};
	return cmocka_run_group_tests(tests, world_begin, world_end);
}
