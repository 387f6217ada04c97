#include "tools/json/duration.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void reads_what_people_write(void **unused)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{"0", 0},
		{"30s", 30000000000},
		{"2000ms", 2000000000},
		{"1h30m", 5400000000000},
		{"1.5s", 1500000000},
		{".5s", 500000000},
		{"5m0s", 300000000000},
		{"-10s", -10000000000},
		{"+1us", 1000},
		{"3\xc2\xb5s", 3000},
		{"7ns", 7},
		{"2562047h", 9223369200000000000},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int64_t ns = -1;
		assert_true(duration_parse(cases[i].text, &ns));
		assert_int_equal(ns, cases[i].ns);
	}
}

static void refuses_the_rest(void **unused)
{
	static const char *const cases[] = {"", "-", "30", "s", ".s", "1x", "1s2", "1 s", " 1s",
		"1s ", "2562048h", "99999999999999999999s", "1e3s", "0x1s", "--1s", "1h-1m"};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int64_t ns;
		if (duration_parse(cases[i], &ns))
			fail_msg("\"%s\" was taken for a duration", cases[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_people_write),
		cmocka_unit_test(refuses_the_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
