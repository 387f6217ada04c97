#include "placement/constraint/version.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static void versions_are_read(void **state)
{
	static const struct {
		const char *text;
		bool loose, semver;
	} rows[] = {
		{"1", true, true}, {"1.2.3", true, true}, {"v1.2.3", true, true},
		{"1.2.3.4.5", true, true}, {"1.2.3-rc1", true, true},
		{"1.2.3-rc.1+build.7", true, true}, {"1.2.3+build", true, true},
		{"1.2rc1", true, false}, {"1.2.3-", true, false}, {"1.2.3--x", true, true},
		{"1.2.3-1.2", true, true}, {"", false, false}, {"v", false, false},
		{"a.b", false, false}, {"1..2", false, false}, {"1.", false, false},
		{" 1", false, false}, {"1.2.3-rc..1", false, false}, {"1.2.3+", false, false},
		{"99999999999999999999", false, false},
		{"1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1", true, true},
		{"1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1", false, false}, // more parts than Berth reads
	};
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct version v;
		if (version_parse(text_of(rows[i].text), VERSION_LOOSE, &v) != rows[i].loose)
			fail_msg("loose \"%s\"", rows[i].text);
		if (version_parse(text_of(rows[i].text), VERSION_SEMVER, &v) != rows[i].semver)
			fail_msg("semver \"%s\"", rows[i].text);
	}
}

static struct version read_version(const char *text)
{
	struct version v;
	assert_true(version_parse(text_of(text), VERSION_LOOSE, &v));
	return v;
}

static void versions_are_ordered(void **state)
{
	// Each is below the next.
	static const char *const ascending[] = {"0.9", "1.0.0-alpha", "1.0.0-alpha.1",
		"1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2", "1.10",
		"1.10.0.1", "2"};
	for (uint32_t i = 0; i < COUNT(ascending); i++)
		for (uint32_t j = 0; j < COUNT(ascending); j++) {
			// In the order followed here, one identifier less is above a word.
			if (i == 1 && j == 2)
				continue;
			struct version a = read_version(ascending[i]),
				       b = read_version(ascending[j]);
			int order = version_compare(&a, &b);
			if ((order < 0) != (i < j) || (order > 0) != (i > j))
				fail_msg("%s against %s: %d", ascending[i], ascending[j], order);
		}
	static const char *const equal[][2] = {
		{"1", "1.0"}, {"1.0.0", "v1"}, {"1.2.3+a", "1.2.3+b"}, {"1.0.0.0", "1"}};
	for (uint32_t i = 0; i < COUNT(equal); i++) {
		struct version a = read_version(equal[i][0]), b = read_version(equal[i][1]);
		assert_int_equal(version_compare(&a, &b), 0);
	}
}

static void conditions_hold(void **state)
{
	static const struct {
		const char *version, *list;
		bool loose, semver;
	} rows[] = {
		{"1.2.3", "1.2.3", true, true},
		{"1.2.3", "= 1.2.3", true, true},
		{"1.2.3", "!= 1.2.3", false, false},
		{"1.2.3", ">= 1.0, < 1.4", true, true},
		{"1.4.0", ">= 1.0, < 1.4", false, false},
		{"1.2.3", ">1.2,<=1.2.3", true, true},
		{"1.2.3", "  >=  1.2.3  ", true, true},
		// Pre-releases: semver orders them; loose versions only beside a pre-release of the same version.
		{"1.7.0-rc1", ">= 1.6", false, true},
		{"1.7.0-rc2", ">= 1.7.0-rc1", true, true},
		{"1.8.0-rc2", ">= 1.7.0-rc1", false, true},
		{"1.7.0", ">= 1.7.0-rc1", true, true},
		{"1.7.0-rc1", "< 1.7.0", false, true},
		{"1.7.0-rc1", "!= 1.7.0", true, true},
		// A text that is no version matches nothing.
		{"linux", ">= 0", false, false},
		{"1.2rc1", "1.2rc1", true, false},
	};
	for (uint32_t i = 0; i < COUNT(rows); i++)
		for (enum version_dialect d = VERSION_LOOSE; d <= VERSION_SEMVER; d++) {
			struct constraint_error error;
			struct version_conditions *c =
				version_conditions_parse(rows[i].list, d, &error);
			bool holds = c && version_satisfies(c, rows[i].version);
			if (holds != (d == VERSION_LOOSE ? rows[i].loose : rows[i].semver))
				fail_msg("\"%s\" %s \"%s\"", rows[i].version,
					d == VERSION_LOOSE ? "loose" : "semver", rows[i].list);
			version_conditions_free(c);
		}
}

static void about_keeps_all_but_the_last_segment(void **state)
{
	static const struct {
		const char *version, *list;
		bool holds;
	} rows[] = {
		{"1.1", "~> 1.1", true},
		{"1.9.7", "~> 1.1", true},
		{"2.0", "~> 1.1", false},
		{"1.0", "~> 1.1", false},
		{"1.1.5", "~> 1.1.3", true},
		{"1.2", "~> 1.1.3", false},
		{"7", "~> 1", true},
		{"1.1.3", "~> 1.1.3.4", false},
		{"1.1.3.9", "~> 1.1.3.4", true},
		{"1.1.0-beta", "~> 1.1", false},
		{"1.1.0-beta", "~> 1.1.0-alpha", true},
		{"1.1.0", "~> 1.1.0-alpha", false},
	};
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct constraint_error error;
		struct version_conditions *c =
			version_conditions_parse(rows[i].list, VERSION_LOOSE, &error);
		assert_non_null(c);
		if (version_satisfies(c, rows[i].version) != rows[i].holds)
			fail_msg("\"%s\" \"%s\"", rows[i].version, rows[i].list);
		version_conditions_free(c);
	}
}

static void malformed_conditions_are_refused(void **state)
{
	static const char *const lists[] = {
		"", ",", "1.2,", ">", "=> 1", ">= x", "1 2", "~> 1.x", "< 1,, > 2"};
	for (uint32_t i = 0; i < COUNT(lists); i++) {
		struct constraint_error error = {""};
		assert_null(version_conditions_parse(lists[i], VERSION_LOOSE, &error));
		assert_non_null(strstr(error.text, "malformed version condition"));
	}
	struct constraint_error error = {""};
	assert_null(version_conditions_parse("~> 1.1", VERSION_SEMVER, &error));
	assert_non_null(strstr(error.text, "malformed semver condition \"~> 1.1\""));
	char many[81];
	for (uint32_t i = 0; i < 80; i += 2)
		memcpy(many + i, "1,", 2);
	many[79] = 0;
	assert_null(version_conditions_parse(many, VERSION_LOOSE, &error));
	assert_non_null(strstr(error.text, "more than 32 version conditions"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_read),
		cmocka_unit_test(versions_are_ordered),
		cmocka_unit_test(conditions_hold),
		cmocka_unit_test(about_keeps_all_but_the_last_segment),
		cmocka_unit_test(malformed_conditions_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
