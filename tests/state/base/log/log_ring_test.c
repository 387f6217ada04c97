// Those who follow the log: what they get, what they miss, and that nobody waits for them.
#include "state/base/log/log_ring.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int silence(void **unused)
{
	log_configure(LOG_ERROR + 1, false); // written: nothing
	return 0;
}

static void count_wake(void *context)
{
	++*(int *)context;
}

// A line from a place of its own each time, so that no limit drops it.
static void say(enum log_level level, uint32_t number)
{
	struct log_site site = {0};
	if (level >= log_level_now())
		log_write(&site, level, "said", "number=%u", number);
}

static void nothing_is_kept_while_nobody_follows(void **unused)
{
	uint64_t before = log_ring_head();
	say(LOG_ERROR, 1);
	assert_int_equal(log_ring_head(), before);
	assert_int_equal(log_level_now(), LOG_ERROR + 1);
}

static void lines_come_from_the_level_on(void **unused)
{
	int low_wakes = 0, high_wakes = 0;
	struct log_follower low = {LOG_DEBUG, count_wake, &low_wakes, NULL};
	struct log_follower high = {LOG_WARN, count_wake, &high_wakes, NULL};
	struct log_note note;
	uint64_t next = log_ring_follow(&high);
	assert_int_equal(log_level_now(), LOG_WARN);
	assert_int_equal(log_ring_follow(&low), next);
	assert_int_equal(log_level_now(), LOG_DEBUG);
	say(LOG_DEBUG, 7);
	say(LOG_WARN, 8);
	assert_int_equal(low_wakes, 2);
	assert_int_equal(high_wakes, 1);
	assert_int_equal(log_ring_head(), next + 2);
	assert_true(log_ring_read(next, &note));
	assert_string_equal(note.event, "said");
	assert_string_equal(note.fields, "number=7");
	assert_int_equal(note.level, LOG_DEBUG);
	assert_true(log_ring_read(next + 1, &note));
	assert_int_equal(note.level, LOG_WARN);
	assert_false(log_ring_read(next + 2, &note));
	log_ring_leave(&low);
	assert_int_equal(log_level_now(), LOG_WARN);
	say(LOG_INFO, 9);
	assert_int_equal(log_ring_head(), next + 2);
	log_ring_leave(&high);
	assert_int_equal(log_level_now(), LOG_ERROR + 1);
}

static void old_lines_give_way(void **unused)
{
	int wakes = 0;
	struct log_follower follower = {LOG_INFO, count_wake, &wakes, NULL};
	struct log_note note;
	uint64_t next = log_ring_follow(&follower);
	for (uint32_t i = 0; i < LOG_RING_LINES; i++)
		say(LOG_INFO, i);
	assert_true(log_ring_read(next, &note));
	say(LOG_INFO, LOG_RING_LINES);
	assert_false(log_ring_read(next, &note));
	assert_true(log_ring_read(next + 1, &note));
	assert_string_equal(note.fields, "number=1");
	assert_true(log_ring_read(next + LOG_RING_LINES, &note));
	assert_int_equal(wakes, LOG_RING_LINES + 1);
	log_ring_leave(&follower);
}

static void lines_are_formatted_as_they_are_written(void **unused)
{
	char text[LOG_LINE_BYTES];
	struct log_note note = {.wall_ns = 1795000000123000000u,
		.level = LOG_WARN,
		.suppressed = 3,
		.event = "disk",
		.fields = "free=7 path=\"/a b\""};
	uint32_t size = log_format(&note, false, text);
	const char *line = "time=2026-11-18T11:06:40.123Z level=warn event=disk free=7 "
			   "path=\"/a b\" suppressed=3\n";
	assert_int_equal(size, strlen(line));
	assert_memory_equal(text, line, size);
	size = log_format(&note, true, text);
	line = "{\"time\":\"2026-11-18T11:06:40.123Z\",\"level\":\"warn\",\"event\":\"disk\","
	       "\"free\":7,\"path\":\"/a b\",\"suppressed\":3}\n";
	assert_int_equal(size, strlen(line));
	assert_memory_equal(text, line, size);
}

static void *talk(void *unused)
{
	for (uint32_t i = 0; i < 20000; i++)
		say(LOG_INFO, i);
	return NULL;
}

static void many_threads_talk_while_readers_come_and_go(void **unused)
{
	int wakes = 0;
	struct log_follower stays = {LOG_INFO, count_wake, &wakes, NULL};
	pthread_t threads[2];
	struct log_note note;
	uint64_t next = log_ring_follow(&stays);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, talk, NULL), 0);
	for (int i = 0; i < 2000; i++) {
		int other = 0;
		struct log_follower comes = {LOG_DEBUG, count_wake, &other, NULL};
		uint64_t head = log_ring_follow(&comes);
		if (head > next && log_ring_read(head - 1, &note))
			assert_memory_equal(note.fields, "number=", 7);
		log_ring_leave(&comes);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(log_ring_head(), next + 40000);
	assert_int_equal(wakes, 40000);
	log_ring_leave(&stays);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_kept_while_nobody_follows),
		cmocka_unit_test(lines_come_from_the_level_on),
		cmocka_unit_test(old_lines_give_way),
		cmocka_unit_test(lines_are_formatted_as_they_are_written),
		cmocka_unit_test(many_threads_talk_while_readers_come_and_go),
	};
	return cmocka_run_group_tests(tests, silence, NULL);
}
