// Folders beside tasks that put links in the way.
#include "tests/support/broken_listing.h"
#include "tests/support/log_capture.h"
#include "tools/agent/base/folders.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];
static int top;

static int set_up(void **unused)
{
	snprintf(root, sizeof root, "/tmp/berth-folders-XXXXXX");
	assert_non_null(mkdtemp(root));
	top = folder_open(root);
	assert_true(top >= 0);
	return 0;
}

static int tear_down(void **unused)
{
	folder_remove(AT_FDCWD, root);
	assert_int_equal(access(root, F_OK), -1);
	close(top);
	return 0;
}

static mode_t mode_of(const char *name)
{
	struct stat st;
	assert_int_equal(fstatat(top, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	return st.st_mode & 07777;
}

static void make(const char *path, mode_t mode)
{
	int fd = folder_make(top, path, mode);
	assert_true(fd >= 0);
	close(fd);
}

static void every_part_is_made(void **unused)
{
	make("a/b//c", 01777);
	assert_int_equal(mode_of("a"), 0711);
	assert_int_equal(mode_of("a/b/c"), 01777);
	make("a/b/c", 0700);
	assert_int_equal(mode_of("a/b/c"), 0700);
	assert_int_equal(folder_make(top, "", 0700), -EINVAL);
	assert_int_equal(folder_make(top, "/a", 0700), -EINVAL);
	char longest[NAME_MAX + 3];
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	assert_int_equal(folder_make(top, longest, 0700), -ENAMETOOLONG);
}

// What a task may have put where the agent makes a folder or writes a file.
static void links_are_not_followed(void **unused)
{
	make("outside", 0700);
	make("task", 0777);
	assert_int_equal(symlinkat("../outside", top, "task/local"), 0);
	int error = folder_make(top, "task/local", 0777);
	assert_true(error == -ELOOP || error == -ENOTDIR);
	error = folder_make(top, "task/local/more", 0777);
	assert_true(error == -ELOOP || error == -ENOTDIR);
	assert_int_equal(mode_of("outside"), 0700);
	assert_int_equal(symlinkat("../outside/file", top, "task/file"), 0);
	int task = folder_make(top, "task", 0777);
	assert_int_equal(folder_write(task, "file", 0644, "x", 1), -ELOOP);
	assert_int_equal(faccessat(top, "outside/file", F_OK, 0), -1);
	assert_int_equal(folder_write(task, "plain", 0644, "xy", 2), 0);
	assert_int_equal(folder_write(task, "plain", 0644, "z", 1), 0);
	struct stat st;
	assert_int_equal(fstatat(task, "plain", &st, 0), 0);
	assert_int_equal(st.st_size, 1);
	close(task);
}

static void all_is_removed_and_nothing_else(void **unused)
{
	make("outside/kept", 0700);
	make("gone/a/b", 0700);
	int b = folder_make(top, "gone/a/b", 0700);
	assert_int_equal(folder_write(b, "file", 0600, "x", 1), 0);
	assert_int_equal(symlinkat("../../../outside", b, "link"), 0);
	assert_int_equal(mkfifoat(b, "pipe", 0600), 0);
	close(b);
	assert_int_equal(symlinkat("outside", top, "gone/link"), 0);
	folder_remove(top, "gone");
	assert_int_equal(faccessat(top, "gone", F_OK, AT_SYMLINK_NOFOLLOW), -1);
	assert_int_equal(mode_of("outside/kept"), 0700);
	assert_int_equal(symlinkat("outside", top, "link"), 0);
	folder_remove(top, "link"); // no folder
	folder_remove(top, "nothing");
	assert_int_equal(mode_of("outside/kept"), 0700);
}

// Deeper than a process may have descriptors.
static void depth_does_not_matter(void **unused)
{
	int at = folder_make(top, "deep", 0700);
	for (int i = 0; i < 5000; i++) {
		int below = folder_make(at, "d", 0700);
		assert_true(below >= 0);
		close(at);
		at = below;
	}
	close(at);
	folder_remove(top, "deep");
	assert_int_equal(faccessat(top, "deep", F_OK, 0), -1);
}

static _Atomic bool stops;

// What is no folder when it is opened may have been one when it could not be removed, or cannot be removed at all.
static void a_link_that_stays_is_not_followed(void **unused)
{
	uid_t user = geteuid();
	assert_int_equal(fchown(top, user == 0 ? 65534 : user, (gid_t)-1), 0);
	assert_int_equal(seteuid(user == 0 ? 65534 : user), 0); // root may remove anything
	int outside = folder_make(top, "outside", 0700);
	assert_int_equal(folder_write(outside, "kept", 0600, "x", 1), 0);
	make("task", 0777);
	assert_int_equal(symlinkat("../outside", top, "task/link"), 0);
	assert_int_equal(fchmodat(top, "task", 0555, 0), 0);
	folder_remove(top, "task");
	assert_int_equal(faccessat(top, "task/link", F_OK, AT_SYMLINK_NOFOLLOW | AT_EACCESS), 0);
	assert_int_equal(faccessat(outside, "kept", F_OK, AT_EACCESS), 0);
	assert_int_equal(fchmodat(top, "task", 0777, 0), 0);
	close(outside);
	assert_int_equal(seteuid(user), 0);
}

// A task that goes on exchanging a folder for a link to what is not its own.
static void *exchange(void *unused)
{
	while (!stops) {
		(void)!mkdirat(top, "task/x", 0777);
		(void)!renameat(top, "task/x", top, "aside");
		(void)!symlinkat("../outside", top, "task/x");
		(void)!unlinkat(top, "task/x", 0);
		(void)!unlinkat(top, "aside", AT_REMOVEDIR);
	}
	return NULL;
}

static void an_exchange_meanwhile_leads_nowhere(void **unused)
{
	pthread_t thread;
	make("outside", 0700);
	int outside = folder_make(top, "outside", 0700);
	assert_int_equal(folder_write(outside, "kept", 0600, "x", 1), 0);
	stops = false;
	make("task", 0777);
	assert_int_equal(pthread_create(&thread, NULL, exchange, NULL), 0);
	for (int i = 0; i < 300; i++) {
		int fd = folder_make(top, "task/x", 0777);
		if (fd >= 0)
			close(fd);
		folder_remove(top, "task");
		fd = folder_make(top, "task", 0777);
		if (fd >= 0)
			close(fd);
	}
	stops = true;
	pthread_join(thread, NULL);
	assert_int_equal(faccessat(outside, "kept", F_OK, 0), 0);
	assert_int_equal(mode_of("outside"), 0700);
	close(outside);
}

static void what_cannot_be_made_or_written_is_said(void **unused)
{
	char path[100];
	snprintf(path, sizeof path, "%s/no/such", root);
	assert_int_equal(folder_open(path), -ENOENT);
	assert_int_equal(folder_write(top, "file", 0600, "x", 1), 0);
	snprintf(path, sizeof path, "%s/file", root);
	assert_int_equal(folder_open(path), -ENOTDIR);
	assert_int_equal(folder_make(top, "file/below", 0700), -ENOTDIR);
	make("gone", 0700);
	int gone = folder_find(top, "gone"), devices = open("/dev", O_RDONLY | O_CLOEXEC);
	assert_int_equal(unlinkat(top, "gone", AT_REMOVEDIR), 0);
	assert_int_equal(folder_make(gone, "below", 0700), -ENOENT);
	assert_int_equal(folder_write(gone, "file", 0600, "x", 1), -ENOENT);
	assert_int_equal(folder_write(devices, "full", 0600, "x", 1), -ENOSPC);
	assert_int_equal(folder_close_file(-1, 0), -EBADF);
	assert_int_equal(folder_close_file(-1, -ENOSPC), -ENOSPC);
	close(gone);
	close(devices);
}

// A folder that cannot be listed to its end, and a file in a folder's place.
static void what_is_left_is_said(void **unused)
{
	static struct log_capture log;

	make("full/below", 0700);
	assert_int_equal(folder_write(top, "file", 0600, "x", 1), 0);
	log_capture_begin(&log);
	listings_break = true;
	folder_remove(top, "full");
	listings_break = false;
	folder_remove(top, "file");
	folder_remove(top, "none");
	log_capture_end(&log);
	assert_int_equal(log_capture_count(&log, "folder-not-removed name=\"full\"",
				 "error=\"Input/output error\""),
		1);
	assert_int_equal(log_capture_count(&log, "folder-not-removed name=\"file\"",
				 "error=\"Not a directory\""),
		1);
	assert_int_equal(log_capture_count(&log, "folder-not-removed", ""), 2);
	assert_int_equal(mode_of("full/below"), 0700);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_is_left_is_said), // first, before so many lines that some are left out
		CASE(every_part_is_made),
		CASE(links_are_not_followed),
		CASE(all_is_removed_and_nothing_else),
		CASE(depth_does_not_matter),
		CASE(a_link_that_stays_is_not_followed),
		CASE(an_exchange_meanwhile_leads_nowhere),
		CASE(what_cannot_be_made_or_written_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
