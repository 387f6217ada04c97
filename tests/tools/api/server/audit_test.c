// Who asked what: the lines that requests leave.
#include "tests/tools/api/acl_world.h"
#include "tests/tools/tls/made.h"
#include "tools/http_client/http_client.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct made made;
static char path[128], text[1 << 16];

static int set_up(void **unused)
{
	made_begin(&made);
	made_sign(&made, "server", "127.0.0.1", -10, 1000);
	made_sign(&made, "alice", NULL, -10, 1000);
	snprintf(path, sizeof path, "%s", made_path(&made, "audit.log"));
	return 0;
}

static int tear_down(void **unused)
{
	made_end(&made);
	return 0;
}

static const char *read_lines(void)
{
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	return text;
}

// The line is written when the client has its answer already.
static void expect_line(const char *part)
{
	for (int i = 0; i < 6000 && !strstr(read_lines(), part); i++)
		usleep(10000);
	if (!strstr(text, part))
		fail_msg("%s is not in:\n%s", part, text);
}

static void each_request_is_a_line(void **unused)
{
	struct server *s = server_start(&(struct server_options){.audit_path = path});
	struct response r = http(s, "GET", "/v1/nodes?token=secret", NULL);
	response_free(&r);
	expect_line(" who=\"anonymous\" from=127.0.0.1:");
	expect_line(" asked=\"GET /v1/nodes\" route=/v1/nodes status=200\n");
	r = http(s, "GET", "/v1/job/a%2Fb", NULL);
	response_free(&r);
	expect_line(" asked=\"GET /v1/job/a%2Fb\" route=/v1/job/:id status=404\n");
	r = http(s, "DELETE", "/v1/nothing%22here", NULL);
	response_free(&r);
	expect_line(" asked=\"DELETE /v1/nothing%22here\" route=- status=404\n");
	r = http(s, "PUT", "/v1/jobs", "{}");
	assert_true(r.status >= 400);
	response_free(&r);
	expect_line(" asked=\"PUT /v1/jobs\" route=/v1/jobs status=");
	server_job(s, "web");
	expect_line(" asked=\"PUT /v1/jobs\" route=/v1/jobs status=200\n");
	assert_null(strstr(read_lines(), "secret"));
	struct response metrics = http(s, "GET", "/v1/metrics?format=prometheus", NULL);
	assert_non_null(strstr(metrics.body, "\nberth_http_audit_lines_total 5\n"));
	assert_non_null(strstr(metrics.body, "\nberth_http_audit_failed_total 0\n"));
	response_free(&metrics);
	server_stop(s);
}

static bool drop(void *context, long status, const char *data, size_t size)
{
	return true;
}

static void ask(const char *url, const struct http_tls *tls)
{
	struct http_client *client = http_client_create();
	struct http_result result;
	struct http_request request = {.url = url,
		.path = "/v1/regions",
		.tls = tls,
		.timeout_ms = 20000,
		.take_body = drop};
	if (!http_client_ask(client, &request, &result))
		fail_msg("%s", result.error);
	http_client_destroy(client);
}

static void clients_are_named_by_certificate_or_user(void **unused)
{
	char url[160], wanted[64];
	const char *socket = made_path(&made, "api.sock");
	unlink(path);
	struct server *s = server_start(&(struct server_options){.audit_path = path,
		.tls = {made_path(&made, "server.pem"), made_path(&made, "server-key.pem"),
			made_path(&made, "ca.pem")},
		.socket = {.path = socket, .mode = 0600}});
	snprintf(url, sizeof url, "https://127.0.0.1:%u", api_port(s->api));
	ask(url, &(struct http_tls){.ca_file = made_path(&made, "ca.pem"),
			 .certificate_file = made_path(&made, "alice.pem"),
			 .key_file = made_path(&made, "alice-key.pem")});
	expect_line(" who=\"alice\" from=127.0.0.1:");
	snprintf(url, sizeof url, "unix://%s", socket);
	ask(url, NULL);
	snprintf(wanted, sizeof wanted, " who=\"anonymous\" from=unix:%u asked=", geteuid());
	expect_line(wanted);
	server_stop(s);
}

// Its client shows no certificate, and the server lets in those alone that show one.
static void a_client_that_is_refused_before_it_asks_is_a_line(void **unused)
{
	char url[160];
	unlink(path);
	struct server *s = server_start(&(struct server_options){.audit_path = path,
		.tls = {made_path(&made, "server.pem"), made_path(&made, "server-key.pem"),
			made_path(&made, "ca.pem")}});
	snprintf(url, sizeof url, "https://127.0.0.1:%u", api_port(s->api));
	struct http_tls tls = {.ca_file = made_path(&made, "ca.pem")};
	struct http_client *client = http_client_create();
	struct http_result result;
	struct http_request request = {.url = url,
		.path = "/v1/regions",
		.tls = &tls,
		.timeout_ms = 20000,
		.take_body = drop};
	assert_false(http_client_ask(client, &request, &result));
	http_client_destroy(client);
	expect_line(" who=\"anonymous\" from=127.0.0.1:");
	expect_line(" asked=\"TLS\" route=- status=0\n");
	server_stop(s);
}

// Also of a token that does not allow it; never the secret.
static void tokens_are_named_by_their_accessor(void **unused)
{
	char management[SECRET_BYTES], secret[SECRET_BYTES], accessor[UUID_TEXT_BYTES], wanted[256];
	unlink(path);
	server = server_start(&(struct server_options){.audit_path = path});
	acl_world_bootstrap(management);
	acl_world_policy("none", "agent { policy = \"read\" }");
	struct uuid of_client = acl_world_token("none", 0, secret);
	assert_int_equal(ask_with(secret, "GET", "/v1/nodes", NULL).status, 403);
	snprintf(wanted, sizeof wanted,
		" who=\"%s\" from=127.0.0.1:", uuid_format(&of_client, accessor));
	expect_line(wanted);
	expect_line(" asked=\"GET /v1/nodes\" route=/v1/nodes status=403\n");
	assert_int_equal(ask_with(NULL, "GET", "/v1/agent/self", NULL).status, 403);
	expect_line(" asked=\"GET /v1/agent/self\" route=/v1/agent/self status=403\n");
	assert_non_null(strstr(text, " who=\"anonymous\" from=127.0.0.1:"));
	assert_null(strstr(text, secret));
	assert_null(strstr(text, management));
	server_stop(server);
}

// Also of those that are gone when the line is written.
static void streams_and_ends_are_named_by_accessor(void **unused)
{
	char management[SECRET_BYTES], secret[SECRET_BYTES], accessor[UUID_TEXT_BYTES], wanted[256];
	unlink(path);
	server = server_start(&(struct server_options){.audit_path = path});
	acl_world_bootstrap(management);
	acl_world_policy("jobs", "namespace \"default\" { policy = \"read\" }");
	struct uuid of_client = acl_world_token("jobs", 0, secret);
	uuid_format(&of_client, accessor);
	char request[256], answer[4096];
	int fd = server_connect(server);
	int size = snprintf(request, sizeof request,
		"GET /v1/event/stream?topic=Job HTTP/1.1\r\nHost: localhost\r\nX-Nomad-Token: "
		"%s\r\n\r\n",
		secret);
	assert_int_equal(send(fd, request, (size_t)size, MSG_NOSIGNAL), size);
	assert_true(recv(fd, answer, sizeof answer, 0) > 0);
	acl_world_delete_token(of_client);
	snprintf(wanted, sizeof wanted, " who=\"%s\" from=127.0.0.1:", accessor);
	expect_line(wanted);
	expect_line(" asked=\"GET /v1/event/stream\" route=/v1/event/stream status=200\n");
	close(fd);
	struct uuid over = acl_world_token("jobs", 2000000000, secret);
	assert_int_equal(ask_with(secret, "GET", "/v1/jobs", NULL).status, 403);
	snprintf(
		wanted, sizeof wanted, " who=\"%s\" from=127.0.0.1:", uuid_format(&over, accessor));
	expect_line(wanted);
	expect_line(" asked=\"GET /v1/jobs\" route=/v1/jobs status=403\n");
	server_stop(server);
}

static void a_reload_opens_the_file_anew(void **unused)
{
	char message[512];
	unlink(path);
	struct server *s = server_start(&(struct server_options){.audit_path = path});
	struct response r = http(s, "GET", "/v1/regions", NULL);
	response_free(&r);
	expect_line("GET /v1/regions");
	assert_int_equal(unlink(path), 0);
	assert_true(api_reload(s->api, message, sizeof message));
	assert_string_equal(read_lines(), "");
	r = http(s, "GET", "/v1/regions", NULL);
	response_free(&r);
	expect_line("GET /v1/regions");
	server_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_request_is_a_line),
		cmocka_unit_test(clients_are_named_by_certificate_or_user),
		cmocka_unit_test(a_client_that_is_refused_before_it_asks_is_a_line),
		cmocka_unit_test(tokens_are_named_by_their_accessor),
		cmocka_unit_test(streams_and_ends_are_named_by_accessor),
		cmocka_unit_test(a_reload_opens_the_file_anew),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
