// Draining a node over HTTP: what is answered, what the node shows, what waits for whom, and the end.
#include "state/records/nodes/node.h"
#include "tests/tools/api/scheduling.h"
#include "tests/tools/api/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char node_id[UUID_TEXT_BYTES], other_id[UUID_TEXT_BYTES];
static struct node_slot node_slot;

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1, .watchers = true});
	struct uuid id = server_node(server, 1);
	uuid_format(&id, node_id);
	node_slot = server->newest;
	id = server_node(server, 2);
	uuid_format(&id, other_id);
	return 0;
}

// The node once a member of it is as wanted: each look waits for a change.
static json_t *await_node(const char *id, bool (*fits)(json_t *node))
{
	char path[256];
	uint64_t index = 0;
	for (int looks = 0; looks < 100; looks++) {
		snprintf(path, sizeof path, "/v1/node/%s?index=%llu&wait=10s", id,
			(unsigned long long)index);
		json_t *node = http_json(server, "GET", path, NULL);
		if (fits(node))
			return node;
		index = (uint64_t)member_number(node, "ModifyIndex");
		json_decref(node);
	}
	fail_msg("node %s stays as it is", id);
	return NULL;
}

static bool does_not_drain(json_t *node)
{
	return json_is_null(json_object_get(node, "DrainStrategy"));
}

static const char *newest_event(json_t *node)
{
	json_t *events = json_object_get(node, "Events");
	return member_text(json_array_get(events, json_array_size(events) - 1), "Message");
}

static const char *last_status(json_t *node)
{
	return member_text(json_object_get(node, "LastDrain"), "Status");
}

static char allocation[UUID_TEXT_BYTES];

// The only living allocation on the node, running.
static void run_everywhere(void)
{
	json_decref(run_job(job_body("everywhere", "system", "1", 64)));
	json_t *all = api_get("/v1/node/*/allocations", node_id);
	assert_int_equal(json_array_size(all), 1);
	snprintf(allocation, sizeof allocation, "%s", member_text(json_array_get(all, 0), "ID"));
	json_decref(all);
	server_report(server, node_slot, allocation, ALLOC_RUNNING, 0);
}

static void a_drain_begins(void **unused)
{
	run_everywhere();
	json_t *reply = api_put("/v1/node/*/drain", node_id,
		"{\"DrainSpec\":{\"Deadline\":3600000000000,\"IgnoreSystemJobs\":false},"
		"\"MarkEligible\":false,\"Meta\":{\"message\":\"new disk\"}}");
	assert_shape(reply, "node_drain");
	json_decref(reply);
	json_t *node = api_get("/v1/node/*", node_id);
	assert_shape(node, "node");
	assert_shape(node, "node_draining");
	assert_true(json_is_true(json_object_get(node, "Drain")));
	assert_string_equal(member_text(node, "SchedulingEligibility"), "ineligible");
	json_t *strategy = json_object_get(node, "DrainStrategy");
	assert_int_equal(member_number(strategy, "Deadline"), 3600000000000);
	assert_string_equal(last_status(node), "draining");
	json_t *meta = json_object_get(json_object_get(node, "LastDrain"), "Meta");
	assert_string_equal(member_text(meta, "message"), "new disk");
	json_decref(node);
	expect_answer("PUT", "/v1/node/00000000-dead-4000-8000-000000000000/drain",
		"{\"DrainSpec\":null}", 404, "node not found");
	char path[128];
	snprintf(path, sizeof path, "/v1/node/%s/eligibility", node_id);
	expect_answer("PUT", path, "{\"Eligibility\":\"eligible\"}", 500,
		"can not set node's scheduling eligibility to eligible while it is draining");
}

static void it_says_what_it_waits_for(void **unused)
{
	json_t *status = api_get("/v1/berth/node/*/drain", node_id);
	assert_shape(status, "drain_report");
	assert_string_equal(member_text(status, "Phase"), "system");
	json_t *left = json_array_get(json_object_get(status, "Remaining"), 0);
	assert_string_equal(member_text(left, "ID"), allocation);
	assert_string_equal(member_text(left, "ClientStatus"), "running");
	json_t *reason = json_array_get(json_object_get(status, "Waiting"), 0);
	assert_string_equal(member_text(reason, "JobID"), "everywhere");
	assert_true(strlen(member_text(reason, "Reason")) > 0);
	json_decref(status);
	status = api_get("/v1/berth/node/*/drain", other_id);
	assert_string_equal(member_text(status, "Phase"), "none");
	json_decref(status);
}

// What the drain monitor of Nomad's clients waits with.
static void a_report_wakes_who_waits_for_allocations(void **unused)
{
	char path[256];
	snprintf(path, sizeof path, "/v1/node/%s/allocations", node_id);
	struct response before = http(server, "GET", path, NULL);
	server_report(server, node_slot, allocation, ALLOC_COMPLETE, 0);
	snprintf(path, sizeof path, "/v1/node/%s/allocations?index=%llu&wait=60s", node_id,
		(unsigned long long)before.index);
	struct response after = http(server, "GET", path, NULL);
	assert_true(after.index > before.index);
	assert_non_null(strstr(after.body, "\"ClientStatus\":\"complete\""));
	response_free(&before);
	response_free(&after);
}

static void it_is_complete_when_nothing_is_left(void **unused)
{
	json_t *node = await_node(node_id, does_not_drain);
	assert_string_equal(newest_event(node), "Node drain complete");
	assert_string_equal(last_status(node), "complete");
	assert_string_equal(member_text(node, "SchedulingEligibility"), "ineligible");
	json_decref(node);
	json_t *all = api_get("/v1/nodes*", "");
	assert_shape(all, "nodes");
	json_decref(all);
}

static void a_drain_is_called_off(void **unused)
{
	// Text is as good as nanoseconds, and system jobs stay.
	json_decref(api_put("/v1/node/*/drain", other_id,
		"{\"DrainSpec\":{\"Deadline\":\"2h\",\"IgnoreSystemJobs\":true}}"));
	json_t *node = await_node(other_id, does_not_drain);
	assert_string_equal(last_status(node), "complete");
	json_decref(node);
	json_decref(run_job(job_body("more", "system", "1", 64)));
	json_decref(api_put("/v1/node/*/eligibility", other_id, "{\"Eligibility\":\"eligible\"}"));
	json_decref(api_put("/v1/node/*/drain", other_id, "{\"DrainSpec\":{\"Deadline\":0}}"));
	json_t *reply =
		api_put("/v1/node/*/drain", other_id, "{\"DrainSpec\":null,\"MarkEligible\":true}");
	assert_shape(reply, "node_drain");
	json_decref(reply);
	node = api_get("/v1/node/*", other_id);
	assert_true(does_not_drain(node));
	assert_string_equal(member_text(node, "SchedulingEligibility"), "eligible");
	assert_string_equal(last_status(node), "canceled");
	json_decref(node);
}

static void what_is_no_drain_is_refused(void **unused)
{
	char path[128];
	snprintf(path, sizeof path, "/v1/node/%s/drain", other_id);
	expect_answer("PUT", path, "", 400, "DrainSpec is missing; null ends a drain");
	expect_answer("PUT", path, "{\"DrainSpec\":7}", 400, "DrainSpec: an object is expected");
	expect_answer("PUT", path, "{\"DrainSpec\":{\"Deadline\":\"soon\"}}", 400,
		"DrainSpec.Deadline: nanoseconds are expected");
	expect_answer("PUT", path, "{\"DrainSpec\":{\"Deadline\":1.5}}", 400, "DrainSpec.Deadline");
	expect_answer("PUT", path, "{\"DrainSpec\":{},\"Meta\":{\"a\":1}}", 400, "Meta");
	expect_answer("PUT", path, "{\"NodeID\":\"x\",\"DrainSpec\":null}", 400,
		"Node ID does not match");
	expect_answer("PUT", "/v1/node/x/drain", "{\"DrainSpec\":null}", 404, "node not found");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_drain_begins),
		cmocka_unit_test(it_says_what_it_waits_for),
		cmocka_unit_test(a_report_wakes_who_waits_for_allocations),
		cmocka_unit_test(it_is_complete_when_nothing_is_left),
		cmocka_unit_test(a_drain_is_called_off),
		cmocka_unit_test(what_is_no_drain_is_refused),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
