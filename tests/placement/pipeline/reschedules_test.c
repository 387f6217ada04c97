// Schedulers' reports of rescheduled allocations (row C29): the newest report on each, for a minute, and never more
// than fit.
#include "placement/pipeline/reschedules.h"
#include "state/base/memory.h"
#include "state/records/job.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct job *job;
static struct reschedule_gauge gauges[RESCHEDULES_MAX];

static int set_up(void **state)
{
	job = job_create();
	job->id = text_copy(TEXT("web"));
	job->namespace_name = text_copy(TEXT("default"));
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	group->name = text_copy(TEXT("a"));
	*state = reschedules_create();
	return 0;
}

static int tear_down(void **state)
{
	reschedules_destroy(*state);
	job_free(job);
	return 0;
}

static void note(struct reschedules *r, uint32_t number, const struct evaluation *follow_up,
	int64_t attempted, uint64_t now_ns)
{
	struct allocation a = {.job = job};
	a.id.bytes[0] = (uint8_t)(number >> 8);
	a.id.bytes[1] = (uint8_t)number;
	reschedules_note(r, &(struct reschedule_note){&a, follow_up, attempted, 3}, now_ns);
}

static void the_newest_word_on_each_counts(void **state)
{
	struct reschedules *r = *state;
	struct evaluation later = {.id.bytes = {7}, .wait_until_ns = 90};
	note(r, 1, &later, 1, 5);
	note(r, 2, NULL, 2, 6);
	assert_int_equal(reschedules_read(r, 7, gauges), 2);
	assert_string_equal(gauges[0].job, "web");
	assert_string_equal(gauges[0].namespace_name, "default");
	assert_string_equal(gauges[0].group, "a");
	assert_int_equal(gauges[0].wait_until_ns, 90);
	assert_true(uuid_equal(&gauges[0].follow_up, &later.id));
	assert_int_equal(gauges[1].limit, 3);
	note(r, 1, NULL, 2, 8);
	assert_int_equal(reschedules_read(r, 9, gauges), 2);
	assert_int_equal(gauges[0].attempted, 2);
	assert_true(uuid_is_zero(&gauges[0].follow_up));
}

static void words_are_forgotten_after_a_minute(void **state)
{
	struct reschedules *r = *state;
	note(r, 1, NULL, 1, 1000);
	note(r, 2, NULL, 1, 2000);
	assert_int_equal(reschedules_read(r, 999 + RESCHEDULES_KEPT_NS, gauges), 2);
	assert_int_equal(reschedules_read(r, 1000 + RESCHEDULES_KEPT_NS, gauges), 1);
	assert_int_equal(gauges[0].allocation.bytes[1], 2);
}

static void the_oldest_makes_room(void **state)
{
	struct reschedules *r = *state;
	for (uint32_t i = 0; i < RESCHEDULES_MAX + 2; i++)
		note(r, i, NULL, i, 10 + i);
	assert_int_equal(reschedules_read(r, 1000, gauges), RESCHEDULES_MAX);
	for (uint32_t i = 0; i < RESCHEDULES_MAX; i++)
		assert_true(gauges[i].attempted >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_newest_word_on_each_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			words_are_forgotten_after_a_minute, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_oldest_makes_room, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
