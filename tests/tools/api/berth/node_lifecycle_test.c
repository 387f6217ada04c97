// Where nodes stand, over HTTP: read, set by an operator, refused, and the groups by snapshot.
#include "tests/tools/api/scheduling.h"
#include "tests/tools/api/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NODES 3
static char ids[NODES][UUID_TEXT_BYTES];
static struct node_slot slots[NODES];
#define UNKNOWN "00000000-dead-4000-8000-000000000000"

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1});
	for (uint32_t i = 0; i < NODES; i++) {
		struct uuid id = server_node(server, i + 1);
		uuid_format(&id, ids[i]);
		slots[i] = server->newest;
	}
	return 0;
}

static void expect_standing(const char *id, const char *standing, bool lost)
{
	json_t *node = api_get("/v1/berth/node/*", id);
	assert_shape(node, "node_standing");
	json_t *lifecycle = json_object_get(node, "Lifecycle");
	assert_string_equal(member_text(lifecycle, "Standing"), standing);
	assert_true(json_is_true(json_object_get(lifecycle, "Lost")) == lost);
	assert_true(json_is_string(json_object_get(lifecycle, "Since")) == lost);
	json_t *whole = api_get("/v1/node/*", id);
	assert_true(json_equal(
		json_object_get(json_object_get(whole, "Berth"), "Lifecycle"), lifecycle));
	json_decref(whole);
	json_decref(node);
}

// Sets it and says whether that changed anything.
static bool set(const char *pattern, const char *id)
{
	json_t *reply = api_put(pattern, id, "");
	assert_shape(reply, "node_standing_set");
	bool changed = json_is_true(json_object_get(reply, "Changed"));
	json_decref(reply);
	return changed;
}

static void an_operator_takes_a_node_out_and_back(void **unused)
{
	expect_standing(ids[0], "healthy", false);
	assert_true(set("/v1/berth/node/*/offline", ids[0]));
	expect_standing(ids[0], "offlined", false);
	assert_false(set("/v1/berth/node/*/offline", ids[0]));
	assert_true(set("/v1/berth/node/*/online", ids[0]));
	assert_false(set("/v1/berth/node/*/online", ids[0]));
	expect_standing(ids[0], "healthy", false);
}

static void a_change_wakes_who_waits_for_the_node(void **unused)
{
	char path[256];
	snprintf(path, sizeof path, "/v1/berth/node/%s", ids[0]);
	struct response before = http(server, "GET", path, NULL);
	assert_true(set("/v1/berth/node/*/offline", ids[0]));
	snprintf(path, sizeof path, "/v1/berth/node/%s?index=%llu&wait=60s", ids[0],
		(unsigned long long)before.index);
	struct response after = http(server, "GET", path, NULL);
	assert_true(after.index > before.index);
	assert_non_null(strstr(after.body, "\"offlined\""));
	response_free(&before);
	response_free(&after);
	assert_true(set("/v1/berth/node/*/online", ids[0]));
}

static void expect_refusal(const char *what, const char *id, long status, const char *part)
{
	char path[128];
	snprintf(path, sizeof path, "/v1/berth/node/%s/%s", id, what);
	expect_answer("PUT", path, "", status, part);
}

static void what_is_not_there_is_not_found(void **unused)
{
	expect_refusal("offline", UNKNOWN, 404,
		"node " UNKNOWN " was not present in nodes. It can't be offlined");
	expect_refusal("online", UNKNOWN, 404,
		"node " UNKNOWN " was not present in offlined nodes. It can't be reinstated");
	expect_refusal("offline", "nobody", 404, "node not found");
	expect_answer("GET", "/v1/berth/node/" UNKNOWN, NULL, 404, "node not found");
}

static void a_lost_node_can_be_neither(void **unused)
{
	char part[128];
	server_node_expires(server, slots[2]);
	expect_standing(ids[2], "suspended", true);
	snprintf(part, sizeof part, "node %s was not present in nodes. It can't be offlined",
		ids[2]);
	expect_refusal("offline", ids[2], 409, part);
	snprintf(part, sizeof part,
		"node %s was not present in offlined nodes. It can't be reinstated", ids[2]);
	expect_refusal("online", ids[2], 409, part);
	expect_standing(ids[2], "suspended", true);
}

static bool lists(json_t *groups, const char *snapshot, const char *member, const char *id)
{
	json_t *list = json_object_get(json_object_get(groups, snapshot), member), *item;
	size_t i;
	bool found = false;
	json_array_foreach(list, i, item)
	{
		// In order.
		if (i > 0)
			assert_true(strcmp(json_string_value(json_array_get(list, i - 1)),
					    json_string_value(item)) < 0);
		found |= strcmp(json_string_value(item), id) == 0;
	}
	return found;
}

static size_t size_of(json_t *groups, const char *snapshot, const char *member)
{
	return json_array_size(json_object_get(json_object_get(groups, snapshot), member));
}

static void nodes_are_in_the_group_without_a_snapshot_first(void **unused)
{
	json_t *groups = api_get("/v1/berth/groups*", "");
	assert_shape(groups, "node_groups");
	assert_int_equal(json_object_size(groups), 1);
	assert_int_equal(size_of(groups, "", "Idle"), NODES);
	assert_int_equal(size_of(groups, "", "Busy"), 0);
	for (uint32_t i = 0; i < NODES; i++)
		assert_true(lists(groups, "", "Idle", ids[i]));
	json_decref(groups);
}

#define JOB                                                                                       \
	"{\"Job\":{\"ID\":\"warm\",\"Name\":\"warm\",\"Type\":\"batch\",\"Datacenters\":["        \
	"\"dc1\"],"                                                                               \
	"\"TaskGroups\":[{\"Name\":\"g\",\"Count\":1,\"Snapshot\":\"s1\",\"EphemeralDisk\":{"     \
	"\"SizeMB\":101},\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":" \
	"\"/bin/true\"},\"Resources\":{\"CPU\":100,\"MemoryMB\":64}}]}]}}"

static uint32_t number_of(const char *id)
{
	for (uint32_t i = 0; i < NODES; i++)
		if (strcmp(ids[i], id) == 0)
			return i;
	fail_msg("there is no node %s", id);
	return 0;
}

static void who_runs_a_snapshot_is_busy_with_it_and_idle_in_it_afterwards(void **unused)
{
	json_decref(run_job(JOB));
	json_t *all = api_get("/v1/job/warm/allocations*", "");
	assert_int_equal(json_array_size(all), 1);
	json_t *allocation = json_array_get(all, 0);
	const char *id = member_text(allocation, "NodeID");
	json_t *groups = api_get("/v1/berth/groups*", "");
	assert_int_equal(json_object_size(groups), 2);
	assert_int_equal(size_of(groups, "", "Idle"), NODES - 1);
	assert_int_equal(size_of(groups, "s1", "Idle"), 0);
	assert_true(lists(groups, "s1", "Busy", id));
	json_decref(groups);
	server_report(
		server, slots[number_of(id)], member_text(allocation, "ID"), ALLOC_COMPLETE, 0);
	groups = api_get("/v1/berth/groups?snapshot=s1*", "");
	assert_int_equal(json_object_size(groups), 1);
	assert_int_equal(size_of(groups, "s1", "Busy"), 0);
	assert_true(lists(groups, "s1", "Idle", id));
	json_decref(groups);
	json_t *node = api_get("/v1/berth/node/*", id);
	json_t *lifecycle = json_object_get(node, "Lifecycle");
	assert_string_equal(member_text(lifecycle, "Snapshot"), "s1");
	assert_true(json_is_false(json_object_get(lifecycle, "Busy")));
	json_decref(node);
	json_decref(all);
}

static void a_snapshot_that_nobody_ran_has_an_empty_group(void **unused)
{
	json_t *groups = api_get("/v1/berth/groups?snapshot=s9*", "");
	assert_int_equal(json_object_size(groups), 1);
	assert_int_equal(size_of(groups, "s9", "Idle"), 0);
	assert_non_null(json_object_get(json_object_get(groups, "s9"), "Busy"));
	json_decref(groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_in_the_group_without_a_snapshot_first),
		cmocka_unit_test(an_operator_takes_a_node_out_and_back),
		cmocka_unit_test(a_change_wakes_who_waits_for_the_node),
		cmocka_unit_test(what_is_not_there_is_not_found),
		cmocka_unit_test(who_runs_a_snapshot_is_busy_with_it_and_idle_in_it_afterwards),
		cmocka_unit_test(a_snapshot_that_nobody_ran_has_an_empty_group),
		cmocka_unit_test(a_lost_node_can_be_neither),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
