// Deployments, canaries and disconnected clients (rows C1, C2, C8–C12, C27, C31–C40, C42, C45–C49).
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/reconcile/scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define CHECK_ROWS(rows) scene_check(rows, COUNT(rows))

static void deployments_begin(void **state)
{
	static const struct scene_row rows[] = {
		{"first run of a version", "count=2 update=1", NULL, "", NULL,
			"place [0]; place [1]; deployment running a 0/2"},
		{"never without an update block", "count=1", NULL, "", NULL, "place [0]"},
		{"nor with max_parallel 0", "count=1 update=0", NULL, "", NULL, "place [0]"},
		{"nor for batch jobs", "count=1 update=1 batch", NULL, "", NULL, "place [0]"},
		{"nor for more of the same", "count=2 update=1", NULL, "0", NULL, "place [1]"},
		{"one that was cancelled is over", "count=2 update=1 version=1",
			"cancelled group total=2", "0 v0; 1", NULL,
			"update [0] for 0; deployment running a 0/1"},
		{"nor for nothing", "count=0 update=1", NULL, "", NULL, ""},
		{"a change in place", "count=1 update=1 version=1 in-place", NULL, "0 v0", NULL,
			"in-place 0; deployment running a 0/1"},
		{"once it is over, not again for the same version", "count=2 update=1",
			"successful group total=1 healthy=1", "0 deployed healthy", NULL,
			"place [1]"},
		{"a newer version ends it and begins another", "count=1 update=1 version=1",
			"running version=0 group total=1", "0 v0 deployed", NULL,
			"update [0] for 0; cancelled \"Cancelled due to newer version of job\"; "
			"deployment running a 0/1"},
	};
	CHECK_ROWS(rows);
}

static void its_description_tells_who_promotes(void **state)
{
	static const struct {
		struct scene_row row;
		const char *description;
	} cases[] = {
		{{"plain", "count=1 update=1", NULL, "", NULL, NULL}, "Deployment is running"},
		{{"canary", "count=1 update=1 canary=1 version=1", NULL, "0 v0", NULL, NULL},
			"Deployment is running but requires manual promotion"},
		{{"auto", "count=1 update=1 canary=1 auto-promote version=1", NULL, "0 v0", NULL,
			 NULL},
			"Deployment is running pending automatic promotion"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct scene scene;
		scene_open(&scene, &cases[i].row);
		scene_reconcile(&scene);
		const struct deployment *d = scene.result.deployment;
		assert_non_null(d);
		assert_string_equal(d->status_description, cases[i].description);
		assert_int_equal(d->eval_priority, 70);
		assert_int_equal(d->job_version, scene.job->version);
		assert_ptr_equal(scene.result.current, d);
		scene_close(&scene);
	}
}

static void canaries_come_before_the_others(void **state)
{
	static const struct scene_row rows[] = {
		{"names of what they will replace", "count=3 update=1 canary=2 version=1", NULL,
			"0 v0; 1 v0; 2 v0", NULL,
			"place [0] canary; place [1] canary; deployment running a 2/3"},
		{"then names beyond the count", "count=1 update=1 canary=3 version=1", NULL, "0 v0",
			NULL,
			"place [0] canary; place [1] canary; place [2] canary; "
			"deployment running a 3/1"},
		{"a name that is there twice is left to those two",
			"count=2 update=1 canary=1 version=1", NULL, "0 v0; 1 v0; 0", NULL,
			"stop 1 not-needed; place [1] canary; deployment running a 1/1"},
		{"whichever of the two goes first", "count=2 update=1 canary=1 version=1", NULL,
			"0 v0; 0 v0", NULL, "place [1] canary; deployment running a 1/2"},
		{"also by one of several", "count=3 update=1 canary=2 version=1", NULL,
			"0 v0; 0 v0; 1 v0", NULL,
			"place [2] canary; place [1] canary; deployment running a 2/3"},
		{"only the missing ones", "count=3 update=1 canary=2 version=1",
			"running group total=3 canaries=2", "0 v0; 1 v0; 2 v0; 0 deployed canary",
			NULL, "place [1] canary"},
		{"none without destructive changes", "count=1 update=1 canary=1 version=1 in-place",
			NULL, "0 v0", NULL, "in-place 0; deployment running a 0/1"},
		{"none when they are there: and nothing else happens",
			"count=2 update=1 canary=1 version=1", "running group total=2 canaries=1",
			"0 v0; 1 v0; 0 deployed canary", NULL, ""},
		{"none for a first run", "count=2 update=1 canary=1", NULL, "", NULL,
			"place [0]; place [1]; deployment running a 0/2"},
		{"a failed canary counts", "count=1 update=1 canary=1 version=1",
			"running group total=1 canaries=1",
			"0 v0; 0 deployed canary failed ended=60", NULL, ""},
		{"a lost canary is placed again", "count=1 update=1 canary=1 version=1",
			"running group total=1 canaries=1", "0 v0; 0 deployed canary down", NULL,
			"stop 1 lost; place [0] canary"},
		{"one that has to move too", "count=1 update=1 canary=1 version=1",
			"running group total=1 canaries=1", "0 v0; 0 deployed canary drain migrate",
			NULL, "stop 1 migrating; place [0] canary"},
		{"a lost one is missed as a canary alone", "count=2 update=1 canary=1 version=1",
			"running group total=2 canaries=1", "0 v0; 0 deployed canary down", NULL,
			"stop 1 lost; place [0] canary"},
		{"paused: none is placed", "count=1 update=1 canary=1 version=1",
			"paused group total=1", "0 v0", NULL, ""},
		{"a newer version stops them", "count=1 update=1 version=1",
			"running version=0 group total=1 canaries=1", "0 v0; 1 v0 deployed canary",
			NULL,
			"stop 1 not-needed; update [0] for 0; "
			"cancelled \"Cancelled due to newer version of job\"; "
			"deployment running a 0/1"},
		{"so does failure", "count=1 update=1 canary=1 version=1",
			"failed group total=1 canaries=1", "0 v0; 0 deployed canary", NULL,
			"stop 1 not-needed"},
		{"what has ended is not stopped again", "count=1 update=1 canary=1 version=1",
			"failed group total=1 canaries=1", "0 v0; 0 deployed canary stop complete",
			NULL, ""},
		{"promoted ones stay, and their namesakes go",
			"count=2 update=1 canary=1 version=1",
			"running group total=2 canaries=1 promoted",
			"0 v0; 1 v0; 0 deployed canary healthy", NULL,
			"stop 0 not-needed; update [1] for 1"},
		{"namesakes, not the highest names", "count=3 update=1 canary=1 version=1",
			"running group total=3 canaries=1 promoted",
			"0 v0; 1 v0; 2 v0; 1 deployed canary healthy", NULL,
			"stop 1 not-needed; update [0] for 0"},
		{"until then they are no reason, and what is too much goes as ever",
			"count=1 update=1 canary=1 version=1", "running group total=1 canaries=1",
			"0 v0; 1 v0; 0 deployed canary", NULL, "stop 1 not-needed"},
	};
	CHECK_ROWS(rows);
}

static void the_version_before_is_kept_up_while_canaries_are_tried(void **state)
{
	static const struct scene_row rows[] = {
		{"lost", "count=2 update=1 canary=1 version=1", "running group total=2 canaries=1",
			"0 v0; 1 v0 down; 0 deployed canary", NULL,
			"stop 1 lost; place [1] for 1 lost older>=0"},
		{"failed", "count=2 update=1 canary=1 version=1",
			"running group total=2 canaries=1",
			"0 v0; 1 v0 failed ended=60; 0 deployed canary", NULL,
			"stop 1 rescheduled; place [1] for 1 failed older>=0"},
		{"both: each once", "count=3 update=1 canary=1 version=1",
			"running group total=3 canaries=1",
			"0 v0; 1 v0 failed ended=60; 2 v0 down; 0 deployed canary", NULL,
			"stop 2 lost; stop 1 rescheduled; place [1] for 1 failed older>=0; "
			"place [2] for 2 lost older>=0"},
		{"moved", "count=2 update=1 canary=1 version=1", "running group total=2 canaries=1",
			"0 v0; 1 v0 drain migrate; 0 deployed canary", NULL,
			"stop 1 migrating; place [1] for 1 moved older>=0"},
		{"but not what was never there", "count=3 update=1 canary=1 version=1",
			"running group total=3 canaries=1", "0 v0; 1 v0; 0 deployed canary", NULL,
			""},
	};
	CHECK_ROWS(rows);
}

static void what_waits_places_nothing_new(void **state)
{
	static const char *const statuses[] = {
		"paused group total=3", "pending group total=3", "failed group total=3"};
	static const struct scene_row rows[] = {
		{"no placements, no updates", "count=3 update=1 version=1", NULL, "0 v0; 1 v0",
			NULL, ""},
		{"drains go on", "count=2 update=1 version=1", NULL, "0 v0; 1 v0 drain migrate",
			NULL, "stop 1 migrating; place [1] for 1 moved"},
		{"what was lost is replaced", "count=2 update=1 version=1", NULL, "0 v0; 1 v0 gone",
			NULL, "stop 1 lost; place [1] for 1 lost"},
		{"what failed is replaced", "count=2 update=1 version=1", NULL,
			"0 v0; 1 v0 failed ended=60", NULL,
			"stop 1 rescheduled; place [1] for 1 failed"},
	};
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t j = 0; j < COUNT(statuses); j++) {
			struct scene_row row = rows[i];
			row.deployment = statuses[j];
			scene_check(&row, 1);
		}
	static const struct scene_row failed[] = {
		{"but not what failed with it", "count=2 update=1", "failed group total=2",
			"0 deployed; 1 deployed failed ended=60", NULL, ""},
		{"of one that is paused, what its watcher allows", "count=2 update=1",
			"paused group total=2", "0 deployed; 1 deployed failed ended=60 reschedule",
			NULL, "stop 1 rescheduled; place [1] for 1 failed"},
	};
	CHECK_ROWS(failed);
}

static void an_active_deployment_decides_what_is_rescheduled(void **state)
{
	static const struct scene_row rows[] = {
		{"not yet", "count=1 update=1", "running group total=1",
			"0 deployed failed ended=60", NULL, ""},
		{"allowed", "count=1 update=1", "running group total=1",
			"0 deployed failed ended=60 reschedule", NULL,
			"stop 0 rescheduled; place [0] for 0 failed"},
		{"forcing alone is not allowing", "count=1 update=1", "running group total=1",
			"0 deployed failed ended=60 force", NULL, ""},
		{"one that failed holds nothing back", "count=1 update=1", "failed group total=1",
			"0 deployed failed ended=10", NULL, "note 0~20; alloc-failure~20"},
		{"of no deployment", "count=1 update=1", "running group total=1",
			"0 failed ended=60", NULL, "stop 0 rescheduled; place [0] for 0 failed"},
		{"over", "count=1 update=1", "successful group total=1 healthy=1",
			"0 deployed failed ended=60", NULL,
			"stop 0 rescheduled; place [0] for 0 failed"},
	};
	CHECK_ROWS(rows);
}

static void deployments_end(void **state)
{
	static const struct scene_row rows[] = {
		{"all are healthy", "count=2 update=1", "running group total=2 healthy=2",
			"0 deployed healthy; 1 deployed healthy", NULL,
			"successful \"Deployment completed successfully\""},
		{"one is not yet", "count=2 update=1", "running group total=2 healthy=1",
			"0 deployed healthy; 1 deployed", NULL, ""},
		{"work is left", "count=2 update=1 version=1", "running group total=2 healthy=2",
			"0 deployed healthy; 1 v0", NULL, "update [1] for 1"},
		{"nobody promoted", "count=1 update=1 canary=1 version=1",
			"running group total=1 healthy=1 canaries=1", "0 deployed canary healthy",
			NULL, ""},
		{"promoted", "count=1 update=1 canary=1 version=1",
			"running group total=1 healthy=1 canaries=1 promoted",
			"0 deployed canary healthy", NULL,
			"successful \"Deployment completed successfully\""},
		{"more canaries than the rest", "count=1 update=1 canary=2 version=1",
			"running group total=1 healthy=1 canaries=2 promoted",
			"0 deployed canary healthy", NULL, ""},
		{"what failed stays failed", "count=1 update=1", "failed group total=1 healthy=1",
			"0 deployed healthy", NULL, ""},
		{"what fails later is waited for", "count=1 update=1",
			"running group total=1 healthy=1", "0 failed ended=10", NULL,
			"note 0~20; alloc-failure~20"},
	};
	CHECK_ROWS(rows);
}

static void several_regions_wait_for_each_other(void **state)
{
	static const struct scene_row rows[] = {
		{"worked out while it is initializing, then pending",
			"count=2 update=1 multiregion", "initializing", "", NULL,
			"pending \"Deployment is pending, waiting for peer region\"; "
			"deployment initializing a 0/2"},
		{"pending: nothing is placed, and canaries are asked for",
			"count=1 update=1 canary=1 version=1 multiregion", "pending group total=1",
			"0 v0", NULL, ""},
		{"done: blocked", "count=1 update=1 multiregion", "running group total=1 healthy=1",
			"0 deployed healthy", NULL,
			"blocked \"Deployment is complete but waiting for peer region\""},
		{"blocked stays so", "count=1 update=1 multiregion",
			"blocked group total=1 healthy=1", "0 deployed healthy", NULL, ""},
		{"unblocking goes on", "count=1 update=1 multiregion",
			"unblocking group total=1 healthy=1", "0 deployed healthy", NULL, ""},
		{"without deployments nothing waits", "count=2 batch multiregion", NULL, "", NULL,
			"place [0]; place [1]"},
	};
	CHECK_ROWS(rows);
}

static void what_is_cut_off_becomes_unknown_and_is_replaced(void **state)
{
	static const struct scene_row rows[] = {
		{"replaced later, and looked at when the limit ends",
			"count=2 disconnect=60 reschedule=30", NULL, "0; 1 away", NULL,
			"unknown 1~30; max-disconnect-timeout~60; alloc-failure~30"},
		{"replaced now: not stopped", "count=2 disconnect=60 reschedule=0", NULL,
			"0; 1 away", NULL,
			"place [1] for 1 failed; unknown 1~60; max-disconnect-timeout~60"},
		{"a follow-up from before is no reason to wait for it",
			"count=1 disconnect=60 reschedule=30", NULL, "0 away other", NULL,
			"unknown 0~30; max-disconnect-timeout~60; alloc-failure~30"},
		{"without a policy it is waited for", "count=1 disconnect=60 never", NULL, "0 away",
			NULL, "unknown 0~60; max-disconnect-timeout~60"},
		{"pending is lost", "count=1 disconnect=60", NULL, "0 away pending", NULL,
			"stop 0 lost; place [0] for 0 lost"},
		{"a group without it is lost", "count=1", NULL, "0 away", NULL,
			"stop 0 lost; place [0] for 0 lost"},
		{"old servers: lost, whatever the group allows", "count=1 disconnect=60", NULL,
			"0 away", "old-servers", "stop 0 lost; place [0] for 0 lost"},
		{"its follow-up replaces it", "count=1 disconnect=60 reschedule=30", NULL,
			"0 away unknown unknown-for=30 own", "delayed", "place [0] for 0 failed"},
		{"unknown within the limit is left alone", "count=1 disconnect=60", NULL,
			"0 away unknown unknown-for=59 other", NULL, ""},
		{"beyond the limit it is lost", "count=1 disconnect=60", NULL,
			"0 away unknown unknown-for=60", NULL, "stop 0 lost; place [0] for 0 lost"},
		{"lost beside its replacement: that is enough", "count=1 disconnect=60", NULL,
			"0 away unknown unknown-for=60 next=1; 0", NULL, "stop 0 lost"},
		{"it does not stand in for another", "count=2 disconnect=60", NULL,
			"0 away unknown unknown-for=5 next=1; 0; 1 gone", NULL,
			"stop 2 lost; place [1] for 2 lost"},
		{"also when what stood in for it was lost, and found no room",
			"count=1 disconnect=60", NULL,
			"0 away unknown unknown-for=5 next=1; 0 stop lost", NULL, "place [0]"},
		{"what was given up at an earlier time does not stand in", "count=2 disconnect=60",
			NULL,
			"0 away unknown unknown-for=5 next=1 other; 0 stop complete placed=100; 1",
			NULL, ""},
		{"nor is it chosen when fewer are wanted", "count=1 disconnect=60", NULL,
			"1 away unknown unknown-for=5; 0; 2", NULL, "stop 2 not-needed"},
		{"a delayed evaluation leaves it to its node's", "count=1 disconnect=60", NULL,
			"0 away", "delayed", ""},
		{"what was told to stop is not missed", "count=1 disconnect=60 reschedule=0", NULL,
			"0 away stop; 0", NULL, ""},
		{"an older version is not changed while it is away, but asks for canaries",
			"count=1 update=1 canary=1 version=1 disconnect=60 never", NULL,
			"0 v0 away", NULL,
			"place [0] canary; unknown 0~60; max-disconnect-timeout~60; "
			"deployment running a 1/1"},
		{"nor is it replaced by the newer one in the pass that finds it away",
			"count=1 version=1 disconnect=60 never", NULL, "0 v0 away", NULL,
			"unknown 0~60; max-disconnect-timeout~60"},
		{"nor changed in place", "count=1 version=1 in-place disconnect=60 never", NULL,
			"0 v0 away", NULL, "unknown 0~60; max-disconnect-timeout~60"},
		{"what failed in such a group is rescheduled", "count=1 disconnect=60", NULL,
			"0 failed ended=60", NULL, "stop 0 rescheduled; place [0] for 0 failed"},
		{"what completed in such a batch job is done", "count=1 disconnect=60 batch", NULL,
			"0 complete done", NULL, ""},
	};
	CHECK_ROWS(rows);
}

static void one_that_is_back_stays_or_goes(void **state)
{
	static const struct scene_row rows[] = {
		{"it stays", "count=1 disconnect=60", NULL, "0 unknown-for=5", NULL, "back 0"},
		{"and is ordinary then", "count=1 disconnect=60", NULL, "0 unknown-for=5 back",
			NULL, ""},
		{"it failed", "count=1 disconnect=60", NULL, "0 failed unknown-for=5", NULL,
			"stop 0 rescheduled client-failed; place [0]"},
		{"it was to be stopped", "count=1 disconnect=60", NULL, "0 stop unknown-for=5; 0",
			NULL, "stop 0 not-needed"},
		{"it was to be replaced", "count=1 disconnect=60", NULL,
			"0 reschedule unknown-for=5", NULL, "stop 0 not-needed; place [0]"},
		{"it is of an older version", "count=1 disconnect=60 version=1", NULL,
			"0 v0 unknown-for=5", NULL, "stop 0 not-needed; place [0]"},
		{"its replacement goes", "count=1 disconnect=60", NULL, "0 unknown-for=5 next=1; 0",
			NULL, "stop 1 reconnected; back 0"},
		{"its replacement is lost: the original, whatever the scores",
			"count=1 disconnect=60", NULL,
			"0 unknown-for=5 next=1 score=50; 0 gone score=90", NULL,
			"stop 1 lost; back 0"},
		{"equal scores: the original", "count=1 disconnect=60", NULL,
			"0 unknown-for=5 next=1 score=50; 0 score=50", NULL,
			"stop 1 reconnected; back 0"},
		{"a better score: the replacement", "count=1 disconnect=60", NULL,
			"0 unknown-for=5 next=1 score=50; 0 score=51", NULL, "stop 0 not-needed"},
		{"only it has one: the replacement", "count=1 disconnect=60", NULL,
			"0 unknown-for=5 next=1; 0 score=10", NULL, "stop 0 not-needed"},
		{"better but not running: the original", "count=1 disconnect=60", NULL,
			"0 unknown-for=5 next=1 score=50; 0 pending score=51", NULL,
			"stop 1 reconnected; back 0"},
		{"neither runs yet: the better one", "count=1 disconnect=60", NULL,
			"0 unknown drain unknown-for=5 next=1 score=50; 0 pending score=51", NULL,
			"stop 0 not-needed"},
		{"a newer version: the replacement", "count=1 disconnect=60 version=1", NULL,
			"0 v0 unknown-for=5 next=1; 0", NULL, "stop 0 not-needed"},
		{"a replacement that was replaced: the last one goes", "count=1 disconnect=60",
			NULL, "0 unknown-for=5 next=1; 0 failed stop next=2; 0", NULL,
			"stop 2 reconnected; back 0"},
		{"a replacement that was stopped is not stopped again", "count=1 disconnect=60",
			NULL, "0 unknown-for=5 next=1; 0 stop failed", NULL, "back 0"},
		{"not heard of yet on a node that drains: it stays, and counts",
			"count=1 disconnect=60", NULL, "0 drain unknown unknown-for=5 next=1; 0",
			NULL, "stop 1 reconnected"},
		{"also when its replacement was stopped before", "count=2 disconnect=60", NULL,
			"0 drain unknown unknown-for=5 next=1; 0 stop; 1", NULL, ""},
		{"too late", "count=1 disconnect=4", NULL, "0 unknown unknown-for=5", NULL,
			"stop 0 lost; place [0] for 0 lost"},
	};
	CHECK_ROWS(rows);
}

static void one_that_is_back_makes_up_for_a_failed_replacement(void **state)
{
	static const struct scene_row rows[] = {
		{"it is neither stopped nor placed again", "count=1 disconnect=60", NULL,
			"0 unknown-for=5 next=1; 0 failed ended=60", NULL, "back 0"},
		{"nor is it later", "count=1 disconnect=60", NULL,
			"0 unknown-for=5 back next=1; 0 failed ended=60", NULL, ""},
		{"nor does it get a follow-up", "count=1 disconnect=60", NULL,
			"0 unknown-for=5 next=1; 0 failed ended=10", NULL, "back 0"},
		{"nor does the follow-up that it has place it", "count=1 disconnect=60", NULL,
			"0 unknown-for=5 back next=1; 0 failed ended=30 own", "delayed", ""},
		{"nor does it count", "count=1 disconnect=60 never", NULL,
			"0 unknown-for=5 next=1; 0 failed", NULL, "back 0"},
		{"the last of several that failed", "count=1 disconnect=60", NULL,
			"0 unknown-for=5 next=1; 0 failed stop next=2; 0 failed ended=60", NULL,
			"back 0"},
		{"while the original is away it is placed again", "count=1 disconnect=60", NULL,
			"0 away unknown unknown-for=5 next=1; 0 failed ended=60", NULL,
			"stop 1 rescheduled; place [0] for 1 failed"},
		{"an original that is not kept does not stand for it", "count=1 disconnect=60",
			NULL, "0 reschedule unknown-for=5 next=1; 0 failed ended=60", NULL,
			"stop 0 not-needed; stop 1 rescheduled; place [0] for 1 failed"},
		{"one that moves does", "count=1 disconnect=60", NULL,
			"0 migrate unknown-for=5 next=1; 0 failed ended=60", NULL,
			"stop 0 migrating; place [0] for 0 moved"},
	};
	CHECK_ROWS(rows);
}

static void canaries_are_counted_again_in_every_pass(void **state)
{
	static const struct scene_row row = {"", "count=1 update=1 canary=2 version=1 multiregion",
		"initializing", "0 v0", NULL, NULL};
	struct scene scene;
	scene_open(&scene, &row);
	assert_string_equal(scene_reconcile(&scene),
		"pending \"Deployment is pending, waiting for peer region\"; "
		"deployment initializing a 2/1");
	// The deployment is stored, and the job asks for another count.
	struct deployment *d = deployment_copy(scene.result.deployment);
	world_deploy(scene.world, d);
	scene.deployment = d;
	group_of(scene.job)->update->canary = 3;
	assert_string_equal(scene_reconcile(&scene),
		"pending \"Deployment is pending, waiting for peer region\"; "
		"deployment initializing a 3/1");
	scene_close(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deployments_begin),
		cmocka_unit_test(its_description_tells_who_promotes),
		cmocka_unit_test(canaries_come_before_the_others),
		cmocka_unit_test(the_version_before_is_kept_up_while_canaries_are_tried),
		cmocka_unit_test(what_waits_places_nothing_new),
		cmocka_unit_test(an_active_deployment_decides_what_is_rescheduled),
		cmocka_unit_test(deployments_end),
		cmocka_unit_test(several_regions_wait_for_each_other),
		cmocka_unit_test(what_is_cut_off_becomes_unknown_and_is_replaced),
		cmocka_unit_test(one_that_is_back_stays_or_goes),
		cmocka_unit_test(one_that_is_back_makes_up_for_a_failed_replacement),
		cmocka_unit_test(canaries_are_counted_again_in_every_pass),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
