// Lines of the audit log, and a file that goes away or fills up.
#include "state/base/log.h"
#include "tools/api/audit/audit_log.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define THREADS 4
#define LINES_EACH 500

static char folder[] = "/tmp/berth-audit-XXXXXX", path[64], moved[64], message[512], text[1 << 20];

static const struct audit_line line = {.time_ns = 1795225440123000000,
	.who = "alice",
	.from = "127.0.0.1:5",
	.asked = "GET /v1/jobs",
	.route = "/v1/jobs",
	.status = 200};

static int set_up(void **unused)
{
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/audit", folder);
	snprintf(moved, sizeof moved, "%s/audit.1", folder);
	return 0;
}

static int tear_down(void **unused)
{
	unlink(path);
	unlink(moved);
	return rmdir(folder);
}

static const char *read_all(const char *from)
{
	FILE *file = fopen(from, "re");
	assert_non_null(file);
	size_t size = fread(text, 1, sizeof text - 1, file);
	text[size] = '\0';
	fclose(file);
	return text;
}

static struct audit_log *open_new(void)
{
	unlink(path);
	unlink(moved);
	struct audit_log *a = audit_log_open(path, message, sizeof message);
	assert_non_null(a);
	return a;
}

static void a_request_is_a_line(void **unused)
{
	struct audit_log *a = open_new();
	struct stat found;
	audit_log_write(a, &line);
	assert_string_equal(read_all(path), "time=2026-11-21T01:44:00.123Z who=\"alice\" "
					    "from=127.0.0.1:5 asked=\"GET /v1/jobs\" "
					    "route=/v1/jobs status=200\n");
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_mode & 07777, 0600);
	audit_log_close(a);
	audit_log_close(NULL);
}

static void nobody_writes_a_line_of_his_own(void **unused)
{
	struct audit_log *a = open_new();
	struct audit_line wrong = line;
	char huge[4096];
	memset(huge, '"', sizeof huge);
	huge[sizeof huge - 1] = '\0';
	wrong.who = "a\" status=1\ntime=";
	wrong.asked = huge;
	audit_log_write(a, &wrong);
	const char *all = read_all(path);
	assert_ptr_equal(strchr(all, '\n'), all + strlen(all) - 1);
	assert_non_null(strstr(all, "who=\"a\\\" status=1"));
	assert_non_null(strstr(all, " route=/v1/jobs status=200\n"));
	audit_log_close(a);
}

static void a_file_that_was_moved_is_begun_anew(void **unused)
{
	struct audit_log *a = open_new();
	audit_log_write(a, &line);
	assert_int_equal(rename(path, moved), 0);
	audit_log_write(a, &line);
	assert_int_equal(access(path, F_OK), -1);
	assert_true(audit_log_reopen(a, message, sizeof message));
	audit_log_write(a, &line);
	size_t one = strlen(read_all(path));
	assert_int_equal(strlen(read_all(moved)), 2 * one);
	audit_log_close(a);
	// What is there is added to.
	a = audit_log_open(path, message, sizeof message);
	audit_log_write(a, &line);
	assert_int_equal(strlen(read_all(path)), 2 * one);
	// It cannot be opened: the old one is written on.
	assert_int_equal(rename(path, moved), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(audit_log_reopen(a, message, sizeof message));
	assert_non_null(strstr(message, "audit.path: "));
	audit_log_write(a, &line);
	assert_int_equal(strlen(read_all(moved)), 3 * one);
	assert_int_equal(rmdir(path), 0);
	audit_log_close(a);
}

static void lines_that_are_not_written_are_counted(void **unused)
{
	struct audit_log *a = audit_log_open("/dev/full", message, sizeof message);
	assert_non_null(a);
	audit_log_write(a, &line);
	audit_log_write(a, &line);
	struct audit_counts counts = audit_log_count(a);
	assert_int_equal(counts.failed, 2);
	assert_int_equal(counts.written, 0);
	audit_log_close(a);
	assert_null(audit_log_open("/no/such/file", message, sizeof message));
	assert_non_null(strstr(message, "audit.path: /no/such/file cannot be written"));
}

static void *write_many(void *context)
{
	for (int i = 0; i < LINES_EACH; i++)
		audit_log_write(context, &line);
	return NULL;
}

static void lines_of_several_threads_are_whole(void **unused)
{
	struct audit_log *a = open_new();
	pthread_t threads[THREADS];
	audit_log_write(a, &line);
	size_t one = strlen(read_all(path));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, a), 0);
	for (int i = 0; i < 20; i++)
		assert_true(audit_log_reopen(a, message, sizeof message));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(audit_log_count(a).written, 1 + THREADS * LINES_EACH);
	const char *all = read_all(path);
	assert_int_equal(strlen(all), one * (1 + THREADS * LINES_EACH));
	for (size_t at = 0; all[at]; at += one)
		assert_memory_equal(all + at, all, one);
	audit_log_close(a);
}

// What came before has its end, although nobody can take it back.
static void a_line_that_is_cut_is_not_joined(void **unused)
{
	struct audit_log *a = open_new();
	struct rlimit before, few;
	audit_log_write(a, &line);
	size_t whole = strlen(read_all(path));
	assert_return_code(getrlimit(RLIMIT_FSIZE, &before), 0);
	few = (struct rlimit){.rlim_cur = whole + 10, .rlim_max = before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_return_code(setrlimit(RLIMIT_FSIZE, &few), 0);
	audit_log_write(a, &line);
	audit_log_write(a, &line);
	assert_return_code(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_true(audit_log_reopen(a, message, sizeof message)); // the same file
	audit_log_write(a, &line);
	struct audit_counts counts = audit_log_count(a);
	assert_int_equal(counts.written, 2);
	assert_int_equal(counts.failed, 2);
	const char *all = read_all(path);
	assert_int_equal(strlen(all), 2 * whole + 11);
	assert_memory_equal(all + whole, "time=2026-\ntime=2026-11-21T", 27);
	audit_log_close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_that_is_cut_is_not_joined),
		cmocka_unit_test(a_request_is_a_line),
		cmocka_unit_test(nobody_writes_a_line_of_his_own),
		cmocka_unit_test(a_file_that_was_moved_is_begun_anew),
		cmocka_unit_test(lines_that_are_not_written_are_counted),
		cmocka_unit_test(lines_of_several_threads_are_whole),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
