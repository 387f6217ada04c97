// The table of options that agent and fleet have.
#include "tools/options/flags.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct target {
	const char *text;
	uint32_t number;
	bool is_on;
	struct flag_list list;
} target;

#define AT(field) offsetof(struct target, field)
static const struct flag table[] = {
	{"text", "WORD", FLAG_TEXT, AT(text), "a text"},
	{"number", "N", FLAG_U32, AT(number), "a number"},
	{"number-two", "N", FLAG_U32, AT(number), "the same"},
	{"on", NULL, FLAG_SWITCH, AT(is_on), "a switch"},
	{"item", "WORD", FLAG_LIST, AT(list), "one of several"},
};
static const struct flags flags = {"program", "PROGRAM_", "usage", "", table, 5};

#define READ(...) read_words((const char *[]){"program", __VA_ARGS__, NULL})

static enum flags_result read_words(const char **words)
{
	int count = 0;
	while (words[count])
		count++;
	target = (struct target){0};
	return flags_read(&flags, count, (char **)words, &target);
}

static void options_may_be_shortened(void **unused)
{
	assert_int_equal(READ("--te", "a", "--item=1", "--i", "2", "--on"), FLAGS_READ);
	assert_string_equal(target.text, "a");
	assert_int_equal(target.list.count, 2);
	assert_true(target.is_on);
	assert_int_equal(READ("--number", "7"), FLAGS_READ); // not the beginning of the other
	assert_int_equal(target.number, 7);
	assert_int_equal(READ("--num", "7"), FLAGS_WRONG);
}

static void mistakes_are_refused(void **unused)
{
	assert_int_equal(READ("--other"), FLAGS_WRONG);
	assert_int_equal(READ("--text"), FLAGS_WRONG);
	assert_int_equal(READ("--on=1"), FLAGS_WRONG);
	assert_int_equal(READ("-x"), FLAGS_WRONG);
	assert_int_equal(READ("word", "--on"), FLAGS_WRONG);
	assert_int_equal(READ("--number", "4294967296"), FLAGS_WRONG);
	assert_int_equal(READ("--", "--on"), FLAGS_WRONG); // an argument
	assert_int_equal(READ("--on", "--"), FLAGS_READ);
}

static void help_and_version_end_it(void **unused)
{
	assert_int_equal(READ("--help", "--other"), FLAGS_DONE);
	assert_int_equal(READ("-h"), FLAGS_DONE);
	assert_int_equal(READ("-V"), FLAGS_DONE);
	assert_int_equal(READ("--vers"), FLAGS_DONE);
}

static void the_command_line_wins_over_the_environment(void **unused)
{
	setenv("PROGRAM_NUMBER_TWO", "5", 1);
	assert_int_equal(READ("--on"), FLAGS_READ);
	assert_int_equal(target.number, 5);
	assert_int_equal(READ("--number-two", "6"), FLAGS_READ);
	assert_int_equal(target.number, 6);
	unsetenv("PROGRAM_NUMBER_TWO");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_may_be_shortened),
		cmocka_unit_test(mistakes_are_refused),
		cmocka_unit_test(help_and_version_end_it),
		cmocka_unit_test(the_command_line_wins_over_the_environment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
