// Evaluations that an operator deletes while the broker is paused.
#include "placement/pipeline/pipeline_parts.h"
#include "tests/tools/api/scheduling.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1});
	server_node(server, 0);
	return 0;
}

static void expect(const char *body, long status, const char *answer)
{
	struct response r = http(server, "DELETE", "/v1/evaluations", body);
	if (r.status != status || strcmp(r.body, answer) != 0)
		fail_msg("%s answered %ld \"%s\"", body ? body : "nothing", r.status, r.body);
	response_free(&r);
}

static void pause_broker(bool paused)
{
	json_decref(http_json(server, "PUT", "/v1/operator/scheduler/configuration",
		paused ? "{\"PauseEvalBroker\":true}" : "{\"PauseEvalBroker\":false}"));
	for (bool is_paused = !paused; is_paused != paused; usleep(1000)) {
		assert_int_equal(pthread_mutex_lock(&server->pipeline->enabling), 0);
		is_paused = !server->pipeline->is_enabled;
		assert_int_equal(pthread_mutex_unlock(&server->pipeline->enabling), 0);
	}
}

// The job's evaluation, which is registered and not worked off.
static void register_job(const char *id, char evaluation[static UUID_TEXT_BYTES])
{
	json_t *made = http_json(server, "PUT", "/v1/jobs", job_body(id, "service", "1", 100));
	snprintf(evaluation, UUID_TEXT_BYTES, "%s", member_text(made, "EvalID"));
	json_decref(made);
}

static long status_of(const char *id)
{
	char path[128];
	snprintf(path, sizeof path, "/v1/evaluation/%s", id);
	struct response r = http(server, "GET", path, NULL);
	long status = r.status;
	response_free(&r);
	return status;
}

static void expect_count(const char *body, json_int_t count)
{
	struct response r = http(server, "DELETE", "/v1/evaluations", body);
	json_t *answer = json_loads(r.body, 0, NULL);
	assert_int_equal(r.status, 200);
	assert_int_equal(member_number(answer, "Count"), count);
	assert_int_equal(member_number(answer, "Index"), r.index);
	assert_int_equal(r.index > 0, count > 0);
	json_decref(answer);
	response_free(&r);
}

static void mistakes_are_told(void **unused)
{
	expect(NULL, 400, "Request body is empty");
	expect("{}", 400, "evals must be deleted by either ID or filter");
	expect("{\"Filter\":\"JobID == \\\"x\\\"\",\"EvalIDs\":["
	       "\"12345678-1234-1234-1234-123456789abc\"]}",
		400, "evals cannot be deleted by both ID and filter");
	char *body = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&body, &size);
	for (int i = 0; i < 8000; i++)
		fprintf(stream, "%s\"12345678-1234-1234-1234-123456789abc\"",
			i ? "," : "{\"EvalIDs\":[");
	fprintf(stream, "]}");
	assert_int_equal(fclose(stream), 0);
	expect(body, 400, "request includes 8000 evaluation IDs, must be 7281 or fewer");
	free(body);
}

static void only_while_the_broker_is_paused(void **unused)
{
	static const char paused[] =
		"eval broker is enabled; eval broker must be paused to delete evals";
	expect("{\"EvalIDs\":[\"12345678-1234-1234-1234-123456789abc\"]}", 500, paused);
	expect("{\"Filter\":\"JobID == \\\"nosuch\\\"\"}", 500, paused);
	pause_broker(true);
	expect("{\"EvalIDs\":[\"12345678-1234-1234-1234-123456789abc\"]}", 500, "eval not found");
	expect("{\"EvalIDs\":[\"zz\"]}", 500, "eval not found");
	pause_broker(false);
}

static void ids_go_together_or_not_at_all(void **unused)
{
	char used[UUID_TEXT_BYTES], waiting[UUID_TEXT_BYTES], body[256], answer[128];
	json_t *done = run_job(job_body("web", "service", "1", 100));
	snprintf(used, sizeof used, "%s", member_text(done, "ID"));
	json_decref(done);
	pause_broker(true);
	register_job("later", waiting);
	snprintf(body, sizeof body, "{\"EvalIDs\":[\"%s\",\"%s\"]}", waiting, used);
	snprintf(answer, sizeof answer, "eval %s is not safe to delete", used);
	expect(body, 500, answer);
	assert_int_equal(status_of(waiting), 200);
	snprintf(body, sizeof body, "{\"EvalIDs\":[\"%s\",\"%s\"]}", waiting, waiting);
	expect_count(body, 1);
	assert_int_equal(status_of(waiting), 404);
	assert_int_equal(status_of(used), 200);
	pause_broker(false);
}

static void a_filter_leaves_what_may_not_go(void **unused)
{
	char ids[3][UUID_TEXT_BYTES];
	pause_broker(true);
	register_job("one", ids[0]);
	register_job("two", ids[1]);
	register_job("web", ids[2]);
	expect_count("{\"Filter\":\"JobID == \\\"nosuch\\\"\"}", 0);
	expect_count("{\"Filter\":\"Nope == 1\"}", 0);
	expect_count("{\"Filter\":\"JobID == \\\"one\\\"\"}", 1);
	expect_count("{\"Filter\":\"JobID == \\\"web\\\" or JobID == \\\"two\\\"\"}", 2);
	for (int i = 0; i < 3; i++)
		assert_int_equal(status_of(ids[i]), 404);
	struct response r = http(server, "DELETE", "/v1/evaluations", "{\"Filter\":\"(\"}");
	assert_int_equal(r.status, 500);
	response_free(&r);
	json_t *job = http_json(server, "GET", "/v1/job/one", NULL);
	assert_string_equal(member_text(job, "Status"), "dead");
	json_decref(job);
	pause_broker(false);
}

// What is deleted is not worked off when the broker goes on; what was not, is.
static void the_rest_goes_on(void **unused)
{
	char gone[UUID_TEXT_BYTES], kept[UUID_TEXT_BYTES];
	pause_broker(true);
	register_job("gone", gone);
	register_job("kept", kept);
	expect_count("{\"Filter\":\"JobID == \\\"gone\\\"\"}", 1);
	pause_broker(false);
	json_t *done = await_evaluation(kept);
	assert_string_equal(member_text(done, "Status"), "complete");
	json_decref(done);
	json_t *none = http_json(server, "GET", "/v1/job/gone/allocations", NULL);
	assert_int_equal(json_array_size(none), 0);
	json_decref(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_are_told),
		cmocka_unit_test(only_while_the_broker_is_paused),
		cmocka_unit_test(ids_go_together_or_not_at_all),
		cmocka_unit_test(a_filter_leaves_what_may_not_go),
		cmocka_unit_test(the_rest_goes_on),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
