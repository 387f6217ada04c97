// Deployments over HTTP: a first version that becomes healthy, canaries that are promoted, one that is failed.
#include "state/records/allocation.h"
#include "tests/tools/api/scheduling.h"
#include "tests/tools/api/shape.h"
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define NODES 4u

static struct node_slot slots[NODES];

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1, .watchers = true});
	for (uint32_t i = 0; i < NODES; i++) {
		server_node(server, i);
		slots[i] = server->newest;
	}
	return 0;
}

static const char *service_body(const char *id, const char *env, int canaries, const char *more)
{
	static char body[1024];
	snprintf(body, sizeof body,
		"{\"Diff\":true,\"Job\":{\"ID\":\"%s\",\"Name\":\"%s\",\"Type\":\"service\","
		"\"Datacenters\":[\"dc1\"],\"TaskGroups\":[{\"Name\":\"g\",\"Count\":3,"
		"\"Update\":{\"MaxParallel\":3,\"MinHealthyTime\":1,\"Canary\":%d%s},\"Tasks\":[{"
		"\"Name\":\"t\",\"Driver\":\"exec\",\"Env\":{\"A\":\"%s\"},"
		"\"Config\":{\"command\":\"/bin/true\"},\"Resources\":{\"CPU\":100,"
		"\"MemoryMB\":64}}]}]}}",
		id, id, canaries, more, env);
	return body;
}

// Every node says of each of its allocations that is to run that it runs and is healthy, or not.
static void report_all(const char *job, json_int_t version, int health)
{
	char path[256];
	json_t *all, *a;
	size_t i;
	snprintf(path, sizeof path, "/v1/job/%s/allocations", job);
	all = http_json(server, "GET", path, NULL);
	json_array_foreach(all, i, a)
	{
		struct uuid node;
		if (member_number(a, "JobVersion") != version ||
			strcmp(member_text(a, "DesiredStatus"), "run") != 0)
			continue;
		assert_true(uuid_parse(member_text(a, "NodeID"), &node));
		for (uint32_t n = 0; n < NODES; n++) {
			struct uuid id = server_node_id(n);
			if (uuid_equal(&id, &node))
				server_report(server, slots[n], member_text(a, "ID"), ALLOC_RUNNING,
					health);
		}
	}
	json_decref(all);
}

// The newest deployment once it has a status: each look waits for it to change.
static json_t *await_deployment(const char *job, const char *status)
{
	char path[256];
	uint64_t index = 0;
	for (int looks = 0; looks < 200; looks++) {
		snprintf(path, sizeof path, "/v1/job/%s/deployment?index=%llu&wait=5s", job,
			(unsigned long long)index);
		struct response r = http(server, "GET", path, NULL);
		json_t *d = json_loads(r.body, JSON_DECODE_ANY, NULL);
		if (json_is_object(d) && strcmp(member_text(d, "Status"), status) == 0) {
			response_free(&r);
			return d;
		}
		index = r.index;
		response_free(&r);
		json_decref(d);
	}
	fail_msg("the deployment of %s does not become %s", job, status);
	return NULL;
}

static json_t *group_of(json_t *deployment)
{
	return json_object_get(json_object_get(deployment, "TaskGroups"), "g");
}

static void a_plan_tells_of_placements(void **unused)
{
	json_t *plan = api_put("/v1/job/*/plan", "web", service_body("web", "1", 0, ""));
	assert_shape(plan, "job_plan");
	json_t *updates = json_object_get(
		json_object_get(json_object_get(plan, "Annotations"), "DesiredTGUpdates"), "g");
	assert_int_equal(member_number(updates, "Place"), 3);
	assert_true(json_is_null(json_object_get(plan, "NextPeriodicLaunch")));
	json_decref(plan);
}

static void a_first_version_is_deployed(void **unused)
{
	json_t *e = run_job(service_body("web", "1", 0, ""));
	assert_string_equal(member_text(e, "Type"), "service");
	json_t *d = await_deployment("web", "running");
	assert_shape(d, "deployment");
	assert_string_equal(member_text(e, "DeploymentID"), member_text(d, "ID"));
	assert_int_equal(member_number(group_of(d), "DesiredTotal"), 3);
	assert_int_equal(member_number(group_of(d), "PlacedAllocs"), 3);
	json_t *placed = api_get("/v1/deployment/allocations/*", member_text(d, "ID"));
	assert_shape(placed, "allocations");
	assert_int_equal(json_array_size(placed), 3);
	json_decref(placed);
	json_decref(d);
	json_decref(e);
	report_all("web", 0, 1);
	d = await_deployment("web", "successful");
	assert_int_equal(member_number(group_of(d), "HealthyAllocs"), 3);
	assert_string_equal(
		member_text(d, "StatusDescription"), "Deployment completed successfully");
	json_t *allocations = api_get("/v1/job/*/allocations", "web");
	json_t *status = json_object_get(json_array_get(allocations, 0), "DeploymentStatus");
	assert_true(json_is_true(json_object_get(status, "Healthy")));
	json_decref(allocations);
	json_t *scale = api_get("/v1/job/*/scale", "web");
	json_t *counts = json_object_get(json_object_get(scale, "TaskGroups"), "g");
	assert_int_equal(member_number(counts, "Placed"), 3);
	assert_int_equal(member_number(counts, "Running"), 3);
	assert_int_equal(member_number(counts, "Healthy"), 3);
	json_decref(scale);
	json_decref(d);
}

static void its_version_is_stable(void **unused)
{
	json_t *versions = api_get("/v1/job/*/versions", "web");
	json_t *newest = json_array_get(json_object_get(versions, "Versions"), 0);
	assert_true(json_is_true(json_object_get(newest, "Stable")));
	json_decref(versions);
}

static char canary_deployment[64];

static void canaries_wait_for_promotion(void **unused)
{
	json_t *plan = api_put("/v1/job/*/plan", "web", service_body("web", "2", 1, ""));
	json_t *updates = json_object_get(
		json_object_get(json_object_get(plan, "Annotations"), "DesiredTGUpdates"), "g");
	assert_int_equal(member_number(updates, "Canary"), 1);
	json_decref(plan);
	json_decref(run_job(service_body("web", "2", 1, "")));
	json_t *d = await_deployment("web", "running");
	snprintf(canary_deployment, sizeof canary_deployment, "%s", member_text(d, "ID"));
	assert_string_equal(member_text(d, "StatusDescription"),
		"Deployment is running but requires manual promotion");
	assert_int_equal(member_number(group_of(d), "DesiredCanaries"), 1);
	assert_int_equal(json_array_size(json_object_get(group_of(d), "PlacedCanaries")), 1);
	json_decref(d);
	char path[128];
	snprintf(path, sizeof path, "/v1/deployment/promote/%s", canary_deployment);
	expect_answer("PUT", path, "{\"All\":true}", 500, "has 0/1 healthy allocations");
	expect_answer("PUT", path, "{}", 400, "nothing is to be promoted");
	expect_answer("PUT", path, "{\"Groups\":[7]}", 400, "Groups: an array");
	expect_answer("PUT", "/v1/job/web/scale", "{\"Count\":5,\"Target\":{\"Group\":\"g\"}}", 400,
		"job scaling blocked due to active deployment");
	json_t *scale = api_get("/v1/job/*/scale", "web");
	json_t *events = json_object_get(
		json_object_get(json_object_get(scale, "TaskGroups"), "g"), "Events");
	json_t *event = json_array_get(events, 0);
	assert_true(json_is_true(json_object_get(event, "Error")));
	assert_string_equal(
		member_text(event, "Message"), "job scaling blocked due to active deployment");
	assert_int_equal(member_number(json_object_get(event, "Meta"), "OriginalCount"), 5);
	json_decref(scale);
}

static void a_pause_holds_it(void **unused)
{
	json_t *reply = api_put("/v1/deployment/pause/*", canary_deployment, "{\"Pause\":true}");
	assert_shape(reply, "deployment_change");
	json_decref(reply);
	json_decref(await_deployment("web", "paused"));
	reply = api_put("/v1/deployment/pause/*", canary_deployment, "{\"Pause\":false}");
	assert_true(strlen(member_text(reply, "EvalID")) == 36);
	json_decref(reply);
	json_decref(await_deployment("web", "running"));
	char path[128];
	snprintf(path, sizeof path, "/v1/deployment/unblock/%s", canary_deployment);
	// There is nothing to unblock, which is as good as done.
	expect_answer("PUT", path, "{}", 200, "\"DeploymentModifyIndex\":0,");
	snprintf(path, sizeof path, "/v1/deployment/pause/%s", canary_deployment);
	expect_answer("PUT", path, "{\"DeploymentID\":\"x\"}", 400, "Deployment ID does not match");
	expect_answer("PUT", path, "{\"Pause\":\"yes\"}", 400, "Pause: true or false");
}

static void healthy_canaries_are_promoted(void **unused)
{
	report_all("web", 1, 1);
	json_t *reply = api_put("/v1/deployment/promote/*", canary_deployment,
		"{\"All\":false,\"Groups\":[\"g\"]}");
	assert_shape(reply, "deployment_change");
	json_decref(await_evaluation(member_text(reply, "EvalID")));
	json_decref(reply);
	report_all("web", 1, 1);
	json_t *d = await_deployment("web", "successful");
	assert_string_equal(member_text(d, "ID"), canary_deployment);
	assert_true(json_is_true(json_object_get(group_of(d), "Promoted")));
	json_decref(d);
	json_t *all = api_get("/v1/job/*/deployments", "web");
	assert_shape(all, "deployments");
	assert_int_equal(json_array_size(all), 2);
	assert_string_equal(member_text(json_array_get(all, 0), "ID"), canary_deployment);
	json_decref(all);
}

static void an_operator_fails_one_and_the_job_goes_back(void **unused)
{
	json_decref(run_job(service_body("web", "3", 0, ",\"AutoRevert\":true")));
	json_t *d = await_deployment("web", "running");
	char failed[64];
	snprintf(failed, sizeof failed, "%s", member_text(d, "ID"));
	json_decref(d);
	json_t *reply = api_put("/v1/deployment/fail/*", failed, "{}");
	assert_shape(reply, "deployment_change");
	assert_int_equal(member_number(reply, "RevertedJobVersion"), 1);
	json_decref(reply);
	d = api_get("/v1/deployment/*", failed);
	assert_string_equal(member_text(d, "Status"), "failed");
	assert_string_equal(member_text(d, "StatusDescription"),
		"Deployment marked as failed - rolling back to job version 1");
	json_decref(d);
	char path[128];
	snprintf(path, sizeof path, "/v1/deployment/fail/%s", failed);
	expect_answer("PUT", path, "{}", 500, "can't fail terminal deployment");
	json_t *job = api_get("/v1/job/*", "web");
	assert_int_equal(member_number(job, "Version"), 3);
	json_decref(job);
}

static void an_operator_judges_health(void **unused)
{
	json_decref(run_job(service_body("judged", "1", 0, "")));
	json_t *d = await_deployment("judged", "running");
	char id[64], body[512];
	snprintf(id, sizeof id, "%s", member_text(d, "ID"));
	json_decref(d);
	json_t *placed = api_get("/v1/deployment/allocations/*", id);
	snprintf(body, sizeof body,
		"{\"HealthyAllocationIDs\":[\"%s\",\"%s\",\"%s\"],\"UnhealthyAllocationIDs\":[]}",
		member_text(json_array_get(placed, 0), "ID"),
		member_text(json_array_get(placed, 1), "ID"),
		member_text(json_array_get(placed, 2), "ID"));
	json_decref(placed);
	json_t *reply = api_put("/v1/deployment/allocation-health/*", id, body);
	assert_shape(reply, "deployment_change");
	json_decref(reply);
	d = await_deployment("judged", "successful");
	assert_int_equal(member_number(group_of(d), "HealthyAllocs"), 3);
	json_decref(d);
	char path[128];
	snprintf(path, sizeof path, "/v1/deployment/allocation-health/%s", id);
	expect_answer("PUT", path, "{}", 400, "must specify at least one");
	expect_answer("PUT", path, "{\"HealthyAllocationIDs\":[\"x\"]}", 400,
		"HealthyAllocationIDs[0]: no id of an allocation");
	expect_answer("PUT", path, body, 500,
		"can't set health of allocations for a terminal deployment");
}

static void deployments_are_listed_and_found(void **unused)
{
	json_t *all = api_get("/v1/deployments*", "");
	assert_shape(all, "deployments");
	json_t *some = api_get("/v1/deployments?prefix=*", canary_deployment);
	assert_int_equal(json_array_size(some), 1);
	json_decref(some);
	some = api_get("/v1/deployments?status=*", "failed");
	assert_int_equal(json_array_size(some), 1);
	json_decref(some);
	some = api_get("/v1/deployments?namespace=*", "elsewhere");
	assert_int_equal(json_array_size(some), 0);
	json_decref(some);
	json_decref(all);
	char body[128];
	snprintf(body, sizeof body, "{\"Prefix\":\"%.8s\",\"Context\":\"deployment\"}",
		canary_deployment);
	json_t *found = api_put("/v1/search*", "", body);
	json_t *matches = json_object_get(json_object_get(found, "Matches"), "deployment");
	assert_int_equal(json_array_size(matches), 1);
	json_decref(found);
	expect_answer("GET", "/v1/deployment/00000000-dead-4000-8000-000000000000", NULL, 404,
		"deployment not found");
	expect_answer("PUT", "/v1/deployment/fail/00000000-dead-4000-8000-000000000000", "{}", 404,
		"deployment not found");
	expect_answer("GET", "/v1/deployments?prefix=zz", NULL, 500, "Invalid UUID");
	expect_answer("GET", "/v1/job/none/deployment", NULL, 200, "null");
}

// Adds to what a stream has said so far, up to a text. False when that does not come.
static bool await_event(int fd, char *text, size_t size, const char *part)
{
	size_t used = strlen(text);
	while (!strstr(text, part)) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		if (poll(&p, 1, 20000) != 1 || used + 1 >= size)
			return false;
		ssize_t got = recv(fd, text + used, size - 1 - used, 0);
		if (got <= 0)
			return false;
		used += (size_t)got;
		text[used] = '\0';
	}
	return true;
}

static void a_stream_tells_of_them(void **unused)
{
	static const char *const parts[] = {"\"Topic\":\"Deployment\",\"Type\":\"PlanResult\"",
		"\"Type\":\"AllocationUpdated\"", "\"Type\":\"DeploymentPromotion\"",
		"\"Type\":\"DeploymentStatusUpdate\"", "\"FilterKeys\":[\"web\"]",
		"\"Payload\":{\"Deployment\":{\"ID\":\""};
	static char text[1u << 20];
	static const char request[] = "GET /v1/event/stream?topic=Deployment:web&index=1 "
				      "HTTP/1.1\r\nHost: localhost\r\n\r\n";
	int fd = server_connect(server);
	assert_int_equal(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (!await_event(fd, text, sizeof text, parts[i]))
			fail_msg("event part %zu does not come after: %s", i, text);
	assert_null(strstr(text, "\"Topic\":\"Job\""));
	assert_null(strstr(text, "\"JobID\":\"judged\""));
	close(fd);
}

static bool is_said(json_t *explanation, const char *part)
{
	json_t *sentence;
	bool said = false;
	size_t i;
	json_array_foreach(json_object_get(explanation, "Sentences"), i, sentence) said =
		said || strstr(json_string_value(sentence), part);
	return said;
}

static void an_explanation_tells_of_them(void **unused)
{
	json_t *why = api_get("/v1/berth/explain/job/*", "judged");
	assert_true(is_said(why, "3 of group g are to run."));
	assert_true(is_said(why, " of this version is successful: Deployment completed"));
	assert_true(is_said(why, "Of group g 3 of 3 are placed, 3 healthy and 0 not."));
	json_decref(why);
	json_t *all = api_get("/v1/job/*/allocations", "judged");
	why = api_get("/v1/berth/explain/allocation/*", member_text(json_array_get(all, 0), "ID"));
	assert_true(is_said(why, "It is part of deployment "));
	assert_true(is_said(why, " and healthy."));
	json_decref(why);
	json_decref(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_tells_of_placements),
		cmocka_unit_test(a_first_version_is_deployed),
		cmocka_unit_test(its_version_is_stable),
		cmocka_unit_test(canaries_wait_for_promotion),
		cmocka_unit_test(a_pause_holds_it),
		cmocka_unit_test(healthy_canaries_are_promoted),
		cmocka_unit_test(an_operator_fails_one_and_the_job_goes_back),
		cmocka_unit_test(an_operator_judges_health),
		cmocka_unit_test(deployments_are_listed_and_found),
		cmocka_unit_test(a_stream_tells_of_them),
		cmocka_unit_test(an_explanation_tells_of_them),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
