#include "tools/berth/cli/flags.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct flags flags;
static char message[256];

#define READ(allowed, ...)                                                 \
	(memset(&flags, 0, sizeof flags),                                  \
		words = (const char *[]){__VA_ARGS__ __VA_OPT__(, ) NULL}, \
		flags_read(&flags, words, allowed, message, sizeof message))

static const char **words;

static void flags_stand_anywhere(void **unused)
{
	assert_int_equal(READ("count", "a", "-count", "3", "b", "--json", "-namespace=x", "c"), 3);
	assert_string_equal(words[0], "a");
	assert_string_equal(words[2], "c");
	assert_null(words[3]);
	assert_string_equal(flags.values[FLAG_COUNT], "3");
	assert_string_equal(flags.values[FLAG_NAMESPACE], "x");
	assert_true(flag_given(&flags, FLAG_JSON));
	assert_false(flag_given(&flags, FLAG_HELP));
	assert_int_equal(READ("", "--", "--json", "-x"), 2);
	assert_false(flag_given(&flags, FLAG_JSON));
	assert_int_equal(READ("", "-"), 1);
}

// Whose values are no words of a command, of all flags that there are.
static void words_are_found_between_flags(void **unused)
{
	uint32_t places[3];
	const char *line[] = {
		"--json", "node", "-o", "wide", "--count=3", "list", "--", "--x", NULL};
	assert_int_equal(flags_find_words(line, places, 3), 3);
	assert_int_equal(places[0], 1);
	assert_int_equal(places[1], 5);
	assert_int_equal(places[2], 7);
	assert_int_equal(flags_find_words(line, places, 1), 1);
	const char *unknown[] = {"--nosuch", "node", NULL};
	assert_int_equal(flags_find_words(unknown, places, 3), 1);
	assert_int_equal(places[0], 1);
}

static void wrong_flags_are_named(void **unused)
{
	assert_int_equal(READ("", "--count", "3"), -1);
	assert_string_equal(message, "unknown flag --count");
	assert_int_equal(READ("count", "--count"), -1);
	assert_string_equal(message, "--count needs a value: N");
	assert_int_equal(READ("", "--json=1"), -1);
	assert_string_equal(message, "--json takes no value");
	assert_int_equal(READ("", "---"), -1);
}

static void a_flag_without_a_value_may_be_refused(void **unused)
{
	assert_int_equal(READ("tty", "--tty=true", "-json=true"), 0);
	assert_true(flag_given(&flags, FLAG_TTY) && flag_given(&flags, FLAG_JSON));
	assert_false(flag_is_refused(&flags, FLAG_TTY));
	assert_int_equal(READ("tty", "-t", "-t=false"), 0);
	assert_true(flag_is_refused(&flags, FLAG_TTY));
	assert_false(flag_given(&flags, FLAG_TTY));
	assert_int_equal(READ("tty", "-t=false", "-t"), 0);
	assert_true(flag_given(&flags, FLAG_TTY) && !flag_is_refused(&flags, FLAG_TTY));
	assert_int_equal(READ("tty", "x"), 1);
	assert_false(flag_given(&flags, FLAG_TTY) || flag_is_refused(&flags, FLAG_TTY));
	assert_int_equal(READ("tty", "--tty="), -1);
}

static void defaults_come_from_the_environment(void **unused)
{
	unsetenv("BERTH_ADDR");
	unsetenv("NOMAD_ADDR");
	READ("", "x");
	assert_string_equal(flags.values[FLAG_ADDRESS], "http://127.0.0.1:4646");
	setenv("NOMAD_ADDR", "http://n", 1);
	READ("", "x");
	assert_string_equal(flags.values[FLAG_ADDRESS], "http://n");
	setenv("BERTH_ADDR", "http://b", 1);
	READ("", "x");
	assert_string_equal(flags.values[FLAG_ADDRESS], "http://b");
	READ("", "--address", "http://f");
	assert_string_equal(flags.values[FLAG_ADDRESS], "http://f");
	assert_null(flags.values[FLAG_COUNT]);
}

static void a_token_may_come_from_the_environment(void **unused)
{
	unsetenv("BERTH_TOKEN");
	unsetenv("NOMAD_TOKEN");
	READ("", "x");
	assert_null(flags.values[FLAG_TOKEN]);
	setenv("NOMAD_TOKEN", "n", 1);
	READ("", "x");
	assert_string_equal(flags.values[FLAG_TOKEN], "n");
	setenv("BERTH_TOKEN", "b", 1);
	READ("", "x");
	assert_string_equal(flags.values[FLAG_TOKEN], "b");
	READ("", "-token=f");
	assert_string_equal(flags.values[FLAG_TOKEN], "f");
}

static void a_switch_may_come_from_the_environment(void **unused)
{
	static const char *const no[] = {"", "0", "false", "no", "yes", "2"};
	static const char *const yes[] = {"1", "t", "T", "true", "TRUE", "True"};
	unsetenv("BERTH_SKIP_VERIFY");
	unsetenv("NOMAD_SKIP_VERIFY");
	READ("", "x");
	assert_false(flag_given(&flags, FLAG_TLS_SKIP_VERIFY));
	for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
		setenv("NOMAD_SKIP_VERIFY", no[i], 1);
		READ("", "x");
		assert_false(flag_given(&flags, FLAG_TLS_SKIP_VERIFY));
	}
	for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
		setenv("NOMAD_SKIP_VERIFY", yes[i], 1);
		READ("", "x");
		assert_true(flag_given(&flags, FLAG_TLS_SKIP_VERIFY));
	}
	// Berth's own variable goes before.
	setenv("BERTH_SKIP_VERIFY", "false", 1);
	READ("", "x");
	assert_false(flag_given(&flags, FLAG_TLS_SKIP_VERIFY));
}

static void numbers_have_bounds(void **unused)
{
	static const char *const wrong[] = {
		"", "x", "-1", "+1", " 1", "1x", "0", "33", "99999999999999999999"};
	uint64_t number = 7;
	assert_int_equal(READ("count"), 0);
	assert_true(flag_number(&flags, FLAG_COUNT, 1, 32, &number, message, sizeof message));
	assert_int_equal(number, 1); // its default
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		READ("count", "--count", wrong[i]);
		assert_false(
			flag_number(&flags, FLAG_COUNT, 1, 32, &number, message, sizeof message));
	}
	READ("count", "--count", "32");
	assert_true(flag_number(&flags, FLAG_COUNT, 1, 32, &number, message, sizeof message));
	assert_int_equal(number, 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_stand_anywhere),
		cmocka_unit_test(words_are_found_between_flags),
		cmocka_unit_test(wrong_flags_are_named),
		cmocka_unit_test(a_flag_without_a_value_may_be_refused),
		cmocka_unit_test(defaults_come_from_the_environment),
		cmocka_unit_test(a_token_may_come_from_the_environment),
		cmocka_unit_test(a_switch_may_come_from_the_environment),
		cmocka_unit_test(numbers_have_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
