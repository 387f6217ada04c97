#include "tools/json/json_writer.h"
#include "tools/json/timestamp.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void texts_are_read_exactly(void **unused)
{
	static const struct {
		const char *text;
		int64_t unix_ns;
	} cases[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"0001-01-01T00:00:00Z", 0},
		{"1970-01-01T00:00:01Z", 1000000000},
		{"1969-12-31T23:59:59.5Z", -500000000},
		{"2026-11-21T01:43:55.639841329Z", 1795225435639841329},
		{"2026-11-21T01:43:55.6398413291111Z", 1795225435639841329},
		{"2026-11-21T03:13:55.639841329+01:30", 1795225435639841329},
		{"2026-11-20T23:43:55.639841329-02:00", 1795225435639841329},
		{"2024-02-29T00:00:00Z", 1709164800000000000},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int64_t unix_ns = -1;
		if (!timestamp_parse(cases[i].text, &unix_ns) || unix_ns != cases[i].unix_ns)
			fail_msg("%s: %ld", cases[i].text, unix_ns);
	}
}

static void other_texts_are_refused(void **unused)
{
	static const char *const texts[] = {
		"",
		"today",
		"2026",
		"2026-11-21",
		"2026-11-21T01:43:55",
		"2026-11-21 01:43:55Z",
		"2026-13-21T01:43:55Z",
		"2026-00-21T01:43:55Z",
		"2026-02-29T01:43:55Z",
		"2026-11-31T01:43:55Z",
		"2026-11-21T24:00:00Z",
		"2026-11-21T01:60:00Z",
		"2026-11-21T01:43:60Z",
		"2026-11-21T01:43:55.Z",
		"2026-11-21T01:43:55Zx",
		"2026-11-21T01:43:55+01",
		"2026-11-21T01:43:55+24:00",
		"1677-12-31T00:00:00Z",
		"2262-01-01T00:00:00Z",
	};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		int64_t unix_ns = 77;
		if (timestamp_parse(texts[i], &unix_ns) || unix_ns != 77)
			fail_msg("%s is taken for %ld", texts[i], unix_ns);
	}
}

static void what_is_written_is_read_back(void **unused)
{
	for (int64_t unix_ns = -5000000000123; unix_ns < 9000000000000000000 - 777777777777777777;
		unix_ns += 777777777777777) {
		struct json_writer w = {0};
		int64_t read = 0;
		json_write_time(&w, unix_ns);
		char *text = json_writer_take(&w);
		text[strlen(text) - 1] = '\0'; // the quotation marks
		assert_true(timestamp_parse(text + 1, &read));
		assert_true(read == unix_ns);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_read_exactly),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(what_is_written_is_read_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
