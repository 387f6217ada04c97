// Lists in every form, ids that are typed in part or by name, and what is said of words that nobody knows.
#include "tests/tools/api/server.h"
#include "tests/tools/berth/run.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NODES 4u

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){0});
	run_begin(api_port(server->api));
	for (uint32_t i = 0; i < NODES; i++)
		server_node(server, i);
	server_job(server, "shop");
	server_job(server, "shop-2");
	server_job(server, "web");
	return 0;
}

static int tear_down(void **unused)
{
	run_end();
	server_stop(server);
	return 0;
}

// Fails the test unless berth prints exactly this.
static void expect_exactly(const char *line, const char *out)
{
	berth(line);
	if (run.status != 0 || strcmp(run.out, out) != 0)
		fail_msg("berth %s gave %d\n%s\n%s\nnot \"%s\"", line, run.status, run.out,
			run.error, out);
}

static void lists_have_forms(void **unused)
{
	struct uuid id = server_node_id(2);
	char whole[UUID_TEXT_BYTES], text[128];
	uuid_format(&id, whole);
	expect_exactly("node list -o csv --columns name,status --sort -name --limit 2",
		"Name,Status\nnode-000003,ready\nnode-000002,ready\n");
	snprintf(text, sizeof text, "%s\n", whole);
	expect_exactly("node list --filter Name==node-000002 -o name", text);
	expect_exactly("node list -o {name}\\t{NodeResources.Cpu.CpuShares} --sort name --limit 1",
		"node-000000\t4000\n");
}

static void columns_are_chosen(void **unused)
{
	expect_exactly("node list --columns Status,name --sort name --limit 1",
		"Status  Name\nready   node-000000\n");
	expect_run("node list -o wide", 0, "Address", "");
	assert_non_null(strstr(run.out, "Modify Index"));
	expect_run("node list", 0, "ID        DC", "");
	assert_null(strstr(run.out, "Address"));
	assert_null(strstr(run.out, "4 nodes"));
	expect_run("node list --totals --limit 3", 0, "\n3 nodes of more: 3 ready\n", "");
	expect_run("node list --totals --limit 3 --sort name", 0, "\n4 nodes: 4 ready\n", "");
	expect_run("node list --columns nme", 2, "",
		"--columns: nodes have no column \"nme\"; did you mean \"name\"? (there are id, ");
	expect_run("node list --sort nme", 2, "", "--sort: nodes have no column");
	expect_run("node list --limit 0", 2, "", "--limit must be a number from 1");
}

static size_t items_of(const char *line)
{
	expect_run(line, 0, "[", "");
	json_t *list = json_loads(run.out, 0, NULL);
	assert_true(json_is_array(list));
	size_t count = json_array_size(list);
	json_decref(list);
	return count;
}

static void json_goes_with_every_flag(void **unused)
{
	assert_int_equal(items_of("--json node list"), NODES);
	assert_int_equal(items_of("node list --json --status ready"), NODES);
	assert_int_equal(items_of("node list --json --status down"), 0);
	assert_int_equal(items_of("node -o json list --limit 2"), 2);
	assert_int_equal(items_of("node list --limit 3 --sort -name --json"), 3);
	assert_int_equal(items_of("node list --json --filter Name==node-000001 --status ready"), 1);
	expect_run("--json job status web", 0, "{\n", "");
	expect_run("job status web -o csv", 2, "", "--output csv is for lists");
	expect_run("job status web -o json", 0, "\"ID\": \"web\"", "");
}

static void ids_are_completed(void **unused)
{
	expect_run("node status node-000002", 0, "Name         = node-000002", "");
	expect_run("node eligibility --disable node-000002", 0, "ineligible for scheduling", "");
	expect_run("status node-000002", 0, "Name         = node-000002", "");
	expect_run("status nosuch", 3, "", "no job, node, allocation, evaluation or deployment");
	expect_run("job status we", 0, "ID         = web", "");
	expect_run("job status shop", 0, "ID         = shop\n", "");
	expect_run("job status sho", 3, "", "2 or more jobs begin with sho");
	assert_non_null(strstr(run.error, "\n  shop-2 shop-2"));
	expect_run("job status we --namespace *", 0, "ID         = web", "");
	expect_run("alloc list --job sh", 3, "", "jobs begin with sh");
	expect_run("node status 0123456789012345678901234567890123456", 3, "",
		"node not found: no id begins with");
	expect_run("job status shpo", 3, "", "no id begins with \"shpo\"");
	assert_non_null(strstr(run.error, "; did you mean \"shop\"?"));
	expect_run("node status nod-000002", 3, "", "; did you mean \"node-000002\"?");
	expect_run("node pool info def", 0, "Name                     = default", "");
	expect_run("namespace status defualt", 3, "", "; did you mean \"default\"?");
}

static void jobs_are_looked_for_in_their_namespace(void **unused)
{
	char line[256];
	server_namespace(server, "team");
	run_write("team.json", "{\"ID\":\"theirs\",\"Type\":\"direct\",\"Datacenters\":[\"*\"],"
			       "\"TaskGroups\":[{\"Name\":\"g\",\"Tasks\":[{\"Name\":\"t\","
			       "\"Driver\":\"mock\"}]}]}");
	snprintf(line, sizeof line, "job run --detach --namespace team %s/team.json", run_folder());
	expect_run(line, 0, "Registered job \"theirs\"", "");
	run_write("own.hcl", "job \"own\" {\n  namespace = \"team\"\n  type = \"direct\"\n"
			     "  group \"g\" {\n    task \"t\" { driver = \"mock\" }\n  }\n}\n");
	snprintf(line, sizeof line, "job run --detach %s/own.hcl", run_folder());
	expect_run(line, 0, "Registered job \"own\"", "");
	expect_run("job list --namespace team -o name --sort id", 0, "own\ntheirs\n", "");
	expect_run("job status thei", 3, "", "no id begins with \"thei\"");
	expect_run("job status thei --namespace team", 0, "ID         = theirs", "");
	expect_run("job status thei --namespace *", 0, "ID         = theirs", "");
}

static void unknown_words_are_told(void **unused)
{
	expect_run("nod list", 2, "", "no command nod; did you mean \"node\"?");
	expect_run("node lsit", 2, "", "node has no subcommand lsit; did you mean \"list\"?");
	expect_run("node admit lst", 2, "", "node admit has no subcommand lst");
	expect_run("node", 2, "", "node list");
	expect_run("node --help", 0, "node list", "");
	expect_run("help node eligibility", 0, "Usage: berth node eligibility [ID...]", "");
	expect_run("node list --stauts ready", 2, "", "did you mean \"status\"?");
	expect_run("node list --status redy", 2, "",
		"--status: nodes are never \"redy\"; did you mean \"ready\"? (they are "
		"initializing, ready, down, disconnected)");
	expect_run("node list -o jsn", 2, "", "did you mean \"json\"?");
	expect_run("node list --filter Oops==1", 4, "", "no member \"Oops\"");
}

static void nodes_are_changed_together(void **unused)
{
	expect_run("node eligibility --disable node-000000 node-000001", 0,
		"2 of 2 nodes ineligible for scheduling\n", "");
	expect_run("node eligibility --enable --filter SchedulingEligibility==ineligible", 0,
		"nodes eligible for scheduling\n", "");
	expect_exactly("node list --filter SchedulingEligibility==ineligible -o name", "");
	expect_run("node eligibility --enable --filter SchedulingEligibility==ineligible", 3, "",
		"no node fits SchedulingEligibility==ineligible");
	expect_run("node eligibility --enable", 2, "", "either nodes or --filter is needed");
	expect_run("node eligibility --enable --filter Name==x node-000001", 2, "",
		"either nodes or --filter is needed");
	expect_run("node drain --enable --detach node-000000 node-000001", 0,
		"2 of 2 nodes told to drain\n", "");
	expect_run("node drain --disable node-000000 node-000001", 0,
		"2 of 2 nodes no longer told to drain\n", "");
	expect_run("node drain --dry-run node-000000 node-000001", 2, "", "--dry-run is for one");
	expect_run("node purge node-000003", 0, "Purged node \"", "");
	expect_run("node purge node-000003", 3, "", "node not found");
	expect_run("node purge --filter Name==node-000002", 0, "Purged node \"", "");
	expect_exactly(
		"node list --columns name -o csv --sort name", "Name\nnode-000000\nnode-000001\n");
}

static void the_whole_is_looked_at(void **unused)
{
	expect_run("doctor", 0, "controller  ok ", "");
	expect_run("top", 0, "Largest jobs\n", "");
	assert_non_null(strstr(run.out, "nodes ready"));
	expect_run("events --since x", 2, "", "--since must be a number");
	expect_run("events --topic Oops", 4, "", "Invalid topic \"Oops\"");
	expect_run("top --interval 0 --watch", 2, "", "--interval must be a number from 1");
}

static void an_example_of_a_job_is_valid(void **unused)
{
	static const char *const names[] = {
		"example.json", "example.hcl", "short.json --short", "short.hcl --short"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char line[256];
		snprintf(line, sizeof line, "job init %s/%s", run_folder(), names[i]);
		expect_run(line, 0, "An example of a job is in ", "");
		expect_run(line, 1, "", "File exists");
		snprintf(line, sizeof line, "job validate %s/%.*s", run_folder(),
			(int)strcspn(names[i], " "), names[i]);
		expect_exactly(line, "The job is valid.\n");
		snprintf(line, sizeof line, "job parse %s/%.*s", run_folder(),
			(int)strcspn(names[i], " "), names[i]);
		expect_run(line, 0, "\"http.server\"", "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_have_forms),
		cmocka_unit_test(columns_are_chosen),
		cmocka_unit_test(json_goes_with_every_flag),
		cmocka_unit_test(ids_are_completed),
		cmocka_unit_test(jobs_are_looked_for_in_their_namespace),
		cmocka_unit_test(unknown_words_are_told),
		cmocka_unit_test(an_example_of_a_job_is_valid),
		cmocka_unit_test(the_whole_is_looked_at),
		cmocka_unit_test(nodes_are_changed_together),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
