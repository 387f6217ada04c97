// Over HTTP: senders are revoked, taken back and given other keys; rules of admission are made, shown and taken away,
// and who was refused by them is listed.
#include "state/records/nodes/admit_rule.h"
#include "state/records/nodes/sender.h"
#include "tests/support/core/builders.h"
#include "tests/tools/api/scheduling.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char id[UUID_TEXT_BYTES];
#define STRANGER "00000000-dead-4000-8000-000000000000"

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1});
	struct uuid node = server_node(server, 1);
	uuid_format(&node, id);
	return 0;
}

static int tear_down(void **unused)
{
	server_stop(server);
	return 0;
}

static void expect_change(json_t *reply, bool is_revoked, json_int_t generation, bool went_down)
{
	assert_true(json_is_true(json_object_get(reply, "Revoked")) == is_revoked);
	assert_true(json_is_true(json_object_get(reply, "WentDown")) == went_down);
	assert_int_equal(member_number(reply, "KeyGeneration"), generation);
	assert_true(member_number(reply, "Index") > 0);
	json_decref(reply);
}

static void expect_status(const char *status)
{
	json_t *node = api_get("/v1/node/*", id);
	assert_string_equal(member_text(node, "Status"), status);
	json_decref(node);
}

static void a_node_is_revoked_and_taken_back(void **unused)
{
	expect_status("ready");
	expect_answer("PUT", "/v1/berth/node/" STRANGER "/restore", "", 404, "not revoked");
	expect_change(
		api_put("/v1/berth/node/*/revoke", id, "{\"Reason\":\"stolen\"}"), true, 0, true);
	expect_status("down");
	json_t *list = api_get("/v1/berth/revoked*", "");
	assert_int_equal(json_array_size(list), 1);
	json_t *sender = json_array_get(list, 0);
	assert_string_equal(member_text(sender, "Reason"), "stolen");
	assert_string_equal(member_text(sender, "Name") + strlen(SENDER_NODE), id);
	json_decref(list);
	expect_change(api_put("/v1/berth/node/*/restore", id, ""), false, 0, false);
	expect_answer("GET", "/v1/berth/revoked", "", 200, "[]");
	expect_change(api_put("/v1/berth/node/*/rekey", id, ""), false, 1, false);
	expect_change(api_put("/v1/berth/node/*/revoke", STRANGER, ""), true, 0, false);
	expect_answer("PUT", "/v1/berth/node/12/revoke", "", 404, "");
	expect_answer("PUT", "/v1/berth/node/" STRANGER "/revoke", "{\"Reason\":", 400, "");
}

static void a_client_is_revoked_by_its_name(void **unused)
{
	expect_change(api_put("/v1/berth/client/*/revoke", "a%20b%2Fc", ""), true, 0, false);
	expect_answer("GET", "/v1/berth/revoked", "", 200, "\"client/a b/c\"");
	expect_change(api_put("/v1/berth/client/*/rekey", "a%20b%2Fc", ""), false, 1, false);
	expect_answer("PUT",
		"/v1/berth/client/"
		"0123456789012345678901234567890123456789012345678901234567890123x/revoke",
		"", 400, "1 to 64");
}

static void rules_come_and_go(void **unused)
{
	expect_answer("PUT", "/v1/berth/admit", "", 400, "");
	expect_answer("PUT", "/v1/berth/admit", "{}", 400, "Pattern is missing");
	expect_answer("PUT", "/v1/berth/admit", "{\"Pattern\":\"*\",\"CPU\":\"much\"}", 400, "CPU");
	expect_answer("PUT", "/v1/berth/admit", "{\"Pattern\":\"*\",\"CPU\":-1}", 400, "negative");
	expect_answer("PUT", "/v1/berth/admit",
		"{\"Pattern\":\"a/b*\",\"NodePools\":[\"gpu\"],\"CPU\":1}", 200, "");
	json_t *list = api_get("/v1/berth/admit*", "");
	assert_int_equal(json_array_size(list), 1);
	json_t *rule = json_array_get(list, 0);
	assert_string_equal(member_text(rule, "Pattern"), "a/b*");
	assert_int_equal(member_number(rule, "CPU"), 1);
	assert_true(json_is_null(json_object_get(rule, "MemoryMB")));
	assert_int_equal(json_array_size(json_object_get(rule, "NodePools")), 1);
	json_decref(list);
	expect_answer("DELETE", "/v1/berth/admit/nobody", "", 404, "no rule");
	expect_answer("DELETE", "/v1/berth/admit/a%2Fb*", "", 200, "");
	expect_answer("GET", "/v1/berth/admit", "", 200, "[]");
}

static void who_was_refused_is_listed(void **unused)
{
	expect_answer(
		"PUT", "/v1/berth/admit", "{\"Pattern\":\"*\",\"Devices\":0,\"CPU\":1}", 200, "");
	struct node_registration node;
	describe_plain_node(&node, 77, 5);
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = &node};
	assert_int_equal(server_command(server, &command), OUTCOME_NOT_ADMITTED);
	json_t *list = api_get("/v1/berth/admit/refused*", "");
	assert_int_equal(json_array_size(list), 1);
	json_t *refused = json_array_get(list, 0);
	assert_string_equal(member_text(refused, "Claim"), "cpu");
	assert_string_equal(member_text(refused, "Pattern"), "*");
	assert_string_equal(member_text(refused, "Name"), "a-node");
	json_decref(list);
	json_t *known = api_get("/v1/node/*", id);
	assert_string_equal(member_text(known, "SchedulingEligibility"), "ineligible");
	json_decref(known);
	expect_answer("DELETE", "/v1/berth/admit/*", "", 200, "");
}

static enum command_outcome join_from(uint8_t host)
{
	static uint64_t sequence = 5;
	struct node_registration node;
	describe_plain_node(&node, 78, sequence++);
	node.from =
		(struct agent_mark){.address = {[10] = 0xff, 0xff, 10, 0, 0, host}, .port = 40000};
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = &node};
	return server_command(server, &command);
}

static void a_clone_is_shown_until_it_is_cleared(void **unused)
{
	struct node_registration node;
	char text[UUID_TEXT_BYTES], path[100];
	describe_plain_node(&node, 78, 1);
	snprintf(path, sizeof path, "/v1/berth/node/%s/quarantine", uuid_format(&node.node, text));
	expect_answer("DELETE", path, "", 404, "no clone");
	assert_int_equal(join_from(1), OUTCOME_DONE);
	assert_int_equal(join_from(2), OUTCOME_DONE);
	assert_int_equal(join_from(1), OUTCOME_DONE);
	assert_int_equal(join_from(2), OUTCOME_QUARANTINED);
	json_t *list = api_get("/v1/berth/admit/refused*", "");
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(member_text(json_array_get(list, 0), "Claim"), "clone");
	json_decref(list);
	json_t *standing = api_get("/v1/berth/node/*", text);
	json_t *clone = json_object_get(standing, "Clone");
	assert_string_equal(member_text(clone, "Address"), "10.0.0.2:40000");
	assert_string_equal(member_text(clone, "Beside"), "10.0.0.1:40000");
	json_decref(standing);
	expect_answer("DELETE", path, "", 200, "");
	expect_answer("GET", "/v1/berth/admit/refused", "", 200, "[]");
	standing = api_get("/v1/berth/node/*", text);
	assert_null(json_object_get(standing, "Clone"));
	json_decref(standing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clone_is_shown_until_it_is_cleared),
		cmocka_unit_test(rules_come_and_go),
		cmocka_unit_test(who_was_refused_is_listed),
		cmocka_unit_test(a_node_is_revoked_and_taken_back),
		cmocka_unit_test(a_client_is_revoked_by_its_name),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
