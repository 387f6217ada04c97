// Files that templates write in an allocation's folder.
#include "tools/agent/base/folders.h"
#include "tools/agent/prepare/inner_path.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static uint32_t count_entries(const char *path)
{
	uint32_t count = 0;
	DIR *listing = opendir(path);
	assert_non_null(listing);
	while (readdir(listing))
		count++;
	closedir(listing);
	return count - 2; // itself, and its parent
}

// Files may have no more than a byte: the old one is what it was, and no part of the new one is there.
static void a_file_that_does_not_fit_leaves_the_old_one(void **unused)
{
	char folder[] = "/tmp/berth-inner-XXXXXX", message[100], text[10] = "";
	const struct inner_file file = {"file", 0600, -1, -1};
	struct bytes_writer w = bytes_writer_over((uint8_t *)text, sizeof text - 1);
	struct rlimit whole, few;

	assert_non_null(mkdtemp(folder));
	int top = folder_open(folder);
	assert_int_equal(inner_write(top, &file, "old", 3), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &whole), 0);
	few = (struct rlimit){1, whole.rlim_max};
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	int error = inner_write(top, &file, "young", 5);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &whole), 0);
	assert_int_equal(error, -EFBIG);
	assert_true(inner_read(top, "file", 100, &w, message, sizeof message));
	assert_string_equal(text, "old");
	assert_int_equal(count_entries(folder), 1);
	folder_remove(AT_FDCWD, folder);
	close(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_does_not_fit_leaves_the_old_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
