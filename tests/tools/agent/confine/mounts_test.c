// The plan of a confined task's file system.
#include "tools/agent/base/folders.h"
#include "tools/agent/confine/mounts.h"
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

static struct mount_plan plan;

static void make(void)
{
	static const char *const hidden[] = {"/usr/lib/agent", "not/absolute", NULL};
	struct mount_ask ask = {.task_folder = "/data/alloc/1/t",
		.alloc_folder = "/data/alloc/1/alloc",
		.hidden = hidden};
	mount_plan_make(&plan, &ask);
}

static const struct mount_row *row_of(enum mount_kind kind, const char *target)
{
	for (uint32_t i = 0; i < plan.count; i++)
		if (plan.rows[i].kind == kind && strcmp(plan.rows[i].target, target) == 0)
			return &plan.rows[i];
	return NULL;
}

static void only_the_tasks_folders_can_be_written(void **unused)
{
	make();
	assert_string_equal(plan.root, "/data/alloc/1/t");
	for (uint32_t i = 0; i < plan.count; i++) {
		const struct mount_row *row = &plan.rows[i];
		if (row->kind == MOUNT_BIND && !row->is_file && !row->is_read_only)
			assert_string_equal(row->target, "alloc");
		assert_true(row->target[0] != '/');
	}
	assert_string_equal(row_of(MOUNT_BIND, "alloc")->source, "/data/alloc/1/alloc");
	assert_true(row_of(MOUNT_BIND, "alloc/logs")->is_read_only);
}

static void the_programs_of_the_node_are_there(void **unused)
{
	static const char *const names[] = {
		"bin", "etc", "lib", "lib32", "lib64", "run/resolvconf", "sbin", "usr"};
	make();
	for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
		assert_true(row_of(MOUNT_BIND, names[i])->is_read_only);
	assert_null(row_of(MOUNT_BIND, "home"));
	assert_null(row_of(MOUNT_BIND, "root"));
	assert_null(row_of(MOUNT_BIND, "var"));
}

static void secrets_of_the_node_are_hidden(void **unused)
{
	make();
	assert_non_null(row_of(MOUNT_HIDE, "etc/shadow"));
	assert_non_null(row_of(MOUNT_HIDE, "etc/berth"));
	assert_non_null(row_of(MOUNT_HIDE, "proc/kcore"));
	assert_non_null(row_of(MOUNT_READ_ONLY, "proc/sys"));
	assert_non_null(row_of(MOUNT_HIDE, "usr/lib/agent"));
	assert_null(row_of(MOUNT_HIDE, "not/absolute"));
}

static void volumes_come_last_and_nowhere_of_the_nodes(void **unused)
{
	static const struct mount_volume volumes[] = {
		{"/srv/a", "data/a", false, false}, {"/srv/b", "local/b", true, true}};
	static const char *const none[] = {NULL};
	struct mount_ask ask = {"/data/alloc/1/t", "/data/alloc/1/alloc", none, volumes, 2};
	mount_plan_make(&plan, &ask);
	assert_true(plan.follows_node);
	assert_string_equal(plan.rows[plan.count - 2].source, "/srv/a");
	assert_false(plan.rows[plan.count - 2].is_read_only);
	assert_true(plan.rows[plan.count - 1].is_read_only);
	make();
	assert_false(plan.follows_node);
	static const char *const taken[] = {
		"usr", "usr/local", "etc/x", "dev/shm", "proc/1", "sys", "alloc", "alloc/data"};
	static const char *const free_ones[] = {
		"data", "local", "local/x", "secrets", "tmp", "usrs", "allocs", "run", "var/lib/x"};
	for (uint32_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
		assert_false(mount_target_is_free(taken[i]));
	for (uint32_t i = 0; i < sizeof free_ones / sizeof free_ones[0]; i++)
		assert_true(mount_target_is_free(free_ones[i]));
}

// A task may have put a link where something is mounted.
static void mount_points_follow_no_link(void **unused)
{
	char root[] = "/tmp/berth-mounts-XXXXXX", path[64];
	struct stat st;
	make();
	assert_non_null(mkdtemp(root));
	int folder = open(root, O_RDONLY | O_DIRECTORY);
	assert_int_equal(mount_plan_prepare(&plan, folder), 0);
	assert_int_equal(fstatat(folder, "usr", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(fstatat(folder, "run/resolvconf", &st, 0) == 0,
		access("/run/resolvconf", F_OK) == 0);
	assert_int_equal(unlinkat(folder, "usr", AT_REMOVEDIR), 0);
	snprintf(path, sizeof path, "%s/usr", root);
	assert_int_equal(symlink("/etc", path), 0);
	assert_true(mount_plan_prepare(&plan, folder) < 0);
	close(folder);
	folder_remove(AT_FDCWD, root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_tasks_folders_can_be_written),
		cmocka_unit_test(the_programs_of_the_node_are_there),
		cmocka_unit_test(secrets_of_the_node_are_hidden),
		cmocka_unit_test(volumes_come_last_and_nowhere_of_the_nodes),
		cmocka_unit_test(mount_points_follow_no_link),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
