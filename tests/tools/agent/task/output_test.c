// Output files of tasks: their bounds, their ends, where a restarted task goes on.
#include "tools/agent/base/folders.h"
#include "tools/agent/task/output.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64], path[128];

static int set_up(void **unused)
{
	snprintf(root, sizeof root, "/tmp/berth-output-XXXXXX");
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof path, "%s/t.stdout", root);
	return 0;
}

static int tear_down(void **unused)
{
	folder_remove(AT_FDCWD, root);
	return 0;
}

static const char *content(uint32_t number)
{
	static char text[256];
	char name[160];
	snprintf(name, sizeof name, "%s.%u", path, number);
	FILE *file = fopen(name, "re");
	if (!file)
		return NULL;
	size_t size = fread(text, 1, sizeof text - 1, file);
	text[size] = '\0';
	fclose(file);
	return text;
}

static struct output opened(uint32_t files_max, uint64_t file_bytes_max)
{
	struct output o;
	struct output_rule rule = {.files_max = files_max, .file_bytes_max = file_bytes_max};
	output_find(&o, path, &rule);
	return o;
}

static void write_text(struct output *o, const char *text)
{
	output_write(o, text, strlen(text));
}

static void files_end_with_lines_and_the_oldest_go(void **unused)
{
	struct output o = opened(3, 10);
	write_text(&o, "one\n");
	write_text(&o, "two\nthree\nfour\n");
	assert_string_equal(content(0), "one\ntwo\n");
	assert_string_equal(content(1), "three\n");
	assert_string_equal(content(2), "four\n");
	write_text(&o, "five5\n"); // fills nothing: 5 + 6 bytes are more than 10
	assert_null(content(0));
	assert_string_equal(content(3), "five5\n");
	output_close(&o);
}

static void a_line_longer_than_a_file_is_cut(void **unused)
{
	struct output o = opened(10, 4);
	write_text(&o, "abcdefghij\nk\n");
	assert_string_equal(content(0), "abcd");
	assert_string_equal(content(1), "efgh");
	assert_string_equal(content(2), "ij\n");
	assert_string_equal(content(3), "k\n");
	output_close(&o);
}

// Also one with other bounds, and beside files of other tasks.
static void a_restarted_task_goes_on_in_the_newest_file(void **unused)
{
	char other[160], newest[160];
	struct output o = opened(5, 4);
	write_text(&o, "aaa\nbbb\nccc\nd");
	output_close(&o);
	snprintf(other, sizeof other, "%s.9x", path);
	close(open(other, O_WRONLY | O_CREAT, 0600));
	snprintf(other, sizeof other, "%s/t.stdout2.77", root);
	close(open(other, O_WRONLY | O_CREAT, 0600));
	o = opened(2, 100);
	output_newest_path(&o, newest, sizeof newest);
	assert_string_equal(strrchr(newest, '.'), ".3");
	assert_int_equal(o.oldest, 0);
	write_text(&o, "e\n");
	assert_string_equal(content(3), "de\n");
	assert_string_equal(content(2), "ccc\n");
	assert_null(content(1));
	assert_null(content(0));
	output_close(&o);
}

// Whatever stands where a file should be: the task goes on, and nothing is followed.
static void what_cannot_be_written_is_lost(void **unused)
{
	char name[160];
	struct stat st;
	snprintf(name, sizeof name, "%s.0", path);
	assert_int_equal(symlink("elsewhere", name), 0);
	struct output o = opened(2, 8);
	write_text(&o, "one\ntwo\nthree\n");
	snprintf(name, sizeof name, "%s/elsewhere", root);
	assert_int_equal(stat(name, &st), -1);
	output_close(&o);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(files_end_with_lines_and_the_oldest_go),
		CASE(a_line_longer_than_a_file_is_cut),
		CASE(a_restarted_task_goes_on_in_the_newest_file),
		CASE(what_cannot_be_written_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
