#include "tools/agent/options.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct agent_options o;
static int code;

static bool read_line(const char *line)
{
	static char copy[1024];
	char *argv[64], *rest;
	int argc = 0;
	snprintf(copy, sizeof copy, "berth-agent %s", line);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	argv[argc] = NULL;
	return agent_options_read(argc, argv, &o, &code);
}

static void reads_every_option(void **unused)
{
	assert_true(read_line("--server 192.0.2.1 --source 192.0.2.9 --state-dir /s --key-file /k "
			      "--data-dir /d --name n --datacenter dc9 --class c --pool p "
			      "--meta a=b --meta c= --cpu-mhz 1 --reserved-cpu 2 "
			      "--reserved-memory 3 --reserved-disk 4294967295 "
			      "--log-level warn --log-json --probe /p "
			      "--probe-backoff 5 --probe-timeout 6"));
	assert_string_equal(o.server, "192.0.2.1");
	assert_string_equal(o.source, "192.0.2.9");
	assert_string_equal(o.state_dir, "/s");
	assert_string_equal(o.key_file, "/k");
	assert_string_equal(o.data_dir, "/d");
	assert_string_equal(o.name, "n");
	assert_string_equal(o.datacenter, "dc9");
	assert_string_equal(o.class_name, "c");
	assert_string_equal(o.pool, "p");
	assert_int_equal(o.meta.count, 2);
	assert_string_equal(o.meta.items[1], "c=");
	assert_int_equal(o.cpu_mhz, 1);
	assert_int_equal(o.reserved_cpu_mhz, 2);
	assert_int_equal(o.reserved_memory_mb, 3);
	assert_int_equal(o.reserved_disk_mb, 4294967295u);
	assert_true(o.log_json);
	assert_string_equal(o.probe, "/p");
	assert_int_equal(o.probe_backoff_ms, 5);
	assert_int_equal(o.probe_timeout_ms, 6);
}

static void environment_yields_to_the_command_line(void **unused)
{
	setenv("BERTH_AGENT_SERVER", "from-environment", 1);
	setenv("BERTH_AGENT_STATE_DIR", "/from-environment", 1);
	setenv("BERTH_AGENT_RESERVED_CPU", "77", 1);
	assert_true(read_line("--server from-line"));
	assert_string_equal(o.server, "from-line");
	assert_string_equal(o.state_dir, "/from-environment");
	assert_int_equal(o.reserved_cpu_mhz, 77);
	setenv("BERTH_AGENT_RESERVED_CPU", "many", 1);
	assert_false(read_line("--server from-line"));
	assert_int_equal(code, AGENT_USAGE);
	unsetenv("BERTH_AGENT_SERVER");
	unsetenv("BERTH_AGENT_STATE_DIR");
	unsetenv("BERTH_AGENT_RESERVED_CPU");
}

static void mistakes_are_usage_errors(void **unused)
{
	static const char *const bad[] = {"", "--server", "--nonsense", "--server s extra",
		"--server s --cpu-mhz -1", "--server s --cpu-mhz 4294967296",
		"--server s --worker-ports all", "--server s --worker-ports 70000",
		"--server s --cpu-mhz 12x", "--server s --meta novalue", "--server s --meta =v",
		"--server s --log-level loud", "--server s --probe-backoff 0",
		"--server s --probe-backoff 60001", "--server s --probe-timeout 0"};
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		code = 99;
		assert_false(read_line(bad[i]));
		assert_int_equal(code, AGENT_USAGE);
	}
}

static void a_worker_says_what_it_has(void **unused)
{
	assert_true(read_line("--server s --worker --worker-resource gpus=4 --worker-resource "
			      "org.cirruslabs.memory-mib=0 --worker-label zone=a --worker-label "
			      "empty= --worker-default-cpu 2 --worker-runtime qemu"));
	assert_true(o.worker);
	assert_int_equal(o.worker_resources.count, 2);
	assert_string_equal(o.worker_labels.items[1], "empty=");
	assert_int_equal(o.worker_default_cpu, 2);
	static const char *const bad[] = {
		"gpus", "=1", "gpus=", "gpus=-1", "gpus=x", "gpus=9999999999999999999"};
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char line[100];
		snprintf(line, sizeof line, "--server s --worker-resource %s", bad[i]);
		assert_false(read_line(line));
		assert_int_equal(code, AGENT_USAGE);
	}
	assert_false(read_line("--server s --worker-label zone"));
}

static void how_machines_are_run(void **unused)
{
	assert_true(read_line("--server s"));
	assert_string_equal(o.vm_driver, "auto");
	assert_string_equal(o.vm_user, "");
	assert_string_equal(o.vm_network, "none");
	assert_string_equal(o.vm_acceleration, "auto");
	assert_int_equal(o.vm_suspended_days, 30);
	assert_null(o.vm_images);
	assert_true(read_line("--server s --vm-driver mock --vm-user nobody --vm-network user "
			      "--vm-acceleration none --vm-images /i --vm-suspended-days 0"));
	assert_int_equal(o.vm_suspended_days, 0);
	assert_string_equal(o.vm_driver, "mock");
	assert_string_equal(o.vm_user, "nobody");
	assert_string_equal(o.vm_network, "user");
	assert_string_equal(o.vm_acceleration, "none");
	assert_string_equal(o.vm_images, "/i");
	static const char *const bad[] = {"--server s --vm-driver tart",
		"--server s --vm-network bridge", "--server s --vm-acceleration kvm"};
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_false(read_line(bad[i]));
		assert_int_equal(code, AGENT_USAGE);
	}
}

static void how_tasks_are_confined(void **unused)
{
	assert_true(read_line("--server s"));
	assert_string_equal(o.cgroup_parent, "berth.slice");
	assert_string_equal(o.denied_users, "root");
	assert_int_equal(o.task_pids, 16384);
	assert_true(read_line("--server s --cgroup-parent a/b --task-pids 0 --denied-users= "
			      "--allow-caps all"));
	assert_string_equal(o.cgroup_parent, "a/b");
	assert_string_equal(o.denied_users, "");
	assert_int_equal(o.task_pids, 0);
	assert_string_equal(o.allow_caps, "all");
	static const char *const bad[] = {
		"--server s --cgroup-parent=", "--server s --cgroup-parent ../x",
		"--server s --allow-caps chown,fly", "--server s --container-caps chown,fly"};
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_false(read_line(bad[i]));
		assert_int_equal(code, AGENT_USAGE);
	}
}

static void help_and_version_are_no_mistakes(void **unused)
{
	assert_false(read_line("--help"));
	assert_int_equal(code, AGENT_LEFT);
	assert_false(read_line("--version"));
	assert_int_equal(code, AGENT_LEFT);
}

static void printing_needs_no_server(void **unused)
{
	assert_true(read_line("--print-id"));
	assert_true(read_line("--print-fingerprint"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_option),
		cmocka_unit_test(environment_yields_to_the_command_line),
		cmocka_unit_test(mistakes_are_usage_errors),
		cmocka_unit_test(a_worker_says_what_it_has),
		cmocka_unit_test(how_machines_are_run),
		cmocka_unit_test(how_tasks_are_confined),
		cmocka_unit_test(help_and_version_are_no_mistakes),
		cmocka_unit_test(printing_needs_no_server),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
