// Jobs that are scheduled, over HTTP from registration to garbage collection: a real applier, a real
// scheduler, and the shapes of every answer.
#include "tests/tools/api/scheduling.h"
#include "tests/tools/api/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NODES 10u

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1});
	for (uint32_t i = 0; i < NODES; i++)
		server_node(server, i);
	return 0;
}

static size_t count_where(json_t *list, const char *member, const char *value)
{
	size_t i, count = 0;
	json_t *item;
	json_array_foreach(list, i, item) count += strcmp(member_text(item, member), value) == 0;
	return count;
}

static char allocation_id[64], node_id[64];

static void a_system_job_is_placed_everywhere(void **unused)
{
	json_t *e = run_job(job_body("sys", "system", "1", 64));
	assert_shape(e, "evaluation");
	assert_string_equal(member_text(e, "Type"), "system");
	assert_string_equal(member_text(e, "TriggeredBy"), "job-register");
	assert_int_equal(member_number(json_object_get(e, "QueuedAllocations"), "g"), 0);
	json_t *placed = api_get("/v1/evaluation/*/allocations", member_text(e, "ID"));
	assert_shape(placed, "allocations");
	assert_int_equal(json_array_size(placed), NODES);
	json_t *first = json_array_get(placed, 0);
	assert_string_equal(member_text(first, "EvalID"), member_text(e, "ID"));
	assert_string_equal(member_text(first, "Name"), "sys.g[0]");
	snprintf(allocation_id, sizeof allocation_id, "%s", member_text(first, "ID"));
	snprintf(node_id, sizeof node_id, "%s", member_text(first, "NodeID"));
	json_t *of_job = api_get("/v1/job/*/allocations", "sys");
	assert_int_equal(json_array_size(of_job), NODES);
	json_t *allocation = api_get("/v1/allocation/*", allocation_id);
	assert_shape(allocation, "allocation");
	json_t *scores = json_object_get(json_object_get(allocation, "Metrics"), "ScoreMetaData");
	assert_string_equal(member_text(json_array_get(scores, 0), "NodeID"), node_id);
	json_t *summary = api_get("/v1/job/*/summary", "sys");
	assert_shape(summary, "job_summary");
	assert_int_equal(member_number(json_object_get(json_object_get(summary, "Summary"), "g"),
				 "Starting"),
		NODES);
	json_t *scale = api_get("/v1/job/*/scale", "sys");
	assert_shape(scale, "job_scale");
	json_decref(e);
	json_decref(placed);
	json_decref(of_job);
	json_decref(allocation);
	json_decref(summary);
	json_decref(scale);
}

static void evaluations_are_listed(void **unused)
{
	json_t *all = api_get("/v1/evaluations*", ""),
	       *of_job = api_get("/v1/job/*/evaluations", "sys");
	assert_shape(all, "evaluations");
	assert_shape(of_job, "evaluations");
	assert_int_equal(json_array_size(of_job), 1);
	char prefix[16];
	snprintf(prefix, sizeof prefix, "%.8s", member_text(json_array_get(of_job, 0), "ID"));
	json_t *found = api_get("/v1/evaluations?prefix=*", prefix);
	assert_int_equal(json_array_size(found), 1);
	json_t *none = api_get("/v1/evaluations?status=*", "blocked");
	assert_int_equal(json_array_size(none), 0);
	json_t *other = api_get("/v1/evaluations?job=*", "nothing");
	assert_int_equal(json_array_size(other), 0);
	char body[64];
	snprintf(body, sizeof body, "{\"Prefix\":\"%s\",\"Context\":\"evals\"}", prefix);
	json_t *matches = api_put("/v1/search*", "", body);
	assert_shape(matches, "search");
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(matches, "Matches"), "evals")), 1);
	json_decref(matches);
	json_decref(all);
	json_decref(of_job);
	json_decref(found);
	json_decref(none);
	json_decref(other);
	struct response r =
		http(server, "GET", "/v1/evaluation/00000000-dead-4000-8000-000000000000", NULL);
	assert_int_equal(r.status, 404);
	assert_string_equal(r.body, "eval not found");
	response_free(&r);
	r = http(server, "GET", "/v1/evaluations?prefix=zz", NULL);
	assert_int_equal(r.status, 500);
	assert_non_null(strstr(r.body, "Invalid UUID"));
	response_free(&r);
}

static json_t *updates_of(json_t *plan)
{
	return json_object_get(
		json_object_get(json_object_get(plan, "Annotations"), "DesiredTGUpdates"), "g");
}

static const char *task_annotation(json_t *plan)
{
	json_t *group =
		json_array_get(json_object_get(json_object_get(plan, "Diff"), "TaskGroups"), 0);
	json_t *task = json_array_get(json_object_get(group, "Tasks"), 0);
	const char *said =
		json_string_value(json_array_get(json_object_get(task, "Annotations"), 0));
	return said ? said : "";
}

static void a_plan_changes_nothing(void **unused)
{
	uint64_t index = state_index(server->state);
	json_t *same = api_put("/v1/job/*/plan", "sys", job_body("sys", "system", "1", 64));
	assert_shape(same, "job_plan");
	assert_int_equal(member_number(updates_of(same), "Ignore"), NODES);
	assert_int_equal(member_number(updates_of(same), "Place"), 0);
	assert_string_equal(member_text(json_object_get(same, "Diff"), "Type"), "None");
	assert_string_equal(task_annotation(same), "");
	json_t *changed = api_put("/v1/job/*/plan", "sys", job_body("sys", "system", "2", 64));
	assert_int_equal(member_number(updates_of(changed), "DestructiveUpdate"), NODES);
	assert_string_equal(task_annotation(changed), "forces create/destroy update");
	assert_true(member_number(changed, "JobModifyIndex") > 0);
	json_t *fresh = api_put("/v1/job/*/plan", "fresh", job_body("fresh", "system", "1", 64));
	assert_int_equal(member_number(updates_of(fresh), "Place"), NODES);
	assert_int_equal(member_number(fresh, "JobModifyIndex"), 0);
	assert_string_equal(task_annotation(fresh), "forces create");
	json_t *large =
		api_put("/v1/job/*/plan", "large", job_body("large", "system", "1", 100000));
	json_t *failed = json_object_get(json_object_get(large, "FailedTGAllocs"), "g");
	assert_int_equal(member_number(json_object_get(failed, "DimensionExhausted"), "memory"), 1);
	assert_int_equal(member_number(failed, "CoalescedFailures"), NODES - 1);
	assert_true(json_is_array(json_object_get(large, "CreatedEvals")));
	assert_int_equal(state_index(server->state), index);
	json_decref(same);
	json_decref(changed);
	json_decref(fresh);
	json_decref(large);
}

static void an_allocation_is_stopped_and_replaced(void **unused)
{
	json_t *stop = api_put("/v1/allocation/*/stop", allocation_id, "");
	assert_shape(stop, "alloc_stop");
	json_t *e = await_evaluation(member_text(stop, "EvalID"));
	assert_string_equal(member_text(e, "TriggeredBy"), "alloc-stop");
	json_t *allocation = api_get("/v1/allocation/*", allocation_id);
	assert_string_equal(member_text(allocation, "DesiredStatus"), "stop");
	assert_true(json_is_true(
		json_object_get(json_object_get(allocation, "DesiredTransition"), "Migrate")));
	json_decref(stop);
	json_decref(e);
	json_decref(allocation);
	json_t *again = api_put("/v1/job/*/evaluate", "sys",
		"{\"JobID\":\"sys\",\"EvalOptions\":{\"ForceReschedule\":false}}");
	assert_shape(again, "job_evaluate");
	json_decref(await_evaluation(member_text(again, "EvalID")));
	json_decref(again);
	json_t *all = api_get("/v1/job/*/allocations", "sys");
	assert_int_equal(count_where(all, "DesiredStatus", "run"), NODES);
	assert_int_equal(json_array_size(all), NODES + 1);
	json_decref(all);
}

static void nodes_are_taken_out_and_in(void **unused)
{
	json_t *reply =
		api_put("/v1/node/*/eligibility", node_id, "{\"Eligibility\":\"ineligible\"}");
	assert_shape(reply, "node_eligibility");
	json_decref(reply);
	json_t *node = api_get("/v1/node/*", node_id);
	assert_string_equal(member_text(node, "SchedulingEligibility"), "ineligible");
	json_t *events = json_object_get(node, "Events");
	assert_string_equal(
		member_text(json_array_get(events, json_array_size(events) - 1), "Message"),
		"Node marked as ineligible for scheduling");
	assert_shape(node, "node");
	json_decref(node);
	reply = api_put("/v1/node/*/eligibility", node_id, "{\"Eligibility\":\"eligible\"}");
	json_decref(reply);
	json_decref(run_job(job_body("also", "system", "1", 64)));
	reply = api_put("/v1/node/*/evaluate", node_id, "");
	assert_shape(reply, "node_evaluate");
	json_t *made = json_object_get(reply, "EvalIDs");
	assert_int_equal(json_array_size(made), 2);
	for (size_t i = 0; i < 2; i++) {
		json_t *e = await_evaluation(json_string_value(json_array_get(made, i)));
		assert_string_equal(member_text(e, "TriggeredBy"), "node-update");
		assert_string_equal(member_text(e, "NodeID"), node_id);
		json_decref(e);
	}
	json_decref(reply);
	reply = http_json(server, "DELETE", "/v1/job/also?purge=true", NULL);
	json_decref(await_evaluation(member_text(reply, "EvalID")));
	json_decref(reply);
	char path[128];
	snprintf(path, sizeof path, "/v1/node/%s/eligibility", node_id);
	struct response r = http(server, "PUT", path, "{\"Eligibility\":\"maybe\"}");
	assert_int_equal(r.status, 500);
	assert_non_null(strstr(r.body, "invalid scheduling eligibility \"maybe\""));
	response_free(&r);
	r = http(server, "PUT", "/v1/node/00000000-dead-4000-8000-000000000000/purge", "");
	assert_int_equal(r.status, 404);
	assert_string_equal(r.body, "node not found");
	response_free(&r);
}

static void a_stopped_job_ends_and_is_forgotten(void **unused)
{
	json_t *reply = http_json(server, "DELETE", "/v1/job/sys?purge=false", NULL);
	assert_shape(reply, "job_deregister");
	json_t *e = await_evaluation(member_text(reply, "EvalID"));
	assert_string_equal(member_text(e, "Type"), "service");
	assert_string_equal(member_text(e, "TriggeredBy"), "job-deregister");
	assert_string_equal(member_text(e, "Status"), "complete");
	json_decref(e);
	json_decref(reply);
	json_t *all = api_get("/v1/job/*/allocations", "sys");
	assert_int_equal(count_where(all, "DesiredStatus", "run"), 0);
	json_decref(all);
	json_t *job = api_get("/v1/job/*", "sys");
	assert_true(json_is_true(json_object_get(job, "Stop")));
	json_decref(job);
}

static void what_does_not_fit_waits(void **unused)
{
	json_t *e = run_job(job_body("big", "system", "1", 100000));
	assert_shape(e, "evaluation_failed");
	json_t *blocked = api_get("/v1/evaluations?status=*&job=big", "blocked");
	assert_true(json_array_size(blocked) >= 1);
	json_t *job = api_get("/v1/job/*", "big");
	assert_string_equal(member_text(job, "Status"), "running"); // as every system job is
	json_t *summary = api_get("/v1/job/*/summary", "big");
	assert_int_equal(
		member_number(json_object_get(json_object_get(summary, "Summary"), "g"), "Queued"),
		NODES);
	json_decref(summary);
	json_decref(job);
	json_decref(blocked);
	json_decref(e);
	json_t *gone = http_json(server, "DELETE", "/v1/job/big?purge=true", NULL);
	json_decref(await_evaluation(member_text(gone, "EvalID")));
	json_decref(gone);
}

static void expect_priority(const char *id, json_int_t priority)
{
	json_t *e = api_get("/v1/evaluation/*", id);
	assert_int_equal(member_number(e, "Priority"), priority);
	if (*member_text(e, "BlockedEval"))
		expect_priority(member_text(e, "BlockedEval"), priority);
	json_decref(e);
}

// Row C50: it is the evaluation's alone, and of the blocked one that follows from it.
static void an_evaluation_has_the_priority_that_was_asked_for(void **unused)
{
	char body[1100];
	snprintf(body, sizeof body, "{\"EvalPriority\":77,%s",
		job_body("asked", "service", "1", 100000) + 1);
	json_t *e = run_job(body);
	assert_string_not_equal(member_text(e, "BlockedEval"), "");
	expect_priority(member_text(e, "ID"), 77);
	json_t *job = api_get("/v1/job/*", "asked");
	assert_int_equal(member_number(job, "Priority"), 50);
	json_decref(job);
	json_decref(e);
	json_t *gone =
		http_json(server, "DELETE", "/v1/job/asked?purge=true&eval_priority=33", NULL);
	json_decref(await_evaluation(member_text(gone, "EvalID")));
	expect_priority(member_text(gone, "EvalID"), 33);
	json_decref(gone);
}

static void the_configuration_is_set_by_who_read_it(void **unused)
{
	json_t *before = api_get("/v1/operator/scheduler/configuration*", "");
	assert_shape(before, "scheduler_config");
	assert_true(json_is_true(json_object_get(
		json_object_get(json_object_get(before, "SchedulerConfig"), "PreemptionConfig"),
		"SystemSchedulerEnabled")));
	json_decref(before);
	json_t *set = api_put("/v1/operator/scheduler/configuration*", "",
		"{\"SchedulerAlgorithm\":\"spread\",\"PreemptionConfig\":{"
		"\"SystemSchedulerEnabled\":true}}");
	assert_shape(set, "scheduler_config_set");
	assert_true(json_is_true(json_object_get(set, "Updated")));
	json_decref(set);
	json_t *stale = api_put("/v1/operator/scheduler/configuration?cas=*", "1",
		"{\"SchedulerAlgorithm\":\"binpack\"}");
	assert_true(json_is_false(json_object_get(stale, "Updated")));
	json_decref(stale);
	json_t *after = api_get("/v1/operator/scheduler/configuration*", "");
	json_t *config = json_object_get(after, "SchedulerConfig");
	assert_string_equal(member_text(config, "SchedulerAlgorithm"), "spread");
	char index[32];
	snprintf(index, sizeof index, "%lld", (long long)member_number(config, "ModifyIndex"));
	json_decref(after);
	set = api_put("/v1/operator/scheduler/configuration?cas=*", index,
		"{\"SchedulerAlgorithm\":\"binpack\",\"PreemptionConfig\":{"
		"\"SystemSchedulerEnabled\":true}}");
	assert_true(json_is_true(json_object_get(set, "Updated")));
	json_decref(set);
	struct response r = http(server, "PUT", "/v1/operator/scheduler/configuration",
		"{\"SchedulerAlgorithm\":\"magic\"}");
	assert_int_equal(r.status, 400);
	assert_non_null(strstr(r.body, "\"magic\" is none of binpack, spread"));
	response_free(&r);
	r = http(server, "PUT", "/v1/operator/scheduler/configuration?cas=x", "{}");
	assert_int_equal(r.status, 400);
	response_free(&r);
}

static void registration_can_be_closed(void **unused)
{
	json_decref(api_put("/v1/operator/scheduler/configuration*", "",
		"{\"RejectJobRegistration\":true,\"PreemptionConfig\":{"
		"\"SystemSchedulerEnabled\":true}}"));
	struct response r = http(server, "PUT", "/v1/jobs", job_body("late", "system", "1", 64));
	assert_int_equal(r.status, 403);
	assert_non_null(strstr(r.body, "Job registration is disabled"));
	response_free(&r);
	json_decref(api_put("/v1/operator/scheduler/configuration*", "",
		"{\"PreemptionConfig\":{\"SystemSchedulerEnabled\":true}}"));
}

static void garbage_is_collected_on_request(void **unused)
{
	struct response r = http(server, "PUT", "/v1/system/gc", "");
	assert_int_equal(r.status, 200);
	assert_int_equal(r.size, 0);
	response_free(&r);
	r = http(server, "PUT", "/v1/system/reconcile/summaries", "");
	assert_int_equal(r.status, 200);
	response_free(&r);
	r = http(server, "GET", "/v1/system/gc", NULL);
	assert_int_equal(r.status, 405);
	assert_string_equal(r.body, "Invalid method");
	response_free(&r);
	r = http(server, "GET", "/v1/job/big", NULL);
	assert_int_equal(r.status, 404);
	response_free(&r);
}

static void a_node_is_purged(void **unused)
{
	struct uuid id = server_node_id(99);
	char text_id[UUID_TEXT_BYTES], path[128];
	server_node(server, 99);
	server_node_expires(server, server->newest);
	json_t *reply = api_put("/v1/node/*/purge", uuid_format(&id, text_id), "");
	assert_shape(reply, "node_purge");
	json_decref(reply);
	snprintf(path, sizeof path, "/v1/node/%s", text_id);
	struct response r = http(server, "GET", path, NULL);
	assert_int_equal(r.status, 404);
	response_free(&r);
}

static void a_job_file_is_parsed(void **unused)
{
	static const struct {
		const char *body;
		long status;
		const char *beginning;
	} cases[] = {
		{"{}", 400, "Job spec is empty"},
		{"{\"JobHCL\": 5}", 400, "JobHCL is to be a string"},
		{"{\"JobHCL\": \"job {}\", \"hclv1\": true}", 400, "job files of HCL 1"},
		{"{\"JobHCL\": \"job {}\"}", 400, "Failed to parse job: input.hcl:1,5: "},
		{"{\"JobHCL\": \"job j {\\n foo = 1\\n}\"}", 400,
			"Failed to parse job: input.hcl:2,2: "},
		{"{\"JobHCL\": \"job j {}\"}", 200, "{\"Region\":null"},
		{"{\"JobHCL\": \"job j {}\", \"Canonicalize\": true}", 200,
			"{\"Region\":\"global\""},
		{"{\"JobHCL\": \"variable \\\"r\\\" {}\\njob j {\\n region = var.r\\n}\", "
		 "\"Variables\": \"r = \\\"x\\\"\\nnone = 1\"}",
			200, "{\"Region\":\"x\""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct response r = http(server, "PUT", "/v1/jobs/parse", cases[i].body);
		if (r.status != cases[i].status)
			print_error("%s: %s\n", cases[i].body, r.body);
		assert_int_equal(r.status, cases[i].status);
		assert_memory_equal(r.body, cases[i].beginning, strlen(cases[i].beginning));
		response_free(&r);
	}
}

static void what_is_absent_is_answered(void **unused)
{
	static const struct {
		const char *method, *path;
		long status;
		const char *body;
	} cases[] = {
		{"GET", "/v1/deployments", 200, "[]"},
		{"GET", "/v1/deployment/00000000-dead-4000-8000-000000000000", 404,
			"deployment not found"},
		{"GET", "/v1/job/none/deployment", 200, "null"},
		{"GET", "/v1/job/none/deployments", 200, "[]"},
		{"GET", "/v1/job/none/evaluations", 200, "[]"},
		{"GET", "/v1/job/none/allocations", 200, "[]"},
		{"GET", "/v1/job/none/summary", 404, "job not found"},
		{"GET", "/v1/job/none/scale", 404, "job not found"},
		{"PUT", "/v1/job/none/evaluate", 404, "job not found"},
		{"GET", "/v1/scaling/policies", 200, "[]"},
		{"GET", "/v1/client/stats?node_id=x", 500,
			"node lookup failed: index error: UUID must be 36 characters"},
		{"GET", "/v1/client/allocation/x/stats", 500,
			"alloc lookup failed: index error: UUID must be 36 characters"},
		{"PUT", "/v1/allocation/00000000-dead-4000-8000-000000000000/stop", 404,
			"alloc not found"},
		{"PUT", "/v1/jobs/parse", 400, "Request body is empty"},
		{"DELETE", "/v1/nodes", 405, "Invalid method"},
		{"GET", "/v1/nothing", 404, ""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct response r = http(server, cases[i].method, cases[i].path,
			strcmp(cases[i].method, "PUT") == 0 ? "" : NULL);
		if (r.status != cases[i].status || strcmp(r.body, cases[i].body) != 0)
			fail_msg("%s %s answered %ld \"%s\"", cases[i].method, cases[i].path,
				r.status, r.body);
		response_free(&r);
	}
	json_t *raft = api_get("/v1/operator/raft/configuration*", "");
	assert_shape(raft, "raft_configuration");
	json_decref(raft);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_system_job_is_placed_everywhere),
		cmocka_unit_test(evaluations_are_listed),
		cmocka_unit_test(a_plan_changes_nothing),
		cmocka_unit_test(an_allocation_is_stopped_and_replaced),
		cmocka_unit_test(nodes_are_taken_out_and_in),
		cmocka_unit_test(a_stopped_job_ends_and_is_forgotten),
		cmocka_unit_test(what_does_not_fit_waits),
		cmocka_unit_test(an_evaluation_has_the_priority_that_was_asked_for),
		cmocka_unit_test(the_configuration_is_set_by_who_read_it),
		cmocka_unit_test(registration_can_be_closed),
		cmocka_unit_test(garbage_is_collected_on_request),
		cmocka_unit_test(a_node_is_purged),
		cmocka_unit_test(a_job_file_is_parsed),
		cmocka_unit_test(what_is_absent_is_answered),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
