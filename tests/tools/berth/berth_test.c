// The berth program as people run it: against a real API server, and a wire controller in
// miniature.
#include "state/base/memory.h"
#include "tests/tools/api/server.h"
#include "tests/tools/berth/run.h"
#include "tests/tools/client/responder.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct responder *responder;
static char key_file[64];

static int set_up(void **unused)
{
	struct wire_key key;
	char text[WIRE_KEY_TEXT_BYTES], line[WIRE_KEY_TEXT_BYTES + 2];
	server = server_start(&(struct server_options){0});
	run_begin(api_port(server->api));
	for (uint32_t i = 0; i < 3; i++)
		server_node(server, i);
	responder = responder_start();
	assert_true(client_key_derive(&responder->masters, 1, TEXT("tester"), &key));
	snprintf(line, sizeof line, "%s\n", wire_key_format(1, &key, text));
	run_write("tester.key", line);
	snprintf(key_file, sizeof key_file, "%s/tester.key", run_folder());
	return 0;
}

static int tear_down(void **unused)
{
	run_end();
	responder_stop(responder);
	server_stop(server);
	return 0;
}

static const char web[] =
	"{\"ID\":\"web\",\"Name\":\"web\",\"Type\":\"direct\",\"Datacenters\":[\"dc1\"],\"Oops\":1,"
	"\"TaskGroups\":[{\"Name\":\"g\",\"Constraints\":[{\"LTarget\":\"${attr.kernel.name}\","
	"\"RTarget\":\"linux\",\"Operand\":\"=\"}],\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\","
	"\"Config\":{\"command\":\"/bin/true\"},\"Resources\":{\"CPU\":100,\"MemoryMB\":64}}]}]}";

static void jobs_are_run_shown_and_stopped(void **unused)
{
	char line[256];
	run_write("web.json", web);
	snprintf(line, sizeof line, "job validate %s/web.json", run_folder());
	expect_run(line, 0, "The job is valid.", "");
	snprintf(line, sizeof line, "job run %s/web.json", run_folder());
	expect_run(line, 0, "Registered job \"web\" at index ", "Job.Oops: not known, ignored");
	snprintf(line, sizeof line, "job run -check-index=0 %s/web.json", run_folder());
	expect_run(line, 4, "", "Enforcing job modify index 0: job already exists");
	struct uuid ids[PLACE_COUNT_MAX];
	assert_int_equal(server_place(server, "web", 2, ids), 2);
	expect_run("job list", 0, "web  default    direct  50        running  2", "");
	expect_run("job status web", 0, "web.g[1]", "");
	assert_non_null(strstr(run.out, "\n  g      0       2 "));
	expect_run("job inspect web", 0, "\"Job\": {", "");
	json_t *root = json_loads(run.out, 0, NULL);
	assert_non_null(root);
	json_decref(root);
	expect_run("alloc list --job web", 0, "pending", "");
	expect_run("alloc list --status lost", 0, "ID", "");
	assert_null(strstr(run.out, "web.g"));
	expect_run("job stop web", 0, "Stopped job \"web\" at index ", "");
	expect_run("job list", 0, "dead (stopped)", "");
	expect_run("job stop --purge web", 0, "and purged it", "");
	expect_run("job status web", 3, "", "job not found");
}

static void jobs_are_written_in_hcl(void **unused)
{
	char line[256];
	run_write("shop.nomad.hcl",
		"variable \"count\" {\n  type = number\n}\njob \"shop\" {\n  type = \"service\"\n"
		"  group \"g\" {\n    count = var.count\n    task \"t\" {\n      driver = "
		"\"exec\"\n"
		"      config { command = \"/bin/true\" }\n    }\n  }\n}\n");
	run_write("shop.vars", "count = 0\n");
	snprintf(line, sizeof line, "job parse %s/shop.nomad.hcl -var=count=3", run_folder());
	expect_run(line, 0, "\"Count\": 3,", "");
	expect_run(line, 0, "\"Priority\": null,", "");
	snprintf(line, sizeof line, "job parse --canonical -var count=3 %s/shop.nomad.hcl",
		run_folder());
	expect_run(line, 0, "\"Priority\": 50,", "");
	snprintf(line, sizeof line, "job validate -var-file %s/shop.vars %s/shop.nomad.hcl",
		run_folder(), run_folder());
	expect_run(line, 0, "The job is valid.", "");
	snprintf(line, sizeof line, "job run --detach -var-file=%s/shop.vars %s/shop.nomad.hcl",
		run_folder(), run_folder());
	expect_run(line, 0, "Registered job \"shop\"", "");
	snprintf(line, sizeof line, "job plan -var count=0 %s/shop.nomad.hcl", run_folder());
	expect_run(line, 0, "Scheduler dry-run:", "");
	expect_run("job stop --purge --detach shop", 0, "", "");
	snprintf(line, sizeof line, "job run %s/shop.nomad.hcl", run_folder());
	expect_run(line, 4, "", "The variable \"count\" has no value");
	snprintf(line, sizeof line, "job parse -var count=1 -var no=1 %s/shop.nomad.hcl",
		run_folder());
	expect_run(line, 4, "", "\"no\", which the job file does not declare");
	snprintf(line, sizeof line,
		"job parse -var count=1 -var no=1 -hcl2-strict=false %s/shop.nomad.hcl",
		run_folder());
	expect_run(line, 0, "\"Count\": 1,", "");
	snprintf(line, sizeof line, "job parse -hcl1 %s/shop.nomad.hcl", run_folder());
	expect_run(line, 4, "", "job files of HCL 1 are not read");
	run_write("bad.hcl", "job \"a\" {\n  priority = \"high\"\n}\n");
	snprintf(line, sizeof line, "job validate %s/bad.hcl", run_folder());
	expect_run(line, 4, "", "bad.hcl:2,15: Unsuitable value: a number is required.");
	expect_run(line, 4, "", "     2 |   priority = \"high\"\n       |               ^^^^");
}

static void bad_jobs_are_told_every_mistake(void **unused)
{
	char line[256];
	run_write("bad.json",
		"{\"Job\":{\"ID\":\"a b\",\"Type\":\"direct\",\"TaskGroups\":[{\"Count\":-1}]}}");
	snprintf(line, sizeof line, "job run %s/bad.json", run_folder());
	expect_run(line, 4, "", "errors occurred:");
	snprintf(line, sizeof line, "job validate %s/bad.json", run_folder());
	expect_run(line, 4, "errors occurred:", "");
	run_write("broken.json", "{\n\"Job\": {");
	snprintf(line, sizeof line, "job run %s/broken.json", run_folder());
	expect_run(line, 4, "", "broken.json line 2 column ");
	run_write("list.json", "[1]");
	snprintf(line, sizeof line, "job run %s/list.json", run_folder());
	expect_run(line, 4, "", "list.json: a JSON object is expected");
	expect_run("job run /nowhere.json", 1, "", "cannot read /nowhere.json: No such file");
}

static void nodes_are_listed_and_shown(void **unused)
{
	struct uuid id = server_node_id(2);
	char text[UUID_TEXT_BYTES], line[128];
	uuid_format(&id, text);
	expect_run("node list", 0,
		"ID        DC   Name         Class  Pool     Eligibility  Status", "");
	expect_run("node list --status down", 0, "ID", "");
	assert_null(strstr(run.out, "node-0"));
	snprintf(line, sizeof line, "node status %.6s", text);
	expect_run(line, 0, "Name         = node-000002", "");
	assert_non_null(strstr(run.out, "kernel.name"));
	assert_non_null(strstr(run.out, "nvidia/gpu/a100"));
	assert_non_null(strstr(run.out, "MHz"));
	expect_run("node status 99999999", 3, "",
		"node not found: no id begins with \"99999999\", and none has this name");
	expect_run("node status zz", 3, "", "node not found: no id begins with \"zz\"");
	expect_run("node list --json", 0, "[{\"Address\"", "");
	snprintf(line, sizeof line, "node status %s --json", text);
	expect_run(line, 0, "\"ComputedClass\"", "");
}

static void a_prefix_of_several_names_them(void **unused)
{
	// Ids 100000+n are made to share their first digits.
	char common[8] = "", text[UUID_TEXT_BYTES];
	struct uuid first = server_node_id(0);
	snprintf(common, sizeof common, "%.4s", uuid_format(&first, text));
	struct uuid same = server_node_id(65536);
	uuid_format(&same, text);
	assert_int_equal(strncmp(text, common, 4), 0);
	server_node(server, 65536);
	char line[64];
	snprintf(line, sizeof line, "node status %s", common);
	expect_run(line, 3, "", "2 or more nodes begin with");
	assert_non_null(strstr(run.error, "node-000000"));
	assert_non_null(strstr(run.error, "node-065536"));
}

static void wire_line(char *line, size_t size, const char *command, const char *rest)
{
	snprintf(line, size, "%s --wire %s --name tester --key-file %s --timeout 5 %s", command,
		responder->address, key_file, rest);
}

static void placements_are_printed_and_repeated(void **unused)
{
	char line[512], request[64], repeat[128], first[4096];
	wire_line(line, sizeof line, "place", "--job web --group g --count 2");
	expect_run(line, 0, "Placed 2 of 2 at index ", "");
	assert_non_null(strstr(run.out, "Allocation "));
	const char *at = strstr(run.out, "Request ");
	assert_int_equal(sscanf(at, "Request %60[0-9:]", request), 1);
	snprintf(first, sizeof first, "%.200s", run.out);
	snprintf(repeat, sizeof repeat, "--job web --group g --count 2 --request %s", request);
	wire_line(line, sizeof line, "place", repeat);
	expect_run(line, 0, "Placed 2 of 2", "");
	assert_int_equal(strncmp(first, run.out, 190), 0);
	char id[40];
	assert_int_equal(sscanf(strchr(run.out, '\n') + 1, "%39s", id), 1);
	wire_line(line, sizeof line, "release", id);
	expect_run(line, 0, "released", "");
	wire_line(line, sizeof line, "client status", id);
	expect_run(line, 0, id, "");
	snprintf(repeat, sizeof repeat, "%s -o name", id);
	wire_line(line, sizeof line, "client status", repeat);
	expect_run(line, 0, id, "");
	assert_int_equal(strlen(run.out), strlen(id) + 1);
	wire_line(line, sizeof line, "place", "--job web --group g --json");
	expect_run(line, 0, "\"Score\"", "");
	json_t *root = json_loads(run.out, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(root, "Items")), 1);
	json_decref(root);
}

static void a_refusal_says_why(void **unused)
{
	char line[512];
	atomic_store(&responder->rules.place_limit, 0);
	atomic_store(&responder->rules.refuse, 1);
	atomic_store(&responder->rules.reason, WIRE_REFUSED_NO_NODE);
	wire_line(line, sizeof line, "place", "--job web --group g");
	expect_run(line, 4, "", "no node can take one more instance of web.g");
	assert_non_null(strstr(run.error, "nodes seen"));
	atomic_store(&responder->rules.refuse, 1);
	atomic_store(&responder->rules.reason, WIRE_REFUSED_UNKNOWN_JOB);
	expect_run(line, 4, "", "unknown-job");
	wire_line(line, sizeof line, "place", "--job web --group g --count 33");
	expect_run(line, 2, "", "--count must be a number from 1 to 32");
	wire_line(line, sizeof line, "place", "--group g");
	expect_run(line, 2, "", "--job ID is needed");
	expect_run("place --job a --group g", 2, "", "--wire HOST:PORT");
}

static void the_wrong_key_gets_no_answer(void **unused)
{
	char line[512];
	snprintf(line, sizeof line,
		"place --job web --group g --wire %s --name other --key-file %s --timeout 1",
		responder->address, key_file);
	expect_run(line, 5, "", "no answer from 127.0.0.1:");
}

static void an_operator_releases_over_http(void **unused)
{
	char line[512], id[UUID_TEXT_BYTES];
	struct uuid ids[PLACE_COUNT_MAX];
	server_job(server, "over-http");
	assert_int_equal(server_place(server, "over-http", 1, ids), 1);
	snprintf(line, sizeof line, "release --operator %s", uuid_format(&ids[0], id));
	expect_run(line, 0, "released", "");
	snprintf(line, sizeof line, "alloc status %.12s", id);
	expect_run(line, 0, "complete", "");
	assert_non_null(strstr(run.out, "Placed by  = tester"));
	expect_run("release --operator 00000000-dead-4000-8000-000000000000", 3, "unknown", "");
	expect_run("release --operator xyz", 3, "", "no id begins with \"xyz\"");
	assert_int_equal(server_place(server, "over-http", 1, ids), 1);
	snprintf(line, sizeof line, "release --operator %.12s", uuid_format(&ids[0], id));
	expect_run(line, 0, id, "");
	assert_non_null(strstr(run.out, "released"));
}

static void keys_are_made_and_derived(void **unused)
{
	char line[256], first[64];
	snprintf(line, sizeof line, "key generate %s/master.key", run_folder());
	expect_run(line, 0, "Wrote ", "");
	expect_run(line, 1, "", "master.key");
	snprintf(line, sizeof line,
		"node key 00112233-4455-6677-8899-aabbccddeeff --master-key %s/master.key",
		run_folder());
	expect_run(line, 0, "1:", "");
	assert_int_equal(strlen(run.out), strlen("1:0123456789abcdef0123456789abcdef\n"));
	snprintf(first, sizeof first, "%.63s", run.out);
	snprintf(line, sizeof line, "client key scaler --master-key %s/master.key", run_folder());
	expect_run(line, 0, "1:", "");
	assert_string_not_equal(first, run.out);
	snprintf(line, sizeof line, "key rotate %s/master.key", run_folder());
	expect_run(line, 0, "Put a new key", "");
	snprintf(line, sizeof line, "client key scaler --json --master-key %s/master.key",
		run_folder());
	expect_run(line, 0, "\"KeyID\": 2", "");
	expect_run("node key 0011 --master-key x", 2, "", "\"0011\" is no UUID");
	expect_run("client key scaler", 2, "", "--master-key FILE is needed");
}

static void figures_fit_a_screen(void **unused)
{
	expect_run("stats", 0, "HTTP requests", "");
	int lines = 0;
	for (const char *at = run.out; *at; at++)
		lines += *at == '\n';
	assert_true(lines > 10 && lines < 40);
	expect_run("stats --json", 0, "\"Gauges\": [", "");
	expect_run("health", 0, "ok", "");
	expect_run("health --json", 0, "\"ok\": true", "");
}

static void usage_is_explained(void **unused)
{
	expect_run("help", 0, "node status [ID]", "");
	expect_run("place --help", 0, "--count N", "");
	expect_run("version", 0, "berth ", "");
	expect_run("", 2, "", "Usage: berth");
	expect_run("nonsense", 2, "", "no command nonsense");
	expect_run("node", 2, "", "node list");
	expect_run("node nonsense", 2, "", "node has no subcommand nonsense");
	expect_run("node list extra", 2, "", "too many arguments");
	expect_run("node online", 2, "", "an argument is missing");
	expect_run("node list --count 3", 2, "", "unknown flag --count");
	expect_run("node list --json=yes", 2, "", "--json takes no value");
	expect_run("node list --address", 2, "", "--address needs a value");
	expect_run("node list --address http://127.0.0.1:1", 5, "",
		"no answer from http://127.0.0.1:1");
	expect_run("node list --address ftp://127.0.0.1", 5, "", "no answer from ftp://127.0.0.1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_listed_and_shown),
		cmocka_unit_test(a_prefix_of_several_names_them),
		cmocka_unit_test(jobs_are_run_shown_and_stopped),
		cmocka_unit_test(jobs_are_written_in_hcl),
		cmocka_unit_test(bad_jobs_are_told_every_mistake),
		cmocka_unit_test(placements_are_printed_and_repeated),
		cmocka_unit_test(a_refusal_says_why),
		cmocka_unit_test(the_wrong_key_gets_no_answer),
		cmocka_unit_test(an_operator_releases_over_http),
		cmocka_unit_test(keys_are_made_and_derived),
		cmocka_unit_test(figures_fit_a_screen),
		cmocka_unit_test(usage_is_explained),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
