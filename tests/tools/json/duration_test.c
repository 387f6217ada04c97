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

static void writes_what_nomad_writes(void **unused)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{0, "0s"},
		{1, "1ns"},
		{999, "999ns"},
		{1000, "1\xc2\xb5s"},
		{1500, "1.5\xc2\xb5s"},
		{1000000, "1ms"},
		{250000000, "250ms"},
		{1000000000, "1s"},
		{1500000000, "1.5s"},
		{1000000001, "1.000000001s"},
		{60000000000, "1m0s"},
		{3600000000000, "1h0m0s"},
		{-3600000000000, "-1h0m0s"},
		{35996400000000000, "9999h0m0s"},
		{98095630610683596, "27248h47m10.610683596s"},
		{INT64_MAX, "2562047h47m16.854775807s"},
		{INT64_MIN, "-2562047h47m16.854775808s"},
	};
	char text[DURATION_TEXT_BYTES];
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int64_t ns = -1;
		assert_string_equal(duration_format(cases[i].ns, text), cases[i].text);
		if (cases[i].ns > INT64_MIN && cases[i].ns < INT64_MAX) {
			assert_true(duration_parse(text, &ns));
			assert_true(ns >= cases[i].ns - 1 && ns <= cases[i].ns + 1);
		}
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
		cmocka_unit_test(writes_what_nomad_writes),
		cmocka_unit_test(refuses_the_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
