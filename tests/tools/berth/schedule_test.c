// Jobs that are scheduled, from the command line: run, plan, stop, and what people look at meanwhile.
#include "tests/tools/api/server.h"
#include "tests/tools/berth/run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define NODES 3u

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1});
	for (uint32_t i = 0; i < NODES; i++)
		server_node(server, i);
	run_begin(api_port(server->api));
	return 0;
}

static int tear_down(void **unused)
{
	run_end();
	server_stop(server);
	return 0;
}

static void write_job(const char *name, const char *env, int cpu)
{
	char text[1024];
	snprintf(text, sizeof text,
		"{\"ID\":\"sys\",\"Name\":\"sys\",\"Type\":\"system\",\"Datacenters\":[\"dc1\"],"
		"\"TaskGroups\":[{\"Name\":\"g\",\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\","
		"\"Env\":{\"VER\":\"%s\"},\"Config\":{\"command\":\"/bin/sleep\"},\"Resources\":{"
		"\"CPU\":%d,\"MemoryMB\":64}}]}]}",
		env, cpu);
	run_write(name, text);
}

// A line with the file in the place of the asterisk.
static const char *with_file(const char *pattern, const char *name)
{
	static char line[512];
	const char *star = strchr(pattern, '*');
	snprintf(line, sizeof line, "%.*s%s/%s%s", (int)(star - pattern), pattern, run_folder(),
		name, star + 1);
	return line;
}

static void printed(const char *part)
{
	if (!strstr(run.out, part))
		fail_msg("no \"%s\" in %s", part, run.out);
}

// Until the scheduler has nothing to do: an evaluation that was not waited for changes what people see.
static void await_scheduler(void)
{
	struct state_counts counts;
	do {
		usleep(1000);
		state_counts(server->state, &counts);
	} while (counts.evaluations_pending > 0 || counts.jobs_marked > 0);
}

static void a_job_is_planned_and_run(void **unused)
{
	write_job("a.json", "0", 100);
	expect_run(with_file("job plan *", "a.json"), 1, "+ Job: \"sys\"\n", "");
	printed("+ Task Group: \"g\" (3 create)\n");
	printed("  + Task: \"t\" (forces create)\n");
	printed("- All tasks successfully allocated.\n");
	printed("berth job run --check-index 0 ");
	expect_run(with_file("job run *", "a.json"), 0, "Registered job \"sys\" at index ", "");
	printed("Evaluation triggered by job \"sys\"\n");
	printed("created: node \"00000000\", group \"g\"\n");
	printed(" finished with status \"complete\"\n");
	expect_run(with_file("job plan *", "a.json"), 0, "Task Group: \"g\" (3 ignore)\n", "");
	write_job("b.json", "1", 100);
	expect_run(with_file("job plan *", "b.json"), 1, "+/- Job: \"sys\"\n", "");
	printed("+/- Task Group: \"g\" (3 create/destroy update)\n");
	printed("  +/- Task: \"t\" (forces create/destroy update)\n"
		"    +/- Env[VER]: \"0\" => \"1\"\n");
	write_job("c.json", "0", 101);
	expect_run(with_file("job plan *", "c.json"), 1, "    +/- Resources {\n", "");
	printed("      +/- CPU:         \"100\" => \"101\"\n");
	printed("          MemoryMaxMB: \"0\"\n        }\n");
	expect_run(with_file("job run --detach --check-index 0 *", "a.json"), 4, "",
		"Enforcing job modify index 0: job already exists");
	expect_run(with_file("job run --detach *", "b.json"), 0, "Evaluation ID: ", "");
	await_scheduler();
	expect_run(with_file("job plan --json *", "b.json"), 0, "\"DesiredTGUpdates\"", "");
	expect_run(with_file("job run --detach --eval-priority 101 *", "b.json"), 2, "",
		"eval-priority");
	expect_run(with_file("job run --detach --eval-priority 91 *", "b.json"), 0,
		"Evaluation ID: ", "");
	expect_run("eval list --json", 0, "\"Priority\":91", "");
}

static void people_look_at_it(void **unused)
{
	expect_run("job eval sys", 0, "Created eval ID: \"", "");
	await_scheduler();
	expect_run("job status sys", 0, "Type       = system", "");
	expect_run("job status --verbose sys", 0, "job-register", "");
	expect_run("job history sys", 0, "Version     = 1\n", "");
	printed("\n\nVersion     = 0\n");
	expect_run("job history -p sys", 0, "+/- Job: \"sys\"", "");
	expect_run("status", 0, "sys  default    system", "");
	expect_run("status sys", 0, "Summary\n", "");
	expect_run("status nothing", 3, "", "begins with \"nothing\"");
	expect_run("eval list", 0, "job-register", "");
	char id[16] = "", line[64];
	berth("eval list --job sys");
	assert_int_equal(sscanf(strchr(run.out, '\n') + 1, "%15s", id), 1);
	snprintf(line, sizeof line, "eval status %s", id);
	expect_run(line, 0, "Placement Failures  = false", "");
	snprintf(line, sizeof line, "eval status --monitor %s", id);
	expect_run(line, 0, "finished with status \"complete\"", "");
	snprintf(line, sizeof line, "status %s", id);
	expect_run(line, 0, "TriggeredBy", "");
	expect_run("explain job sys", 0, "of 3 nodes 3 run it, 0 could take one more", "");
	expect_run("explain node 00000000", 0, "Job \"sys\" group \"g\" runs here", "");
}

static void allocations_and_nodes_are_changed(void **unused)
{
	char id[16] = "", line[64];
	berth("alloc list --job sys --status pending");
	const char *row = strstr(run.out, "  run ");
	assert_non_null(row);
	while (row > run.out && row[-1] != '\n')
		row--;
	assert_int_equal(sscanf(row, "%15s", id), 1);
	snprintf(line, sizeof line, "alloc status %s", id);
	expect_run(line, 0, "Placed by  = evaluation ", "");
	snprintf(line, sizeof line, "explain alloc %s", id);
	expect_run(line, 0, "It is to run.\n", "");
	snprintf(line, sizeof line, "alloc stop %s", id);
	expect_run(line, 0, "finished with status \"complete\"", "");
	expect_run("node eligibility 00000000", 2, "", "one of --enable and --disable");
	expect_run("node eligibility --disable 00000000", 0, "ineligible for scheduling", "");
	expect_run("explain node 00000000", 0, "an operator made it ineligible", "");
	expect_run("node status 00000000", 0, "Node marked as ineligible for scheduling", "");
	expect_run("node eligibility --enable 00000000 --json", 0, "\"NodeModifyIndex\"", "");
	await_scheduler();
}

static void what_cannot_be_placed_is_explained(void **unused)
{
	write_job("big.json", "0", 4100);
	expect_run(with_file("job plan *", "big.json"), 1,
		"WARNING: Failed to place all allocations", "");
	printed("* Dimension \"cpu\" exhausted on 1 nodes\n");
	expect_run(with_file("job run *", "big.json"), 4, "failed to place all allocations:\n", "");
	printed("Task Group \"g\" (failed to place 3 allocations):\n");
	printed("* Resources exhausted on 1 nodes\n");
	expect_run("job status sys", 0, "\nPlacement Failure\n", "");
	expect_run("explain job sys", 0, "* 3 nodes lack cpu: the nearest, node-00000", "");
	// No node has said that the versions before have ended.
	printed("lacks 400 MHz\n");
}

static void operators_see_and_set(void **unused)
{
	expect_run("server members", 0, "test.global  127.0.0.1", "");
	printed("alive   true");
	expect_run("server members --detailed", 0, "region=global", "");
	expect_run("server members -o name", 0, "test.global\n", "");
	expect_run("server members -o csv --columns leader,status", 0,
		"Leader,Status\ntrue,alive\n", "");
	expect_run("server members --json", 0, "\"Members\": [", "");
	expect_run("operator raft list-peers -o csv --columns node,state", 0,
		"Node,State\ntest.global,leader\n", "");
	expect_run("operator autopilot health -o csv --columns name,healthy", 0,
		"Name,Healthy\ntest.global,true\n", "");
	assert_null(strstr(run.out, "Failure Tolerance"));
	expect_run("agent-info", 0, "nomad\n  bootstrap = true\n", "");
	expect_run("operator cluster", 3, "", "this server is of no cluster");
	expect_run("operator raft list-peers", 0, "test.global  127.0.0.1:", "");
	expect_run("operator autopilot health", 0, "Failure Tolerance = 0\n", "");
	expect_run("operator scheduler get-config", 0, "Scheduler Algorithm            = binpack\n",
		"");
	expect_run("operator scheduler set-config --scheduler-algorithm spread "
		   "--preempt-sysbatch-scheduler true",
		0, "Scheduler configuration updated!", "");
	expect_run("operator scheduler get-config", 0, "= spread\n", "");
	printed("Preemption SysBatch Scheduler  = true\n");
	printed("Preemption System Scheduler    = true\n");
	expect_run("operator scheduler set-config --pause-eval-broker maybe", 2, "",
		"must be true or false");
	expect_run("operator scheduler set-config --check-index 1 --scheduler-algorithm binpack", 4,
		"", "changed by somebody else");
	expect_run("operator scheduler set-config --scheduler-algorithm magic", 4, "",
		"none of binpack, spread");
}

static void a_job_is_stopped_and_forgotten(void **unused)
{
	expect_run("job stop --purge -yes --eval-priority 0 sys", 2, "", "eval-priority");
	expect_run("job stop --purge -yes --eval-priority 92 sys", 0,
		"Stopped job \"sys\" and purged it", "");
	printed("finished with status \"complete\"\n");
	expect_run("job status sys", 3, "", "job not found");
	expect_run("eval list --json", 0, "\"Priority\":92", "");
	expect_run("system gc", 0, "", "");
	expect_run("system reconcile summaries", 0, "", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_planned_and_run),
		cmocka_unit_test(people_look_at_it),
		cmocka_unit_test(allocations_and_nodes_are_changed),
		cmocka_unit_test(what_cannot_be_placed_is_explained),
		cmocka_unit_test(operators_see_and_set),
		cmocka_unit_test(a_job_is_stopped_and_forgotten),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
