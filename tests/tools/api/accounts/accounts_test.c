// Service accounts, as Orchard's client uses them: what it sent to a daemon, and what each role may.
#include "state/base/base64.h"
#include "tests/tools/api/acl_world.h"
#include "tests/tools/api/scheduling.h"
#include "tools/api/routes.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define FOLDER "/v1/service-accounts"
#define OWN "3e598108-c537-4d83-a83f-246873ea858e"

static char management[SECRET_BYTES], audit_path[64];
static int audit_file;

static int set_up(void **unused)
{
	audit_file = memfd_create("audit", 0);
	snprintf(audit_path, sizeof audit_path, "/proc/self/fd/%d", audit_file);
	server = server_start(&(struct server_options){.audit_path = audit_path});
	return 0;
}

// As the client sends it.
static struct answer ask_as(const char *name, const char *secret, const char *method,
	const char *path, const char *body)
{
	char plain[512], header[1024];
	snprintf(plain, sizeof plain, "%s:%s", name, secret);
	char *text = base64_encode(text_of(plain));
	snprintf(header, sizeof header,
		"User-Agent: Orchard/0.0.0-20260511195646-b30bb5bedf23-unknown\r\n"
		"Authorization: Basic %s\r\nAccept-Encoding: identity",
		text);
	free(text);
	return ask_saying(header, method, path, body);
}

static void expect(struct answer answer, int status, const char *part)
{
	if (answer.status != status || !strstr(answer.text, part))
		fail_msg(
			"%d \"%s\" instead of %d \"%s\"", answer.status, answer.text, status, part);
}

static void make(const char *name, const char *roles, char secret[static SECRET_BYTES])
{
	char body[256];
	snprintf(body, sizeof body, "{\"name\":\"%s\",\"roles\":[%s]}", name, roles);
	struct answer answer = ask_with(management, "POST", FOLDER, body);
	json_t *account = json_loads(answer.text, 0, NULL);
	if (answer.status != 200 || !account)
		fail_msg("%d \"%s\"", answer.status, answer.text);
	snprintf(secret, SECRET_BYTES, "%s", member_text(account, "token"));
	assert_int_equal(strlen(secret), SECRET_BYTES - 1);
	json_decref(account);
}

// Then an account would open nothing.
static void there_are_none_while_access_control_is_off(void **unused)
{
	expect(ask_with(NULL, "POST", FOLDER, "{\"name\":\"a\",\"roles\":[\"admin:read\"]}"), 400,
		"{\"message\":\"ACL support disabled\"}");
	expect(ask_with(NULL, "GET", FOLDER, NULL), 200, "[]");
	expect(ask_as("nobody", OWN, "GET", "/v1/", NULL), 200, "{}");
	acl_world_bootstrap(management);
}

static void the_client_does_its_round(void **unused)
{
	char admin[SECRET_BYTES];
	make("admin", "\"compute:read\",\"compute:write\",\"admin:read\",\"admin:write\"", admin);
	expect(ask_as("admin", admin, "GET", "/v1/", NULL), 200, "");
	expect(ask_as("admin", admin, "GET", "/v1/vms", NULL), 200, "[]");
	expect(ask_as("admin", admin, "GET", "/v1/workers", NULL), 200, "[]");
	expect(ask_as("admin", admin, "GET", "/v1/controller/info", NULL), 200, "capabilities");
	expect(ask_as("admin", admin, "POST", FOLDER,
		       "{\"token\":\"" OWN "\",\"roles\":[\"compute:read\",\"compute:write\"],"
		       "\"name\":\"ci\",\"createdAt\":\"0001-01-01T00:00:00Z\"}"),
		200, "\"token\":\"" OWN "\"");
	expect(ask_as("admin", admin, "POST", FOLDER,
		       "{\"roles\":[\"compute:read\"],\"name\":\"ci\",\"createdAt\":"
		       "\"0001-01-01T00:00:00Z\"}"),
		409, "{\"message\":\"service account with this name already exists");
	struct answer list = ask_as("admin", admin, "GET", FOLDER, NULL);
	expect(list, 200, "\"name\":\"ci\"");
	expect(list, 200, "\"roles\":[\"compute:read\",\"compute:write\"]");
	assert_null(strstr(list.text, "token"));
	struct answer one = ask_as("admin", admin, "GET", FOLDER "/ci", NULL);
	expect(one, 200, "\"name\":\"ci\"");
	assert_null(strstr(one.text, "token"));
	assert_null(strstr(one.text, OWN));
	expect(ask_as("admin", admin, "PUT", "/v1/cluster-settings",
		       "{\"schedulerProfile\":\"distribute-load\"}"),
		200, "distribute-load");
	expect(ask_as("ci", OWN, "POST", "/v1/vms",
		       "{\"image\":\"img\",\"imagePullPolicy\":\"IfNotPresent\",\"cpu\":4,"
		       "\"memory\":8192,\"headless\":true,\"os\":\"darwin\",\"arch\":\"arm64\","
		       "\"runtime\":\"tart\",\"observedGeneration\":0,\"username\":\"admin\","
		       "\"password\":\"admin\",\"restart_policy\":\"Never\",\"restarted_at\":"
		       "\"0001-01-01T00:00:00Z\",\"scheduled_at\":\"0001-01-01T00:00:00Z\","
		       "\"started_at\":\"0001-01-01T00:00:00Z\",\"generation\":0,\"name\":\"v1\","
		       "\"createdAt\":\"0001-01-01T00:00:00Z\"}"),
		200, "\"name\":\"v1\"");
	expect(ask_as("ci", OWN, "GET", "/v1/vms/v1", NULL), 200, "\"image\":\"img\"");
	expect(ask_as("ci", OWN, "DELETE", "/v1/vms/v1", NULL), 200, "");
	expect(ask_as("admin", admin, "DELETE", FOLDER "/ci", NULL), 200, "");
	expect(ask_as("admin", admin, "DELETE", FOLDER "/ci", NULL), 404, "not found");
	expect(ask_as("admin", admin, "GET", FOLDER "/ci", NULL), 404, "not found");
	expect(ask_as("ci", OWN, "GET", "/v1/vms", NULL), 403, "Permission denied");
}

static void what_is_wrong_is_said(void **unused)
{
	static const struct {
		const char *body, *part;
	} cases[] = {
		{"{}", "service account name is empty"},
		{"{\"name\":\"a b\",\"roles\":[\"admin:read\"]}", "restricted characters"},
		{"{\"name\":\"a:b\",\"roles\":[\"admin:read\"]}", "restricted characters"},
		{"{\"name\":\"a\"}", "service account has no role"},
		{"{\"name\":\"a\",\"roles\":[\"boss\"]}", "unsupported role \\\"boss\\\""},
		{"{\"name\":\"a\",\"roles\":[\"compute:all\"]}", "unsupported role"},
		{"{\"name\":\"a\",\"roles\":[\"admin:read\"],\"token\":\"guess\"}", "is no UUID"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		expect(ask_with(management, "POST", FOLDER, cases[i].body), 412, cases[i].part);
	expect(ask_with(management, "POST", FOLDER, "{\"name\":7}"), 400, "ServiceAccount.name");
	expect(ask_with(management, "POST", FOLDER, "{"), 400, "{\"message\":");
}

// A right name with another's token is as wrong as a wrong token, and both are worse than none.
static void name_and_token_belong_together(void **unused)
{
	char one[SECRET_BYTES], other[SECRET_BYTES], header[64];
	make("one", "\"compute:read\"", one);
	make("other", "\"compute:read\"", other);
	expect(ask_as("one", one, "GET", "/v1/vms", NULL), 200, "[]");
	expect(ask_as("one", other, "GET", "/v1/vms", NULL), 403, "Permission denied");
	expect(ask_as("one", OWN, "GET", "/v1/", NULL), 403, "Permission denied");
	expect(ask_as("one", "", "GET", "/v1/", NULL), 403, "Permission denied");
	expect(ask_as("", one, "GET", "/v1/", NULL), 403, "Permission denied");
	expect(ask_as("one", management, "GET", "/v1/vms", NULL), 403, "Permission denied");
	for (int i = 0; i < 3; i++) {
		static const char *const broken[] = {"", "****", "b25l"};
		snprintf(header, sizeof header, "Authorization: Basic %s", broken[i]);
		expect(ask_saying(header, "GET", "/v1/", NULL), 403, "Permission denied");
	}
	expect(ask_with(NULL, "GET", "/v1/", NULL), 200, "{}");
	// It is an ordinary token, too, and the basic scheme is for Orchard's routes.
	expect(ask_with(one, "GET", "/v1/vms", NULL), 200, "[]");
	expect(ask_as("one", one, "GET", "/v1/acl/policies", NULL), 200, "[]");
	expect(ask_as("one", one, "GET", "/v1/jobs", NULL), 403, "Permission denied");
	expect(ask_as("one", one, "GET", "/v1/event/stream?topic=VM", NULL), 500,
		"Permission denied");
}

enum role { NOBODY, READER, WRITER, CONNECTOR, ADMIN_READER, ADMIN_WRITER, ROLES };

static bool is_admins(const struct route *route)
{
	return strstr(route->pattern, "service-accounts") || strstr(route->pattern, "settings");
}

// Whether somebody with the role alone may. A word includes those below it, as in all rules of Berth.
static bool may(enum role role, const struct route *route)
{
	if (strcmp(route->pattern, "/v1/") == 0)
		return true;
	if (strcmp(route->pattern, "/v1/controller/info") == 0)
		return role != NOBODY;
	if (strcmp(route->pattern, "/v1/workers/:id/port-forward") == 0)
		return role == ADMIN_WRITER;
	if (is_admins(route))
		return role == ADMIN_WRITER || (role == ADMIN_READER && !route->submit);
	if (strstr(route->pattern, "/port-forward") || strstr(route->pattern, "/ip"))
		return role == WRITER || role == CONNECTOR;
	return role == WRITER || (role == READER && !route->submit);
}

static void each_role_may_what_it_says(void **unused)
{
	static const char *const names[ROLES] = {NULL, "compute:read", "compute:write",
		"compute:connect", "admin:read", "admin:write"};
	char secrets[ROLES][SECRET_BYTES], quoted[64];
	uint32_t cells = 0;
	for (int role = READER; role < ROLES; role++) {
		snprintf(quoted, sizeof quoted, "\"%s\"", names[role]);
		char name[16];
		snprintf(name, sizeof name, "role-%d", role);
		make(name, quoted, secrets[role]);
	}
	for (uint32_t i = 0; i < api_routes.count; i++) {
		const struct route *route = &api_routes.routes[i];
		for (int role = NOBODY; role < ROLES && api_routes.is_of_orchard(route); role++) {
			char name[16];
			snprintf(name, sizeof name, "role-%d", role);
			struct answer answer =
				role == NOBODY ? ask_with(NULL, route->method, route->pattern, "{}")
					       : ask_as(name, secrets[role], route->method,
							 route->pattern, "{}");
			if ((answer.status != 403) != may(role, route))
				fail_msg("%s %s as %s answered %d", route->method, route->pattern,
					names[role] ? names[role] : "nobody", answer.status);
			cells++;
		}
	}
	assert_true(cells >= 20 * ROLES);
}

static void roles_change_and_tokens_do_not(void **unused)
{
	char secret[SECRET_BYTES];
	make("changing", "\"compute:read\"", secret);
	expect(ask_as("changing", secret, "DELETE", "/v1/vms/none", NULL), 403, "denied");
	expect(ask_with(management, "PUT", FOLDER "/changing",
		       "{\"name\":\"changing\",\"roles\":[\"compute:write\"]}"),
		200, "\"roles\":[\"compute:write\"]");
	expect(ask_as("changing", secret, "DELETE", "/v1/vms/none", NULL), 404, "not found");
	expect(ask_with(management, "PUT", FOLDER "/changing",
		       "{\"name\":\"changing\",\"token\":\"" OWN "\",\"roles\":[\"admin:read\"]}"),
		412, "does not change");
	expect(ask_with(management, "PUT", FOLDER "/changing",
		       "{\"name\":\"one\",\"roles\":[\"admin:read\"]}"),
		400, "is not the one in the path");
	expect(ask_with(management, "PUT", FOLDER "/nobody",
		       "{\"name\":\"nobody\",\"roles\":[\"admin:read\"]}"),
		404, "not found");
}

// A policy cannot have the name of a role, and so nothing that somebody writes is one.
static void roles_are_nobodys_policies(void **unused)
{
	struct answer answer = ask_with(management, "PUT", "/v1/acl/policy/compute%3Aread",
		"{\"Name\":\"compute:read\",\"Rules\":\"node { policy = \\\"write\\\" }\"}");
	assert_int_equal(answer.status, 400);
}

static const char *audit_lines(void)
{
	static char lines[1u << 20];
	ssize_t size = pread(audit_file, lines, sizeof lines - 1, 0);
	lines[size > 0 ? size : 0] = '\0';
	return lines;
}

static void what_it_does_is_audited(void **unused)
{
	char secret[SECRET_BYTES], line[256];
	make("watched", "\"compute:read\"", secret);
	struct answer account = ask_with(management, "GET", FOLDER "/watched", NULL);
	json_t *shown = json_loads(account.text, 0, NULL);
	expect(ask_as("watched", secret, "GET", "/v1/workers", NULL), 200, "[]");
	snprintf(line, sizeof line, "who=\"%s\"", member_text(shown, "accessor"));
	for (int i = 0; i < 6000 && !strstr(audit_lines(), line); i++)
		usleep(10000);
	const char *at = strstr(audit_lines(), line);
	assert_non_null(at);
	assert_non_null(strstr(at, "asked=\"GET /v1/workers\" route=/v1/workers status=200"));
	assert_null(strstr(audit_lines(), secret));
	json_decref(shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_are_none_while_access_control_is_off),
		cmocka_unit_test(the_client_does_its_round),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(name_and_token_belong_together),
		cmocka_unit_test(each_role_may_what_it_says),
		cmocka_unit_test(roles_change_and_tokens_do_not),
		cmocka_unit_test(roles_are_nobodys_policies),
		cmocka_unit_test(what_it_does_is_audited),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
