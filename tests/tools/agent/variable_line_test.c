// A variable is asked for over the line to the controller.
#include "tools/agent/variable_line.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void without_a_line_nobody_is_asked(void **unused)
{
	struct line *none = NULL;
	const struct variable_question question = {.target = "/v1/var/a"};
	struct variable_answer answer;
	char message[100];

	assert_int_equal(
		variable_line_ask(&none, &question, &answer, message, sizeof message), -ENOTCONN);
	assert_string_equal(message, "the line to the controller is not there yet");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_line_nobody_is_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
