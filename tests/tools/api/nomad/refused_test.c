// What the routes of Nomad's API refuse: each answer by its status and its whole sentence.
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

#define NOBODY "7f1e9c1a-52f4-4f0e-9d39-1c07b6c4a0de"
#define GROUP                                                                                  \
	"\"TaskGroups\":[{\"Name\":\"g\",\"Count\":1,%s\"Tasks\":[{\"Name\":\"t\",\"Driver\":" \
	"\"exec\","                                                                            \
	"\"Config\":{\"command\":\"/bin/true\"}}]}]"

static char management[SECRET_BYTES];

struct row {
	const char *method, *path, *body;
	int status;
	const char *sentence;
};

static void expect_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		expect_sentence(management, rows[i].method, rows[i].path, rows[i].body,
			rows[i].status, rows[i].sentence);
}

static void tokens_and_roles(void **unused)
{
	static const struct row rows[] = {
		{"PUT", "/v1/acl/role", "{\"Name\":\"r\",\"Policies\":[{\"Name\":\"read\"}]}", 400,
			"role with name r already exists"},
		{"PUT", "/v1/acl/role/" NOBODY,
			"{\"ID\":\"" NOBODY "\",\"Name\":\"s\",\"Policies\":[{\"Name\":\"read\"}]}",
			400, "cannot find role " NOBODY},
		{"DELETE", "/v1/acl/role/none", NULL, 500, "ACL role not found"},
		{"PUT", "/v1/acl/token", "{\"Type\":\"management\",\"ExpirationTTL\":\"soon\"}",
			400, "time: invalid duration \"soon\""},
		{"PUT", "/v1/acl/token", "{\"Type\":\"management\",\"ExpirationTTL\":\"-1h\"}", 400,
			"token 0 invalid: 3 errors occurred:\n\t* token expiration TTL '-1h0m0s' "
			"should not be negative\n\t* expiration time cannot be before create "
			"time\n\t* expiration time cannot be less than 1s in the future (was "
			"-1h0m0s)\n\n"},
		{"PUT", "/v1/acl/token", "{\"Type\":\"client\",\"Roles\":[{\"Name\":\"none\"}]}",
			400, "cannot find role none"},
		{"DELETE", "/v1/acl/token/" NOBODY, NULL, 400,
			"Cannot delete nonexistent tokens: " NOBODY},
	};
	acl_world_policy("read", "namespace \"default\" { policy = \"read\" }");
	assert_int_equal(ask_with(management, "PUT", "/v1/acl/role", rows[0].body).status, 200);
	expect_rows(rows, sizeof rows / sizeof rows[0]);
}

static void a_token_is_for_its_holder(void **unused)
{
	char secret[SECRET_BYTES];
	acl_world_policy("read", "namespace \"default\" { policy = \"read\" }");
	(void)acl_world_token("read", 0, secret);
	expect_sentence(secret, "GET", "/v1/acl/token/" NOBODY, NULL, 403, "Permission denied");
}

// An operator who writes the number of the last reset may have a first token once more, with a secret of its own.
static void a_first_token_is_made_once(void **unused)
{
	char sentence[160], body[80];
	struct answer done = ask_with(NULL, "PUT", "/v1/acl/bootstrap", "{}");
	unsigned long index = 0;
	assert_int_equal(
		sscanf(done.text, "ACL bootstrap already done (reset index: %lu)", &index), 1);
	server->acl_reset_index = index + 1;
	snprintf(sentence, sizeof sentence,
		"Invalid bootstrap reset index (specified %lu, reset index: %lu)", index + 1,
		index);
	expect_sentence(NULL, "PUT", "/v1/acl/bootstrap", "{}", 400, sentence);
	server->acl_reset_index = index;
	snprintf(body, sizeof body, "{\"BootstrapSecret\":\"%s\"}", management);
	expect_sentence(NULL, "PUT", "/v1/acl/bootstrap", body, 400, "invalid acl token");
	server->acl_reset_index = 0;
}

static void servers_and_members(void **unused)
{
	static const struct row rows[] = {
		{"PUT", "/v1/agent/schedulers/config", "", 400,
			"Invalid request: Request body is empty"},
		{"PUT", "/v1/agent/schedulers/config",
			"{\"num_schedulers\":3,\"enabled_schedulers\":[\"_core\",\"batch\"]}", 501,
			"the number of schedulers is the setting scheduler.workers, read when the "
			"server starts; each serves all types"},
		{"PUT", "/v1/agent/servers?address=10.0.0.1:none", NULL, 400,
			"1 error occurred:\n\t* lookup tcp/none: unknown port\n\n"},
		{"DELETE", "/v1/operator/raft/peer?id=a&address=b", NULL, 400,
			"Must specify only one of ?id or ?address"},
		{"GET", "/v1/event/stream?topic=Job:a:b", NULL, 400,
			"Invalid topic query: error parsing topics: Invalid key value pair for "
			"topic, topic: Job:a:b"},
	};
	expect_rows(rows, sizeof rows / sizeof rows[0]);
}

static void jobs(void **unused)
{
	char body[1024];
	snprintf(body, sizeof body,
		"{\"Job\":{\"ID\":\"j\",\"Region\":\"west\",\"Type\":\"service\"," GROUP "}}", "");
	expect_sentence(management, "PUT", "/v1/jobs", body, 500, "No path to region");
	snprintf(body, sizeof body, "{\"Job\":{\"ID\":\"j\",\"Type\":\"system\"," GROUP "}}",
		"\"Scaling\":{\"Type\":\"horizontal\",\"Min\":1,\"Max\":2,\"Enabled\":true},");
	expect_sentence(management, "PUT", "/v1/jobs", body, 400,
		"Task groups with job type system do not support scaling blocks");
	snprintf(body, sizeof body, "{\"Job\":{\"ID\":\"j\",\"Type\":\"service\"," GROUP "}}",
		"\"Scaling\":{\"Type\":\"horizontal\",\"Min\":-1,\"Enabled\":true},");
	expect_sentence(management, "PUT", "/v1/jobs", body, 500,
		"3 errors occurred:\n\t* group \"g\": Scaling policy invalid: maximum count must "
		"be "
		"specified and non-negative\n\t* group \"g\": Scaling policy invalid: minimum "
		"count "
		"must be specified and non-negative\n\t* group \"g\": Scaling policy invalid: task "
		"group count must not be greater than maximum count in scaling policy\n\n");
}

static void namespaces_and_pools(void **unused)
{
	static const struct row rows[] = {
		{"DELETE", "/v1/namespace/", NULL, 400, "Missing Namespace Name"},
		{"DELETE", "/v1/namespace/used", NULL, 500,
			"1 error occurred:\n\t* namespace \"used\" has non-terminal jobs in "
			"regions: "
			"[global]\n\n"},
		{"DELETE", "/v1/namespace/kept", NULL, 500,
			"namespace \"kept\" contains at least one variable. All variables in "
			"namespace must be deleted before it can be deleted"},
		{"DELETE", "/v1/node/pool/all", NULL, 500,
			"deleting node pool \"all\" is not allowed"},
	};
	char body[1024];
	server_namespace(server, "used");
	server_namespace(server, "kept");
	snprintf(body, sizeof body,
		"{\"Job\":{\"ID\":\"j\",\"Namespace\":\"used\",\"Type\":\"service\"," GROUP "}}",
		"");
	assert_int_equal(ask_with(management, "PUT", "/v1/jobs?namespace=used", body).status, 200);
	assert_int_equal(
		ask_with(management, "PUT", "/v1/var/a?namespace=kept", "{\"Items\":{\"a\":\"b\"}}")
			.status,
		200);
	expect_rows(rows, sizeof rows / sizeof rows[0]);
}

static void metadata_of_nodes(void **unused)
{
	char id[UUID_TEXT_BYTES], body[2048], value[ATTRIBUTE_VALUE_BYTES_MAX + 2] = "";
	struct uuid node = server_node(server, 1);
	uuid_format(&node, id);
	snprintf(body, sizeof body, "{\"NodeID\":\"%s\",\"Meta\":{\"\":\"a\"}}", id);
	expect_sentence(management, "POST", "/v1/client/metadata", body, 400,
		"metadata keys must not be empty");
	snprintf(body, sizeof body, "{\"NodeID\":\"%s\",\"Meta\":{\"a\":1}}", id);
	expect_sentence(management, "POST", "/v1/client/metadata", body, 400,
		"Meta.a: a text is expected, or null to take it away");
	memset(value, 'x', sizeof value - 1);
	snprintf(body, sizeof body, "{\"NodeID\":\"%s\",\"Meta\":{\"a\":\"%s\"}}", id, value);
	expect_sentence(management, "POST", "/v1/client/metadata", body, 400,
		"metadata is too large: of a node at most 64 values are set, names of 128 and "
		"values "
		"of 1024 bytes without control characters");
}

static void evaluations(void **unused)
{
	static const struct row rows[] = {
		{"DELETE", "/v1/evaluations",
			"{\"EvalIDs\":[\"" NOBODY "\"],\"Filter\":\"ID == a\"}", 400,
			"evals cannot be deleted by both ID and filter"},
		{"DELETE", "/v1/evaluations", "{\"EvalIDs\":[\"" NOBODY "\"]}", 500,
			"eval broker is enabled; eval broker must be paused to delete evals"},
		{"DELETE", "/v1/evaluations", "{\"Filter\":\"ID == a\"}", 500,
			"eval broker is enabled; eval broker must be paused to delete evals"},
	};
	static const struct row paused[] = {
		{"DELETE", "/v1/evaluations", "{\"Filter\":\"ID ==\"}", 500,
			"filter: at character 6: a value is expected, but the filter ends"},
		{"DELETE", "/v1/evaluations", "{\"EvalIDs\":[\"" NOBODY "\"]}", 500,
			"eval not found"},
	};
	static const char pause[] = "{\"SchedulerAlgorithm\":\"binpack\",\"PauseEvalBroker\":%s}";
	char body[128];
	expect_rows(rows, sizeof rows / sizeof rows[0]);
	snprintf(body, sizeof body, pause, "true");
	assert_int_equal(
		ask_with(management, "PUT", "/v1/operator/scheduler/configuration", body).status,
		200);
	expect_rows(paused, sizeof paused / sizeof paused[0]);
	snprintf(body, sizeof body, pause, "false");
	assert_int_equal(
		ask_with(management, "PUT", "/v1/operator/scheduler/configuration", body).status,
		200);
}

static void too_many_evaluations(void **unused)
{
	char header[80], sentence[80];
	size_t room = 64 + (EVALUATION_IDS_MAX + 1) * (sizeof NOBODY + 3), size;
	char *body = memory_take(room);
	size = (size_t)snprintf(body, room, "{\"EvalIDs\":[");
	for (uint32_t i = 0; i <= EVALUATION_IDS_MAX; i++)
		size += (size_t)snprintf(
			body + size, room - size, "%s\"" NOBODY "\"", i ? "," : "");
	size += (size_t)snprintf(body + size, room - size, "]}");
	snprintf(header, sizeof header, "X-Nomad-Token: %s", management);
	struct response r = http_with(server, "DELETE", "/v1/evaluations", body, size, header);
	snprintf(sentence, sizeof sentence,
		"request includes %u evaluation IDs, must be %u or fewer", EVALUATION_IDS_MAX + 1,
		EVALUATION_IDS_MAX);
	assert_int_equal(r.status, 400);
	assert_string_equal(r.body, sentence);
	response_free(&r);
	free(body);
}

static void searches(void **unused)
{
	static const struct row rows[] = {
		{"PUT", "/v1/search/fuzzy", "{\"Text\":\"a\",\"Context\":\"jobs\"}", 500,
			"fuzzy search query must be at least 2 characters, got 1"},
		{"PUT", "/v1/search", "{\"Prefix\":\"a\",\"Context\":\"none\"}", 500,
			"context must be one of [allocs jobs nodes node_pools evals deployment "
			"plugins volumes scaling_policy vars namespaces] or 'all' for all "
			"contexts; "
			"got \"none\""},
	};
	expect_rows(rows, sizeof rows / sizeof rows[0]);
}

static void variables(void **unused)
{
	static const struct row rows[] = {
		{"PUT", "/v1/var/a", "{\"Items\":[]}", 400,
			"json: cannot unmarshal array into Go struct field VariableDecrypted.Items "
			"of type structs.VariableItems"},
		{"PUT", "/v1/var/a", "{\"Items\":{\"a\":true}}", 400,
			"json: cannot unmarshal bool into Go struct field VariableDecrypted.Items "
			"of type string"},
		{"PUT", "/v1/var/a?cas=x", "{\"Items\":{\"a\":\"b\"}}", 400,
			"can not parse cas: strconv.ParseUint: parsing \"x\": invalid syntax"},
		{"PUT", "/v1/var/a?cas=99999999999999999999", "{\"Items\":{\"a\":\"b\"}}", 400,
			"can not parse cas: strconv.ParseUint: parsing \"99999999999999999999\": "
			"value out of range"},
		{"PUT", "/v1/var/", "{\"Items\":{\"a\":\"b\"}}", 400, "missing variable path"},
		{"GET", "/v1/var/", NULL, 400, "missing variable path"},
		{"DELETE", "/v1/var/a%20b", NULL, 500, "invalid path \"a b\""},
	};
	char body[512], name[NAME_BYTES_MAX + 2] = "";
	expect_rows(rows, sizeof rows / sizeof rows[0]);
	memset(name, 'n', sizeof name - 1);
	snprintf(body, sizeof body, "{\"Namespace\":\"%s\",\"Items\":{\"a\":\"b\"}}", name);
	expect_sentence(management, "PUT", "/v1/var/a", body, 400,
		"a namespace has 1 to 255 bytes, and no control characters");
}

// The ring holds so many keys.
static void keys(void **unused)
{
	struct answer answer;
	uint32_t count = 0;
	do
		answer = ask_with(management, "PUT", "/v1/operator/keyring/rotate", NULL);
	while (answer.status == 200 && ++count < 1000);
	assert_int_equal(answer.status, 500);
	assert_string_equal(answer.text,
		"the keyring has 64 keys, the most that it may have; remove one that encrypts "
		"nothing any more");
}

// Of a node that is down there is no way to its files, figures and log.
static void a_node_that_is_down(void **unused)
{
	struct uuid ids[PLACE_COUNT_MAX], node = server_node(server, 7);
	char id[UUID_TEXT_BYTES], path[160];
	assert_int_equal(server_place(server, "placed", 1, ids), 1);
	server_node_expires(server, server->newest);
	uuid_format(&ids[0], id);
	snprintf(path, sizeof path, "/v1/client/fs/ls/%s?path=/", id);
	expect_sentence(management, "GET", path, NULL, 404, "No path to node");
	snprintf(path, sizeof path, "/v1/client/fs/cat/%s?path=/a", id);
	expect_sentence(management, "GET", path, NULL, 200, "No path to node");
	uuid_format(&node, id);
	snprintf(path, sizeof path, "/v1/client/stats?node_id=%s", id);
	expect_sentence(management, "GET", path, NULL, 404, "No path to node");
	snprintf(path, sizeof path, "/v1/agent/monitor?node_id=%s", id);
	expect_sentence(management, "GET", path, NULL, 404, "No path to node");
}

// What an operator has to do stands in the answer.
static void nothing_is_sealed_without_a_key(void **unused)
{
	struct server *s = server_start(
		&(struct server_options){.no_applier_thread = true, .has_no_key = true});
	struct response r = http(s, "PUT", "/v1/var/a", "{\"Items\":{\"a\":\"b\"}}");
	assert_int_equal(r.status, 500);
	assert_non_null(strstr(r.body, "put its file back (keyring_file) and restart"));
	response_free(&r);
	server_stop(s);
}

static int set_up(void **unused)
{
	int error = server_group_begin(unused);
	server_job(server, "placed");
	acl_world_bootstrap(management);
	return error;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_that_is_down), // the only one then
		cmocka_unit_test(tokens_and_roles),
		cmocka_unit_test(a_token_is_for_its_holder),
		cmocka_unit_test(a_first_token_is_made_once),
		cmocka_unit_test(servers_and_members),
		cmocka_unit_test(jobs),
		cmocka_unit_test(namespaces_and_pools),
		cmocka_unit_test(metadata_of_nodes),
		cmocka_unit_test(evaluations),
		cmocka_unit_test(too_many_evaluations),
		cmocka_unit_test(searches),
		cmocka_unit_test(variables),
		cmocka_unit_test(keys),
		cmocka_unit_test(nothing_is_sealed_without_a_key),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
