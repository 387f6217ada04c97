// Events about access control: tokens, policies and roles for those who manage, and the audit log for operators.
#include "tests/tools/api/acl_world.h"
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/berth-audit-XXXXXX", management[SECRET_BYTES], operator_[SECRET_BYTES],
	    reader[SECRET_BYTES];
static struct uuid accessor_of_reader;

static int set_up(void **unused)
{
	close(mkstemp(path));
	server = server_start(&(struct server_options){.audit_path = path});
	acl_world_bootstrap(management);
	acl_world_policy("operate", "operator { policy = \"read\" }");
	acl_world_policy("read", "namespace \"*\" { policy = \"write\" } node { policy = \"write\" "
				 "} agent { policy = \"write\" }");
	(void)acl_world_token("operate", 0, operator_);
	accessor_of_reader = acl_world_token("read", 0, reader);
	return 0;
}

static int tear_down(void **unused)
{
	server_stop(server);
	return unlink(path);
}

static struct stream {
	int fd;
	size_t size;
	char text[1u << 20];
} stream;

static void open_stream(const char *secret, const char *query)
{
	char request[512];
	stream.fd = server_connect(server);
	stream.size = 0;
	stream.text[0] = '\0';
	int size = snprintf(request, sizeof request,
		"GET /v1/event/stream%s HTTP/1.1\r\nHost: localhost\r\nX-Nomad-Token: %s\r\n\r\n",
		query, secret);
	assert_int_equal(send(stream.fd, request, (size_t)size, MSG_NOSIGNAL), size);
}

static void await(const char *part)
{
	while (!strstr(stream.text, part)) {
		struct pollfd p = {.fd = stream.fd, .events = POLLIN};
		if (poll(&p, 1, 20000) != 1)
			fail_msg("%s did not come: %s", part, stream.text);
		assert_true(stream.size + 1 < sizeof stream.text);
		ssize_t got = recv(stream.fd, stream.text + stream.size,
			sizeof stream.text - 1 - stream.size, 0);
		if (got <= 0)
			fail_msg("the stream ended without %s: %s", part, stream.text);
		stream.size += (size_t)got;
		stream.text[stream.size] = '\0';
	}
}

static void ask(
	const char *secret, const char *method, const char *at, const char *body, int status)
{
	struct answer answer = ask_with(secret, method, at, body);
	if (answer.status != status)
		fail_msg("%s %s answered %d \"%s\"", method, at, answer.status, answer.text);
}

static void policies_have_a_topic(void **unused)
{
	open_stream(management, "?topic=ACLPolicy:shown&index=now");
	await("{}\n");
	ask(management, "PUT", "/v1/acl/policy/hidden", "{\"Name\":\"hidden\",\"Rules\":\"\"}",
		200);
	ask(management, "PUT", "/v1/acl/policy/shown",
		"{\"Name\":\"shown\",\"Description\":\"d\",\"Rules\":\"node { policy = "
		"\\\"read\\\" }\"}",
		200);
	await("\"Topic\":\"ACLPolicy\",\"Type\":\"ACLPolicyUpserted\",\"Key\":\"shown\","
	      "\"Namespace\":\"\",\"FilterKeys\":null,\"Index\":");
	await("\"Payload\":{\"ACLPolicy\":{");
	await("\"Rules\":\"node { policy = \\\"read\\\" }\"");
	ask(management, "DELETE", "/v1/acl/policy/shown", NULL, 200);
	await("\"Type\":\"ACLPolicyDeleted\",\"Key\":\"shown\"");
	assert_null(strstr(stream.text, "hidden"));
	close(stream.fd);
}

static void tokens_have_a_topic_without_secrets(void **unused)
{
	char secret[SECRET_BYTES], accessor[UUID_TEXT_BYTES], expected[256];
	open_stream(management, "?topic=ACLToken&index=now");
	await("{}\n");
	struct uuid id = acl_world_token("read", 0, secret);
	uuid_format(&id, accessor);
	snprintf(expected, sizeof expected,
		"\"Topic\":\"ACLToken\",\"Type\":\"ACLTokenUpserted\",\"Key\":\"%s\"", accessor);
	await(expected);
	await("\"Payload\":{\"ACLToken\":{");
	await("\"SecretID\":\"\"");
	acl_world_delete_token(id);
	snprintf(
		expected, sizeof expected, "\"Type\":\"ACLTokenDeleted\",\"Key\":\"%s\"", accessor);
	await(expected);
	assert_null(strstr(stream.text, secret));
	close(stream.fd);
}

static void roles_have_a_topic_and_are_chosen_by_name(void **unused)
{
	open_stream(management, "?topic=ACLRole:ops&index=now");
	await("{}\n");
	ask(management, "PUT", "/v1/acl/role",
		"{\"Name\":\"dev\",\"Policies\":[{\"Name\":\"read\"}]}", 200);
	ask(management, "PUT", "/v1/acl/role",
		"{\"Name\":\"ops\",\"Policies\":[{\"Name\":\"read\"}]}", 200);
	await("\"Topic\":\"ACLRole\",\"Type\":\"ACLRoleUpserted\",\"Key\":\"");
	await("\"FilterKeys\":[\"ops\"]");
	await("\"Payload\":{\"ACLRole\":{");
	assert_null(strstr(stream.text, "\"dev\""));
	close(stream.fd);
}

static void only_management_follows_them(void **unused)
{
	static const char *const queries[] = {"?topic=ACLToken", "?topic=ACLPolicy",
		"?topic=ACLRole", "?topic=*", "", "?topic=Job&topic=ACLToken"};
	for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
		char at[128];
		snprintf(at, sizeof at, "/v1/event/stream%s", queries[i]);
		ask(reader, "GET", at, NULL, 500);
		ask(operator_, "GET", at, NULL, 500);
		ask(NULL, "GET", at, NULL, 500);
	}
}

static void the_audit_log_is_a_topic(void **unused)
{
	char id[UUID_TEXT_BYTES], expected[128];
	snprintf(expected, sizeof expected,
		"\"Topic\":\"Audit\",\"Type\":\"RequestEnded\",\"Key\":\"%s\"",
		uuid_format(&accessor_of_reader, id));
	open_stream(operator_, "?topic=Audit&index=now");
	await("{}\n");
	ask(reader, "GET", "/v1/nodes?token=hidden", NULL, 200);
	await(expected);
	await("\"From\":\"127.0.0.1:");
	await("\"Asked\":\"GET /v1/nodes\",\"Route\":\"/v1/nodes\",\"Status\":200");
	ask(NULL, "DELETE", "/v1/job/x", NULL, 403);
	await("\"Key\":\"anonymous\"");
	await("\"Asked\":\"DELETE /v1/job/x\",\"Route\":\"/v1/job/:id\",\"Status\":403");
	assert_null(strstr(stream.text, reader));
	assert_null(strstr(stream.text, "hidden"));
	close(stream.fd);
}

static void refusals_alone_can_be_followed(void **unused)
{
	open_stream(operator_, "?topic=Audit:403&index=now");
	await("{}\n");
	ask(management, "GET", "/v1/agent/self", NULL, 200);
	ask(reader, "GET", "/v1/acl/tokens", NULL, 403);
	await("\"FilterKeys\":[\"403\"]");
	await("/v1/acl/tokens");
	assert_null(strstr(stream.text, "/v1/agent/self"));
	close(stream.fd);
}

static void lines_from_before_are_told_first(void **unused)
{
	ask(management, "GET", "/v1/agent/health", NULL, 200);
	open_stream(operator_, "?topic=Audit");
	await("/v1/agent/health");
	close(stream.fd);
}

static void only_operators_follow_it(void **unused)
{
	ask(reader, "GET", "/v1/event/stream?topic=Audit", NULL, 500);
	ask(reader, "GET", "/v1/event/stream?topic=Job&topic=Audit", NULL, 500);
	ask(NULL, "GET", "/v1/event/stream?topic=Audit", NULL, 500);
	// Without its name nobody gets it.
	open_stream(management, "?index=now");
	await("{}\n");
	ask(reader, "GET", "/v1/nodes", NULL, 200);
	ask(management, "PUT", "/v1/node/pools", "{\"Name\":\"after\"}", 200);
	await("\"after\"");
	assert_null(strstr(stream.text, "\"Audit\""));
	close(stream.fd);
}

static void without_an_audit_log_there_is_no_such_topic(void **unused)
{
	struct server *before = server;
	server = server_start(&(struct server_options){0});
	struct answer answer = ask_with(NULL, "GET", "/v1/event/stream?topic=Audit", NULL);
	assert_int_equal(answer.status, 501);
	assert_non_null(strstr(answer.text, "audit.path"));
	server_stop(server);
	server = before;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(policies_have_a_topic),
		cmocka_unit_test(tokens_have_a_topic_without_secrets),
		cmocka_unit_test(roles_have_a_topic_and_are_chosen_by_name),
		cmocka_unit_test(only_management_follows_them),
		cmocka_unit_test(the_audit_log_is_a_topic),
		cmocka_unit_test(refusals_alone_can_be_followed),
		cmocka_unit_test(lines_from_before_are_told_first),
		cmocka_unit_test(only_operators_follow_it),
		cmocka_unit_test(without_an_audit_log_there_is_no_such_topic),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
