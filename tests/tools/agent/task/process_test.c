// How a task's process begins: with all groups of its user; and what is said when it cannot.
#include "tests/support/broken_listing.h"
#include "tools/agent/base/folders.h"
#include "tools/agent/task/process.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define USER "nobody"
#define GROUPS 100u

static char place[] = "/tmp/berth-process-XXXXXX";
static char end_path[64], message[300];
static pid_t agent;
static bool ends_first; // the task, before its shim goes on
static uint32_t stored; // how often a process was written down

pid_t __real_fork(void); // NOLINT: names of the linker
pid_t __wrap_fork(void);

pid_t __wrap_fork(void)
{
	siginfo_t info;
	bool is_shim = getpid() != agent;
	pid_t child = __real_fork();

	if (ends_first && is_shim && child > 0)
		(void)waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	return child;
}

static int set_up(void **unused)
{
	agent = getpid();
	ends_first = false;
	stored = 0;
	message[0] = '\0';
	snprintf(place, sizeof place, "/tmp/berth-process-XXXXXX");
	if (!mkdtemp(place) || chmod(place, 0777) < 0)
		return -1;
	snprintf(end_path, sizeof end_path, "%s/end", place);
	return 0;
}

static int tear_down(void **unused)
{
	folder_remove(AT_FDCWD, place);
	return 0;
}

static int write_down(void *unused)
{
	stored++;
	return -ENOSPC;
}

static void what_a_task_says_before_its_shim_does_is_not_lost(void **unused)
{
	char name[] = "/bin/true", *const arguments[] = {name, NULL}, *const environment[] = {NULL};
	struct process p;
	const struct process_start start = {.arguments = arguments,
		.environment = environment,
		.folder = "/there/is/none",
		.output_rule.is_disabled = true,
		.exit_path = end_path,
		.user = "",
		.started = write_down};

	ends_first = true;
	assert_int_equal(process_start(&start, &p, message, sizeof message), -ENOENT);
	assert_string_equal(
		message, "cannot change to the task's folder: No such file or directory");
	assert_int_equal(stored, 0);
}

// What is mounted from here on nobody else sees.
static void be_alone(void)
{
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
}

// A file of groups of which the user is in every one, which only this program sees.
static void be_in_many_groups(void)
{
	char path[64];

	snprintf(path, sizeof path, "%s/group", place);
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	for (uint32_t i = 0; i < GROUPS; i++)
		fprintf(file, "g%u:x:%u:" USER "\n", i, 70000 + i);
	assert_int_equal(fclose(file), 0);
	be_alone();
	assert_int_equal(mount(path, "/etc/group", NULL, MS_BIND, NULL), 0);
}

static uint32_t count_groups(void)
{
	char path[64];
	uint32_t count = 0;
	int group;

	snprintf(path, sizeof path, "%s/groups", place);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	while (fscanf(file, "%d", &group) == 1)
		count += group >= 70000;
	fclose(file);
	return count;
}

static void a_task_has_all_groups_of_its_user(void **unused)
{
	if (geteuid() != 0)
		skip();
	be_in_many_groups();
	char name[] = "/bin/sh", is_script[] = "-c", script[] = "id -G >groups";
	char path[] = "PATH=/usr/bin:/bin", *const environment[] = {path, NULL};
	char *const arguments[] = {name, is_script, script, NULL};
	struct process p;
	const struct process_start start = {.arguments = arguments,
		.environment = environment,
		.folder = place,
		.output_rule.is_disabled = true,
		.exit_path = end_path,
		.user = USER};

	if (process_start(&start, &p, message, sizeof message) < 0)
		fail_msg("%s", message);
	assert_int_equal(poll(&(struct pollfd){.fd = p.fd, .events = POLLIN}, 1, 20000), 1);
	struct process_end end = process_end_of(&p, end_path);
	assert_true(end.is_known);
	assert_int_equal(end.exit_code, 0);
	assert_int_equal(count_groups(), GROUPS);
	assert_int_equal(umount2("/etc/group", MNT_DETACH), 0);
}

// A program that runs is read, and not written.
static void output_that_has_nowhere_to_go_is_said(void **unused)
{
	char name[] = "/bin/true", *const arguments[] = {name, NULL}, *const environment[] = {NULL};
	struct process p;
	const struct process_start start = {.arguments = arguments,
		.environment = environment,
		.folder = place,
		.output_rule.is_disabled = true,
		.exit_path = end_path,
		.user = ""};

	if (geteuid() != 0)
		skip();
	char *self = realpath("/proc/self/exe", NULL);
	be_alone();
	assert_int_equal(mount(self, "/dev/null", NULL, MS_BIND, NULL), 0);
	free(self);
	int error = process_start(&start, &p, message, sizeof message);
	assert_int_equal(umount2("/dev/null", MNT_DETACH), 0);
	assert_int_equal(error, -ETXTBSY);
	assert_string_equal(message, "cannot open its output: Text file busy");
}

// What it writes could come before what it wrote.
static void output_that_cannot_be_listed_is_said(void **unused)
{
	char name[] = "/bin/true", output[64], *const arguments[] = {name, NULL};
	char *const environment[] = {NULL};
	struct process p;
	snprintf(output, sizeof output, "%s/output", place);
	const struct process_start start = {.arguments = arguments,
		.environment = environment,
		.folder = place,
		.output_path = output,
		.error_path = output,
		.exit_path = end_path,
		.user = ""};

	listings_break = true;
	int error = process_start(&start, &p, message, sizeof message);
	listings_break = false;
	assert_int_equal(error, -EIO);
	assert_string_equal(
		message, "cannot list the files of the task's output: Input/output error");
	assert_true(p.fd < 0);
}

static void a_file_that_is_not_there_is_given_to_nobody(void **unused)
{
	if (geteuid() != 0)
		skip();
	assert_int_equal(process_give_file(AT_FDCWD, end_path, USER), -ENOENT);
	assert_int_equal(process_give_file(AT_FDCWD, end_path, ""), 0);
	assert_int_equal(process_give_file(AT_FDCWD, end_path, "no-such-user"), 0);
}

// Who reads it is not known then, and the task would begin without.
static void a_file_is_not_kept_from_who_cannot_be_looked_for(void **unused)
{
	struct rlimit whole, none;

	if (geteuid() != 0)
		skip();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &whole), 0);
	none = (struct rlimit){.rlim_max = whole.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	int error = process_give_file(AT_FDCWD, place, "mail"); // nobody is known without its file
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &whole), 0);
	assert_int_equal(error, -EMFILE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_a_task_says_before_its_shim_does_is_not_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			output_that_has_nowhere_to_go_is_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			output_that_cannot_be_listed_is_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_file_that_is_not_there_is_given_to_nobody, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_file_is_not_kept_from_who_cannot_be_looked_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_task_has_all_groups_of_its_user, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
