// Lists of ports and cores as people write them.
#include "state/base/number_ranges.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void ranges_come_in_order(void **unused)
{
	struct text list = TEXT("22,80-81,65535");
	struct number_range range;

	assert_true(number_ranges_next(&list, 65535, &range));
	assert_true(range.least == 22 && range.most == 22);
	assert_true(number_ranges_next(&list, 65535, &range));
	assert_true(range.least == 80 && range.most == 81);
	assert_true(number_ranges_next(&list, 65535, &range));
	assert_true(range.least == 65535 && range.most == 65535);
	assert_int_equal(list.size, 0);
	assert_false(number_ranges_next(&list, 65535, &range));
}

static void what_is_no_list_is_refused(void **unused)
{
	static const char *const good[] = {"", "0", "1-1", "0-65535", "1,2,3", "007"};
	static const char *const bad[] = {",", "1,", ",1", "1,,2", "-", "1-", "-1", "2-1", "1-2-3",
		"a", "1 ", " 1", "65536", "1-65536", "99999999999999999999", "0x1"};

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_true(number_ranges_are_sound(text_of(good[i]), 65535));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(number_ranges_are_sound(text_of(bad[i]), 65535));
}

static void a_number_is_digits(void **unused)
{
	uint32_t number = 0;

	assert_true(number_read(TEXT("4294967295"), UINT32_MAX, &number));
	assert_int_equal(number, UINT32_MAX);
	assert_false(number_read(TEXT("4294967296"), UINT32_MAX, &number));
	assert_false(number_read(TEXT(""), UINT32_MAX, &number));
	assert_false(number_read(TEXT("+1"), UINT32_MAX, &number));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_come_in_order),
		cmocka_unit_test(what_is_no_list_is_refused),
		cmocka_unit_test(a_number_is_digits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
