// What a worker says of itself.
#include "tools/agent/vm_worker.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

static struct fingerprint f;

static int set_up(void **unused)
{
	f = (struct fingerprint){.description = {.node = {{7}}, .memory_mb = 2048}};
	assert_true(fingerprint_pair(&f, WIRE_PAIR_ATTRIBUTE, "cpu.arch", TEXT("arm64")));
	assert_true(fingerprint_pair(&f, WIRE_PAIR_ATTRIBUTE, "cpu.numcores", TEXT("12")));
	return 0;
}

// NULL: it is not said.
static const char *said(const char *name)
{
	for (uint32_t i = 0; i < f.description.pair_count; i++)
		if (f.description.pairs[i].kind == WIRE_PAIR_SETTING &&
			text_equal(f.description.pairs[i].name, text_of(name)))
			return f.description.pairs[i].value.data;
	return NULL;
}

static void a_node_that_is_no_worker_says_nothing(void **unused)
{
	struct agent_options o = {.worker_labels = {.items = {"a=b"}, .count = 1}};
	assert_true(vm_worker_describe(&f, &o));
	assert_int_equal(f.description.pair_count, 2);
}

static void what_is_measured_is_offered(void **unused)
{
	struct agent_options o = {.worker = true, .worker_machine_id = "m1"};
	assert_true(vm_worker_describe(&f, &o));
	assert_string_equal(said("vm.worker"), "1");
	assert_string_equal(said("vm.machine_id"), "m1");
	assert_string_equal(said("vm.arch"), "arm64");
	assert_string_equal(said("vm.resource.org.cirruslabs.logical-cores"), "12");
	assert_string_equal(said("vm.resource.org.cirruslabs.memory-mib"), "2048");
	assert_null(said("vm.default_cpu"));
	assert_null(said("vm.default_memory"));
	assert_null(said("vm.runtime"));
}

static void what_is_said_is_offered(void **unused)
{
	struct agent_options o = {.worker = true,
		.worker_runtime = "qemu",
		.worker_default_cpu = 2,
		.worker_default_memory_mib = 512,
		.worker_resources = {.items = {"gpus=4", "org.cirruslabs.memory-mib=100"},
			.count = 2},
		.worker_labels = {.items = {"zone=a=b"}, .count = 1}};
	assert_true(vm_worker_describe(&f, &o));
	assert_string_equal(said("vm.resource.gpus"), "4");
	assert_string_equal(said("vm.resource.org.cirruslabs.memory-mib"), "100");
	assert_string_equal(said("vm.resource.org.cirruslabs.logical-cores"), "12");
	assert_string_equal(said("vm.label.zone"), "a=b");
	assert_string_equal(said("vm.default_cpu"), "2");
	assert_string_equal(said("vm.default_memory"), "512");
	assert_string_equal(said("vm.runtime"), "qemu");
	assert_true(*said("vm.machine_id")); // the system's, or the node's
	uint32_t memory = 0;
	for (uint32_t i = 0; i < f.description.pair_count; i++)
		memory += text_equal(
			f.description.pairs[i].name, TEXT("vm.resource.org.cirruslabs.memory-mib"));
	assert_int_equal(memory, 1);
}

static void what_does_not_fit_is_said(void **unused)
{
	struct agent_options o = {.worker = true};
	while (f.description.pair_count < NODE_ATTRIBUTES_MAX)
		assert_true(fingerprint_pair(&f, WIRE_PAIR_META, "m", TEXT("")));
	assert_false(vm_worker_describe(&f, &o));
}

static char folder[64], program[100];

// The only program in PATH, if it is there at all.
static int with_qemu(bool is_installed)
{
	snprintf(folder, sizeof folder, "/tmp/berth-worker-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(program, sizeof program, "%s/qemu-system-x86_64", folder);
	int fd = is_installed ? open(program, O_CREAT | O_WRONLY, 0755) : 0;
	assert_true(fd >= 0);
	if (is_installed)
		close(fd);
	return setenv("PATH", folder, 1);
}

static int without_folder(void **unused)
{
	unlink(program);
	return rmdir(folder);
}

// Of another architecture none is found.
static bool may_have_qemu(void)
{
	struct utsname system;
	return uname(&system) == 0 && strcmp(system.machine, "x86_64") == 0;
}

static const char *driver_of(const struct agent_options *o)
{
	set_up(NULL);
	assert_true(vm_worker_describe(&f, o));
	for (uint32_t i = 0; i < f.description.pair_count; i++)
		if (text_equal(f.description.pairs[i].name, TEXT("vm.driver")))
			return f.description.pairs[i].value.data;
	return NULL;
}

static void machines_are_pretended_without_qemu(void **unused)
{
	struct agent_options o = {.worker = true, .vm_driver = "auto", .state_dir = "/s"};
	struct machine_settings m;
	char images[VM_WORKER_IMAGES_BYTES], message[200] = "";
	assert_int_equal(with_qemu(false), 0);
	assert_int_equal(vm_worker_machines(&o, &m, images, message, sizeof message), 0);
	assert_null(m.qemu);
	assert_string_equal(m.images, "/s/images");
	assert_string_equal(driver_of(&o), "mock");
	o.vm_driver = "qemu"; // a worker that was told to run them does not pretend
	assert_true(vm_worker_machines(&o, &m, images, message, sizeof message) < 0);
	assert_non_null(strstr(message, "qemu-system-x86_64"));
}

static void images_are_where_names_fit(void **unused)
{
	char folder_name[302], images[VM_WORKER_IMAGES_BYTES], message[200] = "";
	struct agent_options o = {
		.worker = true, .vm_driver = "mock", .vm_images = folder_name, .state_dir = "/s"};
	struct machine_settings m;
	memset(folder_name, 'i', sizeof folder_name);
	folder_name[301] = '\0';
	assert_true(vm_worker_machines(&o, &m, images, message, sizeof message) < 0);
	assert_non_null(strstr(message, "--vm-images is longer than 300 bytes"));
	folder_name[300] = '\0';
	assert_int_equal(vm_worker_machines(&o, &m, images, message, sizeof message), 0);
	assert_string_equal(m.images, folder_name);
}

static void machines_run_where_qemu_is(void **unused)
{
	struct agent_options o = {.worker = true,
		.vm_driver = "auto",
		.state_dir = "/s",
		.data_dir = "/d",
		.vm_user = "nobody",
		.vm_network = "user",
		.vm_suspended_days = 7,
		.vm_acceleration = "none"};
	struct machine_settings m;
	char images[VM_WORKER_IMAGES_BYTES], message[200] = "";
	if (!may_have_qemu())
		skip();
	assert_int_equal(with_qemu(true), 0);
	assert_int_equal(vm_worker_machines(&o, &m, images, message, sizeof message), 0);
	assert_string_equal(m.qemu, program);
	assert_string_equal(m.images, "/d/images");
	assert_string_equal(m.user, "nobody");
	assert_true(m.has_network);
	assert_true(m.is_emulated);
	assert_int_equal(m.suspended_days, 7);
	assert_string_equal(driver_of(&o), "qemu");
	o.vm_driver = "mock";
	o.vm_images = "/i";
	assert_int_equal(vm_worker_machines(&o, &m, images, message, sizeof message), 0);
	assert_null(m.qemu);
	assert_string_equal(m.images, "/i");
	assert_string_equal(driver_of(&o), "mock");
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(a_node_that_is_no_worker_says_nothing),
		TEST(what_is_measured_is_offered), TEST(what_is_said_is_offered),
		TEST(what_does_not_fit_is_said), TEST(images_are_where_names_fit),
		cmocka_unit_test_teardown(machines_are_pretended_without_qemu, without_folder),
		cmocka_unit_test_teardown(machines_run_where_qemu_is, without_folder)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
