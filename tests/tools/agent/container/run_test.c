// The process of a container while its engine, which answers from a script, goes away and comes back.
#include "tests/tools/agent/container/scripted_run.h"
#include "tests/tools/agent/exec/scripted_engine.h"
#include "tools/agent/container/container_news.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define HEADERS "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
static const char before[] = HEADERS "\1\0\0\0\0\0\0\4one\n";
static const char whole[] = HEADERS "\1\0\0\0\0\0\0\4one\n\1\0\0\0\0\0\0\4two\n";

static char folder[64], socket_path[80], exit_path[80], output[100];

static int open_folder(void **unused)
{
	snprintf(folder, sizeof folder, "/tmp/berth-run-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(socket_path, sizeof socket_path, "%s/sock", folder);
	snprintf(exit_path, sizeof exit_path, "%s/exit", folder);
	return 0;
}

static int close_folder(void **unused)
{
	container_news_forget(exit_path);
	return rmdir(folder);
}

// Returns its exit code.
static int run(const struct engine_answer *answers)
{
	int output_fd = memfd_create("output", MFD_CLOEXEC);

	int exit_code = scripted_run(socket_path, exit_path, output_fd, answers);
	ssize_t size = pread(output_fd, output, sizeof output - 1, 0);
	assert_true(size >= 0);
	output[size] = '\0';
	close(output_fd);
	return exit_code;
}

// The engine went away with what it sent; when it is back the container has written more, and is over.
static void what_it_wrote_while_its_engine_was_away_is_read(void **unused)
{
	static const struct engine_answer answers[] = {
		{"/logs?", before, sizeof before - 1, .is_once = true},
		{"/logs?", whole, sizeof whole - 1}, {"/wait", ""},
		{"GET /containers/",
			ENGINE_JSON("200 OK", "{\"State\":{\"Running\":false,\"ExitCode\":6}}")},
		{"", ENGINE_JSON("201 Created", "{\"Id\":\"c1\"}")}};

	assert_int_equal(run(answers), 6);
	assert_string_equal(output, "one\ntwo\n");
}

// One that told of the end has sent all that there is.
static void what_was_read_to_the_end_is_not_read_again(void **unused)
{
	static const struct engine_answer answers[] = {
		{"/logs?", whole, sizeof whole - 1, .is_once = true},
		{"/wait", ENGINE_JSON("200 OK", "{\"StatusCode\":6}")},
		{"GET /containers/",
			ENGINE_JSON("200 OK", "{\"State\":{\"Running\":false,\"ExitCode\":6}}")},
		{"", ENGINE_JSON("201 Created", "{\"Id\":\"c1\"}")}};

	assert_int_equal(run(answers), 6);
	assert_string_equal(output, "one\ntwo\n");
	const char *asked = strstr(scripted_engine_requests(), "/logs?");
	assert_non_null(asked);
	assert_null(strstr(asked + 1, "/logs?"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_it_wrote_while_its_engine_was_away_is_read, open_folder, close_folder),
		cmocka_unit_test_setup_teardown(
			what_was_read_to_the_end_is_not_read_again, open_folder, close_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
