// A wait that failed is said, and takes its time; one that a signal ended, or that has something, takes none.
#include "state/base/clock/waited.h"
#include "state/base/log.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct log_note said;
static uint32_t said_count;

static void take_note(const struct log_note *note)
{
	said = *note;
	said_count++;
}

static uint64_t now_ns(void)
{
	return time_monotonic_ns(&time_source_real);
}

static void what_came_is_what_there_is(void **unused)
{
	errno = ENOMEM; // of something else
	assert_int_equal(WAITED(7, "who"), 7);
	assert_int_equal(WAITED(0, "who"), 0);
	errno = EINTR;
	assert_int_equal(WAITED(-1, "who"), 0);
	assert_int_equal(said_count, 0);
}

static void what_failed_is_said_and_takes_its_time(void **unused)
{
	uint64_t from_ns = now_ns();

	errno = ENOMEM;
	assert_int_equal(WAITED(-1, "the-hub"), 0);
	assert_true(now_ns() - from_ns >= 5 * NS_PER_MS);
	assert_int_equal(said_count, 1);
	assert_string_equal(said.event, "wait-failed");
	assert_int_equal(said.level, LOG_ERROR);
	assert_non_null(strstr(said.fields, "who=the-hub error=\"Cannot allocate memory\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_came_is_what_there_is),
		cmocka_unit_test(what_failed_is_said_and_takes_its_time),
	};
	log_follow(LOG_DEBUG, take_note);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
