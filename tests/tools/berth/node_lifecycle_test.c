// Nodes taken out and back with the command line, how they stand, and the groups by snapshot.
#include "tests/support/log_capture.h"
#include "tests/tools/api/scheduling.h"
#include "tests/tools/berth/run.h"
#include "tests/tools/berth/two_nodes.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct log_capture capture;

static void expect_node(
	const char *command, uint32_t node, int status, const char *out, const char *error)
{
	char line[256];
	snprintf(line, sizeof line, "%s %s", command, node_ids[node]);
	expect_run(line, status, out, error);
}

static void out_and_back(void **unused)
{
	expect_node("node status", 0, 0, "Standing     = healthy", "");
	expect_node("node offline", 0, 0, "was taken out; it is offlined", "");
	expect_node("node status", 0, 0, "Standing     = offlined", "");
	expect_node("node offline", 0, 0, "was already taken out; it is offlined", "");
	expect_node("node online --json", 0, 0, "\"Changed\": true", "");
	expect_node("node online", 0, 0, "was already taken back; it is healthy", "");
}

static void how_many_ran_what(void **unused)
{
	expect_run("node groups", 0, "<none>    2     0", "");
	json_decref(run_job(job_body("web", "service", "1", 500)));
	expect_run("node groups", 0, "<none>    1     1", "");
	expect_run("node groups --verbose", 0, "<none>    busy  ", "");
	expect_run("node groups s%1", 0, "Snapshot  Work  Node", "");
	expect_run("node groups --json", 0, "\"Busy\": [", "");
	expect_run("node groups -o csv", 0, "Snapshot,Idle,Busy\n<none>,1,1\n", "");
	expect_run("node groups s%1 -o csv", 0, "Snapshot,Work,Node\n", "");
}

static void a_lost_node_is_left_as_it_is(void **unused)
{
	server_node_expires(server, server->newest);
	expect_node("node status", 1, 0, "= suspended, lost since 2", "");
	expect_node("node offline", 1, 4, "", "was not present in nodes. It can't be offlined");
	expect_node("node online", 1, 4, "", "was not present in offlined nodes");
	expect_run("node offline 00000000-dead-4000-8000-000000000000", 3, "", "");
}

static void a_hold_is_shown_and_released(void **unused)
{
	expect_run("liveness status", 0, "Expiry  = as ever", "");
	expect_run("senders", 0, "Nobody has asked for more than its share.", "");
	expect_run("liveness release", 0, "was not held", "");
	server->is_held = true;
	expect_run("health", 0, "degraded: the link is down", "");
	expect_run("liveness status", 0, "Reason  = the link is down", "");
	expect_run("liveness status --json", 0, "\"Silent\": 150", "");
	expect_run("senders", 0, "client  ci    12345    2 s ago", "");
	expect_run("senders --json", 0, "\"Refused\": 12345", "");
	expect_run("senders -o csv", 0, "Kind,Name,Refused,Last\nclient,ci,12345,2 s ago\n", "");
	expect_run("senders --columns name,refused", 0, "Name  Refused\nci    12345\n", "");
	log_capture_begin(&capture);
	expect_run("liveness release", 0, "Silent nodes expire now.", "");
	log_capture_end(&capture);
	assert_int_equal(log_capture_count(&capture, "expiry-released", "by=operator"), 1);
	expect_run("liveness release --json", 0, "\"Released\": false", "");
	expect_run("health", 0, "ok", "");
}

static void rules_of_admission_are_a_list(void **unused)
{
	char line[256];
	run_write("rule.json", "{\"Pattern\":\"web-*\",\"NodePools\":[\"a\",\"b\"],\"CPU\":4000}");
	snprintf(line, sizeof line, "node admit apply %s/rule.json", run_folder());
	expect_run(line, 0, "Nodes that are \"web-*\" are admitted by this rule\n", "");
	expect_run("node admit list -o csv", 0,
		"Pattern,Pools,Datacenters,Classes,CPU,Memory,Disk,Devices\n"
		"web-*,\"a,b\",any,any,4000,any,any,any\n",
		"");
	expect_run("node admit list", 0, "Pattern  Pools  Datacenters  Classes", "");
	expect_run("node admit list --filter CPU==1 -o name", 0, "", "");
	assert_string_equal(run.out, "");
	expect_run("node admit list --json", 0, "\"Pattern\":\"web-*\"", "");
	expect_run("node admit refused -o csv", 0, "ID,Name,Address,Refused For,Rule,Time\n", "");
	expect_run("node admit delete web-*", 0, "is deleted", "");
	expect_run("node revoked -o csv", 0, "Sender,Revoked,Key Generation,Since,Reason\n", "");
	expect_run("client revoke ci lost", 0, "client/ci is revoked\n", "");
	expect_run("node revoked -o csv --columns sender,revoked,reason", 0,
		"Sender,Revoked,Reason\nclient/ci,yes,lost\n", "");
	expect_run("client restore ci", 0, "client/ci is taken back\n", "");
}

static void pools_are_described_and_forgotten(void **unused)
{
	char line[256];
	run_write("pool.json",
		"{\"Name\":\"gpu\",\"Description\":\"machines with devices\",\"Meta\":{"
		"\"rack\":\"r1\"},\"SchedulerConfiguration\":{"
		"\"MemoryOversubscriptionEnabled\":true}}");
	run_write("all.json", "{\"Name\":\"all\"}");
	snprintf(line, sizeof line, "node pool apply %s/pool.json", run_folder());
	expect_run(line, 0, "Node pool \"gpu\" is described", "");
	expect_run("node pool list", 0, "gpu      machines with devices", "");
	expect_run("node pool list --json", 0, "\"Name\":\"default\"", "");
	expect_run("node pool info gpu", 0, "Memory Oversubscription  = true", "");
	expect_run("node pool info gpu", 0, "Scheduler Algorithm      = as configured", "");
	expect_run("node pool info gpu", 0, "Meta rack                = r1", "");
	expect_run("node pool info gpu --json", 0, "\"SchedulerAlgorithm\": \"\"", "");
	expect_run("node pool info nosuch", 3, "", "node pool not found");
	snprintf(line, sizeof line, "node pool apply %s/all.json", run_folder());
	expect_run(line, 4, "", "modifying node pool \"all\" is not allowed");
	expect_run("node pool delete default", 4, "", "has nodes in regions: [global]");
	expect_run("node pool delete gpu", 0, "Node pool \"gpu\" is deleted", "");
	expect_run("node pool delete gpu", 3, "", "node pool not found");
}

static void metadata_is_set_and_taken_away(void **unused)
{
	char line[256];
	expect_node("node meta read", 0, 0, "rack  = r1", "");
	snprintf(line, sizeof line, "node meta apply %s rack=r2 zone=a=b", node_ids[0]);
	expect_run(line, 0, "zone  = a=b", "");
	expect_node("node meta read", 0, 0, "Set by an operator\n  rack  = r2", "");
	expect_node("node status", 0, 0, "rack  = r2", "");
	snprintf(line, sizeof line, "node meta apply %s --unset rack --unset zone", node_ids[0]);
	expect_run(line, 0, "Set by an operator\n  rack  = (taken away)", "");
	expect_node("node meta read --json", 0, 0, "\"rack\": null", "");
	expect_node("node meta apply", 0, 2, "", "NAME=VALUE or --unset NAME is needed");
	snprintf(line, sizeof line, "node meta apply %s rack", node_ids[0]);
	expect_run(line, 2, "", "\"rack\" is not NAME=VALUE");
	snprintf(line, sizeof line, "node meta apply %s a/b=c", node_ids[0]);
	expect_run(line, 4, "", "metadata keys must be valid dotted hcl identifiers");
	expect_run("node meta read 00000000-dead", 3, "", "");
	expect_run("node meta read 00000000-dead-4000-8000-000000000000", 4, "", "Unknown node");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(out_and_back),
		cmocka_unit_test(how_many_ran_what),
		cmocka_unit_test(a_lost_node_is_left_as_it_is),
		cmocka_unit_test(a_hold_is_shown_and_released),
		cmocka_unit_test(rules_of_admission_are_a_list),
		cmocka_unit_test(pools_are_described_and_forgotten),
		cmocka_unit_test(metadata_is_set_and_taken_away),
	};
	return cmocka_run_group_tests(tests, two_nodes_begin, two_nodes_end);
}
