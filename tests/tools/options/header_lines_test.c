#include "tools/options/header_lines.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void expect_next(struct text *lines, const char *name, const char *value)
{
	struct text n, v;
	assert_true(header_lines_next(lines, &n, &v));
	assert_true(text_equal(n, text_of(name)));
	assert_true(text_equal(v, text_of(value)));
}

static void lines_are_names_and_values(void **unused)
{
	struct text n, v;
	struct text lines = TEXT("\n  A:b \n\nCache-Control:\tno-store, max-age=0\nx\ny: a:b");
	expect_next(&lines, "A", "b");
	expect_next(&lines, "Cache-Control", "no-store, max-age=0");
	expect_next(&lines, "x", "");
	expect_next(&lines, "y", "a:b");
	assert_false(header_lines_next(&lines, &n, &v));
	lines = text_of(NULL);
	assert_false(header_lines_next(&lines, &n, &v));
}

static void what_no_answer_may_have_is_said(void **unused)
{
	static const struct {
		const char *lines, *complaint;
	} rows[] = {
		{"", ""},
		{"A: b\nX-Frame-Options: DENY\nX-Nomads: x\nDates: x", ""},
		{"A: \xc3\xa9", ""},
		{"A b: c", "\"A b\" is no name of a header"},
		{"A : c", "\"A \" is no name of a header"},
		{": c", "\"\" is no name of a header"},
		{"A\x01: c", "is no name of a header"},
		{"A\xc3\xa9: c", "is no name of a header"},
		{"A", "\"A\" has no value, or"},
		{"A: ", "\"A\" has no value, or"},
		{"A: b\rC: d", "\"A\" has no value, or one with characters that no header has"},
		{"A: b\tc", "\"A\" has no value, or one with"},
		{"A: b\x7f", "\"A\" has no value, or one with"},
		{"A: b\nB: c\na: d", "\"A\" is there more than once"},
		{"content-type: text/html", "\"content-type\" is said by the server itself"},
		{"Content-Length: 0", "is said by the server itself"},
		{"X-Nomad-Index: 7", "is said by the server itself"},
		{"X-Berth-Not-Leader: true", "is said by the server itself"},
		{"Sec-WebSocket-Accept: x", "is said by the server itself"},
		{"Access-Control-Allow-Origin: *",
			"itself; http.origins names sites that may read"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char message[256] = "";
		bool is_sound = header_lines_are_sound(rows[i].lines, message, sizeof message);
		if (is_sound != !*rows[i].complaint || !strstr(message, rows[i].complaint))
			fail_msg("\"%s\": \"%s\"", rows[i].lines, message);
	}
}

static void they_are_not_too_many(void **unused)
{
	char lines[HEADER_LINES_BYTES], message[256];
	int size = 0;
	for (unsigned i = 0; i < HEADER_LINES_MAX; i++)
		size += snprintf(lines + size, sizeof lines - (size_t)size, "A%u: b\n", i);
	assert_true(header_lines_are_sound(lines, message, sizeof message));
	snprintf(lines + size, sizeof lines - (size_t)size, "B: b\n");
	assert_false(header_lines_are_sound(lines, message, sizeof message));
	assert_string_equal(message, "has more than 32 headers");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_names_and_values),
		cmocka_unit_test(what_no_answer_may_have_is_said),
		cmocka_unit_test(they_are_not_too_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
