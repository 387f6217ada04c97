// A store takes another one's place: whatever fails on the way, it has the one's state or the other's, whole, and the
// new one from the moment that it was said to have arrived.
#include "state/base/check.h"
#include "state/base/crc32c.h"
#include "state/base/error.h"
#include "tests/failpoints/walk.h"
#include "tests/state/store/world.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct image {
	size_t size;
	uint32_t crc;
};

struct exchange {
	struct world own, other;
	struct image before, after;
	bool has_arrived;
};

static const struct walk_row rows[] = {
	{FAILPOINT_RESTORE_MKDIR, "eacces", NULL, false, false},
	{FAILPOINT_RESTORE_CREATE, "enospc", NULL, false, false},
	{FAILPOINT_RESTORE_SYNC, "eio", NULL, false, false},
	{FAILPOINT_RESTORE_RENAME, "eio", NULL, false, false},
	{FAILPOINT_RESTORE_ARRIVE, "eio", NULL, false, false},
	{FAILPOINT_RESTORE_REMOVE, "eio", NULL, false, false},
	{FAILPOINT_RESTORE_MOVE, "eio", NULL, false, false},
	{FAILPOINT_RESTORE_LIST, "emfile", NULL, false, false},
	{FAILPOINT_RESTORE_NEXT, "eio", NULL, false, false},
	{FAILPOINT_RESTORE_MOVE_REST, "eio", NULL, false, false},
};

static void *prepare(const struct walk_row *row)
{
	struct exchange *x = walk_shared(sizeof *x);

	world_init(&x->own);
	world_init(&x->other);
	return x;
}

static void clear(void *shared)
{
	struct exchange *x = shared;

	world_remove(&x->own);
	world_remove(&x->other);
	assert_int_equal(munmap(x, sizeof *x), 0);
}

static struct image image_of(struct world *w)
{
	struct bytes_writer bytes = world_image(w);
	struct image image = {bytes.size, crc32c(0, bytes.data, bytes.size)};

	bytes_writer_free(&bytes);
	return image;
}

static void fill(struct exchange *x)
{
	CHECK(world_open(&x->own) == 0);
	CHECK(world_register(&x->own, 1) == OUTCOME_DONE);
	CHECK(store_snapshot(x->own.store, x->own.state) == 0);
	CHECK(world_register(&x->own, 2) == OUTCOME_DONE);
	x->before = image_of(&x->own);
	CHECK(world_open(&x->other) == 0);
	for (uint32_t node = 10; node < 20; node++)
		CHECK(world_register(&x->other, node) == OUTCOME_DONE);
	x->after = image_of(&x->other);
}

static void copy(int from, int to)
{
	char piece[4096];
	ssize_t got;

	while ((got = read(from, piece, sizeof piece)) > 0)
		CHECK(write(to, piece, (size_t)got) == got);
	CHECK(got == 0);
}

static void add_file(const char *directory)
{
	char path[128];

	snprintf(path, sizeof path, "%s/keyring", directory);
	FILE *file = fopen(path, "we");
	CHECK(file && fclose(file) == 0);
}

// Returns 0 or a negative error, which is said.
static int arrive(struct exchange *x)
{
	uint64_t index;
	char message[1024] = "", *incoming = store_incoming(x->own.directory);
	int from = store_snapshot_open(x->other.store, x->other.state, &index);
	CHECK(from >= 0);
	int to = store_restore_begin(incoming, message, sizeof message), error = to;

	if (to >= 0) {
		copy(from, to);
		error = store_restore_end(incoming, to, &index, message, sizeof message);
	}
	walk_said(message);
	if (error == 0) {
		add_file(incoming);
		error = store_arrived(x->own.directory);
		x->has_arrived = error == 0;
		walk_said(error < 0 ? error_text(error) : ""); // who asked for it says so
	}
	close(from);
	free(incoming);
	return error;
}

static bool work(void *shared)
{
	struct exchange *x = shared;

	fill(x);
	int error = arrive(x);
	world_close(&x->other);
	world_close(&x->own);
	if (error == 0 && (error = world_recover(&x->own)) == 0)
		world_close(&x->own);
	walk_said(x->own.message);
	return error == 0;
}

static void look(void *shared)
{
	struct exchange *x = shared;

	if (world_recover(&x->own) < 0)
		check_failed(__FILE__, __LINE__, x->own.message);
	struct image found = image_of(&x->own);
	const struct image *expected = x->has_arrived ? &x->after : &x->before;
	CHECK(found.size == expected->size && found.crc == expected->crc);
	CHECK(state_verify(x->own.state, NULL, NULL) == 0);
	world_close(&x->own);
}

static void a_restore_is_whole_or_not_at_all(void **area)
{
	const struct walk w = {rows, sizeof rows / sizeof rows[0], prepare, work, look, clear};

	walk_area(&w, *area);
}

int main(int argc, char **argv)
{
	assert_true(argc == 2);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(a_restore_is_whole_or_not_at_all, argv[1]),
	};
	return cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
}
