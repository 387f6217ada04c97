// The log of the first version: what LMDB refuses is said, and all of it is read by the next start.
#include "state/base/check.h"
#include "tests/failpoints/walk.h"
#include "tests/state/store/lmdb/lmdb_maker.h"
#include "tests/state/store/numbered_batches.h"
#include "tests/state/store/store_dir.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { BATCHES = 20 };

struct first_log {
	char directory[64], message[1024];
	uint64_t next; // index
};

static const struct walk_row rows[] = {
	{FAILPOINT_LMDB_OPEN, "enomem", NULL, false, false},
	{FAILPOINT_LMDB_RENAME, "eio", NULL, false, false},
	{FAILPOINT_LMDB_STAT, "eio", NULL, false, false},
	{FAILPOINT_LMDB_BEGIN, "eio", NULL, false, false},
	{FAILPOINT_LMDB_READ, "eio", NULL, false, false},
};

static void *prepare(const struct walk_row *row)
{
	static uint8_t batch[NUMBERED_BYTES_MOST];
	struct first_log *l = walk_shared(sizeof *l);
	struct lmdb_maker maker;

	l->next = 1;
	snprintf(l->directory, sizeof l->directory, "%s", dir_create());
	lmdb_maker_open(&maker, l->directory);
	for (int i = 0; i < BATCHES; i++) {
		uint32_t entries, size = numbered_batch(l->next, batch, &entries);
		lmdb_maker_append(&maker, l->next, entries, batch, size);
		l->next += entries;
	}
	lmdb_maker_close(&maker);
	return l;
}

static void clear(void *shared)
{
	struct first_log *l = shared;

	dir_remove(l->directory);
	assert_int_equal(munmap(l, sizeof *l), 0);
}

// Opens and reads all; then the log takes batches.
static struct journal *open_log(struct first_log *l)
{
	const struct complaint complaint = {l->message, sizeof l->message};
	struct journal_settings settings = {l->directory, 64ll << 20, false, true};
	struct numbered_seen seen;
	struct journal *j;

	if (journal_open(&settings, &j, &complaint) < 0)
		return NULL;
	if (numbered_walk(j, 0, &seen, &complaint) < 0) {
		journal_close(j);
		return NULL;
	}
	CHECK(!seen.wrong && seen.last_index == l->next - 1);
	return j;
}

static bool work(void *shared)
{
	struct first_log *l = shared;
	struct journal *j = open_log(l);

	walk_said(j ? "" : l->message);
	if (j)
		CHECK(numbered_append(j, &l->next) == 0);
	journal_close(j);
	return j != NULL;
}

static void look(void *shared)
{
	struct first_log *l = shared;

	for (int round = 0; round < 2; round++) {
		struct journal *j = open_log(l);
		CHECK(j && numbered_append(j, &l->next) == 0);
		journal_close(j);
	}
}

static void what_lmdb_refuses_is_there_at_the_next_start(void **area)
{
	const struct walk w = {rows, sizeof rows / sizeof rows[0], prepare, work, look, clear};

	walk_area(&w, *area);
}

int main(int argc, char **argv)
{
	assert_true(argc == 2);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(what_lmdb_refuses_is_there_at_the_next_start, argv[1]),
	};
	return cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
}
