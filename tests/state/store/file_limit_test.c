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

static uint64_t append_all(struct journal *j, uint64_t index, uint64_t end)
{
	static uint8_t batch[100000];
	int error = 0;
	while (index < end && (error = journal_append(j, index, 1, batch, sizeof batch)) == 0)
		index++;
	assert_true(error == 0 || error == -ENOSPC);
	return index;
}

static int count_batch(void *context, const struct journal_batch *batch)
{
	*(uint64_t *)context = batch->first_index;
	return 0;
}

// Also when the file, from a time with a higher limit or none, is larger than the limit.
static void a_log_at_the_limit_refuses_and_goes_on(void **unused)
{
	enum { MANY = 1000 };
	const char *directory = dir_create();
	char message[512];
	struct complaint complaint = {message, sizeof message};
	struct journal_settings settings = {directory, 1ll << 30, false, true};
	struct journal *j;
	assert_int_equal(journal_open(&settings, &j, &complaint), 0);
	limit_files(20 << 20);
	uint64_t index = append_all(j, 1, MANY);
	assert_in_range(index, 100, 250);
	assert_int_equal(append_all(j, index, MANY), index);
	limit_files(40 << 20);
	uint64_t more = append_all(j, index, MANY);
	assert_in_range(more, index + 100, index + 250);
	journal_close(j);
	limit_files(30 << 20);
	assert_int_equal(journal_open(&settings, &j, &complaint), 0);
	assert_int_equal(append_all(j, more, MANY), more);
	limit_files(RLIM_INFINITY);
	assert_int_equal(append_all(j, more, MANY), MANY);
	uint64_t last = 0;
	assert_int_equal(journal_walk(j, 0, count_batch, &last, &complaint), 0);
	assert_int_equal(last, MANY - 1);
	journal_close(j);
	dir_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(growth_is_refused_but_not_what_must_be_kept, lift_limit),
		cmocka_unit_test_teardown(
			a_snapshot_over_the_limit_leaves_nothing_behind, lift_limit),
		cmocka_unit_test_teardown(a_log_at_the_limit_refuses_and_goes_on, lift_limit),
	};
	log_configure(LOG_ERROR + 1, false);
	signal(SIGXFSZ, SIG_IGN); // as the daemon does
	return cmocka_run_group_tests(tests, NULL, NULL);
}
