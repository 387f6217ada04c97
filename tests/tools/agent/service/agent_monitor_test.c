// Those who follow the log of an agent: what they get, in which form, and that it ends with them.
#include "state/base/base64.h"
#include "state/base/log.h"
#include "tests/support/descriptors.h"
#include "tests/tools/agent/service/rig.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static char text[1 << 20];
static uint32_t descriptors_at_rest;

// A line from a place of its own each time, so that no limit drops it.
static void say(enum log_level level, const char *event, unsigned number)
{
	struct log_site site = {0};
	if (level >= log_level_now())
		log_write(&site, level, event, "number=%u", number);
}

static int open_silent(void **state)
{
	int result = rig_open(state);
	descriptors_at_rest = descriptors_open();
	log_configure(LOG_ERROR + 1, false); // written: nothing
	return result;
}

static void nobody_follows(void)
{
	RIG_WAIT(log_level_now() == LOG_ERROR + 1);
}

// The text has one frame, and its line ends so.
static void expect_line(const char *end)
{
	static const char begin[] = "{\"Data\":\"";
	char line[1024];
	size_t size;
	const char *frame = strstr(text, begin);
	assert_non_null(frame);
	frame += sizeof begin - 1;
	assert_null(strstr(frame, begin));
	assert_true(base64_decode(frame, strcspn(frame, "\""), (uint8_t *)line, &size));
	assert_true(size > strlen(end) && size < sizeof line);
	assert_memory_equal(line + size - strlen(end), end, strlen(end));
}

static void lines_come_in_frames_and_beats_between(void **unused)
{
	int fd = rig_follow("/v1/agent/monitor");
	assert_true(rig_read_until(fd, text, sizeof text, "{}"));
	say(LOG_DEBUG, "too-low", 1);
	say(LOG_INFO, "said", 2);
	assert_true(rig_read_until(fd, text, sizeof text, "\",\"FileEvent\":\"log\"}"));
	expect_line("level=info event=said number=2\n");
	assert_true(rig_read_until(fd, text, sizeof text, "{}"));
	close(fd);
	nobody_follows();
}

static void lines_come_plain_and_as_json(void **unused)
{
	int fd = rig_follow("/v1/agent/monitor?plain=true&log_level=DEBUG&node_id=x");
	say(LOG_DEBUG, "low", 3);
	assert_true(rig_read_until(fd, text, sizeof text, "level=debug event=low number=3\n"));
	assert_null(strstr(text, "{}"));
	close(fd);
	fd = rig_follow("/v1/agent/monitor?plain=true&log_json=true&log_level=warn");
	say(LOG_INFO, "low", 4);
	say(LOG_WARN, "high", 5);
	assert_true(rig_read_until(fd, text, sizeof text, "\"event\":\"high\",\"number\":5}\n"));
	assert_null(strstr(text, "low"));
	close(fd);
	nobody_follows();
}

// It is told what it missed: whoever logs does not wait.
// What is sent is not logged, or nothing but that would be read.
static void sending_logs_nothing(void **unused)
{
	int fd = rig_follow("/v1/agent/monitor?log_level=debug");
	for (unsigned i = 0; i < 3; i++) {
		assert_true(rig_read_until(fd, text, sizeof text, "}"));
		assert_string_equal(text, "{}");
	}
	close(fd);
	nobody_follows();
}

static void a_slow_reader_misses_lines(void **unused)
{
	int fd = rig_follow("/v1/agent/monitor?plain=true");
	for (unsigned i = 0; i < 100000; i++)
		say(LOG_INFO, "many", i);
	assert_true(rig_read_until(fd, text, sizeof text, "number=99999\n"));
	assert_non_null(strstr(text, "level=warn event=monitor-lost-lines lines="));
	close(fd);
	nobody_follows();
}

// There is room for both ends of the connection, and for nothing else.
static void without_descriptors_nobody_follows(void **unused)
{
	struct rlimit whole, few;
	RIG_WAIT(descriptors_open() == descriptors_at_rest); // those who followed are let go of
	int first = dup(STDERR_FILENO), second = dup(STDERR_FILENO);
	assert_true(first >= 0 && second > first);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &whole), 0);
	few = (struct rlimit){(rlim_t)second + 1, whole.rlim_max};
	close(first);
	close(second);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	const struct answer *answer = rig_get("/v1/agent/monitor");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &whole), 0);
	assert_int_equal(answer->status, 500);
	assert_string_equal(answer->body, "nobody can follow the log now: Too many open files");
	nobody_follows();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_in_frames_and_beats_between),
		cmocka_unit_test(lines_come_plain_and_as_json),
		cmocka_unit_test(sending_logs_nothing),
		cmocka_unit_test(a_slow_reader_misses_lines),
		cmocka_unit_test(without_descriptors_nobody_follows),
	};
	return cmocka_run_group_tests(tests, open_silent, rig_close);
}
