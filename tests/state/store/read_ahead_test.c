// Pieces from one thread to another: in order, bounded, and none is lost when nobody wants more.
#include "state/base/memory.h"
#include "state/store/read_ahead.h"
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define PIECES 5000u
#define LARGE_BYTES ((size_t)700 << 10) // five find room
#define HUGE_BYTES ((size_t)1 << 30)

struct source {
	uint32_t count;     // pieces to pass on
	size_t bytes;       // of each, as far as the bound knows
	uint32_t passed_on; // written by the thread
	bool was_refused;
};

static uint32_t dropped;

static void drop(void *piece)
{
	dropped++;
	free(piece);
}

static void pass_numbers_on(struct read_ahead *ahead, void *context)
{
	struct source *source = context;

	for (uint32_t i = 0; i < source->count && !source->was_refused; i++) {
		uint32_t *piece = memory_take(sizeof *piece);
		*piece = i;
		source->was_refused = !read_ahead_put(ahead, piece, source->bytes);
		source->passed_on += !source->was_refused;
		if (source->was_refused)
			free(piece);
	}
}

static void take_in_order(struct read_ahead *ahead, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t *piece = read_ahead_take(ahead);
		assert_non_null(piece);
		assert_int_equal(*piece, i);
		free(piece);
	}
}

static void all_pieces_come_in_order(void **unused)
{
	const size_t sizes[] = {1, 100000, HUGE_BYTES};

	for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct source source = {.count = PIECES, .bytes = sizes[i]};
		struct read_ahead *ahead;
		assert_int_equal(read_ahead_begin(&ahead, pass_numbers_on, &source), 0);
		take_in_order(ahead, PIECES);
		assert_null(read_ahead_take(ahead));
		assert_null(read_ahead_take(ahead));
		read_ahead_end(ahead, drop);
		assert_false(source.was_refused);
	}
}

static void a_thread_without_pieces_is_the_end(void **unused)
{
	struct source source = {0};
	struct read_ahead *ahead;

	assert_int_equal(read_ahead_begin(&ahead, pass_numbers_on, &source), 0);
	assert_null(read_ahead_take(ahead));
	read_ahead_end(ahead, drop);
}

// The thread waits for room, or is on its way there.
static void who_wants_no_more_stops_the_thread(void **unused)
{
	for (uint32_t taken = 0; taken < 200; taken++) {
		struct source source = {.count = PIECES, .bytes = taken % 2 ? 1 : 10000};
		struct read_ahead *ahead;
		dropped = 0;
		assert_int_equal(read_ahead_begin(&ahead, pass_numbers_on, &source), 0);
		take_in_order(ahead, taken);
		read_ahead_end(ahead, drop);
		assert_true(source.was_refused);
		assert_int_equal(taken + dropped, source.passed_on);
	}
}

struct distance {
	size_t bytes;   // of a piece
	bool is_far[5]; // with so many pieces
	_Atomic bool is_known;
};

static void look_back(struct read_ahead *ahead, void *context)
{
	struct distance *distance = context;

	for (uint32_t i = 0; i < 5; i++) {
		distance->is_far[i] = read_ahead_is_far(ahead);
		assert_true(read_ahead_put(ahead, memory_take(1), distance->bytes));
	}
	distance->is_known = true;
}

static void expect_far(size_t bytes, const bool expected[5])
{
	struct distance distance = {.bytes = bytes};
	struct read_ahead *ahead;

	assert_int_equal(read_ahead_begin(&ahead, look_back, &distance), 0);
	while (!distance.is_known)
		sched_yield();
	read_ahead_end(ahead, drop);
	assert_memory_equal(distance.is_far, expected, sizeof distance.is_far);
}

static void a_few_pieces_are_far(void **unused)
{
	expect_far(1, (bool[5]){[4] = true});
}

static void large_pieces_are_far(void **unused)
{
	expect_far(LARGE_BYTES, (bool[5]){[3] = true, [4] = true});
}

static void come_near(struct read_ahead *ahead, void *context)
{
	bool *is_far = context;

	for (uint32_t i = 0; i < 5; i++)
		assert_true(read_ahead_put(ahead, memory_take(1), LARGE_BYTES));
	while ((*is_far = read_ahead_is_far(ahead)))
		sched_yield();
	(void)read_ahead_put(ahead, memory_take(1), 1);
}

static void what_was_taken_is_far_no_more(void **unused)
{
	bool is_far = true;
	struct read_ahead *ahead;

	assert_int_equal(read_ahead_begin(&ahead, come_near, &is_far), 0);
	for (uint32_t i = 0; i < 6; i++)
		free(read_ahead_take(ahead));
	assert_null(read_ahead_take(ahead));
	assert_false(is_far);
	read_ahead_end(ahead, drop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_pieces_come_in_order),
		cmocka_unit_test(a_thread_without_pieces_is_the_end),
		cmocka_unit_test(who_wants_no_more_stops_the_thread),
		cmocka_unit_test(a_few_pieces_are_far),
		cmocka_unit_test(large_pieces_are_far),
		cmocka_unit_test(what_was_taken_is_far_no_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
