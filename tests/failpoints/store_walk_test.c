// Whatever the disk and the system refuse to a store: it is said, nothing that was acknowledged is lost, and nothing is
// there twice.
#include "state/base/check.h"
#include "state/base/error.h"
#include "tests/failpoints/walk.h"
#include "tests/state/store/store_dir.h"
#include "tests/state/store/world.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { NODES = 3, PLACES = 8, LIVES = 2 };

struct life {
	struct world w;
	// What was acknowledged.
	uint32_t nodes;
	bool has_job, is_placed[PLACES];
	struct uuid placed[PLACES];
	bool is_marked; // the log failed: the next start refuses
};

static const struct walk_row rows[] = {
	{FAILPOINT_STORE_MKDIR, "eacces", NULL, false, false},
	{FAILPOINT_STORE_LOCK, "eacces", NULL, false, false},
	{FAILPOINT_STORE_SYNC, "eio", NULL, false, false},
	{FAILPOINT_STORE_MARK, "erofs", "log.direct_write=eio@3;log.fdatasync=eio@3", false, false},
	{FAILPOINT_LOG_MKDIR, "enospc", NULL, false, false},
	{FAILPOINT_LOG_PUBLISH, "eio", NULL, false, false},
	{FAILPOINT_LOG_LIST, "emfile", NULL, false, false},
	{FAILPOINT_LOG_NEXT, "eio", NULL, false, false},
	{FAILPOINT_LOG_THREAD, "eagain", NULL, false, false},
	{FAILPOINT_LOG_CREATE, "emfile", NULL, false, false},
	{FAILPOINT_LOG_SPACE, "enospc", NULL, false, false},
	{FAILPOINT_LOG_SPACE, "eopnotsupp", NULL, true, false},
	{FAILPOINT_LOG_SIZE, "eio", "log.space=eopnotsupp", false, false},
	{FAILPOINT_LOG_RENAME, "eio", NULL, false, false},
	{FAILPOINT_LOG_FSYNC, "eio", NULL, false, false},
	{FAILPOINT_LOG_OPEN, "eio", NULL, false, false},
	{FAILPOINT_LOG_STAT, "eio", NULL, false, false},
	{FAILPOINT_LOG_READ, "eio", NULL, false, false},
	{FAILPOINT_LOG_DIRECT_OPEN, "einval", NULL, true, false},
	{FAILPOINT_LOG_DIRECT_WRITE, "eio", NULL, false, false},
	{FAILPOINT_LOG_DIRECT_WRITE, "eopnotsupp", NULL, true, false},
	{FAILPOINT_LOG_WRITE, "eio", "log.direct_open=einval", false, false},
	{FAILPOINT_LOG_FDATASYNC, "eio", "log.direct_open=einval", false, false},
	{FAILPOINT_LOG_FDATASYNC, "enospc", "log.direct_open=einval", false, false},
	{FAILPOINT_SNAPSHOT_THREAD, "eagain", NULL, false, false},
	{FAILPOINT_SNAPSHOT_NICE, "eperm", NULL, true, false},
	{FAILPOINT_SNAPSHOT_CREATE, "enospc", NULL, false, false},
	{FAILPOINT_SNAPSHOT_WRITE, "eio", NULL, false, false},
	{FAILPOINT_SNAPSHOT_CUT, "eio", NULL, false, false},
	{FAILPOINT_SNAPSHOT_SYNC, "eio", NULL, false, false},
	{FAILPOINT_SNAPSHOT_RENAME, "eio", NULL, false, false},
	{FAILPOINT_SNAPSHOT_LIST, "emfile", NULL, false, false},
	{FAILPOINT_SNAPSHOT_NEXT, "eio", NULL, false, false},
	{FAILPOINT_SNAPSHOT_OPEN, "emfile", NULL, false, false},
	{FAILPOINT_SNAPSHOT_READ, "eio", NULL, false, false},
	{FAILPOINT_LOAD_THREAD, "eagain", NULL, false, false},
	{FAILPOINT_MEMORY_MAP, "enomem", NULL, false, true},
	{FAILPOINT_MEMORY_TAKE, "enomem", NULL, false, true},
	{FAILPOINT_MEMORY_RESIZE, "enomem", NULL, false, true},
};

static void *prepare(const struct walk_row *row)
{
	struct life *l = walk_shared(sizeof *l);

	world_init(&l->w);
	l->w.may_fail = true;
	return l;
}

static void clear(void *shared)
{
	struct life *l = shared;

	world_remove(&l->w);
	assert_int_equal(munmap(l, sizeof *l), 0);
}

// What was acknowledged before is told from what is not by what the caller keeps of the answer.
static bool fill(struct life *l)
{
	while (l->nodes < NODES && world_register(&l->w, l->nodes) == OUTCOME_DONE)
		l->nodes++;
	l->has_job = l->has_job || world_job(&l->w, 100) == OUTCOME_DONE;
	return l->nodes == NODES && l->has_job;
}

static bool place(struct life *l, uint32_t from, uint32_t to)
{
	struct command_place result;

	for (uint32_t i = from; i < to; i++) {
		if (world_place(&l->w, i + 1, &result) != OUTCOME_DONE)
			return false;
		l->placed[i] = result.items[0].allocation;
		l->is_placed[i] = true;
	}
	return true;
}

// A failed snapshot is no failure of anything else.
static bool live_once(struct life *l, uint32_t round)
{
	uint32_t from = round * PLACES / LIVES, middle = from + PLACES / LIVES / 2;
	bool is_kept = true, is_done = fill(l) && place(l, from, middle);

	if (is_done)
		is_kept = store_snapshot(l->w.store, l->w.state) == 0;
	return is_done && place(l, middle, (round + 1) * PLACES / LIVES) && is_kept;
}

static bool work(void *shared)
{
	struct life *l = shared;
	bool is_done = true;

	for (uint32_t round = 0; round < LIVES && is_done; round++) {
		if (world_open(&l->w) < 0) {
			walk_said(l->w.message);
			is_done = false;
			break;
		}
		int error = store_start_snapshots(l->w.store, l->w.state);
		if (error < 0)
			walk_said(error_text(error)); // the daemon refuses to start with it
		is_done = error == 0 && live_once(l, round);
		store_stop_snapshots(l->w.store);
		world_close(&l->w);
	}
	l->is_marked = l->w.log_error < 0 && l->w.log_error != -ENOSPC;
	return is_done;
}

// After a failed log somebody has to look.
static void take_mark_away(struct life *l)
{
	char path[128];

	snprintf(path, sizeof path, "%s/failed", l->w.directory);
	bool is_there = access(path, F_OK) == 0;
	CHECK(is_there == l->is_marked);
	if (is_there) {
		CHECK(world_open(&l->w) == -EIO && strstr(l->w.message, "failed says"));
		CHECK(unlink(path) == 0);
	}
}

static void open_again(struct life *l)
{
	if (world_open(&l->w) < 0)
		check_failed(__FILE__, __LINE__, l->w.message);
}

static void look_at_placed(struct life *l)
{
	state_read_begin();
	for (uint32_t i = 0; i < PLACES; i++)
		CHECK(!l->is_placed[i] || state_allocation(l->w.state, &l->placed[i]));
	state_read_end();
}

static struct state_counts count(const struct life *l)
{
	struct state_counts counts;

	state_counts(l->w.state, &counts);
	return counts;
}

// Whoever got no answer asks again, and so does who got one.
static void ask_again(struct life *l)
{
	struct command_place result;

	CHECK(fill(l));
	for (uint32_t i = 0; i < PLACES; i++) {
		CHECK(world_place(&l->w, i + 1, &result) == OUTCOME_DONE);
		CHECK(!l->is_placed[i] || uuid_equal(&result.items[0].allocation, &l->placed[i]));
	}
	CHECK(count(l).allocations == PLACES);
	CHECK(state_verify(l->w.state, NULL, NULL) == 0);
}

static void look(void *shared)
{
	struct life *l = shared;

	l->w.log_error = 0;
	take_mark_away(l);
	open_again(l);
	struct state_counts counts = count(l);
	CHECK(counts.nodes[NODE_READY] >= l->nodes && counts.jobs >= l->has_job);
	look_at_placed(l);
	ask_again(l);
	CHECK(store_snapshot(l->w.store, l->w.state) == 0);
	world_close(&l->w);
	open_again(l);
	CHECK(count(l).allocations == PLACES);
	world_close(&l->w);
}

static void every_failure_is_said_and_loses_nothing(void **area)
{
	const struct walk w = {rows, sizeof rows / sizeof rows[0], prepare, work, look, clear};

	walk_area(&w, *area);
}

int main(int argc, char **argv)
{
	assert_true(argc == 2);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(every_failure_is_said_and_loses_nothing, argv[1]),
	};
	return cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
}
