// The fleet's one request, to a real server, with TLS and without.
#include "tests/tools/api/server.h"
#include "tests/tools/tls/made.h"
#include "tools/fleet/net/http.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static char message[512];

static json_t *job_named(const char *id)
{
	return json_pack("{s:s,s:s,s:s,s:[s],s:[{s:s,s:[{s:s,s:s}]}]}", "ID", id, "Name", id,
		"Type", "direct", "Datacenters", "*", "TaskGroups", "Name", "g", "Tasks", "Name",
		"t", "Driver", "mock");
}

static void a_job_is_registered(void **unused)
{
	char url[64];
	snprintf(url, sizeof url, "http://127.0.0.1:%u", api_port(server->api));
	struct api_access api = {.url = url};
	if (http_put_job(&api, job_named("a"), message, sizeof message) != 0)
		fail_msg("%s", message);
	json_decref(http_json(server, "GET", "/v1/job/a", NULL));
	assert_int_equal(http_put_job(&api, job_named("a b"), message, sizeof message), -EPROTO);
	assert_non_null(strstr(message, "/v1/jobs: status 500: "));
}

static void a_job_is_registered_with_tls(void **unused)
{
	char url[64];
	struct made made;
	made_begin(&made);
	made_sign(&made, "server", "berth.example", -10, 1000);
	made_sign(&made, "fleet", NULL, -10, 1000);
	struct server *s = server_start(&(struct server_options){
		.tls = {made_path(&made, "server.pem"), made_path(&made, "server-key.pem"),
			made_path(&made, "ca.pem")}});
	snprintf(url, sizeof url, "https://127.0.0.1:%u", api_port(s->api));
	struct api_access api = {.url = url,
		.tls = {.ca_file = made_path(&made, "ca.pem"), .server_name = "berth.example"}};
	assert_int_equal(http_put_job(&api, job_named("a"), message, sizeof message), -EIO);
	api.tls.certificate_file = made_path(&made, "fleet.pem");
	api.tls.key_file = made_path(&made, "fleet-key.pem");
	if (http_put_job(&api, job_named("a"), message, sizeof message) != 0)
		fail_msg("%s", message);
	server_stop(s);
	made_end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_registered),
		cmocka_unit_test(a_job_is_registered_with_tls),
	};
	return cmocka_run_group_tests(tests, server_group_begin, server_group_end);
}
