// Files that a command makes: never over one that is there, and never a part of one.
#include "tools/berth/cli/file.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/berth-file-XXXXXX", path[64];

static void what_is_there_stays(void **unused)
{
	char *text;
	size_t size;
	assert_int_equal(file_write_new(path, "first"), STATUS_OK);
	assert_int_equal(file_write_new(path, "second"), STATUS_FAILURE);
	assert_int_equal(file_read(path, &text, &size), STATUS_OK);
	assert_string_equal(text, "first");
	free(text);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(file_write_new("/no/such/folder/a", ""), STATUS_FAILURE);
}

static void a_part_does_not_stay(void **unused)
{
	struct rlimit before, little = {4, 4};
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	little.rlim_max = before.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	enum exit_status status = file_write_new(path, "more than four");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(status, STATUS_FAILURE);
	assert_int_equal(access(path, F_OK), -1);
}

static int begin(void **unused)
{
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/new", folder);
	return 0;
}

static int end(void **unused)
{
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there_stays),
		cmocka_unit_test(a_part_does_not_stay),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
