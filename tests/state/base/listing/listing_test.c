#include "state/base/listing/listing.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static void its_end_is_no_error(void **unused)
{
	DIR *listing = opendir("/proc/self");
	uint32_t count = 0;
	int error = 0;
	assert_non_null(listing);
	errno = EIO; // of something before
	while (listing_next(listing, &error))
		count++;
	assert_true(count > 2);
	assert_int_equal(error, 0);
	assert_int_equal(closedir(listing), 0);
}

static void what_cannot_be_read_is_no_end(void **unused)
{
	DIR *listing = opendir("/proc/self");
	int error = 0, file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_non_null(listing);
	assert_true(file >= 0);
	assert_int_equal(dup2(file, dirfd(listing)), dirfd(listing)); // which has no entries
	assert_null(listing_next(listing, &error));
	assert_int_equal(error, -ENOTDIR);
	assert_int_equal(closedir(listing), 0);
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_end_is_no_error),
		cmocka_unit_test(what_cannot_be_read_is_no_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
