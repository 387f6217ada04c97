#include "tests/tools/api/acl_world.h"
#include "state/base/memory.h"
#include "state/records/acl_policy.h"
#include "state/records/acl_token.h"
#include "tools/api/access/acl_secret.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define ANSWER_BYTES_MAX 65536u

static struct acl_token *build_token(const char *policies, char secret[static SECRET_BYTES])
{
	static uint32_t number;
	struct acl_token *token = record_create(&acl_token_description);
	struct uuid id;
	snprintf(secret, SECRET_BYTES, "5ec2e700-0000-4000-8000-%012x", ++number);
	assert_true(uuid_parse(secret, &id));
	acl_secret_hash_of(&id, &token->secret);
	token->type = policies ? ACL_CLIENT : ACL_MANAGEMENT;
	token->create_time_ns = 1000000000;
	while (policies && *policies) {
		uint32_t size = (uint32_t)strcspn(policies, " ");
		*(char **)array_append(&token->policies, sizeof(char *)) =
			text_copy((struct text){policies, size});
		policies += size + (policies[size] == ' ');
	}
	return token;
}

static struct uuid run_token(enum command_type type, struct acl_token *token)
{
	struct command_acl_token ask = {.token = token};
	struct command command = {.type = type, .acl_token = &ask};
	assert_int_equal(server_command(server, &command), OUTCOME_DONE);
	return ask.accessor;
}

void acl_world_bootstrap(char secret[static SECRET_BYTES])
{
	(void)run_token(COMMAND_ACL_BOOTSTRAP, build_token(NULL, secret));
}

void acl_world_policy(const char *name, const char *rules)
{
	struct acl_policy *policy = record_create(&acl_policy_description);
	policy->name = text_copy(text_of(name));
	policy->rules = text_copy(text_of(rules));
	struct command command = {.type = COMMAND_ACL_POLICY, .acl_policy = {policy}};
	assert_int_equal(server_command(server, &command), OUTCOME_DONE);
}

struct uuid acl_world_token(
	const char *policies, int64_t expiration_time_ns, char secret[static SECRET_BYTES])
{
	struct acl_token *token = build_token(policies, secret);
	token->expiration_time_ns = expiration_time_ns;
	return run_token(COMMAND_ACL_TOKEN, token);
}

void acl_world_delete_token(struct uuid accessor)
{
	struct command command = {.type = COMMAND_ACL_TOKEN_DELETE, .acl_delete = {accessor}};
	assert_int_equal(server_command(server, &command), OUTCOME_DONE);
}

static bool is_begun_stream(const char *text)
{
	return strncmp(text, "HTTP/1.1 200", 12) == 0 &&
	       (strstr(text, "\r\n{}\n") || strstr(text, "\r\n{}\r\n"));
}

// Reads up to the end, or to the first line of a stream.
static void receive(int fd, char *text, size_t size)
{
	size_t got = 0;
	text[0] = '\0';
	while (got < size - 1 && !is_begun_stream(text)) {
		ssize_t some = recv(fd, text + got, size - 1 - got, 0);
		if (some <= 0)
			break;
		got += (size_t)some;
		text[got] = '\0';
	}
}

struct answer ask_saying(const char *header, const char *method, const char *path, const char *body)
{
	struct answer answer = {0};
	char *text = memory_take(ANSWER_BYTES_MAX);
	int fd = server_connect(server);
	int size = snprintf(text, ANSWER_BYTES_MAX,
		"%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n%s%sContent-Length: "
		"%zu\r\n\r\n%s",
		method, path, api_port(server->api), header ? header : "", header ? "\r\n" : "",
		body ? strlen(body) : 0, body ? body : "");
	assert_int_equal(send(fd, text, (size_t)size, MSG_NOSIGNAL), size);
	receive(fd, text, ANSWER_BYTES_MAX);
	close(fd);
	if (sscanf(text, "HTTP/1.1 %d", &answer.status) != 1)
		fail_msg("%s %s with \"%s\" was answered \"%s\"", method, path,
			header ? header : "", text);
	const char *begin = strstr(text, "\r\n\r\n");
	assert_non_null(begin);
	snprintf(answer.text, sizeof answer.text, "%s", begin + 4);
	free(text);
	return answer;
}

struct answer ask_with(const char *secret, const char *method, const char *path, const char *body)
{
	char header[128];
	snprintf(header, sizeof header, "X-Nomad-Token: %s", secret ? secret : "");
	return ask_saying(secret ? header : NULL, method, path, body);
}

void expect_sentence(const char *secret, const char *method, const char *path, const char *body,
	int status, const char *sentence)
{
	struct answer answer = ask_with(secret, method, path, body);
	if (answer.status != status || strcmp(answer.text, sentence) != 0)
		fail_msg("%s %s: %d \"%s\" instead of %d \"%s\"", method, path, answer.status,
			answer.text, status, sentence);
}
