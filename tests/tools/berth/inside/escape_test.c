// What of the keys is for the other end.
#include "tools/berth/commands/inside/escape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// Types a text in pieces of every size; the same comes out.
static void expect_typed(char character, const char *typed, const char *wanted, bool wanted_leaves)
{
	size_t size = strlen(typed);
	for (size_t piece = 1; piece <= size; piece++) {
		struct escape e = {.character = character};
		uint8_t out[128], text[128] = {0};
		size_t count = 0;
		bool leaves = false;
		for (size_t at = 0; at < size && !leaves; at += piece) {
			size_t some = piece < size - at ? piece : size - at;
			size_t n =
				escape_filter(&e, (const uint8_t *)typed + at, some, out, &leaves);
			assert_true(n <= some + 1);
			memcpy(text + count, out, n);
			count += n;
		}
		assert_string_equal((const char *)text, wanted);
		assert_int_equal(leaves, wanted_leaves);
	}
}

static void the_other_end_gets_all_but_the_escape(void **unused)
{
	expect_typed('~', "ls ~. ~~\r", "ls ~. ~~\r", false);
	expect_typed('~', "~.", "", true);
	expect_typed('~', "ls\r~.x", "ls\r", true);
	expect_typed('~', "ls\n~.x", "ls\n", true);
	expect_typed('~', "~~.", "~.", false);
	expect_typed('~', "~x~.", "~x~.", false);
	expect_typed('~', "\r~/bin\r", "\r~/bin\r", false);
	expect_typed('~', "~\r~.", "~\r", true);
	expect_typed('%', "~.\r%.", "~.\r", true);
	expect_typed('\0', "~.\r~.", "~.\r~.", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_other_end_gets_all_but_the_escape),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
