// What others do between a request and its answer: the applier is stepped by the test, so that both come in one batch.
#include "state/decide/decide.h"
#include "state/records/acl_role.h"
#include "state/records/scheduler_config.h"
#include "tests/tools/api/acl_world.h"
#include "tools/keyring/keyring.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static char management[SECRET_BYTES];

// Returns once the command of the request waits for the applier.
static int begin_request(const char *method, const char *path, const char *body)
{
	char text[2048];
	uint32_t before = command_queue_depth(server->queue);
	int fd = server_connect(server);
	int size = snprintf(text, sizeof text,
		"%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Nomad-Token: %s\r\n"
		"Content-Length: %zu\r\n\r\n%s",
		method, path, management, strlen(body), body);
	assert_int_equal(send(fd, text, (size_t)size, MSG_NOSIGNAL), size);
	while (command_queue_depth(server->queue) == before)
		usleep(1000);
	return fd;
}

static void step_all(void)
{
	while (applier_step(server->applier))
		continue;
}

// Reads the whole answer, whose body must be this sentence.
static void expect_end(int fd, int status, const char *sentence)
{
	char text[8192], begin[32];
	http_waited(fd, text, sizeof text);
	snprintf(begin, sizeof begin, "HTTP/1.1 %d ", status);
	const char *body = strstr(text, "\r\n\r\n");
	if (strncmp(text, begin, strlen(begin)) != 0 || !body || strcmp(body + 4, sentence) != 0)
		fail_msg("\"%s\" instead of %d \"%s\"", text, status, sentence);
}

static struct command deletion(enum command_type type, struct uuid id)
{
	return (struct command){.type = type, .acl_delete = {id}};
}

static struct uuid make_role(void)
{
	struct acl_role *role = record_create(&acl_role_description);
	role->name = text_copy(TEXT("r"));
	*(char **)array_append(&role->policies, sizeof(char *)) = text_copy(TEXT("read"));
	struct command_acl_role ask = {.role = role};
	struct command command = {.type = COMMAND_ACL_ROLE, .acl_role = &ask};
	assert_int_equal(server_command(server, &command), OUTCOME_DONE);
	return ask.id;
}

static void what_was_put_is_deleted(void **unused)
{
	char id[UUID_TEXT_BYTES], path[80], body[256], secret[SECRET_BYTES];
	struct uuid role = make_role(), token = acl_world_token("read", 0, secret);
	struct command gone = deletion(COMMAND_ACL_ROLE_DELETE, role);
	uint32_t done = 0;
	uuid_format(&role, id);
	snprintf(path, sizeof path, "/v1/acl/role/%s", id);
	snprintf(body, sizeof body,
		"{\"ID\":\"%s\",\"Name\":\"r\",\"Policies\":[{\"Name\":\"read\"}]}", id);
	int fd = begin_request("PUT", path, body);
	core_push(&server->core, &gone, &done);
	step_all();
	expect_end(fd, 404, "ACL role not found");

	gone = deletion(COMMAND_ACL_TOKEN_DELETE, token);
	uuid_format(&token, id);
	snprintf(path, sizeof path, "/v1/acl/token/%s", id);
	snprintf(body, sizeof body,
		"{\"AccessorID\":\"%s\",\"Type\":\"client\",\"Policies\":[\"read\"]}", id);
	fd = begin_request("PUT", path, body);
	core_push(&server->core, &gone, &done);
	step_all();
	expect_end(fd, 404, "ACL token not found");

	struct command unmade = {.type = COMMAND_VM_DELETE, .vm_named = {.name = TEXT("v")}};
	fd = begin_request("POST", "/v1/vms", "{\"name\":\"v\",\"image\":\"i\"}");
	core_push(&server->core, &unmade, &done);
	step_all();
	expect_end(
		fd, 404, "{\"message\":\"VM \\\"v\\\" was deleted by somebody else meanwhile\"}");
}

static void what_is_named_is_deleted_first(void **unused)
{
	char id[UUID_TEXT_BYTES], path[80], body[256], sentence[80], secret[SECRET_BYTES];
	struct uuid role = make_role(), token = acl_world_token("read", 0, secret);
	struct command gone = deletion(COMMAND_ACL_ROLE_DELETE, role);
	uint32_t done = 0;
	uuid_format(&role, id);
	snprintf(body, sizeof body, "{\"Type\":\"client\",\"Roles\":[{\"ID\":\"%s\"}]}", id);
	core_push(&server->core, &gone, &done);
	int fd = begin_request("PUT", "/v1/acl/token", body);
	step_all();
	expect_end(fd, 400, "cannot find role");

	gone = deletion(COMMAND_ACL_TOKEN_DELETE, token);
	uuid_format(&token, id);
	snprintf(path, sizeof path, "/v1/acl/token/%s", id);
	snprintf(body, sizeof body,
		"{\"AccessorID\":\"%s\",\"Type\":\"client\",\"Policies\":[\"read\"]}", id);
	snprintf(sentence, sizeof sentence, "cannot find token %s", id);
	core_push(&server->core, &gone, &done);
	fd = begin_request("PUT", path, body);
	step_all();
	expect_end(fd, 400, sentence);
}

static void the_key_of_a_variable_is_removed(void **unused)
{
	struct keyring_entry newer, keys[KEYRING_KEYS_MAX];
	char message[256], path[80] = "", id[UUID_TEXT_BYTES];
	int fd = begin_request("PUT", "/v1/var/a", "{\"Items\":{\"a\":\"b\"}}");
	assert_true(keyring_list(server->keyring, keys) == 1);
	assert_true(keyring_rotate(server->keyring, 1, false, &newer, message, sizeof message));
	snprintf(path, sizeof path, "/v1/operator/keyring/key/%s", uuid_format(&keys[0].id, id));
	assert_int_equal(ask_with(management, "DELETE", path, NULL).status, 200);
	step_all();
	expect_end(
		fd, 500, "the key that encrypted the variable was removed meanwhile; put it again");
}

static struct command pause_of(struct scheduler_config *config, bool paused)
{
	state_read_begin();
	*config = *state_scheduler_config(server->state);
	state_read_end();
	config->pause_eval_broker = paused;
	return (struct command){
		.type = COMMAND_SCHEDULER_CONFIG, .scheduler_config = {.config = config}};
}

// Some are chosen by a filter while the broker rests; it goes on before they are deleted.
static void the_broker_goes_on(void **unused)
{
	static const char job[] =
		"{\"Job\":{\"ID\":\"e\",\"Type\":\"service\",\"TaskGroups\":[{\"Name\":\"g\","
		"\"Tasks\":"
		"[{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":\"/bin/true\"}}]}]}}";
	struct scheduler_config config;
	struct command rest = pause_of(&config, true);
	uint32_t done = 0;
	assert_int_equal(server_command(server, &rest), OUTCOME_DONE);
	int fd = begin_request("PUT", "/v1/jobs", job);
	step_all();
	close(fd);
	struct command go_on = pause_of(&config, false);
	core_push(&server->core, &go_on, &done);
	fd = begin_request("DELETE", "/v1/evaluations", "{\"Filter\":\"JobID == \\\"e\\\"\"}");
	step_all();
	expect_end(fd, 500, "eval broker is enabled; eval broker must be paused to delete evals");
}

// Of those that wait together only the one too many is refused.
static void garbage_is_collected_for_a_few(void **unused)
{
	int fds[GC_COMMANDS_MAX + 1];
	for (uint32_t i = 0; i <= GC_COMMANDS_MAX; i++)
		fds[i] = begin_request("PUT", "/v1/system/gc", "");
	step_all();
	for (uint32_t i = 0; i < GC_COMMANDS_MAX; i++)
		expect_end(fds[i], 200, "");
	expect_end(fds[GC_COMMANDS_MAX], 429,
		"garbage is being collected already; try again when that is done");
}

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.no_applier_thread = true});
	acl_world_bootstrap(management);
	acl_world_policy("read", "namespace \"default\" { policy = \"read\" }");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_is_deleted),
		cmocka_unit_test(what_is_named_is_deleted_first),
		cmocka_unit_test(the_key_of_a_variable_is_removed),
		cmocka_unit_test(the_broker_goes_on),
		cmocka_unit_test(garbage_is_collected_for_a_few),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
