// The whole fleet in a few bytes a node, and then what changed of it.
#include "tests/tools/api/server.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NODES 600u // more than one read section visits
static char since[64];

static json_t *ask_since(const char *place)
{
	char path[128];
	snprintf(path, sizeof path, "/v1/berth/fleet?since=%s", place);
	return http_json(server, "GET", path, NULL);
}

static void note_place(const json_t *fleet)
{
	snprintf(since, sizeof since, "%s", json_string_value(json_object_get(fleet, "Since")));
}

static size_t rows_of(const json_t *fleet)
{
	return json_array_size(json_object_get(fleet, "Nodes"));
}

static bool is_whole(const json_t *fleet)
{
	return json_is_true(json_object_get(fleet, "Whole"));
}

// A cell of a row by the name of its column.
static const json_t *cell(const json_t *fleet, size_t row, const char *column)
{
	size_t i;
	json_t *name;
	json_array_foreach(json_object_get(fleet, "Columns"), i,
		name) if (strcmp(json_string_value(name), column) ==
			  0) return json_array_get(json_array_get(json_object_get(fleet, "Nodes"),
							   row),
		i);
	fail_msg("no column %s", column);
	return NULL;
}

static void every_node_is_a_row(void **unused)
{
	server_nodes(server, NODES);
	json_t *fleet = http_json(server, "GET", "/v1/berth/fleet", NULL);
	assert_true(is_whole(fleet));
	assert_int_equal(rows_of(fleet), NODES);
	for (size_t i = 0; i < NODES; i++) {
		assert_int_equal(json_integer_value(cell(fleet, i, "Slot")), i);
		assert_int_equal(
			json_array_size(json_array_get(json_object_get(fleet, "Nodes"), i)),
			json_array_size(json_object_get(fleet, "Columns")));
	}
	assert_string_equal(json_string_value(cell(fleet, 0, "Status")), "ready");
	assert_true(json_is_true(cell(fleet, 0, "Eligible")));
	assert_true(json_is_false(cell(fleet, 0, "Draining")));
	assert_int_equal(json_integer_value(cell(fleet, 0, "CPU")), 4000);
	assert_int_equal(json_integer_value(cell(fleet, 0, "MemoryMB")), 8192);
	assert_int_equal(json_integer_value(cell(fleet, 0, "Allocations")), 0);
	note_place(fleet);
	json_decref(fleet);
}

static void nothing_is_told_when_nothing_changed(void **unused)
{
	json_t *fleet = ask_since(since);
	assert_false(is_whole(fleet));
	assert_int_equal(rows_of(fleet), 0);
	json_decref(fleet);
}

static void what_changed_is_told_once(void **unused)
{
	struct uuid node = server_node_id(3), ids[PLACE_COUNT_MAX];
	char id[UUID_TEXT_BYTES], path[128];
	uuid_format(&node, id);
	snprintf(path, sizeof path, "/v1/node/%s/eligibility", id);
	json_decref(http_json(server, "PUT", path, "{\"Eligibility\":\"ineligible\"}"));
	json_t *fleet = ask_since(since);
	assert_false(is_whole(fleet));
	assert_int_equal(rows_of(fleet), 1);
	assert_string_equal(json_string_value(cell(fleet, 0, "ID")), id);
	assert_true(json_is_false(cell(fleet, 0, "Eligible")));
	note_place(fleet);
	json_decref(fleet);

	server_job(server, "web");
	assert_int_equal(server_place(server, "web", 1, ids), 1);
	fleet = ask_since(since);
	assert_int_equal(rows_of(fleet), 1);
	assert_int_equal(json_integer_value(cell(fleet, 0, "CPUUsed")), 500);
	assert_int_equal(json_integer_value(cell(fleet, 0, "MemoryMBUsed")), 256);
	assert_int_equal(json_integer_value(cell(fleet, 0, "Allocations")), 1);
	note_place(fleet);
	json_decref(fleet);
}

static void a_node_that_is_gone_leaves_its_slot(void **unused)
{
	struct uuid node = server_node_id(5);
	char id[UUID_TEXT_BYTES], path[128];
	uuid_format(&node, id);
	snprintf(path, sizeof path, "/v1/node/%s/purge", id);
	json_decref(http_json(server, "PUT", path, ""));
	json_t *fleet = ask_since(since);
	bool is_told = false;
	for (size_t i = 0; i < rows_of(fleet); i++)
		is_told |= json_array_size(json_array_get(json_object_get(fleet, "Nodes"), i)) == 1;
	assert_true(is_told);
	json_decref(fleet);
	fleet = http_json(server, "GET", "/v1/berth/fleet", NULL);
	assert_int_equal(rows_of(fleet), NODES - 1);
	note_place(fleet);
	json_decref(fleet);
}

// Of another process, of the future, and no places at all: all nodes are told.
static void a_place_that_is_none_is_as_good_as_no_place(void **unused)
{
	static const char *const places[] = {
		"", "x", "0000000000000000-1", "-1", "1-", "ffffffffffffffffffffffffffffffff-1"};
	char text[96];
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		json_t *fleet = ask_since(places[i]);
		assert_true(is_whole(fleet));
		assert_int_equal(rows_of(fleet), NODES - 1);
		json_decref(fleet);
	}
	static const char *const endings[] = {"0", "x", "99999999999999999999999"};
	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
		snprintf(text, sizeof text, "%s%s", since, endings[i]);
		json_t *fleet = ask_since(text);
		assert_true(is_whole(fleet));
		json_decref(fleet);
	}
}

static void change_a_node(uint32_t times)
{
	struct uuid node = server_node_id(7);
	char id[UUID_TEXT_BYTES], path[128];
	uuid_format(&node, id);
	snprintf(path, sizeof path, "/v1/node/%s/eligibility", id);
	for (uint32_t i = 0; i < times; i++)
		json_decref(http_json(server, "PUT", path,
			i % 2 ? "{\"Eligibility\":\"eligible\"}"
			      : "{\"Eligibility\":\"ineligible\"}"));
}

// More changes than there are slots are more work than a look at all of them.
static void who_was_away_for_long_is_told_all(void **unused)
{
	change_a_node(NODES / 2);
	json_t *some = ask_since(since);
	assert_false(is_whole(some));
	assert_int_equal(rows_of(some), NODES / 2);
	change_a_node(NODES / 2 + 2);
	json_t *all = ask_since(since);
	assert_true(is_whole(all));
	assert_int_equal(rows_of(all), NODES - 1);
	json_decref(some);
	json_decref(all);
}

static void who_waits_is_woken_by_nodes_and_by_what_they_run(void **unused)
{
	struct uuid ids[PLACE_COUNT_MAX];
	char text[4096];
	struct response before = http(server, "GET", "/v1/berth/fleet", NULL);
	assert_true(before.index > 0);
	int fd = http_wait(server, "/v1/berth/fleet", before.index, NULL);
	assert_int_equal(server_place(server, "web", 1, ids), 1);
	http_waited(fd, text, sizeof text);
	assert_non_null(strstr(text, "200 OK"));
	response_free(&before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_node_is_a_row),
		cmocka_unit_test(nothing_is_told_when_nothing_changed),
		cmocka_unit_test(what_changed_is_told_once),
		cmocka_unit_test(a_node_that_is_gone_leaves_its_slot),
		cmocka_unit_test(a_place_that_is_none_is_as_good_as_no_place),
		cmocka_unit_test(who_was_away_for_long_is_told_all),
		cmocka_unit_test(who_waits_is_woken_by_nodes_and_by_what_they_run),
	};
	return cmocka_run_group_tests(tests, server_group_begin, server_group_end);
}
