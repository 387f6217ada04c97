// A process behind the fence, in a child: it writes below its folder, and nowhere else.
#include "tools/agent/fetch/fence.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/landlock.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return remove(path);
}

static int make(int folder, const char *path)
{
	int fd = openat(folder, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	int error = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	return error;
}

// The number of what was wrong; 0: nothing.
static int try_behind_fence(int top, int inside, bool has_landlock)
{
	int outside = has_landlock ? EACCES : 0;
	int error = fence_below(inside);
	if (error == -EPERM) // within a container
		return 0;
	if (error)
		return 1;
	if (make(inside, "in") != 0 || renameat(inside, "in", inside, "other") < 0)
		return 2;
	if (mkdirat(inside, "d", 0755) < 0 || renameat(inside, "other", inside, "d/in") < 0)
		return 3;
	if (make(top, "new") != outside || make(top, "old") != outside)
		return 4;
	if (has_landlock && (unlinkat(top, "old", 0) == 0 || symlinkat("x", top, "link") == 0))
		return 5;
	// Without capabilities the superuser opens no file that its owner may not.
	if (openat(top, "closed", O_RDONLY | O_CLOEXEC) >= 0 && geteuid() == 0)
		return 6;
	return 0;
}

static void nothing_is_written_beyond_the_fence(void **unused)
{
	char folder[] = "/tmp/berth-fence-XXXXXX";
	bool has_landlock =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 1;
	int status;

	assert_non_null(mkdtemp(folder));
	int top = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(top, "inside", 0755), 0);
	int inside = openat(top, "inside", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(make(top, "old"), 0);
	assert_int_equal(make(top, "closed"), 0);
	assert_int_equal(fchmodat(top, "closed", 0, 0), 0);
	pid_t child = fork();
	if (child == 0)
		_exit(try_behind_fence(top, inside, has_landlock));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(inside);
	close(top);
	assert_int_equal(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_written_beyond_the_fence)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
