// Quotas by the command line: an example, described from a file, shown with what is used, and taken away.
#include "tests/tools/api/server.h"
#include "tests/tools/berth/run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static int begin(void **state)
{
	int result = server_group_begin(state);
	run_begin(api_port(server->api));
	return result;
}

static int end(void **state)
{
	run_end();
	return server_group_end(state);
}

static void on_file(
	const char *command, const char *name, int status, const char *out, const char *complaint)
{
	char line[256];

	snprintf(line, sizeof line, "%s %s/%s", command, run_folder(), name);
	expect_run(line, status, out, complaint);
}

static void the_example_is_one(void **unused)
{
	on_file("quota init", "spec.hcl", 0, "An example of a quota is in", "");
	on_file("quota init", "spec.hcl", 1, "", "cannot write");
	on_file("quota apply", "spec.hcl", 0, "Quota \"default-quota\" is described", "");
	expect_run("quota list", 0, "default-quota  Limit the shared", "");
	expect_run("quota status default-quota", 0, "0 / 2500", "");
	expect_run("quota status default-quota", 0, "Device nvidia/gpu: 0 / 1", "");
	expect_run("quota inspect default-quota", 0, "\"Usages\"", "");
}

static void what_is_used_is_shown(void **unused)
{
	struct uuid ids[PLACE_COUNT_MAX];

	(void)server_node(server, 0);
	server_job(server, "web");
	expect_run("namespace apply default --quota default-quota", 0, "is described", "");
	assert_int_equal(server_place(server, "web", 2, ids), 2);
	expect_run("quota status default-quota", 0, "1000 / 2500", "");
	expect_run("quota status default-quota", 0, "2 / 50", "");
	expect_run("quota delete default-quota", 4, "", "is used by a namespace");
}

static void mistakes_are_told(void **unused)
{
	run_write("bad", "name = \"a\"\nlimit { region_limit { gold = 3 } }\n");
	on_file("quota apply", "bad", 4, "", "gold is nothing that a description has");
	run_write("mars", "name = \"a\"\nlimit { region = \"mars\" }\n");
	on_file("quota apply", "mars", 4, "", "limit of another region");
	expect_run("quota status nosuch", 3, "", "quota not found");
}

static void one_is_taken_away(void **unused)
{
	run_write("none", "name = \"default\"\nquota = \"\"\n");
	on_file("namespace apply", "none", 0, "is described", "");
	expect_run("quota delete default-quota", 0, "Quota \"default-quota\" is deleted", "");
	expect_run("quota list", 0, "Name", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_is_one),
		cmocka_unit_test(what_is_used_is_shown),
		cmocka_unit_test(mistakes_are_told),
		cmocka_unit_test(one_is_taken_away),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
