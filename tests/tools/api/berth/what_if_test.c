// What is answered to whoever asks what a drain or a dead node would mean.
#include "tests/tools/api/scheduling.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char node_ids[2][UUID_TEXT_BYTES];

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1});
	for (uint32_t i = 0; i < 2; i++) {
		struct uuid id = server_node(server, 1 + i);
		uuid_format(&id, node_ids[i]);
	}
	return 0;
}

static json_t *ask(const char *node, const char *kind)
{
	char pattern[128];
	snprintf(pattern, sizeof pattern, "/v1/berth/node/*/what-if?kind=%s", kind);
	return api_get(pattern, node);
}

static json_int_t outcome(json_t *reply, const char *name)
{
	return member_number(json_object_get(reply, "Outcomes"), name);
}

static json_t *allocation_of(json_t *reply, const char *job)
{
	json_t *all = json_object_get(reply, "Allocations");
	for (size_t i = 0; i < json_array_size(all); i++)
		if (strcmp(member_text(json_array_get(all, i), "JobID"), job) == 0)
			return json_array_get(all, i);
	fail_msg("no allocation of %s", job);
	return NULL;
}

// Where the only allocation of a job is: 0 or 1.
static uint32_t place_of(const char *job)
{
	json_t *all = api_get("/v1/job/*/allocations", job);
	assert_int_equal(json_array_size(all), 1);
	bool second = strcmp(member_text(json_array_get(all, 0), "NodeID"), node_ids[1]) == 0;
	json_decref(all);
	return second;
}

static void a_service_moves_and_a_system_job_stops(void **unused)
{
	json_decref(run_job(job_body("web", "service", "1", 64)));
	json_decref(run_job(job_body("everywhere", "system", "1", 64)));
	uint32_t from = place_of("web");
	json_t *reply = ask(node_ids[from], "drain");
	assert_string_equal(member_text(reply, "NodeID"), node_ids[from]);
	assert_string_equal(member_text(reply, "Kind"), "drain");
	assert_int_equal(outcome(reply, "moves"), 1);
	assert_int_equal(outcome(reply, "stops"), 1);
	json_t *web = allocation_of(reply, "web");
	assert_string_equal(member_text(web, "Outcome"), "moves");
	assert_string_equal(member_text(web, "ToNodeID"), node_ids[!from]);
	assert_string_equal(member_text(web, "TaskGroup"), "g");
	assert_string_equal(member_text(allocation_of(reply, "everywhere"), "Outcome"), "stops");
	json_decref(reply);
	// Nothing came of it.
	assert_int_equal(place_of("web"), from);
	reply = ask(node_ids[!from], "down");
	assert_string_equal(member_text(reply, "Kind"), "down");
	assert_int_equal(outcome(reply, "moves"), 0);
	json_decref(reply);
}

static void what_does_not_fit_is_explained(void **unused)
{
	// More than half of a node each: one on either.
	json_decref(run_job(job_body("large-1", "service", "1", 5000)));
	json_decref(run_job(job_body("large-2", "service", "1", 5000)));
	uint32_t from = place_of("large-1");
	assert_int_not_equal(from, place_of("large-2"));
	json_t *reply = ask(node_ids[from], "down");
	assert_int_equal(outcome(reply, "no-room"), 1);
	json_t *large = allocation_of(reply, "large-1");
	assert_string_equal(member_text(large, "Outcome"), "no-room");
	assert_string_equal(member_text(large, "ToNodeID"), "");
	json_t *failure = json_array_get(json_object_get(reply, "Failures"), 0);
	assert_string_equal(member_text(failure, "JobID"), "large-1");
	json_t *exhausted =
		json_object_get(json_object_get(failure, "Metrics"), "DimensionExhausted");
	assert_int_equal(member_number(exhausted, "memory"), 1);
	json_decref(reply);
}

static void what_makes_no_sense_is_refused(void **unused)
{
	char path[128];
	snprintf(path, sizeof path, "/v1/berth/node/%s/what-if?kind=fire", node_ids[0]);
	expect_answer("GET", path, NULL, 400, "kind is \"fire\" but must be drain or down");
	expect_answer("GET", "/v1/berth/node/x/what-if", NULL, 404, "node not found");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_service_moves_and_a_system_job_stops),
		cmocka_unit_test(what_does_not_fit_is_explained),
		cmocka_unit_test(what_makes_no_sense_is_refused),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
