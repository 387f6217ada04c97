#include "tools/options/option_scan.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// "value" takes one, "switch" does not.
static enum option_event find_option(
	const void *context, const char *name, size_t size, struct option_match *match)
{
	assert_ptr_equal(context, find_option);
	if (size == 5 && strncmp(name, "value", size) == 0)
		*match = (struct option_match){1, true};
	else if (size == 6 && strncmp(name, "switch", size) == 0)
		*match = (struct option_match){2, false};
	else
		return size == 1 && *name == 'v' ? OPTION_AMBIGUOUS : OPTION_UNKNOWN;
	return OPTION_GIVEN;
}

static struct option_syntax syntax;
static struct option_scan scan;

static void begin(const char *const *words)
{
	syntax = (struct option_syntax){.find = find_option, .context = (const void *)find_option};
	scan = (struct option_scan){.next = words};
}

static void expect(enum option_event event, const char *word, const char *value)
{
	assert_int_equal(option_next(&scan, &syntax), event);
	assert_string_equal(scan.word, word);
	if (value)
		assert_string_equal(scan.value, value);
	else
		assert_null(scan.value);
}

static void options_stand_between_arguments(void **unused)
{
	begin((const char *const[]){"a", "--value", "1", "--switch", "--value=2", "-", "b", NULL});
	expect(OPTION_ARGUMENT, "a", NULL);
	expect(OPTION_GIVEN, "--value", "1");
	assert_int_equal(scan.number, 1);
	expect(OPTION_GIVEN, "--switch", NULL);
	assert_int_equal(scan.number, 2);
	expect(OPTION_GIVEN, "--value=2", "2");
	expect(OPTION_ARGUMENT, "-", NULL);
	expect(OPTION_ARGUMENT, "b", NULL);
	assert_int_equal(option_next(&scan, &syntax), OPTION_END);
	assert_int_equal(option_next(&scan, &syntax), OPTION_END);
}

static void mistakes_are_told_apart(void **unused)
{
	begin((const char *const[]){"--other=3", "--v", "--switch=1", "-x", "--", "--value", NULL});
	expect(OPTION_UNKNOWN, "--other=3", "3");
	expect(OPTION_AMBIGUOUS, "--v", NULL);
	expect(OPTION_TAKES_NONE, "--switch=1", "1");
	expect(OPTION_OF_ONE_DASH, "-x", NULL);
	expect(OPTION_UNKNOWN, "--", NULL);
	expect(OPTION_NEEDS_VALUE, "--value", NULL);
	assert_int_equal(option_next(&scan, &syntax), OPTION_END);
}

static void a_program_may_allow_one_dash_and_end_its_options(void **unused)
{
	begin((const char *const[]){"-value", "--switch", "-switch", "--", "--switch", "--", NULL});
	syntax.has_one_dash = syntax.ends_with_dashes = true;
	expect(OPTION_GIVEN, "-value", "--switch");
	expect(OPTION_GIVEN, "-switch", NULL);
	expect(OPTION_ARGUMENT, "--switch", NULL);
	expect(OPTION_ARGUMENT, "--", NULL);
	assert_int_equal(option_next(&scan, &syntax), OPTION_END);
}

static void options_may_end_at_an_argument(void **unused)
{
	begin((const char *const[]){"--switch", "x", "--switch", "--", NULL});
	syntax.ends_at_argument = true;
	expect(OPTION_GIVEN, "--switch", NULL);
	expect(OPTION_ARGUMENT, "x", NULL);
	expect(OPTION_ARGUMENT, "--switch", NULL);
	expect(OPTION_ARGUMENT, "--", NULL);
	assert_int_equal(option_next(&scan, &syntax), OPTION_END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_stand_between_arguments),
		cmocka_unit_test(mistakes_are_told_apart),
		cmocka_unit_test(a_program_may_allow_one_dash_and_end_its_options),
		cmocka_unit_test(options_may_end_at_an_argument),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
