// What a group asks for against its allocations: stops, placements, names, changes (rows C17–C28, C46, C47).
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/reconcile/scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define CHECK_ROWS(rows) scene_check(rows, COUNT(rows))

static void a_group_is_filled_up(void **state)
{
	static const struct scene_row rows[] = {
		{"nothing is there", "count=3", NULL, "", NULL, "place [0]; place [1]; place [2]"},
		{"all are there", "count=2", NULL, "0; 1", NULL, ""},
		{"free numbers are filled", "count=4", NULL, "3; 1", NULL, "place [0]; place [2]"},
		{"no free number is left: they overlap", "count=3", NULL, "0; 1; 2 stop complete",
			NULL, "place [2]"},
		{"numbers may be far apart", "count=2", NULL, "4000000; 1; 3000000", NULL,
			"stop 0 not-needed"},
		{"numbers that are too high hold places", "count=2", NULL, "5", NULL, "place [0]"},
	};
	CHECK_ROWS(rows);
}

// Millions of missing instances are two runs: before and after the number that is taken.
static void missing_instances_are_kept_as_runs(void **state)
{
	static const struct scene_row row = {"", "count=4000000", NULL, "1000000", NULL, ""};
	struct scene s;
	scene_open(&s, &row);
	s.eval->annotate_plan = true;
	struct reconcile_ask ask = {.view = &s.view,
		.job = s.job,
		.eval = s.eval,
		.allocations = (const struct allocation *const *)s.allocations,
		.allocation_count = s.count,
		.now_ns = SCENE_NOW,
		.prng = &s.prng};
	reconcile(&ask, &s.result);
	assert_int_equal(s.result.place.count, 2);
	const struct reconcile_place *first = ARRAY_AT(&s.result.place, struct reconcile_place, 0);
	assert_int_equal(first[0].name_index, 0);
	assert_int_equal(first[0].more, 999999);
	assert_int_equal(first[1].name_index, 1000001);
	assert_int_equal(first[1].more, 2999999 - 1);
	const struct desired_updates *desired =
		ARRAY_AT(&s.result.desired, struct desired_updates, 0);
	assert_int_equal(desired->place, 3999999);
	scene_close(&s);
}

static void too_many_are_stopped_from_the_highest_name(void **state)
{
	static const struct scene_row rows[] = {
		{"highest names", "count=2", NULL, "0; 1; 2; 3", NULL,
			"stop 2 not-needed; stop 3 not-needed"},
		{"the highest names by number, not by how often they are there", "count=2", NULL,
			"0; 1; 1", NULL, "stop 1 not-needed"},
		{"only duplicates", "count=1", NULL, "0; 0; 0", NULL,
			"stop 0 not-needed; stop 1 not-needed"},
		{"those that move go first", "count=2", NULL, "0 drain migrate; 1; 2", NULL,
			"stop 0 not-needed"},
		{"of those that move the highest", "count=1", NULL,
			"0 drain migrate; 1 drain migrate; 2", NULL,
			"stop 0 not-needed; stop 1 not-needed"},
		{"one that moves stays with the count", "count=2", NULL,
			"0; 1 drain migrate; 2 drain migrate", NULL,
			"stop 2 not-needed; stop 1 migrating; place [1] for 1 moved"},
		{"then the highest of the names that are left", "count=1", NULL,
			"0; 1; 2 drain migrate", NULL, "stop 2 not-needed; stop 1 not-needed"},
		{"what failed counts, but is not stopped", "count=1 never", NULL, "0 failed; 1",
			NULL, "stop 1 not-needed"},
		{"none at all", "count=0", NULL, "0; 1 complete", NULL, "stop 0 not-needed"},
	};
	CHECK_ROWS(rows);
}

static void stopped_jobs_and_removed_groups_end(void **state)
{
	static const struct scene_row rows[] = {
		{"stopped: all that lives", "count=3 stopped", NULL,
			"0; 1 complete; 2 failed; 3 down; 4 unknown; 5 away", NULL,
			"stop 0 not-needed; stop 3 lost; stop 4 not-needed; stop 5 lost"},
		{"purged", "count=3 purged", NULL, "0; 1 stop", NULL, "stop 0 not-needed"},
		{"the unknown one is not needed either", "count=1 disconnect=60 stopped", NULL,
			"0 away unknown unknown-for=5; 1 away", NULL,
			"stop 0 not-needed; stop 1 not-needed"},
		{"a group that is gone: all of it, whether it has ended or is to stop",
			"count=0 version=1", NULL,
			"0 removed; 1 removed failed; 2 removed stop; 3 removed stop complete; "
			"4 removed down; 5 removed stop failed; 6 removed evict; 7 removed down "
			"stop failed",
			NULL,
			"stop 0 not-needed; stop 1 not-needed; stop 2 not-needed; stop 3 "
			"not-needed; stop 4 lost; stop 5 not-needed; stop 6 not-needed; stop 7 "
			"not-needed"},
		{"but what a lost node will not report is the scheduler's to lose",
			"count=0 version=1", NULL, "0 removed down stop", NULL, ""},
		{"a deployment of a stopped job is cancelled", "count=1 stopped",
			"running group total=1", "0", NULL,
			"stop 0 not-needed; cancelled \"Cancelled because job is stopped\""},
		{"one that is over is not", "count=1 stopped", "failed group total=1", "", NULL,
			""},
	};
	CHECK_ROWS(rows);
}

static void what_is_lost_is_replaced_while_it_is_missed(void **state)
{
	static const struct scene_row rows[] = {
		{"down and gone", "count=3", NULL, "0; 1 down; 2 gone", NULL,
			"stop 1 lost; stop 2 lost; place [1] for 1 lost; place [2] for 2 lost"},
		{"surplus is not replaced", "count=1", NULL, "0; 1 down; 2 down", NULL,
			"stop 1 lost; stop 2 lost"},
		{"what ended on a lost node stays ended", "count=2 batch", NULL,
			"0 down complete done; 1", NULL, ""},
		{"a failure there is rescheduled", "count=1 reschedule=0", NULL,
			"0 down failed ended=5", NULL,
			"stop 0 rescheduled; place [0] for 0 failed"},
	};
	CHECK_ROWS(rows);
}

static void lost_work_waits_until_its_client_has_stopped_it(void **state)
{
	static const struct scene_row rows[] = {
		{"stopped now, replaced when it has surely ended", "count=2 stop-after=10", NULL,
			"0; 1 down", NULL, "stop 1 lost~15; alloc-failure~15"},
		{"the longest kill timeout counts", "count=1 stop-after=10 kill=20", NULL, "0 down",
			NULL, "stop 0 lost~30; alloc-failure~30"},
		{"nothing of the group is placed meanwhile", "count=4 stop-after=10", NULL,
			"0 down; 1 failed ended=60", NULL, "stop 0 lost~15; alloc-failure~15"},
		{"moving goes on", "count=2 stop-after=10", NULL, "0 down; 1 drain migrate", NULL,
			"stop 0 lost~15; stop 1 migrating; place [1] for 1 moved; "
			"alloc-failure~15"},
		{"another evaluation waits too", "count=1 stop-after=10", NULL,
			"0 down lost stop lost-for=5 other", NULL, ""},
		{"what was stopped before it was lost is not waited for", "count=1 stop-after=10",
			NULL, "0 down lost stop lost-for=5", NULL, "place [0]"},
		{"what its client has ended since is not waited for", "count=1 stop-after=10", NULL,
			"0 failed ended=1 stop lost-for=5 other", NULL, "place [0]"},
		{"the follow-up places it", "count=1 stop-after=10", NULL,
			"0 down lost stop lost-for=15 own", "delayed", "place [0]"},
		{"also what shares its evaluation with an earlier one", "count=1 stop-after=10",
			NULL, "0 down lost stop lost-for=12 own", "delayed", "place [0]"},
		{"long over", "count=1 stop-after=10", NULL, "0 down lost stop lost-for=16 other",
			NULL, "place [0]"},
		{"over at that moment", "count=1 stop-after=10", NULL, "0 down lost-for=15", NULL,
			"stop 0 lost; place [0] for 0 lost"},
		{"nobody waits for what was replaced", "count=2 stop-after=10", NULL,
			"0 down lost stop lost-for=5 other next=1; 0", NULL, "place [1]"},
		{"zero is unset", "count=1 stop-after=0", NULL, "0 down", NULL,
			"stop 0 lost; place [0] for 0 lost"},
		{"a delayed evaluation leaves it to its node's", "count=2 stop-after=10", NULL,
			"0 down; 1", "delayed", ""},
		{"and does not count it", "count=1 stop-after=10", NULL, "0 down; 1", "delayed",
			""},
		{"times within 5 seconds share a follow-up", "count=4 stop-after=10", NULL,
			"0 down lost-for=8; 1 down lost-for=4; 2 down; 3 down lost-for=7", NULL,
			"stop 0 lost~7; stop 1 lost~7; stop 2 lost~15; stop 3 lost~7; "
			"alloc-failure~7; alloc-failure~15"},
	};
	CHECK_ROWS(rows);
}

static void what_failed_is_rescheduled_now_or_later(void **state)
{
	static const struct scene_row rows[] = {
		{"due", "count=1", NULL, "0 failed ended=30", NULL,
			"stop 0 rescheduled; place [0] for 0 failed"},
		{"due within a second is due", "count=1", NULL, "0 failed ended=29", NULL,
			"stop 0 rescheduled; place [0] for 0 failed"},
		{"later: noted, and looked at again", "count=1", NULL, "0 failed ended=28", NULL,
			"note 0~2; alloc-failure~2"},
		{"noted once", "count=1", NULL, "0 failed ended=10 other", NULL, ""},
		{"its own follow-up replaces it, due or not", "count=1", NULL,
			"0 failed ended=10 own", "delayed",
			"stop 0 rescheduled; place [0] for 0 failed"},
		{"also another one when it is due", "count=1", NULL, "0 failed ended=40 other",
			NULL, "stop 0 rescheduled; place [0] for 0 failed"},
		{"never twice", "count=1", NULL, "0 failed stop next=1; 0", NULL, ""},
		{"nor one that has a successor", "count=1", NULL, "0 failed next=1; 0", NULL, ""},
		{"forced, whatever the policy", "count=1 never", NULL, "0 failed force", NULL,
			"stop 0 rescheduled; place [0] for 0 failed"},
		{"no policy: it stays", "count=1 never", NULL, "0 failed ended=60", NULL, ""},
		{"attempts that are used up", "count=1 limited=2/600", NULL,
			"0 failed ended=60 attempts=2@500", NULL, ""},
		{"attempts before the interval do not count", "count=1 limited=2/600", NULL,
			"0 failed ended=60 attempts=2@700", NULL,
			"stop 0 rescheduled; place [0] for 0 failed"},
		{"a delayed evaluation makes no follow-up and names none", "count=2", NULL,
			"0 failed ended=10; 1", "delayed", ""},
		{"less than 5 seconds apart they share one", "count=4", NULL,
			"0 failed ended=20; 1 failed ended=16; 2 failed ended=15; 3 failed "
			"ended=10",
			NULL,
			"note 0~10; note 1~10; note 2~15; note 3~20; alloc-failure~10; "
			"alloc-failure~15; alloc-failure~20"},
		{"also of what a new version replaces: there may be no room for it",
			"count=1 version=1", NULL, "0 v0 failed ended=10", NULL,
			"update [0] for 0; note 0~20; alloc-failure~20"},
	};
	CHECK_ROWS(rows);
}

static void what_is_over_is_told_by_type(void **state)
{
	static const struct scene_row rows[] = {
		{"service: what completed is replaced", "count=1", NULL, "0 complete done", NULL,
			"place [0]"},
		{"service: what was stopped or evicted", "count=2", NULL, "0 stop; 1 evict", NULL,
			"place [0]; place [1]"},
		{"batch: what completed is done", "count=2 batch", NULL,
			"0 complete done; 1 complete", NULL, ""},
		{"batch: stopped after it ran well counts", "count=1 batch", NULL,
			"0 stop complete done", NULL, ""},
		{"batch: stopped before is ignored", "count=1 batch", NULL, "0 stop complete", NULL,
			"place [0]"},
		{"batch: evicted is ignored", "count=1 batch", NULL, "0 evict complete done", NULL,
			"place [0]"},
		{"batch: what failed is rescheduled", "count=1 batch", NULL, "0 failed ended=60",
			NULL, "stop 0 rescheduled; place [0] for 0 failed"},
		{"batch: what ended of an older version runs anew", "count=1 batch version=1", NULL,
			"0 v0 complete done", NULL, "place [0]"},
		{"batch: what runs of it is changed", "count=2 batch version=1 in-place", NULL,
			"0 v0 complete done; 1 v0", NULL, "place [0]; in-place 1"},
	};
	CHECK_ROWS(rows);
}

static void names_that_are_there_twice_are_repaired(void **state)
{
	static const struct scene_row rows[] = {
		{"on replacement", "count=3", NULL, "0; 0 failed ended=60; 2", NULL,
			"stop 1 rescheduled; place [1] for 1 failed"},
		{"on migration", "count=2", NULL, "0; 0 drain migrate", NULL,
			"stop 1 migrating; place [1] for 1 moved"},
		{"not where it is there once, whatever is free", "count=3 stop-after=10", NULL,
			"0 down; 1 drain migrate", NULL,
			"stop 0 lost~15; stop 1 migrating; place [1] for 1 moved; "
			"alloc-failure~15"},
		{"on update: the one that waits keeps its name", "count=3 version=1 update=1", NULL,
			"0 v0; 0 v0; 2 v0", NULL, "update [1] for 0; deployment running a 0/3"},
		{"when no name is free they stay", "count=2", NULL, "1; 1 failed ended=60; 0", NULL,
			"stop 1 rescheduled; place [1] for 1 failed"},
	};
	CHECK_ROWS(rows);
}

static void other_versions_change_what_is_there(void **state)
{
	static const struct scene_row rows[] = {
		{"in place", "count=2 version=1 in-place", NULL, "0 v0; 1 v0", NULL,
			"in-place 0; in-place 1"},
		{"without an update block all at once", "count=2 version=1", NULL, "1 v0; 0 v0",
			NULL, "update [0] for 1; update [1] for 0"},
		{"max_parallel at a time, the lowest first", "count=3 version=1 update=2", NULL,
			"2 v0; 0 v0; 1 v0", NULL,
			"update [0] for 1; update [1] for 2; deployment running a 0/3"},
		{"max_parallel 0 means none", "count=2 version=1 update=0", NULL, "0 v0; 1 v0",
			NULL, "update [0] for 0; update [1] for 1"},
		{"what is placed takes of it", "count=3 version=1 update=2", NULL, "0 v0; 1 v0",
			NULL, "update [0] for 0; place [2]; deployment running a 0/3"},
		{"those without a verdict take of it", "count=4 version=1 update=2",
			"running group total=4", "0 deployed; 1 deployed healthy; 2 v0; 3 v0", NULL,
			"update [2] for 2"},
		{"an unhealthy one stops it", "count=3 version=1 update=2", "running group total=3",
			"0 deployed unhealthy; 1 v0; 2 v0", NULL, ""},
		{"more without a verdict than allowed", "count=4 version=1 update=1",
			"running group total=4", "0 deployed; 1 deployed; 2 v0; 3 v0", NULL, ""},
		{"what failed for good is replaced by the new version", "count=1 version=1 never",
			NULL, "0 v0 failed", NULL, "update [0] for 0"},
	};
	CHECK_ROWS(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_is_filled_up),
		cmocka_unit_test(missing_instances_are_kept_as_runs),
		cmocka_unit_test(too_many_are_stopped_from_the_highest_name),
		cmocka_unit_test(stopped_jobs_and_removed_groups_end),
		cmocka_unit_test(what_is_lost_is_replaced_while_it_is_missed),
		cmocka_unit_test(lost_work_waits_until_its_client_has_stopped_it),
		cmocka_unit_test(what_failed_is_rescheduled_now_or_later),
		cmocka_unit_test(what_is_over_is_told_by_type),
		cmocka_unit_test(names_that_are_there_twice_are_repaired),
		cmocka_unit_test(other_versions_change_what_is_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
