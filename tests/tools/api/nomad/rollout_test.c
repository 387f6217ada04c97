// Jobs of several regions: what becomes of them where they are submitted, and where another region sends them.
#include "placement/watch/jobs/peers.h"
#include "tests/tools/api/scheduling.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Valid until the next call.
static const char *body_of(const char *id, int cpu, const char *other)
{
	static char body[2048];

	snprintf(body, sizeof body,
		"{\"Job\":{\"ID\":\"%s\",\"Type\":\"service\",\"Datacenters\":[\"dc1\"],"
		"\"Multiregion\":{\"Strategy\":{\"MaxParallel\":1,\"OnFailure\":\"fail_all\"},"
		"\"Regions\":[{\"Name\":\"global\",\"Count\":2,\"Meta\":{\"where\":\"here\"}},"
		"{\"Name\":\"%s\",\"Count\":3,\"Datacenters\":[\"w1\"],\"NodePool\":\"gpu\"}]},"
		"\"TaskGroups\":[{\"Name\":\"g\",\"Count\":0,\"Tasks\":[{\"Name\":\"t\","
		"\"Driver\":\"mock\",\"Resources\":{\"CPU\":%d,\"MemoryMB\":10}}]}]}}",
		id, other, cpu);
	return body;
}

static char *rollout_of(const char *id)
{
	json_t *job = api_get("/v1/job/*", id);
	char *rollout = strdup(member_text(json_object_get(job, "Multiregion"), "Rollout"));

	json_decref(job);
	return rollout;
}

// Waits for the answer; what it says.
static void expect_status(const char *id, const char *rollout, long status, const char *word)
{
	char path[256];

	snprintf(path, sizeof path, "/v1/berth/rollout/%s?rollout=%s", id, rollout);
	struct response r = http(server, "GET", path, NULL);
	assert_int_equal(r.status, status);
	if (word)
		assert_string_equal(r.body, word);
	response_free(&r);
}

static void what_is_submitted_here_takes_its_region(void **unused)
{
	json_decref(api_put("/v1/jobs*", "", body_of("web", 20, "west")));
	json_t *job = api_get("/v1/job/*", "web");
	json_t *group = json_array_get(json_object_get(job, "TaskGroups"), 0);
	json_t *block = json_object_get(job, "Multiregion");
	assert_string_equal(member_text(job, "Region"), "global");
	assert_int_equal(member_number(group, "Count"), 2);
	assert_string_equal(member_text(json_object_get(job, "Meta"), "where"), "here");
	assert_int_equal(strlen(member_text(block, "Rollout")), 36);
	assert_null(json_object_get(block, "Submission"));
	json_decref(job);
	// It is kept as it was submitted, for the others.
	state_read_begin();
	const struct job *stored = state_job(server->state, TEXT("default"), TEXT("web"));
	assert_non_null(stored->multiregion->submission);
	assert_non_null(strstr(stored->multiregion->submission, "\"Count\":0"));
	assert_null(strstr(stored->multiregion->submission, "\"Rollout\""));
	state_read_end();
}

static void its_deployment_waits(void **unused)
{
	json_t *deployment = api_get("/v1/job/*/deployment", "web");
	assert_string_equal(member_text(deployment, "Status"), "initializing");
	assert_true(json_is_true(json_object_get(deployment, "IsMultiregion")));
	json_decref(deployment);
	char *rollout = rollout_of("web");
	expect_status("web", rollout, 200, "initializing");
	expect_status("web", "another", 404, NULL);
	expect_status("nobody", rollout, 404, NULL);
	free(rollout);
}

static void the_same_words_are_the_same_submission(void **unused)
{
	char *before = rollout_of("web");
	json_decref(api_put("/v1/jobs*", "", body_of("web", 20, "west")));
	char *same = rollout_of("web");
	assert_string_equal(before, same);
	json_decref(api_put("/v1/jobs*", "", body_of("web", 21, "west")));
	char *another = rollout_of("web");
	assert_string_not_equal(before, another);
	expect_status("web", before, 200, "cancelled");
	expect_status("web", another, 200, "initializing");
	free(before);
	free(same);
	free(another);
}

// Stopped, they are another one: the others have to begin it anew, too.
static void a_stopped_job_begins_a_submission_of_its_own(void **unused)
{
	char *before = rollout_of("web");
	json_decref(http_json(server, "DELETE", "/v1/job/web?global=true", NULL));
	state_read_begin();
	const struct job *stored = state_job(server->state, TEXT("default"), TEXT("web"));
	assert_true(stored->stop && stored->multiregion->stop_everywhere_ns > 0);
	state_read_end();
	json_decref(api_put("/v1/jobs*", "", body_of("web", 21, "west")));
	char *after = rollout_of("web");
	assert_string_not_equal(before, after);
	free(before);
	free(after);
	struct response r = http(server, "DELETE", "/v1/job/web?before=1000", NULL);
	assert_int_equal(r.status, 200);
	response_free(&r);
	after = rollout_of("web"); // it is still there, and runs
	json_t *job = api_get("/v1/job/*", "web");
	assert_true(json_is_false(json_object_get(job, "Stop")));
	assert_null(json_object_get(json_object_get(job, "Multiregion"), "StopEverywhere"));
	json_decref(job);
	free(after);
	r = http(server, "DELETE", "/v1/job/web?before=soon", NULL);
	assert_int_equal(r.status, 400);
	assert_non_null(strstr(r.body, "before: \"soon\" is no time"));
	response_free(&r);
}

static void what_another_region_sends_keeps_its_name(void **unused)
{
	json_decref(api_put("/v1/job/sent?rollout=r-1*", "", body_of("sent", 20, "west")));
	char *rollout = rollout_of("sent");
	assert_string_equal(rollout, "r-1");
	free(rollout);
	expect_status("sent", "r-1", 200, "initializing");
	state_read_begin();
	assert_null(
		state_job(server->state, TEXT("default"), TEXT("sent"))->multiregion->submission);
	state_read_end();
	// Once more changes nothing.
	json_decref(api_put("/v1/job/sent?rollout=r-1*", "", body_of("sent", 20, "west")));
	json_t *job = api_get("/v1/job/*", "sent");
	assert_int_equal(member_number(job, "Version"), 0);
	json_decref(job);
}

// What was submitted is taken by another region as it was meant.
static void a_submission_can_be_read_again(void **unused)
{
	char *body = NULL;
	state_read_begin();
	const struct job *stored = state_job(server->state, TEXT("default"), TEXT("web"));
	assert_true(asprintf(&body, "{\"Job\":%s}", stored->multiregion->submission) > 0);
	state_read_end();
	json_decref(api_put("/v1/job/web?rollout=r-2*", "", body));
	free(body);
	json_t *job = api_get("/v1/job/*", "web");
	json_t *group = json_array_get(json_object_get(job, "TaskGroups"), 0);
	json_t *task = json_array_get(json_object_get(group, "Tasks"), 0);
	assert_int_equal(member_number(group, "Count"), 2);
	assert_int_equal(member_number(json_object_get(task, "Resources"), "CPU"), 21);
	json_decref(job);
}

static void unknown_regions_are_refused(void **unused)
{
	expect_answer("PUT", "/v1/jobs", body_of("far", 20, "east"), 500,
		"region \"east\" is not known to this controller");
	char body[2048];
	snprintf(body, sizeof body, "%s", body_of("far", 20, "west"));
	memcpy(strstr(body, "global"), "west-2", 6);
	expect_answer("PUT", "/v1/jobs", body, 500,
		"region \"global\" of this controller is none of the job's");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_submitted_here_takes_its_region),
		cmocka_unit_test(its_deployment_waits),
		cmocka_unit_test(the_same_words_are_the_same_submission),
		cmocka_unit_test(a_stopped_job_begins_a_submission_of_its_own),
		cmocka_unit_test(what_another_region_sends_keeps_its_name),
		cmocka_unit_test(a_submission_can_be_read_again),
		cmocka_unit_test(unknown_regions_are_refused),
	};
	return cmocka_run_group_tests(tests, server_group_begin, server_group_end);
}
