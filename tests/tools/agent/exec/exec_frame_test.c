// Messages of a command inside a task, as recorded and as nobody should send them.
#include "state/base/base64.h"
#include "tools/agent/exec/exec_frame.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint8_t data[1024];

static bool read_text(const char *text, struct exec_input *in)
{
	return exec_input_read(text, strlen(text), data, in);
}

static void what_a_client_says(void **unused)
{
	struct exec_input in;
	assert_true(read_text("{\"version\":1,\"auth_token\":\"\"}", &in));
	assert_int_equal(in.version, 1);
	assert_true(read_text("{\"stdin\":{\"data\":\"YWJjCg==\"}}", &in));
	assert_int_equal(in.size, 4);
	assert_memory_equal(in.data, "abc\n", 4);
	assert_false(in.closes || in.has_size || in.version);
	assert_true(read_text("{\"stdin\":{\"close\":true}}", &in));
	assert_true(in.closes && in.size == 0);
	assert_true(read_text("{\"stdin\":{\"data\":null,\"close\":false}}", &in));
	assert_false(in.closes);
	assert_true(read_text("{\"tty_size\":{\"height\":50,\"width\":132}}", &in));
	assert_true(in.has_size && in.rows == 50 && in.columns == 132);
	assert_true(read_text("{\"tty_size\":{\"height\":-1,\"width\":70000}}", &in));
	assert_true(in.has_size && in.rows == 0 && in.columns == UINT16_MAX);
	assert_true(read_text("{}", &in));
	assert_true(read_text("{\"foo\":1}", &in));
	assert_false(in.closes || in.has_size || in.size);
}

static void what_means_nothing(void **unused)
{
	struct exec_input in;
	assert_false(read_text("not json", &in));
	assert_false(read_text("[]", &in));
	assert_false(read_text("", &in));
	assert_false(read_text("{\"stdin\":{\"data\":\"YW\"}}", &in));
	assert_true(read_text("{\"stdin\":7,\"tty_size\":[],\"version\":\"1\"}", &in));
	assert_false(in.closes || in.has_size || in.size || in.version);
}

static void what_an_agent_says(void **unused)
{
	char text[EXEC_FRAME_BYTES + 1];
	text[exec_output_write(text, EXEC_STDOUT, "hi\n", 3)] = '\0';
	assert_string_equal(text, "{\"stdout\":{\"data\":\"aGkK\"}}");
	text[exec_output_write(text, EXEC_STDERR, "", 0)] = '\0';
	assert_string_equal(text, "{\"stderr\":{\"data\":\"\"}}");
	text[exec_output_close_write(text, EXEC_STDERR)] = '\0';
	assert_string_equal(text, "{\"stderr\":{\"close\":true}}");
	text[exec_end_write(text, 0)] = '\0';
	assert_string_equal(text, "{\"exited\":true,\"result\":{}}");
	text[exec_end_write(text, 137)] = '\0';
	assert_string_equal(text, "{\"exited\":true,\"result\":{\"exit_code\":137}}");
	uint8_t full[EXEC_OUTPUT_BYTES] = {0};
	assert_true(exec_output_write(text, EXEC_STDERR, full, sizeof full) <= EXEC_FRAME_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_client_says),
		cmocka_unit_test(what_means_nothing),
		cmocka_unit_test(what_an_agent_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
