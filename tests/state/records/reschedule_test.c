// Delays and attempts of reschedule policies (rows C24–C26).
#include "state/base/time_units.h"
#include "state/records/alloc_details.h"
#include "state/records/reschedule.h"
#include "tests/placement/job_check/job_build.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define NOW (10000 * NS_PER_S)

struct fixture {
	struct job *job;
	struct reschedule_policy *policy;
	struct allocation a;
};

static int set_up(void **state)
{
	struct fixture *f = memory_take(sizeof *f);
	f->job = job_of(JOB_SERVICE);
	f->policy = group_of(f->job)->reschedule = block(&reschedule_description);
	f->policy->delay_ns = 5 * NS_PER_S;
	f->policy->max_delay_ns = 60 * NS_PER_S;
	f->policy->unlimited = (struct optional_bool){true, true};
	set(&f->policy->delay_function, "constant");
	f->a.job = f->job;
	f->a.client_status = ALLOC_FAILED;
	f->a.details = alloc_details_create();
	f->a.id.bytes[0] = 1;
	f->a.node_id.bytes[0] = 2;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	alloc_details_release(f->a.details);
	alloc_report_release(f->a.report);
	job_free(f->job);
	free(f);
	return 0;
}

static void add_event(struct fixture *f, int64_t time_ns, int64_t delay_ns)
{
	struct reschedule_event *event =
		array_append(&f->a.details->reschedule_events, sizeof *event);
	event->reschedule_time_ns = time_ns;
	event->delay_ns = delay_ns;
}

static void limit(struct fixture *f, int64_t attempts, int64_t interval_ns)
{
	f->policy->unlimited.value = false;
	f->policy->attempts = attempts;
	f->policy->interval_ns = interval_ns;
}

static void finish(struct fixture *f, int64_t time_ns)
{
	if (!f->a.report)
		f->a.report = alloc_report_create();
	struct task_state *task = array_append(&f->a.report->task_states, sizeof *task);
	task->finished_at_ns = time_ns;
}

// Every attempt fails at once, and its event has the delay that was asked for.
static void check_series(struct fixture *f, const char *function, const int *seconds, size_t count)
{
	set(&f->policy->delay_function, function);
	f->a.modify_time_ns = NOW;
	for (size_t i = 0; i < count; i++) {
		int64_t delay_ns = allocation_reschedule_delay_ns(&f->a);
		assert_int_equal(delay_ns, seconds[i] * NS_PER_S);
		add_event(f, NOW, delay_ns);
	}
}

static void constant_delays(void **state)
{
	check_series(*state, "constant", (const int[]){5, 5, 5}, 3);
}

static void exponential_delays(void **state)
{
	check_series(*state, "exponential", (const int[]){5, 10, 20, 40, 60, 60}, 6);
}

static void fibonacci_delays(void **state)
{
	check_series(*state, "fibonacci", (const int[]){5, 5, 10, 15, 25, 40, 60, 60}, 8);
}

static void without_a_ceiling_they_go_on_and_do_not_overflow(void **state)
{
	struct fixture *f = *state;
	f->policy->max_delay_ns = 0;
	check_series(f, "exponential", (const int[]){5, 10, 20, 40, 80}, 5);
	add_event(f, NOW, INT64_MAX / 2 + 1);
	assert_true(allocation_reschedule_delay_ns(&f->a) > 0);
	int64_t due_ns;
	assert_true(allocation_reschedule_due(&f->a, INT64_MAX - 1, &due_ns));
	assert_int_equal(due_ns, INT64_MAX);
}

static void one_that_lived_for_longer_than_the_ceiling_begins_anew(void **state)
{
	struct fixture *f = *state;
	set(&f->policy->delay_function, "exponential");
	add_event(f, NOW, 60 * NS_PER_S);
	finish(f, NOW + 60 * NS_PER_S);
	assert_int_equal(allocation_reschedule_delay_ns(&f->a), 60 * NS_PER_S);
	finish(f, NOW + 60 * NS_PER_S + 1);
	assert_int_equal(allocation_reschedule_delay_ns(&f->a), 5 * NS_PER_S);
	// Below the ceiling nothing begins anew.
	add_event(f, NOW, 20 * NS_PER_S);
	assert_int_equal(allocation_reschedule_delay_ns(&f->a), 40 * NS_PER_S);
}

static void a_fibonacci_series_that_began_anew_does_not_add_the_ceiling(void **state)
{
	struct fixture *f = *state;
	set(&f->policy->delay_function, "fibonacci");
	f->a.modify_time_ns = NOW;
	add_event(f, NOW, 60 * NS_PER_S);
	add_event(f, NOW, 5 * NS_PER_S);
	assert_int_equal(allocation_reschedule_delay_ns(&f->a), 5 * NS_PER_S);
	add_event(f, NOW, 5 * NS_PER_S);
	assert_int_equal(allocation_reschedule_delay_ns(&f->a), 10 * NS_PER_S);
}

static void it_failed_when_its_last_task_ended(void **state)
{
	struct fixture *f = *state;
	int64_t due_ns;
	f->a.modify_time_ns = NOW;
	assert_int_equal(allocation_last_event_ns(&f->a), NOW);
	finish(f, 0);
	assert_int_equal(allocation_last_event_ns(&f->a), NOW);
	finish(f, NOW - 20 * NS_PER_S);
	finish(f, NOW - 30 * NS_PER_S);
	assert_int_equal(allocation_last_event_ns(&f->a), NOW - 20 * NS_PER_S);
	assert_true(allocation_failure_due(&f->a, &due_ns));
	assert_int_equal(due_ns, NOW - 15 * NS_PER_S);
}

static void only_what_failed_and_is_not_stopped_is_due(void **state)
{
	struct fixture *f = *state;
	int64_t due_ns;
	f->a.client_status = ALLOC_RUNNING;
	assert_false(allocation_failure_due(&f->a, &due_ns));
	assert_true(allocation_reschedule_due(&f->a, NOW, &due_ns));
	f->a.client_status = ALLOC_FAILED;
	f->a.desired = ALLOC_STOP;
	assert_false(allocation_failure_due(&f->a, &due_ns));
}

static void attempts_count_within_the_interval(void **state)
{
	struct fixture *f = *state;
	int64_t due_ns;
	limit(f, 2, 100 * NS_PER_S);
	assert_true(allocation_reschedule_due(&f->a, NOW, &due_ns));
	add_event(f, NOW - 100 * NS_PER_S, 5 * NS_PER_S); // just outside
	add_event(f, NOW - 99 * NS_PER_S, 5 * NS_PER_S);
	assert_true(allocation_reschedule_due(&f->a, NOW, &due_ns));
	add_event(f, NOW - NS_PER_S, 5 * NS_PER_S);
	assert_false(allocation_reschedule_due(&f->a, NOW, &due_ns));
	assert_true(allocation_reschedule_due(&f->a, NOW + 2 * NS_PER_S, &due_ns));
}

static void a_delay_as_long_as_the_interval_is_too_long(void **state)
{
	struct fixture *f = *state;
	int64_t due_ns;
	limit(f, 5, 5 * NS_PER_S);
	assert_true(allocation_reschedule_due(&f->a, NOW, &due_ns)); // the first is free
	add_event(f, NOW - 60 * NS_PER_S, 5 * NS_PER_S);
	assert_false(allocation_reschedule_due(&f->a, NOW, &due_ns));
}

static void no_policy_or_no_attempts_is_never(void **state)
{
	struct fixture *f = *state;
	int64_t due_ns;
	limit(f, 0, 100 * NS_PER_S);
	assert_false(allocation_reschedule_due(&f->a, NOW, &due_ns));
	record_release(&reschedule_description, f->policy);
	free(f->policy);
	group_of(f->job)->reschedule = NULL;
	assert_false(allocation_reschedule_due(&f->a, NOW, &due_ns));
	assert_int_equal(allocation_reschedule_delay_ns(&f->a), 0);
}

static const struct reschedule_event *event_at(const struct array *events, uint32_t i)
{
	return ARRAY_AT(events, struct reschedule_event, i);
}

static void a_tracker_keeps_five_and_adds_one(void **state)
{
	struct fixture *f = *state;
	struct array events = {0};
	for (int i = 1; i <= 7; i++)
		add_event(f, i * NS_PER_S, 5 * NS_PER_S);
	allocation_track_reschedule(&f->a, NOW, &events);
	assert_int_equal(events.count, 6);
	assert_int_equal(event_at(&events, 0)->reschedule_time_ns, 3 * NS_PER_S);
	const struct reschedule_event *last = event_at(&events, 5);
	assert_int_equal(last->reschedule_time_ns, NOW);
	assert_int_equal(last->delay_ns, 5 * NS_PER_S);
	assert_true(uuid_equal(&last->previous_alloc, &f->a.id));
	assert_true(uuid_equal(&last->previous_node, &f->a.node_id));
	free(events.items);
}

static void a_tracker_with_a_limit_keeps_its_interval(void **state)
{
	struct fixture *f = *state;
	struct array events = {0};
	limit(f, 3, 100 * NS_PER_S);
	add_event(f, NOW - 101 * NS_PER_S, NS_PER_S);
	add_event(f, NOW - 100 * NS_PER_S, 2 * NS_PER_S);
	add_event(f, NOW - NS_PER_S, 3 * NS_PER_S);
	allocation_track_reschedule(&f->a, NOW, &events);
	assert_int_equal(events.count, 3);
	assert_int_equal(event_at(&events, 0)->delay_ns, 2 * NS_PER_S);
	free(events.items);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(constant_delays),
		TEST(exponential_delays),
		TEST(fibonacci_delays),
		TEST(without_a_ceiling_they_go_on_and_do_not_overflow),
		TEST(one_that_lived_for_longer_than_the_ceiling_begins_anew),
		TEST(a_fibonacci_series_that_began_anew_does_not_add_the_ceiling),
		TEST(it_failed_when_its_last_task_ended),
		TEST(only_what_failed_and_is_not_stopped_is_due),
		TEST(attempts_count_within_the_interval),
		TEST(a_delay_as_long_as_the_interval_is_too_long),
		TEST(no_policy_or_no_attempts_is_never),
		TEST(a_tracker_keeps_five_and_adds_one),
		TEST(a_tracker_with_a_limit_keeps_its_interval),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
