// Namespaces by the command line: described in a file or by flags, shown, and taken away.
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

static void expect_file(
	const char *command, const char *text, int status, const char *out, const char *complaint)
{
	char line[256];

	run_write("spec", text);
	snprintf(line, sizeof line, "%s %s/spec", command, run_folder());
	expect_run(line, status, out, complaint);
}

static void one_is_described_in_a_file(void **unused)
{
	expect_file("namespace apply",
		"name = \"team\"\ndescription = \"of the team\"\nmeta { owner = \"ops\" }\n"
		"capabilities {\n enabled_task_drivers = [\"exec\", \"raw_exec\"]\n"
		" disabled_task_drivers = [\"qemu\"]\n}\n",
		0, "Namespace \"team\" is described", "");
	expect_run("namespace status team", 0, "EnabledDrivers   = exec,raw_exec", "");
	expect_run("namespace status team", 0, "DisabledDrivers  = qemu", "");
	expect_run("namespace status team", 0, "owner", "");
	expect_run("namespace list", 0, "team     of the team", "");
	expect_run("namespace inspect team", 0, "\"Description\": \"of the team\"", "");
	expect_file("namespace apply", "{\"Name\": \"json\", \"Meta\": {\"a\": \"b\"}}", 0,
		"Namespace \"json\" is described", "");
	expect_run("namespace inspect json", 0, "\"a\": \"b\"", "");
}

static void mistakes_are_told(void **unused)
{
	expect_file("namespace apply", "name = \"a b\"\n", 4, "", "Must match regex");
	expect_file("namespace apply", "name = \"a\"\ncolor = 1\n", 4, "",
		"line 2 column 9: color is nothing that a description has");
	expect_file("namespace apply", "name = \"a\"\nname = \"b\"\n", 4, "", "twice");
	expect_file("namespace apply", "name \"x\" {}\n", 4, "", "has a label too many");
	expect_file("namespace apply", "name = \"a\"\ncapabilities = 3\n", 4, "",
		"capabilities is to be a block");
	expect_file("namespace apply", "name = {\n", 4, "", "line 2");
	expect_run("namespace apply \xff", 2, "", "the name is to be UTF-8 text");
	expect_run("namespace apply some --quota nosuch", 4, "",
		"namespace \"some\" using non-existent quota \"nosuch\"");
	expect_run("namespace status nosuch", 3, "", "namespace not found: no name begins with");
}

static void flags_change_what_they_say(void **unused)
{
	expect_run("namespace apply flagged --description first", 0, "is described", "");
	expect_run("namespace list", 0, "flagged  first", "");
	expect_run("namespace apply team --description second", 0, "is described", "");
	expect_run("namespace status team", 0, "EnabledDrivers   = exec,raw_exec", "");
	expect_run("namespace status team", 0, "second", "");
}

static void one_is_taken_away(void **unused)
{
	expect_run("namespace delete default", 4, "", "can not delete default namespace");
	expect_run("namespace delete flagged", 0, "Namespace \"flagged\" is deleted", "");
	expect_run("namespace status flagged", 3, "", "namespace not found: no name begins with");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_is_described_in_a_file),
		cmocka_unit_test(mistakes_are_told),
		cmocka_unit_test(flags_change_what_they_say),
		cmocka_unit_test(one_is_taken_away),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
