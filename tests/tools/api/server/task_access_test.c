// Tasks ask with what they were given: they list and read the variables that their path names, and what policies of
// their job allow; nothing else, nobody else's, and only while they run.
#include "tests/tools/api/acl_world.h"
#include "tests/tools/api/scheduling.h"
#include "tools/keyring/task_token.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static char management[SECRET_BYTES];

struct running {
	char id[UUID_TEXT_BYTES], token[TASK_TOKEN_TEXT_BYTES];
};

static struct running run(const char *job)
{
	struct uuid id[PLACE_COUNT_MAX];
	struct running r;
	assert_int_equal(server_place(server, job, 1, id), 1);
	uuid_format(&id[0], r.id);
	assert_true(task_token_make(server->keyring, &id[0], "t", r.token));
	server_report(server, server->newest, r.id, ALLOC_RUNNING, 0);
	return r;
}

static void end(const struct running *r)
{
	server_report(server, server->newest, r->id, ALLOC_COMPLETE, 0);
}

static void put_variable(const char *path, const char *query)
{
	char whole[128], body[128];
	snprintf(whole, sizeof whole, "/v1/var/%s%s", path, query);
	snprintf(body, sizeof body, "{\"Items\":{\"secret\":\"of %s\"}}", path);
	assert_int_equal(ask_with(management, "PUT", whole, body).status, 200);
}

static int tasks_begin(void **unused)
{
	static const char *const paths[] = {"nomad/jobs", "nomad/jobs/web", "nomad/jobs/web/g",
		"nomad/jobs/web/g/t", "nomad/jobs/web/g/u", "nomad/jobs/other", "plain"};
	assert_int_equal(server_group_begin(unused), 0);
	server_namespace(server, "blue");
	server_node(server, 1);
	server_job(server, "web");
	server_job(server, "other");
	acl_world_bootstrap(management);
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		put_variable(paths[i], "");
	put_variable("nomad/jobs/web", "?namespace=blue");
	return 0;
}

static int asked(const struct running *r, const char *method, const char *path)
{
	return ask_with(r->token, method, path,
		strcmp(method, "PUT") == 0 ? "{\"Items\":{\"a\":\"b\"}}" : NULL)
		.status;
}

static void a_task_reads_its_variables(void **unused)
{
	struct running r = run("web");
	struct answer a = ask_with(r.token, "GET", "/v1/var/nomad/jobs/web/g/t", NULL);
	assert_int_equal(a.status, 200);
	assert_non_null(strstr(a.text, "of nomad/jobs/web/g/t"));
	assert_int_equal(asked(&r, "GET", "/v1/var/nomad/jobs/web/g"), 200);
	assert_int_equal(asked(&r, "GET", "/v1/var/nomad/jobs/web"), 200);
	assert_int_equal(asked(&r, "GET", "/v1/var/nomad/jobs"), 200);
	a = ask_with(r.token, "GET", "/v1/vars", NULL);
	assert_int_equal(a.status, 200);
	assert_non_null(strstr(a.text, "\"nomad/jobs/web/g/t\""));
	assert_null(strstr(a.text, "nomad/jobs/web/g/u"));
	assert_null(strstr(a.text, "nomad/jobs/other"));
	assert_null(strstr(a.text, "plain"));
	a = ask_with(r.token, "GET", "/v1/vars?namespace=*", NULL);
	assert_int_equal(a.status, 200);
	assert_null(strstr(a.text, "\"blue\""));
	a = ask_with(r.token, "GET", "/v1/vars?namespace=blue", NULL);
	assert_int_equal(a.status, 200);
	assert_string_equal(a.text, "[]");
	end(&r);
}

static void a_task_may_nothing_else(void **unused)
{
	static const struct {
		const char *method, *path;
	} rows[] = {{"GET", "/v1/var/nomad/jobs/web/g/u"}, {"GET", "/v1/var/nomad/jobs/other"},
		{"GET", "/v1/var/plain"}, {"PUT", "/v1/var/nomad/jobs/web"},
		{"DELETE", "/v1/var/nomad/jobs/web"},
		{"GET", "/v1/var/nomad/jobs/web?namespace=blue"}, {"GET", "/v1/jobs"},
		{"GET", "/v1/job/web"}, {"GET", "/v1/nodes"}, {"GET", "/v1/acl/tokens"},
		{"GET", "/v1/agent/self"}, {"DELETE", "/v1/job/web"},
		{"GET", "/v1/operator/keyring/keys"}, {"GET", "/v1/vms"},
		{"GET", "/v1/controller/info"}};
	struct running r = run("web");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int status = asked(&r, rows[i].method, rows[i].path);
		if (status != 403)
			fail_msg("%s %s: %d", rows[i].method, rows[i].path, status);
	}
	assert_int_equal(asked(&r, "GET", "/v1/acl/policies"), 200);
	end(&r);
}

static void it_holds_as_long_as_the_task_runs(void **unused)
{
	struct running r = run("web"), other = run("other");
	assert_int_equal(asked(&r, "GET", "/v1/var/nomad/jobs/web"), 200);
	assert_int_equal(asked(&other, "GET", "/v1/var/nomad/jobs/web"), 403);
	assert_int_equal(asked(&other, "GET", "/v1/var/nomad/jobs/other"), 200);
	end(&r);
	assert_int_equal(asked(&r, "GET", "/v1/var/nomad/jobs/web"), 403);
	assert_int_equal(asked(&r, "GET", "/v1/vars"), 403);
	end(&other);
}

static void what_was_not_made_for_a_task_is_refused(void **unused)
{
	struct keyring *another = keyring_create();
	struct running r = run("web"), forged = r;
	struct uuid id, nobody = {{9}};
	assert_true(uuid_parse(r.id, &id));
	assert_true(task_token_make(another, &id, "t", forged.token));
	assert_int_equal(asked(&forged, "GET", "/v1/var/nomad/jobs"), 403);
	assert_true(task_token_make(server->keyring, &id, "u", forged.token));
	assert_int_equal(asked(&forged, "GET", "/v1/var/nomad/jobs"), 403);
	assert_true(task_token_make(server->keyring, &nobody, "t", forged.token));
	assert_int_equal(asked(&forged, "GET", "/v1/var/nomad/jobs"), 403);
	snprintf(forged.token, sizeof forged.token, "task.%s", r.id);
	assert_int_equal(asked(&forged, "GET", "/v1/var/nomad/jobs"), 403);
	assert_int_equal(asked(&r, "GET", "/v1/var/nomad/jobs"), 200);
	end(&r);
	keyring_destroy(another);
}

// Policies of its job count for it by themselves, also when they come later, and not for others.
static void policies_of_the_job_are_the_tasks(void **unused)
{
	static const char policy[] =
		"{\"Name\":\"own\",\"Rules\":\"namespace \\\"default\\\" { policy = \\\"read\\\" "
		"}\",\"JobACL\":"
		"{\"Namespace\":\"default\",\"JobID\":\"web\",\"Group\":\"%s\",\"Task\":\"%s\"}}";
	static const char *const others[][2] = {{"g", "u"}, {"h", "t"}, {"h", ""}};
	char body[256];
	struct running r = run("web"), other = run("other");
	assert_int_equal(asked(&r, "GET", "/v1/jobs"), 403);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		snprintf(body, sizeof body, policy, others[i][0], others[i][1]);
		assert_int_equal(
			ask_with(management, "PUT", "/v1/acl/policy/own", body).status, 200);
		assert_int_equal(asked(&r, "GET", "/v1/jobs"), 403);
	}
	snprintf(body, sizeof body, policy, "g", "t");
	assert_int_equal(ask_with(management, "PUT", "/v1/acl/policy/own", body).status, 200);
	assert_int_equal(asked(&r, "GET", "/v1/jobs"), 200);
	assert_int_equal(asked(&r, "GET", "/v1/var/nomad/jobs/web"), 200);
	assert_int_equal(asked(&other, "GET", "/v1/jobs"), 403);
	assert_int_equal(ask_with(management, "DELETE", "/v1/acl/policy/own", NULL).status, 200);
	assert_int_equal(asked(&r, "GET", "/v1/jobs"), 403);
	end(&r);
	end(&other);
}

// Nothing changes but the allocation.
static void a_query_ends_with_the_task(void **unused)
{
	char text[1024], header[160];
	struct running r = run("web");
	snprintf(header, sizeof header, "X-Nomad-Token: %s", r.token);
	int fd = http_wait(server, "/v1/var/nomad/jobs/web", state_index(server->state), header);
	end(&r);
	http_waited(fd, text, sizeof text);
	assert_non_null(strstr(text, "HTTP/1.1 403"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_reads_its_variables),
		cmocka_unit_test(a_task_may_nothing_else),
		cmocka_unit_test(it_holds_as_long_as_the_task_runs),
		cmocka_unit_test(what_was_not_made_for_a_task_is_refused),
		cmocka_unit_test(policies_of_the_job_are_the_tasks),
		cmocka_unit_test(a_query_ends_with_the_task),
	};
	return cmocka_run_group_tests(tests, tasks_begin, server_group_end);
}
