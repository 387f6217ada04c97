// Files and logs that are followed: they grow, are emptied, are removed, are rotated, and some clients read slowly.
#include "tests/support/broken_listing.h"
#include "tests/tools/agent/service/rig.h"
#include "tools/agent/service/log_files.h"
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define LOGS "/v1/client/fs/logs/" RIG_ID "?task=t&type=stdout"
static char text[4000000];

static int open_mock(void **state)
{
	if (rig_open(state) != 0)
		return -1;
	rig_run("service", "{\"Name\":\"t\",\"Driver\":\"mock\",\"Config\":{}}");
	RIG_WAIT(rig_task("t").has_run);
	return 0;
}

static void a_file_that_changes_is_told(void **state)
{
	char path[300];
	rig_path("t/local/f", path);
	rig_write("t/local/f", "w", "1234567890");
	int fd = rig_follow("/v1/client/fs/stream/" RIG_ID "?path=t/local/f");
	assert_true(rig_read_until(fd, text, sizeof text,
		"{\"Data\":\"MTIzNDU2Nzg5MA==\",\"File\":\"t/local/f\",\"Offset\":10}"));
	rig_write("t/local/f", "w", "");
	assert_true(rig_read_until(fd, text, sizeof text,
		"{\"File\":\"t/local/f\",\"FileEvent\":\"file truncated\"}"));
	rig_write("t/local/f", "a", "abc");
	assert_true(rig_read_until(
		fd, text, sizeof text, "{\"Data\":\"YWJj\",\"File\":\"t/local/f\",\"Offset\":3}"));
	assert_int_equal(unlink(path), 0);
	assert_true(rig_read_until(fd, text, sizeof text,
		"{\"File\":\"t/local/f\",\"FileEvent\":\"file deleted\",\"Offset\":3}"));
	assert_false(rig_read_until(fd, text, sizeof text, "more"));
	assert_string_equal(text, "");
	close(fd);
}

static void a_file_that_another_replaces_is_gone(void **state)
{
	char path[300], other[300];
	rig_path("t/local/f", path);
	rig_path("t/local/g", other);
	rig_write("t/local/f", "w", "old");
	rig_write("t/local/g", "w", "newer");
	int fd = rig_follow("/v1/client/fs/stream/" RIG_ID "?path=/t/./local/f");
	assert_true(rig_read_until(fd, text, sizeof text, "\"Offset\":3}"));
	assert_int_equal(rename(other, path), 0);
	assert_true(rig_read_until(fd, text, sizeof text, "file deleted"));
	close(fd);
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void a_follower_gets_a_beat_a_second_until_it_leaves(void **state)
{
	rig_write("alloc/logs/t.stdout.0", "w", "a\n");
	int64_t began_ms = now_ms();
	int fd = rig_follow(LOGS "&follow=true");
	assert_true(rig_read_until(fd, text, sizeof text, "YQo="));
	assert_true(rig_read_until(fd, text, sizeof text, "{}"));
	assert_true(rig_read_until(fd, text, sizeof text, "{}"));
	assert_true(now_ms() - began_ms >= 1900);
	rig_write("alloc/logs/t.stdout.0", "a", "b\n");
	assert_true(rig_read_until(fd, text, sizeof text, "\"Offset\":4}"));
	close(fd);
}

static void plain_logs_have_no_beats(void **state)
{
	rig_write("alloc/logs/t.stdout.0", "w", "a\n");
	int fd = rig_follow(LOGS "&follow=true&plain=true");
	assert_true(rig_read_until(fd, text, sizeof text, "a\n"));
	rig_nap_ms(1300);
	rig_write("alloc/logs/t.stdout.0", "a", "b\n");
	assert_true(rig_read_until(fd, text, sizeof text, "b\n"));
	assert_string_equal(text, "b\n");
	close(fd);
}

static void forget_logs(void)
{
	char path[300], name[40];
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof name, "alloc/logs/t.stdout.%d", i);
		rig_path(name, path);
		(void)unlink(path);
	}
}

static void logs_go_through_all_files(void **state)
{
	forget_logs();
	rig_write("alloc/logs/t.stdout.3", "w", "three\n");
	rig_write("alloc/logs/t.stdout.4", "w", "four\n");
	rig_write("alloc/logs/t.stdout.7", "w", "seven\n");
	rig_write("alloc/logs/t.stdout.x", "w", "no log");
	rig_write("alloc/logs/t.stdout.", "w", "no log");
	assert_string_equal(rig_get(LOGS "&plain=true")->body, "three\nfour\nseven\n");
	assert_string_equal(rig_get(LOGS)->body,
		"{\"Data\":\"dGhyZWUK\",\"File\":\"alloc/logs/t.stdout.3\",\"Offset\":6}"
		"{\"Data\":\"Zm91cgo=\",\"File\":\"alloc/logs/t.stdout.4\",\"Offset\":5}"
		"{\"Data\":\"c2V2ZW4K\",\"File\":\"alloc/logs/t.stdout.7\",\"Offset\":6}");
	const struct {
		const char *query, *text;
	} rows[] = {{"offset=7", "our\nseven\n"}, {"offset=6", "four\nseven\n"}, {"offset=100", ""},
		{"offset=-5", "three\nfour\nseven\n"}, {"origin=end&offset=8", "r\nseven\n"},
		{"origin=end&offset=11", "four\nseven\n"},
		{"origin=end&offset=1000", "three\nfour\nseven\n"},
		{"origin=end&offset=0", "seven\n"}, {"origin=end", "seven\n"}};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_string_equal(
			rig_get(LOGS "&plain=true&%s", rows[i].query)->body, rows[i].text);
}

static void a_place_is_in_the_file_that_has_more(void **state)
{
	static const struct log_file list[] = {{3, 6}, {4, 5}, {7, 6}};
	const struct {
		int64_t bytes;
		bool is_from_end;
		struct log_place place;
	} rows[] = {{0, false, {3, 0}}, {5, false, {3, 5}}, {6, false, {4, 0}}, {11, false, {7, 0}},
		{17, false, {7, 6}}, {99, false, {7, 6}}, {6, true, {7, 0}}, {7, true, {4, 4}},
		{11, true, {4, 0}}, {12, true, {3, 5}}, {17, true, {3, 0}}, {99, true, {3, 0}}};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct log_place place =
			log_place_find(list, 3, rows[i].bytes, rows[i].is_from_end);
		assert_int_equal(place.index, rows[i].place.index);
		assert_int_equal(place.offset, rows[i].place.offset);
	}
	assert_int_equal(log_place_find(list, 0, 5, true).index, -1);
}

// Which file comes next is not told by those that could be read.
static void no_file_of_a_log_is_passed_over(void **state)
{
	struct alloc_files files;
	char path[300];
	int64_t next;
	forget_logs();
	rig_write("alloc/logs/t.stdout.5", "w", "");
	rig_write("alloc/logs/t.stdout.6", "w", "");
	rig_write("alloc/logs/t.stdout.7", "w", "");
	rig_path("", path);
	assert_int_equal(alloc_files_open_folder(&files, path), 0);
	assert_int_equal(log_files_after(&files, "t.stdout", 4, &next), 0);
	assert_int_equal(next, 5);
	listings_entries_left = 4; // two of the three at least, beside "." and ".."
	listings_break = true;
	int error = log_files_after(&files, "t.stdout", 4, &next);
	listings_break = false;
	assert_int_equal(error, -EIO);
	assert_int_equal(next, -1);
	alloc_files_close(&files);
}

static void a_log_that_rotates_loses_nothing(void **state)
{
	forget_logs();
	rig_write("alloc/logs/t.stdout.0", "w", "a\n");
	int fd = rig_follow(LOGS "&follow=true&plain=true");
	assert_true(rig_read_until(fd, text, sizeof text, "a\n"));
	rig_write("alloc/logs/t.stdout.0", "a", "b\n");
	rig_write("alloc/logs/t.stdout.1", "w", "c\n");
	rig_write("alloc/logs/t.stdout.2", "w", "d\n");
	assert_true(rig_read_until(fd, text, sizeof text, "d\n"));
	assert_non_null(strstr(text, "b\n"));
	assert_non_null(strstr(text, "c\n"));
	close(fd);
}

static void a_log_whose_files_are_removed_goes_on(void **state)
{
	char path[300];
	forget_logs();
	int fd = rig_follow(LOGS "&follow=true");
	assert_true(rig_read_until(fd, text, sizeof text, "{}"));
	rig_write("alloc/logs/t.stdout.0", "w", "a\n");
	assert_true(rig_read_until(fd, text, sizeof text, "YQo="));
	rig_path("alloc/logs/t.stdout.0", path);
	assert_int_equal(unlink(path), 0);
	assert_true(rig_read_until(fd, text, sizeof text,
		"{\"File\":\"alloc/logs/t.stdout.0\",\"FileEvent\":\"file "
		"deleted\",\"Offset\":2}"));
	rig_write("alloc/logs/t.stdout.5", "w", "b\n");
	assert_true(rig_read_until(fd, text, sizeof text,
		"{\"Data\":\"Ygo=\",\"File\":\"alloc/logs/t.stdout.5\",\"Offset\":2}"));
	close(fd);
}

static void frames_are_cut_at_64_kib(void **state)
{
	forget_logs();
	memset(text, 'x', 150000);
	text[150000] = '\0';
	rig_write("alloc/logs/t.stdout.0", "w", text);
	const struct answer *answer = rig_get(LOGS);
	assert_non_null(strstr(answer->body, "\"Offset\":65536}{"));
	assert_non_null(strstr(answer->body, "\"Offset\":131072}{"));
	assert_non_null(strstr(answer->body, "\"Offset\":150000}"));
	// Each frame is a chunk of its own.
	int fd = rig_follow(LOGS "&follow=true");
	assert_true(rig_read_until(fd, text, sizeof text, "}"));
	assert_string_equal(strrchr(text, ','), ",\"Offset\":65536}");
	close(fd);
}

// Clients that take nothing cost a frame each, and leave nothing behind.
static void a_client_that_stops_reading_costs_little(void **state)
{
	enum { CLIENTS = 20 };
	int fds[CLIENTS];
	char path[300];
	rig_path("alloc/logs/t.stdout.0", path);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	for (int i = 0; i < 600000; i++)
		fputs("0123456789012345678901234567890123456789012345678\n", file);
	fclose(file);
	struct mallinfo2 before = mallinfo2();
	for (int i = 0; i < CLIENTS; i++)
		fds[i] = rig_follow(LOGS "&follow=true");
	rig_nap_ms(500);
	struct mallinfo2 after = mallinfo2();
	size_t took = after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
	assert_true(took < CLIENTS * 400000u);
	for (int i = 0; i < CLIENTS; i++)
		close(fds[i]);
	rig_write("alloc/logs/t.stdout.0", "w", "end\n");
	assert_string_equal(rig_get(LOGS "&plain=true")->body, "end\n");
}

static void stopping_cuts_followers_off(void **state)
{
	forget_logs();
	int fd = rig_follow(LOGS "&follow=true");
	assert_int_equal(rig_close(NULL), 0);
	assert_false(rig_read_until(fd, text, sizeof text, "never"));
	close(fd);
}

// The real files of a real task, which begin anew at the ends of lines.
static void a_task_that_rotates_is_followed_to_its_end(void **state)
{
	assert_int_equal(rig_open(NULL), 0);
	rig_run("batch", RIG_SH("t", "sleep 0.2; yes 0123456 | head -c 3200000; echo the end",
				 ",\"LogConfig\":{\"MaxFiles\":10,\"MaxFileSizeMB\":1}"));
	RIG_WAIT(rig_task("t").has_run);
	int fd = rig_follow(LOGS "&follow=true&plain=true");
	assert_true(rig_read_until(fd, text, sizeof text, "the end\n"));
	for (size_t i = 0; i < 3200000; i += 8)
		assert_memory_equal(text + i, "0123456\n", 8);
	assert_string_equal(text + 3200000, "the end\n");
	close(fd);
	assert_non_null(
		strstr(rig_get("/v1/client/fs/ls/" RIG_ID "?path=alloc/logs")->body, "t.stdout.3"));
	assert_int_equal(rig_close(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_changes_is_told),
		cmocka_unit_test(a_file_that_another_replaces_is_gone),
		cmocka_unit_test(a_follower_gets_a_beat_a_second_until_it_leaves),
		cmocka_unit_test(plain_logs_have_no_beats),
		cmocka_unit_test(logs_go_through_all_files),
		cmocka_unit_test(a_place_is_in_the_file_that_has_more),
		cmocka_unit_test(no_file_of_a_log_is_passed_over),
		cmocka_unit_test(a_log_that_rotates_loses_nothing),
		cmocka_unit_test(a_log_whose_files_are_removed_goes_on),
		cmocka_unit_test(frames_are_cut_at_64_kib),
		cmocka_unit_test(a_client_that_stops_reading_costs_little),
		cmocka_unit_test(stopping_cuts_followers_off),
		cmocka_unit_test(a_task_that_rotates_is_followed_to_its_end),
	};
	return cmocka_run_group_tests(tests, open_mock, NULL);
}
