#include "state/base/base64.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void what_is_encoded_is_read(void **unused)
{
	// RFC 4648, section 10.
	static const struct {
		const char *text, *bytes;
	} cases[] = {{"", ""}, {"Zg==", "f"}, {"Zm8=", "fo"}, {"Zm9v", "foo"}, {"Zm9vYg==", "foob"},
		{"Zm9vYmE=", "fooba"}, {"Zm9vYmFy", "foobar"}, {"+/+/", "\xfb\xff\xbf"}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint8_t bytes[16];
		size_t size;
		assert_true(base64_decode(cases[i].text, strlen(cases[i].text), bytes, &size));
		assert_int_equal(size, strlen(cases[i].bytes));
		assert_memory_equal(bytes, cases[i].bytes, size);
		char *text = base64_encode(text_of(cases[i].bytes));
		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

static void what_is_broken_is_refused(void **unused)
{
	static const char *const cases[] = {"Z", "Zg",
		"Zg=", "Zh==", "Zm9=", "====", "Zm9v====", "Z===", "Zm=v", "Zm9 ", "Zm9\xc3"};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint8_t bytes[16];
		size_t size;
		if (base64_decode(cases[i], strlen(cases[i]), bytes, &size))
			fail_msg("\"%s\" was read", cases[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_encoded_is_read),
		cmocka_unit_test(what_is_broken_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
