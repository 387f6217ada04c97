// Texts of the kernel about control groups, and lists of cores.
#include "state/base/log.h"
#include "tests/support/broken_listing.h"
#include "tools/agent/base/folders.h"
#include "tools/agent/confine/cgroup.h"
#include "tools/agent/confine/groups.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void controllers_have_names(void **unused)
{
	char text[64];
	assert_int_equal(cgroup_controllers_of("cpuset cpu io memory hugetlb pids\n"),
		CGROUP_CPU | CGROUP_CPUSET | CGROUP_MEMORY | CGROUP_PIDS);
	assert_int_equal(cgroup_controllers_of("cpuset"), CGROUP_CPUSET);
	assert_int_equal(cgroup_controllers_of(""), 0);
	assert_int_equal(cgroup_controllers_of("cp mem"), 0);
	cgroup_controllers_text(CGROUP_CPU | CGROUP_PIDS, text, sizeof text);
	assert_string_equal(text, "cpu, pids");
	cgroup_controllers_text(0, text, sizeof text);
	assert_string_equal(text, "");
}

static void events_are_counted(void **unused)
{
	static const char events[] = "low 0\nhigh 0\nmax 71\noom 2\noom_kill 3\noom_group_kill 0\n";
	assert_int_equal(cgroup_event_count(events, "oom_kill"), 3);
	assert_int_equal(cgroup_event_count(events, "oom"), 2);
	assert_int_equal(cgroup_event_count(events, "low"), 0);
	assert_int_equal(cgroup_event_count(events, "kill"), 0);
	assert_int_equal(cgroup_event_count("", "oom_kill"), 0);
}

static void a_process_knows_its_group(void **unused)
{
	char path[64];
	assert_true(cgroup_own_path("3:cpu:/a\n0::/system.slice/x.service\n", path, sizeof path));
	assert_string_equal(path, "/system.slice/x.service");
	assert_false(cgroup_own_path("3:cpu:/a\n", path, sizeof path));
	assert_false(cgroup_own_path("0::/too/long/for/this/room\n", path, 8));
}

static void cores_of_others_are_left_out(void **unused)
{
	char text[64];
	groups_cores_less("0-3", "1", text, sizeof text);
	assert_string_equal(text, "0,2-3");
	groups_cores_less("0-7", "2-3,5,2", text, sizeof text);
	assert_string_equal(text, "0-1,4,6-7");
	groups_cores_less("0-1", "0-1", text, sizeof text);
	assert_string_equal(text, "");
	groups_cores_less("0-3", "", text, sizeof text);
	assert_string_equal(text, "0-3");
}

static void a_mount_is_found_by_its_type(void **unused)
{
	char file[] = "/tmp/berth-mounts-XXXXXX", path[128];
	int fd = mkstemp(file);
	assert_true(fd >= 0);
	dprintf(fd, "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw 0 0\n"
		    "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n");
	close(fd);
	cgroup_find_mount(file, path, sizeof path);
	assert_string_equal(path, "/sys/fs/cgroup/unified");
	cgroup_find_mount("/dev/null", path, sizeof path);
	assert_string_equal(path, "");
	unlink(file);
}

static void a_node_without_groups_says_so(void **unused)
{
	struct groups groups;
	groups_open(&groups, "/dev/null", "berth.slice");
	assert_false(groups.is_usable);
	assert_int_equal(groups.controllers, 0);
	assert_string_equal(groups.fault, "cgroup v2 is not mounted");
	assert_int_equal(groups_end(&groups, &(struct uuid){{1}}, "t"), 0);
}

static uint32_t warnings, unlisted; // that cores are not shared, and that groups cannot be listed

static void note_warning(const struct log_note *note)
{
	warnings += strcmp(note->event, "cores-not-shared") == 0;
	unlisted += strstr(note->fields, "error=\"Input/output error\"") != NULL;
}

// In a folder of ordinary files, where no group of tasks that share cores can be told which are left.
static void cores_that_cannot_be_shared_are_said(void **unused)
{
	struct groups g = {.is_usable = true, .controllers = CGROUP_CPUSET | CGROUP_CPU};
	struct uuid alloc = {{1}};
	char path[600], id[UUID_TEXT_BYTES];

	snprintf(g.parent, sizeof g.parent, "/tmp/berth-groups-XXXXXX");
	assert_non_null(mkdtemp(g.parent));
	snprintf(path, sizeof path, "%s/reserve/%s/t.scope", g.parent, uuid_format(&alloc, id));
	int top = folder_open("/");
	int group = folder_make(top, path + 1, 0755);
	assert_true(group >= 0);
	close(group);
	log_follow(LOG_WARN, note_warning);
	assert_int_equal(groups_end(&g, &alloc, "t"), 0);
	log_follow(LOG_ERROR + 1, NULL);
	assert_int_equal(warnings, 1);
	assert_int_equal(unlisted, 0);
	// Where not all of them are seen, no cores are given away, and no allocation is weighed anew.
	for (uint32_t i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/reserve/%s/%s.scope", g.parent,
			uuid_format(&alloc, id), i ? "other" : "t");
		group = folder_make(top, path + 1, 0755);
		assert_true(group >= 0);
		close(group);
	}
	log_follow(LOG_WARN, note_warning);
	listings_break = true;
	assert_int_equal(groups_end(&g, &alloc, "t"), 0);
	listings_break = false;
	log_follow(LOG_ERROR + 1, NULL);
	assert_int_equal(warnings, 2);
	assert_int_equal(unlisted, 2);
	folder_remove(top, g.parent + 1);
	close(top);
}

static void what_the_kernel_does_not_take_is_said(void **unused)
{
	assert_int_equal(cgroup_write("/proc/self", "oom_score_adj", "x"), -EINVAL);
	assert_int_equal(cgroup_write("/proc/self", "no-such-file", "x"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(controllers_have_names),
		cmocka_unit_test(events_are_counted),
		cmocka_unit_test(a_process_knows_its_group),
		cmocka_unit_test(cores_of_others_are_left_out),
		cmocka_unit_test(a_mount_is_found_by_its_type),
		cmocka_unit_test(a_node_without_groups_says_so),
		cmocka_unit_test(cores_that_cannot_be_shared_are_said),
		cmocka_unit_test(what_the_kernel_does_not_take_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
