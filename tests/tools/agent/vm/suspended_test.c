// What was suspended is kept as long as somebody may want it, and what it came from as long as that.
#include "tools/agent/base/folders.h"
#include "tools/agent/vm/qcow2.h"
#include "tools/agent/vm/suspended.h"
#include "tools/agent/vm/vm_image.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define NOW_S 1700000000
#define DAY_S (24 * 60 * 60)

static char data[100];
static const char *used; // the name that a machine here goes on from

static int set_up(void **unused)
{
	used = "";
	snprintf(data, sizeof data, "/tmp/berth-aside-XXXXXX");
	return mkdtemp(data) ? 0 : -1;
}

static int tear_down(void **unused)
{
	int top = folder_open("/tmp");
	folder_remove(top, strrchr(data, '/') + 1);
	return close(top);
}

static void path_of(const char *name, const char *file, char path[static 700])
{
	char folder[600];
	vm_suspended_folder(data, name, folder);
	snprintf(path, 700, "%s/%s", folder, file);
}

// Suspended so many days ago. origin: the image of its disk; NULL: it has no disk.
static void suspend(const char *name, int days_ago, const char *origin)
{
	char path[700], message[300] = "";
	const struct timespec at[2] = {
		{.tv_sec = NOW_S - days_ago * DAY_S}, {.tv_sec = NOW_S - days_ago * DAY_S}};
	int top = folder_open(data);
	snprintf(path, sizeof path, "suspended/%s", name);
	int folder = folder_make(top, path, 0711);
	assert_int_equal(folder_write(folder, SUSPENDED_STATE, 0600, "memory", 6), 0);
	assert_int_equal(folder_write(folder, SUSPENDED_MACHINE, 0600, "{}", 2), 0);
	assert_int_equal(utimensat(folder, SUSPENDED_STATE, at, 0), 0);
	close(folder);
	close(top);
	path_of(name, SUSPENDED_DISK, path);
	if (origin && qcow2_create(path, origin, 0, message, sizeof message) != 0)
		fail_msg("%s", message);
}

static bool is_there(const char *name)
{
	char path[700];
	path_of(name, SUSPENDED_STATE, path);
	return access(path, F_OK) == 0;
}

static bool is_used(void *context, const char *name)
{
	assert_ptr_equal(context, &used);
	return strcmp(name, used) == 0;
}

static uint32_t collect(int64_t days)
{
	const struct suspended_rule rule = {.now_ns = NOW_S * NS_PER_S,
		.keeps_ns = days * DAY_S * NS_PER_S,
		.is_in_use = is_used,
		.context = &used};
	return suspended_collect(data, &rule);
}

static void what_is_old_is_removed(void **unused)
{
	assert_int_equal(collect(30), 0); // there is no folder
	suspend("young-1", 29, NULL);
	suspend("old-1", 31, NULL);
	suspend("used-1", 300, NULL);
	used = "used-1";
	assert_int_equal(collect(0), 0);
	assert_int_equal(collect(400), 0);
	assert_int_equal(collect(30), 1);
	assert_true(is_there("young-1") && is_there("used-1"));
	assert_false(is_there("old-1"));
	used = "";
	assert_int_equal(collect(30), 1);
	assert_false(is_there("used-1"));
}

static void what_another_one_needs_is_kept(void **unused)
{
	char origin[700];
	int top = folder_open(data);
	assert_int_equal(folder_write(top, "image", 0600, "0123456789abcdef", 16), 0);
	close(top);
	if (access("/usr/bin/qemu-img", X_OK) < 0)
		skip();
	snprintf(origin, sizeof origin, "%s/image", data);
	suspend("a-1", 300, origin);
	path_of("a-1", SUSPENDED_DISK, origin);
	suspend("b-1", 200, origin);
	path_of("b-1", SUSPENDED_DISK, origin);
	suspend("c-1", 1, origin);
	suspend("d-1", 100, origin);
	assert_int_equal(collect(30), 1);
	assert_true(is_there("a-1") && is_there("b-1") && is_there("c-1"));
	assert_false(is_there("d-1"));
	used = "b-1";
	assert_int_equal(collect(1), 0); // as old as that
	suspend("e-1", 2, NULL);
	assert_int_equal(collect(1), 1);
	assert_true(is_there("a-1") && is_there("b-1") && is_there("c-1"));
	used = "";
}

static void what_is_unfinished_is_left_over(void **unused)
{
	suspend("long-1.part", 1, NULL);
	suspend("now-1.part", 0, NULL);
	assert_int_equal(collect(0), 1);
	assert_false(is_there("long-1.part"));
	assert_true(is_there("now-1.part"));
}

static void what_cannot_be_described_is_not_suspended(void **unused)
{
	char folder[600];
	const struct vm_shape shape = {.cpus = 1, .memory_mib = 32};
	vm_suspended_folder(data, "none", folder);
	assert_int_equal(vm_image_describe(folder, "image", &shape), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_old_is_removed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_another_one_needs_is_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_unfinished_is_left_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_cannot_be_described_is_not_suspended, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
