// berth beside a cluster of two, of which it asks the one that follows.
#include "tests/tools/api/pair.h"
#include "tests/tools/berth/run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int begin(void **unused)
{
	pair_begin(NULL);
	server_node(leader, 1);
	run_begin(api_port(follower->api));
	return 0;
}

static int end(void **unused)
{
	run_end();
	return pair_end(NULL);
}

static int well(void **unused)
{
	pair_is_well();
	return 0;
}

static void printed(const char *part)
{
	if (!strstr(run.out, part))
		fail_msg("\"%s\" is not in:\n%s", part, run.out);
}

static void a_follower_is_as_good_as_the_leader(void **unused)
{
	expect_run("node list", 0, "node-000001", "");
}

static void members_are_listed(void **unused)
{
	expect_run("server members", 0, "member-0.global  127.0.0.1", "");
	printed("alive   true");
	printed("alive   false");
	expect_run("operator raft list-peers", 0, "member-0.global  11111111-", "");
	printed("leader    true");
	printed("follower  true");
	expect_run("agent-info", 0, "  state = Follower\n", "");
}

static void the_cluster_is_shown(void **unused)
{
	expect_run("operator cluster -o csv --columns name,role,status", 0,
		"Name,Role,Status\nmember-0,leader,alive\nmember-1,follower,", "");
	expect_run("operator cluster", 0, "Cluster       = prod\n", "");
	printed("Role          = follower\n");
	printed("Leader        = member-0\n");
	printed("Lag           = 3 entries\n");
	printed("Last Contact  = 17 ms\n");
	printed("etcd          = there\n");
	printed("member-1  22222222  http://127.0.0.1:");
	printed("  10.0.0.2:4647  follower  alive   41            12\n");
	expect_run("operator cluster --json", 0, "\"Takeovers\": 0", "");
}

static void a_cluster_without_a_leader_is_shown(void **unused)
{
	struct cluster_status alone = pair_status(CLUSTER_FOLLOWER, NULL, 7);
	alone.etcd_is_away = true;
	alone.last_contact_ms = -1;
	snprintf(alone.trouble, sizeof alone.trouble, "nobody answers at 127.0.0.1:2379");
	server_knows(follower, &alone);
	expect_run("operator cluster", 0, "Leader        = none is known\n", "");
	printed("Last Contact  = never\n");
	printed("etcd          = away: nothing is decided\n");
	printed("Trouble       = nobody answers at 127.0.0.1:2379\n");
	expect_run("node list", 4, "", "No cluster leader");
}

static void health_is_shown_also_when_it_is_bad(void **unused)
{
	char url[64];
	expect_run("operator autopilot health", 0, "Healthy           = true\n", "");
	printed("Failure Tolerance = 1\n");
	struct cluster_status status = pair_status(CLUSTER_LEADER, pair_url(leader, url), 7);
	status.members[1].is_alive = false;
	server_knows(leader, &status);
	expect_run("operator autopilot health", 4, "Healthy           = false\n", "");
	printed("failed");
	expect_run("operator autopilot health --json", 4, "\"FailureTolerance\": 0", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_follower_is_as_good_as_the_leader, well),
		cmocka_unit_test_setup(members_are_listed, well),
		cmocka_unit_test_setup(the_cluster_is_shown, well),
		cmocka_unit_test_setup(a_cluster_without_a_leader_is_shown, well),
		cmocka_unit_test_setup(health_is_shown_also_when_it_is_bad, well),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
