// Bodies that are beyond what their routes take: each is answered by its status and by the whole sentence.
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "tests/tools/api/acl_world.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char management[SECRET_BYTES];

// Between the begin and the end as many parts as are asked for, each with its number.
static void expect_many(const char *method, const char *path, const char *begin, const char *part,
	uint32_t count, const char *end, int status, const char *sentence)
{
	size_t room = strlen(begin) + strlen(end) + count * (strlen(part) + 16) + 1;
	char *body = memory_take(room), header[80];
	size_t size = (size_t)snprintf(body, room, "%s", begin);
	for (uint32_t i = 0; i < count; i++)
		size += (size_t)snprintf(
			body + size, room - size, "%s\"%x%s", i ? "," : "", i, part);
	size += (size_t)snprintf(body + size, room - size, "%s", end);
	snprintf(header, sizeof header, "X-Nomad-Token: %s", management);
	struct response response = http_with(server, method, path, body, size, header);
	if (response.status != status || strcmp(response.body, sentence) != 0)
		fail_msg("%s: %ld \"%s\" instead of %d \"%s\"", path, response.status,
			response.body, status, sentence);
	response_free(&response);
	free(body);
}

// A text of so many bytes between its quotes.
static void expect_long(const char *method, const char *path, const char *begin, uint32_t bytes,
	const char *end, int status, const char *sentence)
{
	char *text = memory_take(bytes + 1);
	memset(text, 'x', bytes);
	size_t room = strlen(begin) + bytes + strlen(end) + sizeof "\"\"";
	char *body = memory_take(room);
	snprintf(body, room, "%s\"%s\"%s", begin, text, end);
	expect_sentence(management, method, path, body, status, sentence);
	free(body);
	free(text);
}

static void more_than_are_taken(void **unused)
{
	expect_many("POST", "/v1/workers", "{\"name\":\"w\",\"resources\":{", "\":1",
		VM_RESOURCES_MAX + 1, "}}", 400,
		"{\"message\":\"Worker.resources: there are 33, 32 are the most\"}");
	expect_many("POST", "/v1/workers", "{\"name\":\"w\",\"labels\":{", "\":\"v\"",
		VM_LABELS_MAX + 1, "}}", 400,
		"{\"message\":\"Worker.labels: there are 65, 64 are the most\"}");
	expect_many("POST", "/v1/deployment/allocation-health/7f1e9c1a-52f4-4f0e-9d39-1c07b6c4a0de",
		"{\"HealthyAllocationIDs\":[", "\"", 16385, "]}", 400,
		"HealthyAllocationIDs: at most 16384 ids");
}

// Parts that are all alike.
static void more_alike_than_are_taken(void **unused)
{
	char *body = memory_take(65536), *end = body;
	end += snprintf(end, 64, "{\"name\":\"a\",\"roles\":[\"admin:read\"");
	for (uint32_t i = 0; i < ACL_LINKS_MAX; i++)
		end += snprintf(end, 64, ",\"admin:read\"");
	snprintf(end, 64, "]}");
	expect_sentence(management, "POST", "/v1/service-accounts", body, 412,
		"{\"message\":\"service account has too many roles\"}");
	end = body + snprintf(body, 64, "{\"hostDirPolicies\":[{\"pathPrefix\":\"/\"}");
	for (uint32_t i = 0; i < HOST_DIR_POLICIES_MAX; i++)
		end += snprintf(end, 64, ",{\"pathPrefix\":\"/\"}");
	snprintf(end, 64, "]}");
	expect_sentence(management, "PUT", "/v1/cluster-settings", body, 400,
		"{\"message\":\"ClusterSettings.hostDirPolicies: there are 257, 256 are the "
		"most\"}");
	free(body);
}

static void longer_than_is_taken(void **unused)
{
	expect_long("POST", "/v1/workers", "{\"name\":", NAME_BYTES_MAX + 1, "}", 412,
		"{\"message\":\"worker name is longer than 255 bytes\"}");
	expect_long("POST", "/v1/service-accounts", "{\"name\":", ACL_TOKEN_NAME_MAX + 1, "}", 412,
		"{\"message\":\"service account name is too long\"}");
	expect_long("PUT", "/v1/cluster-settings",
		"{\"hostDirPolicies\":[{\"pathPrefix\":", ATTRIBUTE_VALUE_BYTES_MAX + 1, "}]}", 400,
		"{\"message\":\"ClusterSettings.hostDirPolicies[0].pathPrefix: has more than 1024 "
		"bytes\"}");
	expect_long("POST", "/v1/workers",
		"{\"name\":\"w\",\"labels\":{\"l\":", ATTRIBUTE_VALUE_BYTES_MAX + 1, "}}", 400,
		"{\"message\":\"Worker.labels[\\\"l\\\"]: a label has a name of 1 to 128 bytes and "
		"a value of at most 1024\"}");
}

static void other_than_is_taken(void **unused)
{
	static const struct {
		const char *path, *body;
		int status;
		const char *sentence;
	} rows[] = {
		{"/v1/workers", "{\"name\":\"a\\u0007\"}", 412,
			"{\"message\":\"worker name has control characters, or is not UTF-8\"}"},
		{"/v1/vms", "{\"name\":1,\"image\":2}", 400,
			"{\"message\":\"2 errors occurred:\\n\\t* VM.name: expected a "
			"string, not a number\\n\\t* VM.image: expected a string, not a "
			"number\\n\\n\"}"},
		{"/v1/vms/v/events", "[{\"kind\":1}]", 400,
			"{\"message\":\"events[0].kind: expected a name of at most 64 bytes\"}"},
		{"/v1/vms/v/events", "[{\"payload\":1}]", 400,
			"{\"message\":\"events[0].payload: expected a string\"}"},
		{"/v1/vms/v/events", "[{\"kind\":", 400,
			"{\"message\":\"line 1 column 9: unexpected token near end of file\"}"},
		{"/v1/jobs/parse", "{\"JobHCL\":\"x\",\"Canonicalize\":1}", 400,
			"Canonicalize is to be true or false"},
		{"/v1/acl/token", "{\"ExpirationTime\":\"soon\"}", 400,
			"ExpirationTime: \"soon\" is no time"},
		{"/v1/acl/token", "{\"Name\":1,\"Type\":\"client\"}", 400,
			"token 0 invalid: 1 error occurred:\n\t* Token.Name: expected a "
			"string, not a number\n\n"},
		{"/v1/acl/token/abc", "{\"AccessorID\":\"abc\"}", 400,
			"token lookup failed: acl token lookup failed: index error: UUID must be "
			"36 characters"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		expect_sentence(management, "POST", rows[i].path, rows[i].body, rows[i].status,
			rows[i].sentence);
}

// The one context that is asked for is closed to the token, which may search in another.
static void a_search_in_a_closed_context_is_denied(void **unused)
{
	char secret[SECRET_BYTES];
	acl_world_policy("nodes-no", "namespace \"default\" { policy = \"read\" }");
	(void)acl_world_token("nodes-no", 0, secret);
	expect_sentence(secret, "POST", "/v1/search", "{\"Prefix\":\"a\",\"Context\":\"nodes\"}",
		403, "Permission denied");
	struct answer answer =
		ask_with(secret, "POST", "/v1/search", "{\"Prefix\":\"a\",\"Context\":\"jobs\"}");
	assert_int_equal(answer.status, 200);
}

// By its id alone, which says nothing of the namespace.
static void a_policy_of_another_namespace_is_denied(void **unused)
{
	char own[SECRET_BYTES], other[SECRET_BYTES], path[96], header[80];
	server_namespace(server, "other");
	acl_world_policy("own", "namespace \"default\" { policy = \"read\" }");
	acl_world_policy("other", "namespace \"other\" { policy = \"read\" }");
	(void)acl_world_token("own", 0, own);
	(void)acl_world_token("other", 0, other);
	struct answer stored = ask_with(management, "POST", "/v1/jobs?namespace=other",
		"{\"Job\":{\"ID\":\"scaled\",\"Namespace\":\"other\",\"Type\":\"service\","
		"\"TaskGroups\":[{\"Name\":\"g\","
		"\"Count\":1,\"Scaling\":{\"Min\":1,\"Max\":3,\"Enabled\":true},\"Tasks\":[{"
		"\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":\"/bin/true\"}}]}]}}");
	assert_int_equal(stored.status, 200);
	snprintf(header, sizeof header, "X-Nomad-Token: %s", other);
	struct response found =
		http_with(server, "GET", "/v1/scaling/policies?namespace=other", NULL, 0, header);
	json_t *list = json_loads(found.body, 0, NULL);
	response_free(&found);
	const char *id = json_string_value(json_object_get(json_array_get(list, 0), "ID"));
	assert_non_null(id);
	snprintf(path, sizeof path, "/v1/scaling/policy/%s", id);
	json_decref(list);
	expect_sentence(own, "GET", path, NULL, 403, "Permission denied");
}

static int set_up(void **unused)
{
	int error = server_group_begin(unused);
	acl_world_bootstrap(management);
	return error;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_than_are_taken),
		cmocka_unit_test(more_alike_than_are_taken),
		cmocka_unit_test(longer_than_is_taken),
		cmocka_unit_test(other_than_is_taken),
		cmocka_unit_test(a_search_in_a_closed_context_is_denied),
		cmocka_unit_test(a_policy_of_another_namespace_is_denied),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
