// Deployments, versions and drains from the command line, over nodes that do what they are told.
#include "tests/tools/api/life.h"
#include "tests/tools/berth/run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NODES 3u

static struct node_slot nodes[NODES];

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1, .watchers = true});
	for (uint32_t i = 0; i < NODES; i++) {
		server_node(server, i);
		nodes[i] = server->newest;
	}
	life_begin(nodes, NODES);
	run_begin(api_port(server->api));
	return 0;
}

static int tear_down(void **unused)
{
	run_end();
	life_end();
	server_stop(server);
	return 0;
}

static void write_service(const char *name, const char *version, const char *update)
{
	char text[1024];
	snprintf(text, sizeof text,
		"{\"ID\":\"web\",\"Name\":\"web\",\"Type\":\"service\",\"Datacenters\":[\"dc1\"],"
		"\"TaskGroups\":[{\"Name\":\"g\",\"Count\":2,\"Update\":{\"MaxParallel\":2,"
		"\"MinHealthyTime\":1%s},\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\","
		"\"Env\":{\"VER\":\"%s\"},\"Config\":{\"command\":\"/bin/sleep\"},\"Resources\":{"
		"\"CPU\":100,\"MemoryMB\":64}}]}]}",
		update, version);
	run_write(name, text);
}

// A line with a text in the place of the asterisk.
static const char *with(const char *pattern, const char *text)
{
	static char line[512];
	const char *star = strchr(pattern, '*');
	snprintf(line, sizeof line, "%.*s%s%s", (int)(star - pattern), pattern, text, star + 1);
	return line;
}

static const char *with_file(const char *pattern, const char *name)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", run_folder(), name);
	return with(pattern, path);
}

static void printed(const char *part)
{
	if (!strstr(run.out, part))
		fail_msg("no \"%s\" in %s", part, run.out);
}

// The first eight characters of the newest deployment.
static const char *newest_deployment(void)
{
	static char id[16];
	berth("deployment list");
	const char *line = strchr(run.out, '\n');
	assert_non_null(line);
	snprintf(id, sizeof id, "%.8s", line + 1);
	return id;
}

static void a_run_is_followed_to_its_end(void **unused)
{
	expect_run("deployment list", 0, "ID  Job ID  Job Version  Status  Description\n", "");
	expect_run("job deployments none", 3, "", "job not found");
	write_service("a.json", "0", "");
	expect_run(with_file("job run *", "a.json"), 0, "Evaluation within deployment: \"", "");
	printed("==> ");
	printed(": Monitoring deployment \"");
	printed("Job ID      = web\nJob Version = 0\nStatus      = successful\n"
		"Description = Deployment completed successfully\n\nDeployed\n"
		"Task Group  Desired  Placed  Healthy  Unhealthy  Progress Deadline\n"
		"g           2        2       2        0          20");
	expect_run("deployment list", 0,
		"  web     0            successful  Deployment completed successfully\n", "");
	expect_run("job deployments web --latest", 0, "Status      = successful\n", "");
	expect_run(with("status *", newest_deployment()), 0, "Job Version = 0\n", "");
	expect_run("job history web", 0, "Stable      = true\n", "");
	expect_run("job status web", 0, "\nLatest Deployment\nID          = ", "");
}

// No canaries yet: those would wait for somebody to promote the version that is gone back to.
static void a_bad_version_is_rolled_back(void **unused)
{
	write_service("b.json", "1", ",\"AutoRevert\":true,\"ProgressDeadline\":0");
	life_spoil(1);
	expect_run(with_file("job run *", "b.json"), 1, "Status      = failed\n", "");
	printed("Auto Revert");
	printed("rolling back to job version 0\n");
	printed("Job Version = 2\nStatus      = successful\n");
	life_spoil(-1);
}

static void canaries_are_promoted(void **unused)
{
	write_service("c.json", "2", ",\"Canary\":1");
	expect_run(with_file("job run --detach *", "c.json"), 0, "Evaluation ID: ", "");
	const char *id = newest_deployment();
	for (int looks = 0; looks < 200; looks++) {
		berth(with("deployment status *", id));
		if (strstr(run.out, "g           false     2        1         1       1"))
			break;
	}
	printed("Task Group  Promoted  Desired  Canaries  Placed  Healthy  Unhealthy  "
		"Progress Deadline\n");
	printed("Description = Deployment is running but requires manual promotion\n");
	expect_run("job scale web 4", 4, "", "job scaling blocked due to active deployment");
	expect_run(with("deployment pause *", id), 0, "\" paused\n", "");
	expect_run(with("deployment resume --detach *", id), 0, "\" resumed\n", "");
	expect_run(with("deployment unblock *", id), 0, "", "");
	expect_run("job promote web", 0, ": Monitoring evaluation \"", "");
	printed("g           true      2        1         2       2");
	printed("Status      = successful\n");
	expect_run("job promote none", 3, "", "job not found: no id begins with \"none\"");
}

static void an_operator_fails_one(void **unused)
{
	write_service("d.json", "3", ",\"Canary\":1");
	expect_run(with_file("job run --detach *", "d.json"), 0, "Evaluation ID: ", "");
	expect_run(with("deployment fail --detach *", newest_deployment()), 0, "\" failed\n", "");
	expect_run(with("deployment fail *", newest_deployment()), 4, "",
		"can't fail terminal deployment");
}

static void versions_come_back_and_groups_are_scaled(void **unused)
{
	expect_run("job revert web 0", 0, "Status      = successful\n", "");
	expect_run("job revert web 77", 3, "",
		"job \"web\" in namespace \"default\" at version 77 not found");
	expect_run("job revert web zero", 2, "", "the version must be a whole number");
	expect_run("job scale web 3", 0, "Monitoring evaluation", "");
	expect_run("job scale --detach web g 2", 0, "Evaluation ID: ", "");
	expect_run("job scale web none 2", 4, "", "task group \"none\" specified for scaling");
	expect_run("job scaling-events web", 0,
		"Task Group  Count   PrevCount  Date\ng           2       3          20", "");
	printed("g           <none>  2  ");
	expect_run("job scaling-events --verbose web", 0, "submitted using the Berth CLI", "");
	expect_run("job scaling-events web -o csv --columns task-group,count,error", 0,
		"Task Group,Count,Error\n", "");
	assert_non_null(strstr(run.out, ",false\n"));
}

static void launchers_launch(void **unused)
{
	run_write("mill.json",
		"{\"ID\":\"mill\",\"Name\":\"mill\",\"Type\":\"batch\",\"Datacenters\":[\"dc1\"],"
		"\"ParameterizedJob\":{\"MetaRequired\":[\"who\"]},\"TaskGroups\":[{\"Name\":\"g\","
		"\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":\"/bin/"
		"true\"}"
		"}]}]}");
	run_write("payload", "\x01\x02hello");
	expect_run(with_file("job run *", "mill.json"), 0, "Registered job \"mill\"", "");
	expect_run(with_file("job dispatch --meta who=me mill *", "payload"), 0,
		"Dispatched Job ID = mill/dispatch-", "");
	printed("Evaluation ID     = ");
	printed("finished with status \"complete\"");
	expect_run("job dispatch mill", 4, "", "required meta keys: [who]");
	expect_run("job dispatch --meta who mill", 2, "", "--meta \"who\" is not NAME=VALUE");
	expect_run("job dispatch --detach --idempotency-token x --meta who=a --meta who=b mill", 0,
		"Dispatched Job ID = ", "");
	run_write("clock.json",
		"{\"ID\":\"clock\",\"Name\":\"clock\",\"Type\":\"batch\",\"Datacenters\":[\"dc1\"],"
		"\"Periodic\":{\"Enabled\":true,\"Spec\":\"0 4 1 1 "
		"*\"},\"TaskGroups\":[{\"Name\":\"g\","
		"\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":\"/bin/"
		"true\"}"
		"}]}]}");
	expect_run(with_file("job plan *", "clock.json"), 1,
		"- If submitted now, next periodic launch would be at ", "");
	expect_run(with_file("job run *", "clock.json"), 0, "Registered job \"clock\"", "");
	expect_run("job periodic force clock", 0, "Monitoring evaluation", "");
	expect_run("job periodic force web", 4, "", "non-periodic");
	expect_run("job status clock", 0, "Children Job Summary\n", "");
	printed("Pending  Running  Dead\n");
	printed("\nLaunched Jobs\n");
	printed("  clock/periodic-");
}

// A job whose instance runs on the first node for as long as that takes instances.
static void run_on_first_node(void)
{
	char text[1024], id[UUID_TEXT_BYTES];
	struct uuid node = server_node_id(0);
	snprintf(text, sizeof text,
		"{\"ID\":\"drawn\",\"Type\":\"service\",\"Datacenters\":[\"dc1\"],\"Affinities\":"
		"[{\"LTarget\":\"${node.unique.id}\",\"RTarget\":\"%s\",\"Operand\":\"=\","
		"\"Weight\":100}],\"TaskGroups\":[{\"Name\":\"g\",\"Update\":{\"MaxParallel\":1,"
		"\"MinHealthyTime\":1},\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\","
		"\"Config\":{\"command\":\"/bin/sleep\"}}]}]}",
		uuid_format(&node, id));
	run_write("drawn.json", text);
	expect_run(with_file("job run *", "drawn.json"), 0, "Status      = successful\n", "");
}

static void a_drain_is_followed_until_it_is_complete(void **unused)
{
	run_on_first_node();
	expect_run("node drain --monitor 00000000", 0, "No drain strategy set\n", "");
	expect_run("node drain --enable -yes -deadline 1h -m test 00000000", 0,
		" drain strategy set\n", "");
	// How far it has come when it is looked at is up to the machine.
	if (!strstr(run.out, "\" marked for migration\n"))
		printed("\" draining\n");
	printed("\" status running -> complete\n");
	const char *complete = strstr(run.out, "Drain complete for node 00000000-");
	assert_non_null(complete);
	assert_non_null(strstr(complete, "All allocations on node \"00000000-"));
	assert_null(strstr(complete, "status"));
	expect_run("node status 00000000", 0, "Last drain", "");
	expect_run("node drain --disable --keep-ineligible 00000000", 0, " drain strategy unset\n",
		"");
	expect_run("node drain 00000000", 2, "", "one of --enable, --disable, --monitor");
	expect_run("node drain --enable --disable 00000000", 2, "", "only one of --enable");
	expect_run("node drain --enable --force --no-deadline 00000000", 2, "", "only one of");
	expect_run("node drain --disable --force 00000000", 2, "", "go with --enable");
	expect_run("node drain --enable -deadline soon 00000000", 4, "", "DrainSpec.Deadline");
	expect_run("node drain --enable --detach 00000000", 0, "\" drain strategy set\n", "");
}

static void a_drain_says_what_it_waits_for(void **unused)
{
	char text[1024], id[UUID_TEXT_BYTES];
	struct uuid node = server_node_id(1);
	uuid_format(&node, id);
	snprintf(text, sizeof text,
		"{\"ID\":\"still\",\"Type\":\"service\",\"Datacenters\":[\"dc1\"],\"Constraints\":"
		"[{\"LTarget\":\"${node.unique.id}\",\"RTarget\":\"%s\",\"Operand\":\"=\"}],"
		"\"TaskGroups\":[{\"Name\":\"g\",\"Migrate\":{\"MaxParallel\":0},\"Tasks\":[{"
		"\"Name\":\"t\","
		"\"Driver\":\"exec\",\"Config\":{\"command\":\"/bin/sleep\"}}]}]}",
		id);
	run_write("still.json", text);
	expect_run(
		with_file("job run *", "still.json"), 0, "finished with status \"complete\"", "");
	expect_run(with("node drain --enable --deadline 5s *", id), 0,
		": Waiting: still.g has a migrate block with max_parallel 0: ", "");
	printed("Drain complete for node ");
	expect_run(with("node drain --disable *", id), 0, " drain strategy unset\n", "");
}

static void a_stopped_allocation_is_replaced(void **unused)
{
	berth("alloc list --job web --status running");
	const char *line = strchr(run.out, '\n');
	assert_non_null(line);
	char id[16];
	snprintf(id, sizeof id, "%.8s", line + 1);
	expect_run(with("alloc stop *", id), 0, "finished with status \"complete\"", "");
	expect_run(with("alloc status *", id), 0, "\nReplacement Alloc ID  = ", "");
	char replacement[16];
	snprintf(replacement, sizeof replacement, "%.8s",
		strstr(run.out, "Replacement Alloc ID  = ") + strlen("Replacement Alloc ID  = "));
	expect_run(with("alloc status *", replacement), 0, "ID ", "");
	assert_null(strstr(run.out, "Replacement"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_followed_to_its_end),
		cmocka_unit_test(a_bad_version_is_rolled_back),
		cmocka_unit_test(canaries_are_promoted),
		cmocka_unit_test(an_operator_fails_one),
		cmocka_unit_test(versions_come_back_and_groups_are_scaled),
		cmocka_unit_test(launchers_launch),
		cmocka_unit_test(a_drain_is_followed_until_it_is_complete),
		cmocka_unit_test(a_drain_says_what_it_waits_for),
		cmocka_unit_test(a_stopped_allocation_is_replaced),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
