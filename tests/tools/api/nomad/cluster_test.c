// What members of a cluster say of it and of each other.
#include "tests/tools/api/pair.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int well(void **unused)
{
	pair_is_well();
	return 0;
}

static const char *text_at(json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text ? text : "(none)";
}

static bool truth_at(json_t *object, const char *name)
{
	json_t *value = json_object_get(object, name);
	assert_true(json_is_boolean(value));
	return json_is_true(value);
}

static void address_of(struct server *s, char address[static 64])
{
	snprintf(address, 64, "127.0.0.1:%u", api_port(s->api));
}

static void both_say_who_leads(void **unused)
{
	char address[64];
	struct server *members[] = {leader, follower};
	address_of(leader, address);
	for (int i = 0; i < 2; i++) {
		json_t *leads = http_json(members[i], "GET", "/v1/status/leader", NULL);
		assert_string_equal(json_string_value(leads), address);
		json_decref(leads);
		json_t *peers = http_json(members[i], "GET", "/v1/status/peers", NULL);
		assert_int_equal(json_array_size(peers), 2);
		assert_string_equal(json_string_value(json_array_get(peers, 0)), address);
		json_decref(peers);
	}
}

static void nobody_is_known_to_lead(void **unused)
{
	struct cluster_status alone = pair_status(CLUSTER_FOLLOWER, NULL, 7);
	server_knows(follower, &alone);
	json_t *leads = http_json(follower, "GET", "/v1/status/leader", NULL);
	assert_string_equal(json_string_value(leads), "");
	json_decref(leads);
	json_t *self = http_json(follower, "GET", "/v1/agent/self", NULL);
	json_t *stats = json_object_get(self, "stats");
	assert_string_equal(text_at(json_object_get(stats, "nomad"), "leader_addr"), "");
	json_decref(self);
}

static void members_are_alive_or_failed(void **unused)
{
	char url[64], port[8];
	struct cluster_status status = pair_status(CLUSTER_FOLLOWER, pair_url(leader, url), 7);
	status.members[0].is_alive = false;
	server_knows(follower, &status);
	json_t *answer = http_json(follower, "GET", "/v1/agent/members", NULL);
	json_t *members = json_object_get(answer, "Members");
	assert_int_equal(json_array_size(members), 2);
	json_t *first = json_array_get(members, 0), *second = json_array_get(members, 1);
	assert_string_equal(text_at(first, "Name"), "member-0.global");
	assert_string_equal(text_at(first, "Addr"), "127.0.0.1");
	assert_string_equal(text_at(first, "Status"), "failed");
	assert_string_equal(text_at(second, "Status"), "alive");
	json_t *tags = json_object_get(first, "Tags");
	snprintf(port, sizeof port, "%u", api_port(leader->api));
	assert_string_equal(text_at(tags, "port"), port);
	assert_string_equal(text_at(tags, "role"), "nomad");
	assert_string_equal(text_at(tags, "region"), "global");
	assert_string_equal(text_at(tags, "expect"), "2");
	json_decref(answer);
}

static void a_follower_describes_itself(void **unused)
{
	json_t *self = http_json(follower, "GET", "/v1/agent/self", NULL);
	json_t *stats = json_object_get(self, "stats");
	json_t *raft = json_object_get(stats, "raft");
	assert_string_equal(text_at(json_object_get(self, "member"), "Name"), "member-1.global");
	assert_string_equal(text_at(json_object_get(stats, "nomad"), "leader"), "false");
	assert_string_equal(text_at(raft, "state"), "Follower");
	assert_string_equal(text_at(raft, "num_peers"), "1");
	assert_string_equal(text_at(raft, "last_contact"), "17ms");
	assert_string_equal(text_at(raft, "commit_index"), "53");
	assert_string_equal(text_at(raft, "term"), "7");
	json_decref(self);
	self = http_json(leader, "GET", "/v1/agent/self", NULL);
	raft = json_object_get(json_object_get(self, "stats"), "raft");
	assert_string_equal(text_at(raft, "state"), "Leader");
	assert_string_equal(text_at(raft, "last_contact"), "0");
	json_decref(self);
}

static void peers_are_listed(void **unused)
{
	char address[64];
	address_of(leader, address);
	json_t *answer = http_json(follower, "GET", "/v1/operator/raft/configuration", NULL);
	json_t *servers = json_object_get(answer, "Servers");
	assert_int_equal(json_array_size(servers), 2);
	json_t *first = json_array_get(servers, 0), *second = json_array_get(servers, 1);
	assert_string_equal(text_at(first, "ID"), "11111111-1111-4111-8111-111111111111");
	assert_string_equal(text_at(first, "Address"), address);
	assert_string_equal(text_at(first, "Node"), "member-0.global");
	assert_true(truth_at(first, "Leader"));
	assert_false(truth_at(second, "Leader"));
	assert_true(truth_at(second, "Voter"));
	json_decref(answer);
}

static void a_member_is_not_removed_by_others(void **unused)
{
	static const char known[] =
		"/v1/operator/raft/peer?id=22222222-2222-4222-8222-222222222222";
	struct response r = http(leader, "DELETE", known, NULL);
	assert_int_equal(r.status, 501);
	response_free(&r);
	r = http(leader, "DELETE", "/v1/operator/raft/peer?id=x", NULL);
	assert_int_equal(r.status, 500);
	assert_string_equal(r.body, "id \"x\" was not found in the Raft configuration");
	response_free(&r);
}

// The status of the answer, and its JSON.
static json_t *health(struct server *s, long status)
{
	struct response r = http(s, "GET", "/v1/operator/autopilot/health?stale", NULL);
	json_t *answer = json_loads(r.body, 0, NULL);
	assert_int_equal(r.status, status);
	assert_non_null(answer);
	response_free(&r);
	return answer;
}

static void health_is_that_of_all(void **unused)
{
	char url[64];
	json_t *answer = health(leader, 200);
	json_t *servers = json_object_get(answer, "Servers");
	json_t *first = json_array_get(servers, 0), *second = json_array_get(servers, 1);
	assert_true(truth_at(answer, "Healthy"));
	assert_int_equal(json_integer_value(json_object_get(answer, "FailureTolerance")), 1);
	assert_true(truth_at(first, "Leader"));
	assert_string_equal(text_at(first, "LastContact"), "0s");
	assert_int_equal(json_integer_value(json_object_get(first, "LastIndex")), 50);
	assert_int_equal(json_integer_value(json_object_get(second, "LastIndex")), 41);
	assert_int_equal(json_integer_value(json_object_get(second, "LastTerm")), 7);
	json_decref(answer);
	struct cluster_status status = pair_status(CLUSTER_LEADER, pair_url(leader, url), 7);
	status.members[1].is_alive = false;
	server_knows(leader, &status);
	answer = health(leader, 429);
	assert_false(truth_at(answer, "Healthy"));
	assert_int_equal(json_integer_value(json_object_get(answer, "FailureTolerance")), 0);
	servers = json_object_get(answer, "Servers");
	assert_true(truth_at(json_array_get(servers, 0), "Healthy"));
	assert_false(truth_at(json_array_get(servers, 1), "Healthy"));
	json_decref(answer);
	status.members[1].is_alive = true;
	status.etcd_is_away = true;
	server_knows(leader, &status);
	json_decref(health(leader, 429));
}

static void the_cluster_is_told_whole(void **unused)
{
	json_t *answer = http_json(follower, "GET", "/v1/berth/cluster", NULL);
	assert_string_equal(text_at(answer, "Name"), "prod");
	assert_string_equal(text_at(answer, "Role"), "follower");
	assert_true(truth_at(answer, "KnownLeader"));
	assert_string_equal(text_at(json_object_get(answer, "Leader"), "Name"), "member-0");
	assert_int_equal(json_integer_value(json_object_get(answer, "Lag")), 3);
	assert_int_equal(json_integer_value(json_object_get(answer, "LastContactMs")), 17);
	json_t *members = json_object_get(answer, "Members");
	assert_int_equal(json_array_size(members), 2);
	assert_string_equal(text_at(json_array_get(members, 1), "Wire"), "10.0.0.2:4647");
	assert_true(truth_at(json_array_get(members, 1), "Self"));
	json_decref(answer);
	answer = http_json(leader, "GET", "/v1/berth/cluster", NULL);
	assert_string_equal(text_at(answer, "Role"), "leader");
	json_decref(answer);
}

static void a_server_that_stands_alone_says_so(void **unused)
{
	struct server *alone = server_start(&(struct server_options){0});
	struct response r = http(alone, "GET", "/v1/berth/cluster", NULL);
	assert_int_equal(r.status, 404);
	response_free(&r);
	r = http(alone, "GET", "/v1/nodes?stale", NULL);
	assert_int_equal(r.status, 200);
	assert_true(response_has(&r, "X-Nomad-KnownLeader: true"));
	assert_true(response_has(&r, "X-Nomad-LastContact: 0"));
	response_free(&r);
	server_stop(alone);
}

static void addresses_of_ipv6_keep_their_brackets(void **unused)
{
	struct cluster_status status =
		pair_status(CLUSTER_FOLLOWER, "https://[2001:db8::1]:4646", 7);
	server_knows(follower, &status);
	json_t *leads = http_json(follower, "GET", "/v1/status/leader", NULL);
	assert_string_equal(json_string_value(leads), "[2001:db8::1]:4646");
	json_decref(leads);
	json_t *answer = http_json(follower, "GET", "/v1/agent/members", NULL);
	json_t *first = json_array_get(json_object_get(answer, "Members"), 0);
	assert_string_equal(text_at(first, "Addr"), "2001:db8::1");
	assert_int_equal(json_integer_value(json_object_get(first, "Port")), 4646);
	json_decref(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(both_say_who_leads, well),
		cmocka_unit_test_setup(nobody_is_known_to_lead, well),
		cmocka_unit_test_setup(members_are_alive_or_failed, well),
		cmocka_unit_test_setup(a_follower_describes_itself, well),
		cmocka_unit_test_setup(peers_are_listed, well),
		cmocka_unit_test_setup(a_member_is_not_removed_by_others, well),
		cmocka_unit_test_setup(health_is_that_of_all, well),
		cmocka_unit_test_setup(the_cluster_is_told_whole, well),
		cmocka_unit_test_setup(a_server_that_stands_alone_says_so, well),
		cmocka_unit_test_setup(addresses_of_ipv6_keep_their_brackets, well),
	};
	return cmocka_run_group_tests(tests, pair_begin, pair_end);
}
