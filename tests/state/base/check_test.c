// A broken invariant ends the process and names its place.
#include "state/base/check.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

// Runs act in a child; returns its wait status and what it wrote on standard error.
static int run_in_child(void (*act)(void), char *output, size_t size)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0});
		signal(SIGABRT, SIG_DFL);
		dup2(ends[1], STDERR_FILENO);
		act();
		_exit(0);
	}
	close(ends[1]);
	size_t at = 0;
	ssize_t got;
	while ((got = read(ends[0], output + at, size - 1 - at)) > 0)
		at += (size_t)got;
	output[at] = 0;
	close(ends[0]);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void break_one(void)
{
	volatile int two = 2;
	CHECK(two + two == 5);
}

static void keep_one(void)
{
	volatile int two = 2;
	CHECK(two + two == 4);
	HOT_CHECK(two + two == 4);
}

static void a_broken_check_aborts_and_says_where(void **unused)
{
	char output[512];
	int status = run_in_child(break_one, output, sizeof output);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(output, "check_test.c:"));
	assert_non_null(strstr(output, "two + two == 5"));
}

static void a_kept_check_is_silent(void **unused)
{
	char output[512];
	int status = run_in_child(keep_one, output, sizeof output);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_string_equal(output, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_broken_check_aborts_and_says_where),
		cmocka_unit_test(a_kept_check_is_silent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
