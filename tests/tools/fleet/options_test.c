#include "tools/fleet/options.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct fleet_options o;
static int code;

static int without_environment(void **unused)
{
	return unsetenv("BERTH_ADDR") || unsetenv("NOMAD_ADDR");
}

static bool read_line(const char *line)
{
	static char copy[1024];
	char *argv[80], *rest;
	int argc = 0;
	snprintf(copy, sizeof copy, "berth-fleet %s", line);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	argv[argc] = NULL;
	return fleet_options_read(argc, argv, &o, &code);
}

static void defaults_are_one_kind_of_node(void **unused)
{
	assert_true(read_line("--key-file k"));
	assert_int_equal(o.nodes, 1000);
	assert_int_equal(o.sockets, 4);
	assert_int_equal(o.window, 64);
	assert_int_equal(o.shapes.count, 1);
	assert_int_equal(o.shapes.list[0].cpu_mhz, 32000);
	assert_int_equal(o.shapes.datacenter_count, 1);
	assert_int_equal(o.shapes.attributes, 45);
	assert_int_equal(o.fault_count, 0);
	assert_true(read_line("--key-file k --trace d"));
	assert_int_equal(o.sockets, 1);
	assert_int_equal(o.window, 1);
}

static void the_api_is_that_of_the_environment_or_of_flags(void **unused)
{
	static const char *const names[] = {"ADDR", "TOKEN", "CACERT", "CLIENT_CERT", "CLIENT_KEY",
		"TLS_SERVER_NAME", "SKIP_VERIFY"};
	static const char *const values[] = {"https://n:1", "t", "ca", "c", "k", "s", "true"};
	char name[64];
	assert_true(read_line("--key-file k"));
	assert_string_equal(o.api.url, "http://127.0.0.1:4646");
	assert_null(o.api.token);
	assert_null(o.api.tls.ca_file);
	assert_false(o.api.tls.is_unverified);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(name, sizeof name, "NOMAD_%s", names[i]);
		setenv(name, values[i], 1);
	}
	assert_true(read_line("--key-file k --ca-cert other --token mine"));
	assert_string_equal(o.api.url, "https://n:1");
	assert_string_equal(o.api.token, "mine");
	assert_string_equal(o.api.tls.ca_file, "other");
	assert_string_equal(o.api.tls.certificate_file, "c");
	assert_string_equal(o.api.tls.key_file, "k");
	assert_string_equal(o.api.tls.server_name, "s");
	assert_true(o.api.tls.is_unverified);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(name, sizeof name, "NOMAD_%s", names[i]);
		unsetenv(name);
	}
}

static void everything_is_read(void **unused)
{
	assert_true(read_line(
		"--key-file k --server s:1 --source a --nodes 5 --first 18446744073709551615 "
		"--seed 9 "
		"--shape a=1,2,3,4 --shape b=5,6,7,8,2,T4 --datacenter x,y,z --attributes 3 "
		"--register-rate 1.5 --send-rate 100 --loss 99.5 --silence 1@2+3 --silence 2@3 "
		"--crash 5@4+1 --leave 1@5 --return 2@6 "
		"--flap 3@1+2x5 --unready 4@0 --break 2@1+9 --duration 7 --until-registered "
		"--goodbye "
		"--place a:b:c --namespace n --count 8 --instances 32 --rate 0.5 --window 1024 "
		"--run --repeat 100 --release 50 --client me --write-pcap p --json - --quiet"));
	assert_int_equal(o.shapes.count, 2);
	assert_int_equal(o.shapes.datacenter_count, 3);
	assert_string_equal(o.shapes.datacenters[2], "z");
	assert_true(o.first == UINT64_MAX);
	assert_int_equal(o.fault_count, 8);
	assert_int_equal(o.faults[5].kind, FAULT_FLAP);
	assert_int_equal(o.faults[5].rounds, 5);
	assert_int_equal(o.faults[6].kind, FAULT_UNREADY);
	assert_int_equal(o.faults[7].kind, FAULT_BREAK);
	assert_int_equal(o.faults[0].for_ms, 3000);
	assert_true(text_equal(o.job, TEXT("a:b")));
	assert_true(text_equal(o.group, TEXT("c")));
	assert_int_equal(o.window, 1024);
	assert_true(
		read_line("--key-file k --first 7 --workers 3 --worker-resource a=1 "
			  "--worker-label b=c --worker-default-cpu 2 --worker-default-memory 9"));
	const struct shape_vm_workers *w = &o.shapes.workers;
	assert_true(w->first == 7 && w->count == 3);
	assert_string_equal(w->resources.items[0], "a=1");
	assert_string_equal(w->labels.items[0], "b=c");
	assert_int_equal(w->default_cpu, 2);
	assert_int_equal(w->default_memory_mib, 9);
}

static void mistakes_are_usage_errors(void **unused)
{
	static const char *const bad[] = {"", "--nodes 5", "--key-file k --nodes 1000001",
		"--key-file k --nodes x", "--key-file k --loss 100", "--key-file k --loss -1",
		"--key-file k --loss nan", "--key-file k --repeat 101",
		"--key-file k --instances 0", "--key-file k --instances 33",
		"--key-file k --window 1025", "--key-file k --place web", "--key-file k --place :g",
		"--key-file k --place web:", "--key-file k --vdev net_null0",
		"--key-file k --trace d --place a:b", "--key-file k --silence 5",
		"--key-file k --nodes 4 --silence 5@1", "--key-file k --leave 1@1+1",
		"--key-file k --flap 1@1", "--key-file k --nodes 4 --workers 5",
		"--key-file k --no-run --workers 1", "--key-file k --run --trace d --workers 1",
		"--key-file k --worker-resource cores", "--key-file k --worker-resource cores=x",
		"--key-file k --worker-label =x", "--key-file k --no-run --break 1@1",
		"--key-file k --shape x", "--key-file k --datacenter ,", "--key-file k extra"};
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		code = 99;
		if (read_line(bad[i]))
			fail_msg("\"%s\" is taken", bad[i]);
		assert_int_equal(code, FLEET_USAGE);
	}
}

static void too_many_of_one_are_refused(void **unused)
{
	char line[1024] = "--key-file k";
	size_t at = strlen(line);
	for (uint32_t i = 0; i <= FLAG_LIST_MAX; i++)
		at += (size_t)snprintf(line + at, sizeof line - at, " --leave=1@1");
	assert_false(read_line(line));
	assert_int_equal(code, FLEET_USAGE);
	snprintf(line, sizeof line, "--key-file k --name=%0101d", 0);
	assert_false(read_line(line));
	assert_int_equal(code, FLEET_USAGE);
}

static void help_is_no_mistake(void **unused)
{
	assert_false(read_line("--help"));
	assert_int_equal(code, FLEET_SEEN);
	assert_false(read_line("--version"));
	assert_int_equal(code, FLEET_SEEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_one_kind_of_node),
		cmocka_unit_test(the_api_is_that_of_the_environment_or_of_flags),
		cmocka_unit_test(everything_is_read),
		cmocka_unit_test(mistakes_are_usage_errors),
		cmocka_unit_test(too_many_of_one_are_refused),
		cmocka_unit_test(help_is_no_mistake),
	};
	return cmocka_run_group_tests(tests, without_environment, NULL);
}
