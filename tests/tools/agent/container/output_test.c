// What a container writes, cut anywhere, and once more from the beginning.
#include "tools/agent/container/container_output.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char stream[] =
	"\1\0\0\0\0\0\0\3one\2\0\0\0\0\0\0\4fail\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\3two";
#define SIZE (sizeof stream - 1)

static int pipes[2][2];

static int open_pipes(void **unused)
{
	return pipe2(pipes[0], O_CLOEXEC | O_NONBLOCK) | pipe2(pipes[1], O_CLOEXEC | O_NONBLOCK);
}

static int close_pipes(void **unused)
{
	for (int i = 0; i < 4; i++)
		close(pipes[i / 2][i % 2]);
	return 0;
}

static void expect(int which, const char *text)
{
	char bytes[100] = "";
	ssize_t n = read(pipes[which][0], bytes, sizeof bytes - 1);
	bytes[n > 0 ? n : 0] = '\0';
	assert_string_equal(bytes, text);
}

static void frames_may_be_cut_anywhere(void **unused)
{
	for (size_t step = 1; step <= SIZE; step++) {
		struct container_output o = {.fds = {pipes[0][1], pipes[1][1]}};
		for (size_t at = 0; at < SIZE; at += step)
			assert_true(container_output_take(
				&o, stream + at, step < SIZE - at ? step : SIZE - at));
		expect(0, "onetwo");
		expect(1, "fail");
	}
}

static void what_was_written_is_not_written_again(void **unused)
{
	struct container_output o = {.fds = {pipes[0][1], pipes[1][1]}};
	assert_true(container_output_take(&o, stream, 10)); // within a frame
	expect(0, "on");
	container_output_begin(&o);
	assert_true(container_output_take(&o, stream, SIZE));
	expect(0, "etwo");
	expect(1, "fail");
}

static void a_terminal_has_no_frames(void **unused)
{
	struct container_output o = {.frames.is_raw = true, .fds = {pipes[0][1], pipes[1][1]}};
	assert_true(container_output_take(&o, "\1raw", 4));
	expect(0, "\1raw");
}

// A size is taken as it is, and a stream that ends within a frame is what came of it.
static void a_frame_may_be_of_any_size(void **unused)
{
	struct container_output o = {.fds = {pipes[0][1], pipes[1][1]}};
	assert_true(container_output_take(&o, "\0\0\0\0\xff\xff\xff\xffsome", 12));
	assert_int_equal(o.frames.left, UINT32_MAX - 4);
	expect(0, "some");
	assert_true(container_output_take(&o, "", 0));
	expect(0, "");
}

static void what_is_no_frame_is_the_end(void **unused)
{
	struct container_output o = {.fds = {pipes[0][1], pipes[1][1]}};
	static const char *const heads[] = {"\7\0\0\0\0\0\0\1", "\3\0\0\0\0\0\0\1",
		"\1\1\0\0\0\0\0\1", "\1\0\1\0\0\0\0\1", "\1\0\0\1\0\0\0\1"};
	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
		o.frames = (struct container_frames){0};
		assert_false(container_output_take(&o, heads[i], 8));
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_pipes, close_pipes)
	const struct CMUnitTest tests[] = {
		TEST(frames_may_be_cut_anywhere),
		TEST(what_was_written_is_not_written_again),
		TEST(a_terminal_has_no_frames),
		TEST(a_frame_may_be_of_any_size),
		TEST(what_is_no_frame_is_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
