#include "state/base/error.h"
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void every_own_error_has_its_own_words(void **unused)
{
	for (int e = ERROR_CORRUPT; e <= ERROR_NO_REFRESH; e++) {
		assert_string_not_equal(error_text(-e), "unknown error");
		for (int other = ERROR_CORRUPT; other < e; other++)
			assert_string_not_equal(error_text(-e), error_text(-other));
	}
}

static void system_errors_use_the_words_of_the_system(void **unused)
{
	assert_string_equal(error_text(-ENOSPC), "No space left on device");
	assert_string_equal(error_text(ENOSPC), "No space left on device");
}

static void anything_else_is_unknown(void **unused)
{
	assert_string_equal(error_text(-100000), "unknown error");
	assert_string_equal(error_text(INT_MIN), "unknown error");
	assert_string_equal(error_text(-(ERROR_NO_REFRESH + 1)), "unknown error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_own_error_has_its_own_words),
		cmocka_unit_test(system_errors_use_the_words_of_the_system),
		cmocka_unit_test(anything_else_is_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
