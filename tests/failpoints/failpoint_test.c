// Which hits of a point fail, and what the text of failpoints may be.
#include "state/base/failpoint/failpoint.h"
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char message[512];
static const char *program, **areas;
static int area_count;

static void arm(const char *text)
{
	assert_int_equal(failpoints_arm(text, message, sizeof message), 0);
}

static const char *hits(uint32_t count)
{
	static char text[32];

	for (uint32_t i = 0; i < count; i++)
		text[i] = FAILPOINT(LOG_FDATASYNC) ? 'x' : '.';
	text[count] = '\0';
	return text;
}

static void the_text_says_which_hits_fail(void **unused)
{
	arm("");
	assert_string_equal(hits(3), "...");
	arm("log.fdatasync=eio");
	assert_string_equal(hits(3), "xxx");
	arm("log.fdatasync=eio@3");
	assert_string_equal(hits(5), "..x..");
	arm("log.fdatasync=eio@2-3");
	assert_string_equal(hits(5), ".xx..");
	arm("log.fdatasync=eio@4-");
	assert_string_equal(hits(6), "...xxx");
	assert_int_equal(failpoint_hits(FAILPOINT_LOG_FDATASYNC), 6);
	assert_int_equal(failpoint_failures(FAILPOINT_LOG_FDATASYNC), 3);
	arm("log.fsync=eio;;log.fdatasync=eio@1;");
	assert_string_equal(hits(2), "x.");
	arm("log.fsync=eio");
	assert_string_equal(hits(2), "..");
}

static void what_cannot_be_shared_is_told(void **unused)
{
	assert_int_equal(failpoints_share("/nosuch/points"), -ENOENT);
}

static void the_error_is_the_one_of_the_text(void **unused)
{
	arm("log.fdatasync=ENOSPC");
	errno = 0;
	assert_int_equal(CAN_FAIL(LOG_FDATASYNC, 7), -1);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(CAN_REFUSE(LOG_FDATASYNC, 0), ENOSPC);
	arm("");
	assert_int_equal(CAN_FAIL(LOG_FDATASYNC, 7), 7);
	assert_int_equal(CAN_REFUSE(LOG_FDATASYNC, 5), 5);
}

static void a_child_counts_with_its_parent(void **unused)
{
	int status;

	arm("log.fdatasync=eio@2");
	assert_string_equal(hits(1), ".");
	pid_t child = fork();
	if (child == 0)
		_exit(strcmp(hits(1), "x"));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_string_equal(hits(1), ".");
	assert_int_equal(failpoint_failures(FAILPOINT_LOG_FDATASYNC), 1);
}

static void what_cannot_be_read_is_refused_with_a_sentence(void **unused)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{"log.fdatasink=eio", "\"log.fdatasink=eio\": there is no such point"},
		{"log.fdatasync", "the error has no name"},
		{"log.fdatasync=", "the error has no name"},
		{"log.fdatasync=oops", "the error has no name"},
		{"log.fdatasync=5", "the error has no name"},
		{"log.fdatasync=eio@0", "neither N, N-M nor N-"},
		{"log.fdatasync=eio@3-2", "neither N, N-M nor N-"},
		{"log.fdatasync=eio@x", "neither N, N-M nor N-"},
		{"log.fdatasync=eio@2x", "neither N, N-M nor N-"},
		{"log.fsync=eio;log.fdatasync=eio@-1", "neither N, N-M nor N-"},
	};

	for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_int_equal(failpoints_arm(wrong[i].text, message, sizeof message), -EINVAL);
		if (!strstr(message, wrong[i].why))
			fail_msg("%s: %s", wrong[i].text, message);
		assert_false(FAILPOINT(LOG_FSYNC));
	}
}

static void expect_refusal(char *wrong, const char *why)
{
	char name[256], said[512] = "";
	char *arguments[] = {name, NULL}, *environment[] = {wrong, NULL};
	posix_spawn_file_actions_t actions;
	int status, output = memfd_create("output", MFD_CLOEXEC);
	pid_t child;

	snprintf(name, sizeof name, "%s", program);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	assert_int_equal(posix_spawn(&child, name, &actions, NULL, arguments, environment), 0);
	posix_spawn_file_actions_destroy(&actions);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
	assert_true(pread(output, said, sizeof said - 1, 0) > 0);
	close(output);
	assert_non_null(strstr(said, why));
}

static void a_program_refuses_what_it_cannot_read(void **unused)
{
	char no_point[] = "BERTH_FAILPOINTS=log.nothing=eio",
	     no_file[] = "BERTH_FAILPOINTS=@/dev/null";

	expect_refusal(no_point, "there is no such point");
	expect_refusal(no_file, "is no file of points of this build");
}

static void what_is_shared_fails_in_others_only(void **unused)
{
	char path[] = "/tmp/berth-points-XXXXXX";
	int status, fd = mkstemp(path);

	assert_true(fd >= 0 && close(fd) == 0);
	pid_t child = fork();
	if (child == 0) {
		bool is_fine = failpoints_share(path) == 0 &&
			       failpoints_arm("log.fdatasync=eio", message, sizeof message) == 0 &&
			       strcmp(hits(2), "..") == 0;
		_exit(is_fine ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	unlink(path);
}

// The areas of tests/failpoints/meson.build, each of which is walked.
static void every_point_is_of_an_area_that_is_walked(void **unused)
{
	for (uint32_t point = 0; point < FAILPOINTS; point++) {
		const char *name = failpoint_name((enum failpoint)point);
		bool is_walked = false;
		for (int i = 0; i < area_count; i++)
			is_walked |= strncmp(name, areas[i], strlen(areas[i])) == 0 &&
				     name[strlen(areas[i])] == '.';
		if (!is_walked)
			fail_msg("%s: no walk has this area", name);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_says_which_hits_fail),
		cmocka_unit_test(what_cannot_be_shared_is_told),
		cmocka_unit_test(the_error_is_the_one_of_the_text),
		cmocka_unit_test(a_child_counts_with_its_parent),
		cmocka_unit_test(what_cannot_be_read_is_refused_with_a_sentence),
		cmocka_unit_test(a_program_refuses_what_it_cannot_read),
		cmocka_unit_test(what_is_shared_fails_in_others_only),
		cmocka_unit_test(every_point_is_of_an_area_that_is_walked),
	};

	assert_true(argc > 2);
	program = argv[1];
	areas = (const char **)argv + 2;
	area_count = argc - 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
