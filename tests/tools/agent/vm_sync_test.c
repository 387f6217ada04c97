// Which machines a worker runs, by lists that come in pages: on a runner with the mock driver and a clock that
// stands still unless told.
#include "tools/agent/vm/machine.h"
#include "tools/agent/vm_sync.h"
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char folder[64];
static struct manual_time manual;
static struct time_source source;
static struct runner runner;
static struct vm_sync sync;
static struct wire_vm_item wanted[2 * VM_ITEMS_MAX];
static uint32_t wanted_count;

static int set_up(void **unused)
{
	char message[200];
	snprintf(folder, sizeof folder, "/tmp/berth-vms-XXXXXX");
	assert_non_null(mkdtemp(folder));
	manual = (struct manual_time){.monotonic_ns = 1000000000, .wall_ns = 1700000000000000000};
	source = time_source_manual(&manual);
	struct runner_settings settings = {
		.data_folder = folder, .state_folder = folder, .time = &source, .seed = 3};
	if (runner_open(&runner, &settings, message, sizeof message) < 0)
		fail_msg("%s", message);
	runner_know_node(&runner, &(struct node_facts){.name = "n", .datacenter = "dc1"});
	sync = (struct vm_sync){.is_worker = true};
	wanted_count = 0;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return remove(path);
}

static int tear_down(void **unused)
{
	vm_sync_stop(&sync);
	runner_close(&runner);
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static struct uuid instance(uint8_t number)
{
	return (struct uuid){{0x1a, [15] = number}};
}

static struct alloc_run *add(uint8_t number, const char *image)
{
	char json[300], message[200];
	struct uuid id = instance(number);
	snprintf(json, sizeof json, "{\"name\":\"vm%u\",\"image\":\"%s\"}", number, image);
	struct alloc_spec *spec = machine_spec_read(
		json, strlen(json), &id, &runner.settings.machines, message, sizeof message);
	if (!spec)
		fail_msg("%s", message);
	runner_add(&runner, &id, 0, 1, spec);
	runner_step(&runner);
	return runner_find(&runner, &id);
}

static void want(void *context, const struct wire_vm_item *item)
{
	assert_ptr_equal(context, &sync);
	wanted[wanted_count++] = *item;
}

// A list of one page; numbers end with 0.
static void settle(const uint8_t *numbers, enum wire_vm_power power, uint64_t version)
{
	struct wire_vms_reply reply = {.version = 1};
	for (; *numbers; numbers++)
		reply.items[reply.count++] =
			(struct wire_vm_item){instance(*numbers), version, power};
	vm_sync_ask(&sync, 0);
	assert_true(vm_sync_take(&sync, &reply, 0));
	vm_sync_settle(&sync, &runner, want, &sync);
	runner_step(&runner);
}
#define LIST(...) ((const uint8_t[]){__VA_ARGS__, 0})

static void a_machine_is_an_allocation_of_one_task(void **unused)
{
	struct alloc_run *a = add(1, "mock:debian?run_for=2s&exit_code=3");
	assert_true(a->is_machine);
	assert_string_equal(a->spec->name, "vm1");
	assert_int_equal(a->task_count, 1);
	assert_string_equal(a->tasks[0].spec->name, MACHINE_TASK);
	assert_ptr_equal(a->tasks[0].driver, &driver_mock);
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
	manual_time_advance_ms(&manual, 2000);
	runner_step(&runner);
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	assert_int_equal(a->tasks[0].restarts, 0); // that is the controller's
	assert_string_equal(alloc_run_description(a), "Exit Code: 3");
}

static void an_image_without_a_driver_fails(void **unused)
{
	struct alloc_run *a = add(1, "mock:x?start_error=no luck");
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	assert_string_equal(alloc_run_description(a), "no luck");
	a = add(2, "mock:x?");
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
}

static const char *driver_of(const char *image, const char *qemu)
{
	runner.settings.machines.qemu = qemu;
	struct alloc_run *a = add(1, image);
	const struct driver *driver = a->tasks[0].driver;
	runner_forget(&runner, a);
	runner_step(&runner);
	return driver->name;
}

static void images_are_run_by_qemu_where_it_is(void **unused)
{
	runner.settings.machines = (struct machine_settings){.images = "/none", .user = ""};
	assert_string_equal(driver_of("web.img", NULL), "mock");
	assert_string_equal(driver_of("mock:web", NULL), "mock");
	assert_string_equal(driver_of("web.img", "/none/qemu"), "qemu");
	assert_string_equal(driver_of("mock:web", "/none/qemu"), "mock");
}

static void what_is_no_machine_is_refused(void **unused)
{
	static const char *const wrong[] = {"", "[]", "{\"name\":\"x\"}", "{\"image\":\"mock:x\"}",
		"{\"name\":\"../x\",\"image\":\"y\"}",
		"{\"name\":\"x\",\"uid\":\"a/b\",\"image\":\"y\"}", "{\"name\":\"x\",\"image\":7}",
		"{\"name\":\"x\",\"image\":\"y\""};
	struct uuid id = instance(1);
	char message[200];
	for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		message[0] = '\0';
		assert_null(machine_spec_read(wrong[i], strlen(wrong[i]), &id,
			&runner.settings.machines, message, sizeof message));
		assert_true(*message);
	}
}

static void pages_make_one_list(void **unused)
{
	struct wire_vms_reply page = {.version = 9, .count = VM_ITEMS_MAX, .more = 1};
	assert_int_equal(vm_sync_next_ns(&sync, 5), 0); // the index is new
	struct wire_vms ask = vm_sync_ask(&sync, 5);
	assert_int_equal(ask.version, 0);
	assert_int_equal(ask.from, 0);
	assert_false(vm_sync_take(&sync, &page, 7));
	assert_int_equal(vm_sync_next_ns(&sync, 5), 0);
	ask = vm_sync_ask(&sync, 6);
	assert_int_equal(ask.version, 9);
	assert_int_equal(ask.from, VM_ITEMS_MAX);
	// Another version: from the beginning.
	page.from = VM_ITEMS_MAX;
	page.version = 10;
	assert_false(vm_sync_take(&sync, &page, 7));
	ask = vm_sync_ask(&sync, 6);
	assert_int_equal(ask.version, 0);
	assert_int_equal(ask.from, 0);
	page.from = 0;
	assert_false(vm_sync_take(&sync, &page, 7));
	page.from = VM_ITEMS_MAX;
	page.more = 0;
	assert_true(vm_sync_take(&sync, &page, 7));
	assert_int_equal(sync.count, 2 * VM_ITEMS_MAX);
	vm_sync_settle(&sync, &runner, want, &sync);
	assert_int_equal(wanted_count, 2 * VM_ITEMS_MAX);
}

static void lists_are_asked_for_in_time(void **unused)
{
	settle(LIST(0), WIRE_VM_RUNNING, 1);
	assert_int_equal(vm_sync_next_ns(&sync, 0), VM_SYNC_PERIOD_NS);
	assert_int_equal(vm_sync_next_ns(&sync, 1), 0); // something changed
	vm_sync_registered(&sync);
	assert_int_equal(vm_sync_next_ns(&sync, 0), 0);
	sync.is_worker = false;
	assert_int_equal(vm_sync_next_ns(&sync, 1), UINT64_MAX);
}

static void what_is_new_or_newer_is_wanted(void **unused)
{
	add(1, "mock:x");
	settle(LIST(1, 2), WIRE_VM_RUNNING, 1);
	assert_int_equal(wanted_count, 1);
	assert_true(uuid_equal(&wanted[0].instance, &(struct uuid){{0x1a, [15] = 2}}));
	settle(LIST(1), WIRE_VM_RUNNING, 2);
	assert_int_equal(wanted_count, 2);
	assert_int_equal(wanted[1].version, 2);
}

static void what_is_to_be_stopped_is_stopped_and_kept(void **unused)
{
	struct alloc_run *a = add(1, "mock:x?kill_after=1s");
	settle(LIST(1, 2), WIRE_VM_STOPPED, 2);
	assert_int_equal(wanted_count, 0);
	assert_int_equal(a->tasks[0].phase, PHASE_STOPPING);
	manual_time_advance_ms(&manual, 1000);
	runner_step(&runner);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
	assert_string_equal(alloc_run_description(a), "VM was stopped");
	// The one that never ran here is told of as long as it is listed, once.
	struct uuid never = instance(2);
	struct alloc_run *b = runner_find(&runner, &never);
	assert_int_equal(b->status, WIRE_CLIENT_COMPLETE);
	b->reported = b->change;
	settle(LIST(1, 2), WIRE_VM_STOPPED, 2);
	assert_ptr_equal(runner_find(&runner, &never), b);
	assert_false(alloc_run_has_news(b));
	settle(LIST(0), WIRE_VM_RUNNING, 0);
	assert_int_equal(runner.count, 0);
}

static void what_is_to_be_suspended_is_told_so(void **unused)
{
	struct alloc_run *a = add(1, "mock:x?kill_after=1s");
	settle(LIST(1), WIRE_VM_SUSPENDED, 2);
	assert_string_equal(a->tasks[0].spec->kill_signal, MACHINE_SUSPEND_SIGNAL);
	assert_int_equal(a->tasks[0].due_ns, 1700000000000000000 + MACHINE_SUSPEND_TIMEOUT_NS);
	assert_int_equal(a->tasks[0].phase, PHASE_STOPPING);
	struct alloc_run *b = add(2, "mock:x?kill_after=1s");
	settle(LIST(2), WIRE_VM_STOPPED, 2);
	settle(LIST(2), WIRE_VM_SUSPENDED, 3); // it is stopped already
	assert_string_equal(b->tasks[0].spec->kill_signal, "SIGTERM");
	struct uuid never = instance(3);
	settle(LIST(2, 3), WIRE_VM_SUSPENDED, 3);
	settle(LIST(2, 3), WIRE_VM_SUSPENDED, 4);
	assert_int_equal(runner_find(&runner, &never)->status, WIRE_CLIENT_COMPLETE);
}

// The room of a machine that vanished is free before another one begins.
static void what_vanished_is_ended_first(void **unused)
{
	struct alloc_run *old = add(1, "mock:x?kill_after=1s");
	settle(LIST(2), WIRE_VM_RUNNING, 1);
	assert_int_equal(runner.count, 0); // by force: it is not waited for
	old = add(3, "mock:x");
	old->tasks[0].driver = &driver_raw_exec; // a process whose end is not there yet
	settle(LIST(2), WIRE_VM_RUNNING, 1);
	assert_true(old->is_forgotten);
	struct alloc_run *fresh = add(2, "mock:y");
	assert_int_equal(fresh->tasks[0].phase, PHASE_WAITING);
	old->tasks[0].phase = PHASE_ENDED;
	runner_step(&runner);
	assert_int_equal(fresh->tasks[0].phase, PHASE_RUNNING);
	assert_int_equal(runner.count, 1);
}

// Also when the agent itself went away between.
static void machines_are_taken_up_again(void **unused)
{
	char message[200];
	struct runner_settings settings = runner.settings;
	add(1, "mock:x?run_for=3s");
	runner_close(&runner);
	assert_int_equal(runner_open(&runner, &settings, message, sizeof message), 0);
	runner_know_node(&runner, &(struct node_facts){.name = "n", .datacenter = "dc1"});
	struct uuid id = instance(1);
	struct alloc_run *a = runner_find(&runner, &id);
	assert_non_null(a);
	assert_true(a->is_machine);
	runner_step(&runner);
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
	runner_forget_machines(&runner); // it is no worker any more
	runner_step(&runner);
	assert_int_equal(runner.count, 0);
}

// Every hour of a worker, and not of one that has just begun.
static void what_was_suspended_long_ago_goes(void **unused)
{
	char path[200], state[220];
	struct stat st;
	const struct timespec old[2] = {{.tv_sec = 1600000000}, {.tv_sec = 1600000000}};
	static const char *const names[] = {"", "/old-1", "/vm9-1"};
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/suspended%s", folder, names[i]);
		assert_int_equal(mkdir(path, 0700), 0);
		assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	}
	snprintf(state, sizeof state, "%s/suspended/old-1", folder);
	runner.settings.machines.suspended_days = 30;
	add(9, "suspended:vm9-1");
	settle(LIST(9), WIRE_VM_RUNNING, 1);
	assert_int_equal(stat(state, &st), 0);
	manual_time_advance_ms(&manual, 59 * 60 * 1000);
	settle(LIST(9), WIRE_VM_RUNNING, 1);
	assert_int_equal(stat(state, &st), 0);
	manual_time_advance_ms(&manual, 60 * 1000);
	settle(LIST(9), WIRE_VM_RUNNING, 1);
	assert_int_equal(stat(state, &st), -1);
	assert_int_equal(stat(path, &st), 0); // a machine here goes on from it
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(a_machine_is_an_allocation_of_one_task),
		TEST(an_image_without_a_driver_fails), TEST(what_is_no_machine_is_refused),
		TEST(images_are_run_by_qemu_where_it_is), TEST(what_is_to_be_suspended_is_told_so),
		TEST(pages_make_one_list), TEST(lists_are_asked_for_in_time),
		TEST(what_is_new_or_newer_is_wanted),
		TEST(what_is_to_be_stopped_is_stopped_and_kept), TEST(what_vanished_is_ended_first),
		TEST(machines_are_taken_up_again), TEST(what_was_suspended_long_ago_goes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
