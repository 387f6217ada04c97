// A broken invariant ends the process and names its place.
#include "state/base/check.h"
#include "state/base/limits.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

static void break_deep(uint32_t depth)
{
	volatile uint32_t at = depth;
	if (at > 0)
		break_deep(at - 1);
	CHECK(at != 0);
}

static void a_guard_takes_the_text_and_goes_on(void **unused)
{
	struct check_guard guard = {0};
	volatile bool came_back = false;
	if (setjmp(guard.back)) {
		came_back = true;
	} else {
		assert_null(check_guard_set(&guard));
		break_deep(5);
	}
	assert_true(came_back);
	assert_non_null(strstr(guard.text, "check_test.c:"));
	assert_null(strstr(guard.text, "../"));
	assert_non_null(strstr(guard.text, "invariant broken: at != 0"));
	assert_null(check_guard_set(NULL)); // it held once
}

static void break_beside_a_guard(void)
{
	struct check_guard guard;
	if (setjmp(guard.back))
		return;
	check_guard_set(&guard);
	struct check_guard *held = check_guard_set(NULL);
	if (held == &guard)
		break_one();
}

static void a_guard_that_is_set_aside_holds_nothing(void **unused)
{
	char output[512];
	int status = run_in_child(break_beside_a_guard, output, sizeof output);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void break_too_often(void)
{
	for (volatile uint32_t i = 0; i <= GUARDED_FAILURES_MAX; i++) {
		struct check_guard guard;
		if (setjmp(guard.back) == 0) {
			check_guard_set(&guard);
			break_one();
		}
		if (i + 1 == GUARDED_FAILURES_MAX)
			dprintf(STDERR_FILENO, "the last one;");
	}
}

static void guards_hold_so_often_and_no_more(void **unused)
{
	char output[512];
	int status = run_in_child(break_too_often, output, sizeof output);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_ptr_equal(strstr(output, "the last one;"), output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guards_hold_so_often_and_no_more), // first: the process counts
		cmocka_unit_test(a_broken_check_aborts_and_says_where),
		cmocka_unit_test(a_kept_check_is_silent),
		cmocka_unit_test(a_guard_takes_the_text_and_goes_on),
		cmocka_unit_test(a_guard_that_is_set_aside_holds_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
