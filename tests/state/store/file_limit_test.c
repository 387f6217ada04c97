// A process that may not write more to one file (ulimit -f) finds itself before a full disk.
#include "state/base/limits.h"
#include "state/base/log.h"
#include "state/store/journal.h"
#include "tests/state/store/store_dir.h"
#include "tests/state/store/world.h"
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static void limit_files(rlim_t bytes)
{
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int lift_limit(void **unused)
{
	limit_files(RLIM_INFINITY);
	return 0;
}

static void growth_is_refused_but_not_what_must_be_kept(void **unused)
{
	struct world w;
	world_init(&w);
	assert_int_equal(world_open(&w), 0);
	assert_int_equal(world_register(&w, 1), OUTCOME_DONE);
	limit_files(STORE_RESERVE_BYTES / 2);
	assert_int_equal(world_register(&w, 2), OUTCOME_STORE_FULL);
	assert_int_equal(world_job(&w, 1), OUTCOME_STORE_FULL);
	assert_int_equal(world_expire(&w, 0), OUTCOME_DONE);
	limit_files(RLIM_INFINITY);
	assert_int_equal(world_register(&w, 2), OUTCOME_DONE);
	world_close(&w);
	assert_int_equal(world_recover(&w), 0);
	world_close(&w);
	world_remove(&w);
}

static void a_snapshot_over_the_limit_leaves_nothing_behind(void **unused)
{
	struct world w;
	char unfinished[128];
	world_init(&w);
	assert_int_equal(world_open(&w), 0);
	assert_int_equal(world_register(&w, 3), OUTCOME_DONE);
	limit_files(100);
	assert_int_equal(store_snapshot(w.store, w.state), -EFBIG);
	assert_int_equal(atomic_load(&store_counters(w.store)->snapshot_failures), 1);
	snprintf(unfinished, sizeof unfinished, "%s/snapshot.new", w.directory);
	assert_int_equal(access(unfinished, F_OK), -1);
	limit_files(RLIM_INFINITY);
	assert_int_equal(store_snapshot(w.store, w.state), 0);
	world_close(&w);
	world_remove(&w);
}

static int count_batch(void *context, const struct journal_batch *batch)
{
	*(uint64_t *)context = batch->first_index;
	return 0;
}

// What exists beyond the limit, from a time with a higher limit or none, is not written to either.
static void a_batch_over_the_limit_is_refused_and_tried_again(void **unused)
{
	static uint8_t batch[100000];
	const char *directory = dir_create();
	char message[512];
	struct complaint complaint = {message, sizeof message};
	struct journal_settings settings = {directory, 1ll << 30, false, true};
	struct journal *j;
	uint64_t index = 1;
	assert_int_equal(journal_open(&settings, &j, &complaint), 0);
	for (; index <= 5; index++)
		assert_int_equal(journal_append(j, index, 1, batch, sizeof batch), 0);
	limit_files(90000);
	for (int i = 0; i < 2; i++)
		assert_int_equal(journal_append(j, index, 1, batch, sizeof batch), -ENOSPC);
	limit_files(120000);
	for (; index <= 10; index++)
		assert_int_equal(journal_append(j, index, 1, batch, sizeof batch), 0);
	journal_close(j);
	assert_int_equal(journal_open(&settings, &j, &complaint), 0);
	limit_files(RLIM_INFINITY);
	uint64_t last = 0;
	assert_int_equal(journal_walk(j, 0, count_batch, &last, &complaint), 0);
	assert_int_equal(last, index - 1);
	journal_close(j);
	dir_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(growth_is_refused_but_not_what_must_be_kept, lift_limit),
		cmocka_unit_test_teardown(
			a_snapshot_over_the_limit_leaves_nothing_behind, lift_limit),
		cmocka_unit_test_teardown(
			a_batch_over_the_limit_is_refused_and_tried_again, lift_limit),
	};
	log_configure(LOG_ERROR + 1, false);
	signal(SIGXFSZ, SIG_IGN); // as the daemon does
	return cmocka_run_group_tests(tests, NULL, NULL);
}
