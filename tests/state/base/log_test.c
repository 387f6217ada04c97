// Lines as an operator's collector reads them: one event a line, whatever the values hold.
#include "state/base/log.h"
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int captured; // a memory file that stands in for standard error
static int real_stderr;
static char output[65536];

static int start_capture(void **unused)
{
	captured = memfd_create("log", 0);
	real_stderr = dup(STDERR_FILENO);
	return captured < 0 || dup2(captured, STDERR_FILENO) < 0;
}

static int end_capture(void **unused)
{
	int result = dup2(real_stderr, STDERR_FILENO) < 0;
	close(real_stderr);
	close(captured);
	log_configure(LOG_INFO, false);
	return result;
}

static const char *read_capture(void)
{
	ssize_t size = pread(captured, output, sizeof output - 1, 0);
	assert_true(size >= 0);
	output[size] = 0;
	return output;
}

static int count_lines(const char *text)
{
	int lines = 0;
	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static json_t *parse_line(const char *text)
{
	json_error_t error;
	json_t *line = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!line)
		fail_msg("not JSON: %s: %s", error.text, text);
	return line;
}

static void logfmt_has_time_level_event_and_fields(void **unused)
{
	char quoted[64];
	log_configure(LOG_INFO, false);
	log_warn(
		"node-refused", "reason=%s slot=%d", log_quote("no key", quoted, sizeof quoted), 7);
	const char *line = read_capture();
	assert_memory_equal(line, "time=20", 7);
	assert_non_null(strstr(line, "Z level=warn event=node-refused reason=\"no key\" slot=7\n"));
	assert_int_equal(count_lines(line), 1);
}

static void the_journal_gets_levels(void **unused)
{
	static const char *const begin[] = {
		"<7>time=", "<6>time=", "<4>time=", "<3>time=", "time="};
	char stream[64];
	struct stat st;
	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	snprintf(stream, sizeof stream, "%lu:%lu", (unsigned long)st.st_dev,
		(unsigned long)st.st_ino);
	assert_int_equal(setenv("JOURNAL_STREAM", stream, 1), 0);
	log_detect_journal();
	log_configure(LOG_DEBUG, false);
	log_debug("one", "a=%d", 1);
	log_info("two", "a=%d", 1);
	log_warn("three", "a=%d", 1);
	log_error("four", "a=%d", 1);
	// Another stream than the journal's gets none.
	assert_int_equal(setenv("JOURNAL_STREAM", "1:1", 1), 0);
	log_detect_journal();
	log_error("five", "a=%d", 1);
	const char *at = read_capture();
	for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++) {
		assert_memory_equal(at, begin[i], strlen(begin[i]));
		at = strchr(at, '\n') + 1;
	}
	assert_string_equal(at, "");
	assert_int_equal(unsetenv("JOURNAL_STREAM"), 0);
}

static void levels_below_the_least_are_silent(void **unused)
{
	log_configure(LOG_WARN, false);
	log_info("quiet", "a=%d", 1);
	log_debug("quieter", "a=%d", 1);
	assert_string_equal(read_capture(), "");
	log_error("loud", "a=%d", 1);
	assert_int_equal(count_lines(read_capture()), 1);
}

static void json_lines_parse_and_keep_values(void **unused)
{
	char quoted[64];
	log_configure(LOG_INFO, true);
	log_info("started",
		"port=%d name=%s version=007 below=-3 ready id=%s seconds=0.250 dots=0.1.0 "
		"end=1. sure=true",
		80, log_quote("a \"b\"\\\n\x01 é \xff", quoted, sizeof quoted), "6d-1");
	json_t *line = parse_line(read_capture());
	assert_string_equal(json_string_value(json_object_get(line, "level")), "info");
	assert_string_equal(json_string_value(json_object_get(line, "event")), "started");
	assert_int_equal(json_integer_value(json_object_get(line, "port")), 80);
	assert_string_equal(
		json_string_value(json_object_get(line, "name")), "a \"b\"\\\n\x01 é \xef\xbf\xbd");
	assert_string_equal(json_string_value(json_object_get(line, "version")), "007");
	assert_int_equal(json_integer_value(json_object_get(line, "below")), -3);
	assert_true(json_is_true(json_object_get(line, "ready")));
	assert_string_equal(json_string_value(json_object_get(line, "id")), "6d-1");
	assert_true(json_real_value(json_object_get(line, "seconds")) == 0.25);
	assert_string_equal(json_string_value(json_object_get(line, "dots")), "0.1.0");
	assert_string_equal(json_string_value(json_object_get(line, "end")), "1.");
	assert_true(json_is_true(json_object_get(line, "sure")));
	json_decref(line);
}

static void a_value_cannot_forge_a_line(void **unused)
{
	log_configure(LOG_INFO, false);
	log_info("joined", "name=%s", "x\nlevel=error event=forged");
	assert_int_equal(count_lines(read_capture()), 1);
}

static void a_long_line_loses_whole_pairs(void **unused)
{
	char big[3000], quoted[4000];
	memset(big, '"', sizeof big);
	big[sizeof big - 1] = 0;
	log_configure(LOG_INFO, true);
	log_info("big", "first=1 second=%s third=3", log_quote(big, quoted, sizeof quoted));
	json_t *line = parse_line(read_capture());
	assert_int_equal(json_integer_value(json_object_get(line, "first")), 1);
	assert_null(json_object_get(line, "second"));
	assert_int_equal(json_integer_value(json_object_get(line, "cut")), 1);
	json_decref(line);
}

static void a_noisy_site_is_limited_and_others_are_not(void **unused)
{
	struct log_site noisy = {0}, other = {0};
	for (int i = 0; i < 1000; i++)
		log_write(&noisy, LOG_INFO, "noisy", "i=%d", i);
	log_write(&other, LOG_INFO, "other", "i=%d", 0);
	const char *lines = read_capture();
	// Five a second; the loop may have crossed into a second or third one.
	assert_in_range(count_lines(lines), 6, 16);
	assert_non_null(strstr(lines, "event=other"));
	// An old window, as when a second has passed: what was swallowed is told.
	noisy.window_s = 0;
	uint32_t swallowed = noisy.suppressed;
	assert_true(swallowed > 900);
	log_write(&noisy, LOG_INFO, "noisy", "i=%d", 1000);
	char expected[64];
	snprintf(expected, sizeof expected, "i=1000 suppressed=%u\n", swallowed);
	assert_non_null(strstr(read_capture(), expected));
}

static void errno_survives(void **unused)
{
	errno = ENOSPC;
	log_error("failed", "a=%d", 1);
	assert_int_equal(errno, ENOSPC);
}

static void quoting_is_cut_at_characters(void **unused)
{
	char buffer[32];
	assert_string_equal(log_quote("", buffer, sizeof buffer), "\"\"");
	assert_string_equal(log_quote(NULL, buffer, sizeof buffer), "\"\"");
	assert_string_equal(log_quote("01234", buffer, 8), "\"01234\"");
	assert_string_equal(log_quote("012345", buffer, 8), "\"01…\"");
	assert_string_equal(log_quote("éé\t\x7f", buffer, 32), "\"éé\\t\\u007f\"");
	assert_string_equal(log_quote("éééé", buffer, 10), "\"éé…\"");
	for (uint32_t size = 6; size <= 16; size++) {
		memset(buffer, 'X', sizeof buffer);
		log_quote("a\x01\x02\x03\x04", buffer, size);
		assert_true(strlen(buffer) < size);
		assert_int_equal(buffer[size], 'X');
		assert_int_equal(buffer[strlen(buffer) - 1], '"');
	}
}

#define CAPTURED(test) cmocka_unit_test_setup_teardown(test, start_capture, end_capture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CAPTURED(logfmt_has_time_level_event_and_fields),
		CAPTURED(the_journal_gets_levels),
		CAPTURED(levels_below_the_least_are_silent),
		CAPTURED(json_lines_parse_and_keep_values),
		CAPTURED(a_value_cannot_forge_a_line),
		CAPTURED(a_long_line_loses_whole_pairs),
		CAPTURED(a_noisy_site_is_limited_and_others_are_not),
		CAPTURED(errno_survives),
		cmocka_unit_test(quoting_is_cut_at_characters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
