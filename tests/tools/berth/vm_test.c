// berth vm, worker and settings as people run them, against a real API server.
#include "tests/tools/api/server.h"
#include "tests/tools/berth/run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){0});
	run_begin(api_port(server->api));
	return 0;
}

static int tear_down(void **unused)
{
	run_end();
	server_stop(server);
	return 0;
}

static void machines_are_created_shown_and_deleted(void **unused)
{
	char line[256];
	expect_run("vm create a --image img:1 --cpu 2 --label site=north --label b=c --resource "
		   "slots=3",
		0, "Created virtual machine \"a\", uid ", "");
	expect_run("vm create a --image img:1", 4, "", "berth: VM with this name already exists\n");
	expect_run("vm create b", 4, "", "berth: VM image is empty\n");
	expect_run("vm create b --image i --resource slots=x", 2, "", "\"x\" is no whole number");
	expect_run("vm create b --image i --label x", 2, "", "--label \"x\" is not NAME=VALUE");
	expect_run("vm create b --image i --cpu no", 2, "", "--cpu must be a number");
	run_write("vm.json", "{\"image\":\"from-file\",\"suspendable\":true,\"oops\":1,"
			     "\"username\":\"u\",\"password\":\"hidden\"}");
	snprintf(line, sizeof line, "vm create b %s/vm.json --restart-policy OnFailure",
		run_folder());
	expect_run(line, 0, "Created virtual machine \"b\"", "Warning: VM.oops");
	expect_run("vm get a", 0, "CPU         = 2, assigned 0", "");
	assert_non_null(strstr(run.out, "scheduled=false"));
	assert_non_null(strstr(run.out, "slots  = 3"));
	assert_non_null(strstr(run.out, "site  = north"));
	expect_run("vm get b --json", 0, "\"image\": \"from-file\"", "");
	assert_non_null(strstr(run.out, "\"username\": \"u\""));
	assert_null(strstr(run.out, "hidden"));
	expect_run("vm get b", 0, "Image", "");
	assert_null(strstr(run.out, "hidden"));
	expect_run("vm get nobody", 3, "",
		"virtual machine not found: no name begins with \"nobody\"");
	expect_run("vm list", 0, "Name  Status", "");
	assert_non_null(strstr(run.out, "from-file"));
	expect_run("vm list --worker w", 0, "Name", "");
	assert_null(strstr(run.out, "from-file"));
	expect_run("vm events a", 0, "VM created", "");
	expect_run("vm events a -o name", 0, "VM created\n", "");
	expect_run("vm suspend a", 4, "", "only suspendable VMs can be suspended");
	expect_run("vm suspend b", 0, "Virtual machine \"b\" is to be suspended", "");
	expect_run("vm stop a", 0, "Virtual machine \"a\" is to be stopped", "");
	expect_run("vm delete a", 0, "Deleted virtual machine \"a\"", "");
	expect_run("vm delete a", 3, "", "virtual machine not found");
}

static void workers_are_paused_and_deleted(void **unused)
{
	struct response made = http(server, "PUT", "/v1/workers",
		"{\"name\":\"w\",\"machine_id\":\"m\",\"resources\":{\"slots\":4},"
		"\"labels\":{\"site\":\"north\"}}");
	assert_int_equal(made.status, 200);
	response_free(&made);
	expect_run("worker list", 0, "w     online  open        0    ", "");
	expect_run("worker pause w", 0, "Worker \"w\" takes no new machines", "");
	expect_run("worker get w", 0, "Scheduling  = paused", "");
	assert_non_null(strstr(run.out, "slots  = 0 of 4"));
	expect_run("worker resume w --json", 0, "\"scheduling_paused\": false", "");
	expect_run("worker delete w", 0, "Deleted worker \"w\"", "");
	expect_run("worker get w", 3, "", "worker not found");
}

static void the_profile_is_shown_and_changed(void **unused)
{
	expect_run("settings", 0, "Scheduler Profile  = optimize-utilization", "");
	assert_non_null(strstr(run.out, "Count Assigned     = true\n"));
	expect_run("settings --count-assigned false", 0, "Count Assigned     = false\n", "");
	expect_run("settings --count-assigned maybe", 2, "", "must be true or false");
	expect_run("settings --profile distribute-load", 0, "= distribute-load", "");
	assert_non_null(strstr(run.out, "Count Assigned     = false\n"));
	expect_run("settings --profile best", 4, "", "is none of");
	expect_run("settings --count-assigned true --json", 0,
		"\"schedulerProfile\": \"distribute-load\"", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_are_created_shown_and_deleted),
		cmocka_unit_test(workers_are_paused_and_deleted),
		cmocka_unit_test(the_profile_is_shown_and_changed),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
