#include "tools/api/access/basic_scheme.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SECRET "3e598108-c537-4d83-a83f-246873ea858e"

static void expect(const char *header, const char *name, const char *secret)
{
	struct basic_credentials credentials;
	assert_true(basic_credentials_read(header, &credentials));
	assert_string_equal(credentials.name, name);
	assert_string_equal(credentials.secret, secret);
	basic_credentials_erase(&credentials);
	assert_string_equal(credentials.secret, "");
}

static void a_name_and_a_token(void **unused)
{
	expect("Basic Y2k6M2U1OTgxMDgtYzUzNy00ZDgzLWE4M2YtMjQ2ODczZWE4NThl", "ci", SECRET);
	expect("bAsIc YTpi", "a", "b");
	expect("Basic YTpiOmM=", "a", "b:c");
	expect("Basic Og==", "", "");
	expect("Basic YQ==", "a", "");
}

static void what_is_none_shows_nothing(void **unused)
{
	// The last has a NUL in the name.
	static const char *const headers[] = {
		"Basic ", "Basic *", "Basic YTp", "Basic YTpi YTpi", "Basic YQA6Yg=="};
	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
		expect(headers[i], "", "");
}

static void other_schemes_are_not_read(void **unused)
{
	struct basic_credentials credentials;
	assert_false(basic_credentials_read(NULL, &credentials));
	assert_false(basic_credentials_read("", &credentials));
	assert_false(basic_credentials_read("Basic", &credentials));
	assert_false(basic_credentials_read("Bearer YTpi", &credentials));
}

// Any size of what is encoded is read or passed over, and never written beyond its place.
static void what_is_too_long_shows_nothing(void **unused)
{
	char header[2048] = "Basic ";
	for (size_t size = 4; size + 8 < sizeof header; size += 4) {
		struct basic_credentials credentials;
		memset(header + 6, 'Y', size);
		header[6 + size] = '\0';
		assert_true(basic_credentials_read(header, &credentials));
		assert_true(strlen(credentials.name) < sizeof credentials.name);
		assert_string_equal(credentials.secret, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_and_a_token),
		cmocka_unit_test(what_is_none_shows_nothing),
		cmocka_unit_test(other_schemes_are_not_read),
		cmocka_unit_test(what_is_too_long_shows_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
