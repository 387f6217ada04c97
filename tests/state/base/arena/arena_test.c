#include "state/base/arena/arena.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PIECES 500u

static void pieces_are_zeroed_aligned_and_apart(void **unused)
{
	struct arena a = {0};
	uint8_t *pieces[PIECES];
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < PIECES; i++) {
			pieces[i] = arena_take(&a, i);
			assert_int_equal((uintptr_t)pieces[i] % 16, 0);
			for (uint32_t at = 0; at < i; at++)
				assert_int_equal(pieces[i][at], 0);
			memset(pieces[i], (int)(i % 256), i);
		}
		for (uint32_t i = 1; i < PIECES; i++)
			assert_true(pieces[i][0] == i % 256 && pieces[i][i - 1] == i % 256);
		arena_clear(&a);
	}
	arena_release(&a);
	assert_null(a.newest);
}

static void zero_bytes_have_a_place_of_their_own(void **unused)
{
	_Alignas(16) uint8_t lent[64];
	struct arena a = {0};
	assert_non_null(arena_room(&a, 0));
	arena_release(&a);
	arena_begin(&a, lent, sizeof lent);
	(void)arena_room(&a, 48);
	(void)arena_room(&a, 16);
	uint8_t *empty = arena_room(&a, 0);
	assert_true(empty < lent || empty >= lent + sizeof lent);
	arena_release(&a);
}

// A million pieces are in a few dozen blocks.
static void blocks_grow_with_their_number(void **unused)
{
	enum { EACH = 64 };
	struct arena a = {0};
	const uint8_t *before = arena_room(&a, EACH);
	uint32_t blocks = 1;
	for (uint32_t i = 1; i < 1000000; i++) {
		const uint8_t *piece = arena_room(&a, EACH);
		blocks += piece != before + EACH;
		before = piece;
	}
	assert_in_range(blocks, 2, 30);
	arena_release(&a);
}

static void what_is_cleared_serves_again(void **unused)
{
	struct arena a = {0};
	arena_clear(&a);
	(void)arena_room(&a, 100000); // more than a first block
	const struct arena_block *block = a.newest;
	void *first = NULL;
	for (uint32_t i = 0; i < 100; i++) {
		arena_clear(&a);
		void *piece = arena_room(&a, 50000);
		assert_true(!first || piece == first);
		first = piece;
	}
	assert_ptr_equal(a.newest, block);
	arena_release(&a);
}

static void what_is_lent_comes_first(void **unused)
{
	_Alignas(16) uint8_t lent[64];
	struct arena a;
	arena_begin(&a, lent, sizeof lent);
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t at = 0; at + 16 < sizeof lent; at += 16)
			assert_ptr_equal(arena_take(&a, 10), lent + at);
		assert_null(a.newest);
		arena_clear(&a);
	}
	(void)arena_take(&a, sizeof lent + 1);
	assert_non_null(a.newest);
	arena_release(&a);
}

static void what_grows_keeps_its_items(void **unused)
{
	struct arena a = {0};
	uint32_t *items = NULL, count = 0, room = 0;
	while (count < PIECES) {
		ARENA_GROW(&a, items, count, room);
		items[count] = count;
		count++;
	}
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(items[i], i);
	assert_true(room >= count && room < 2 * count + 8);
	arena_release(&a);
}

// Two lists grow in turn, each in an order of its own.
static void lists_of_names_are_ordered(void **unused)
{
	struct arena a = {0};
	struct array lists[2] = {{0}, {0}};
	static char names[PIECES][8];
	for (uint32_t i = 0; i < PIECES; i++)
		snprintf(names[i], sizeof names[i], "%04u", i);
	for (uint32_t i = 0; i < 3 * PIECES; i++) {
		const char *in_order = names[i % PIECES], *mixed = names[i * 7 % PIECES];
		struct named_count *count = arena_map_item(&a, &lists[0], sizeof *count, in_order);
		count->count += 1;
		count = arena_map_item(&a, &lists[1], sizeof *count, mixed);
		assert_ptr_equal(count->name, mixed);
		count->count += 1;
	}
	for (uint32_t list = 0; list < 2; list++) {
		assert_int_equal(lists[list].count, PIECES);
		for (uint32_t i = 0; i < PIECES; i++) {
			const struct named_count *count =
				ARRAY_AT(&lists[list], struct named_count, i);
			assert_ptr_equal(count->name, names[i]);
			assert_int_equal(count->count, 3);
		}
	}
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_zeroed_aligned_and_apart),
		cmocka_unit_test(zero_bytes_have_a_place_of_their_own),
		cmocka_unit_test(blocks_grow_with_their_number),
		cmocka_unit_test(what_is_cleared_serves_again),
		cmocka_unit_test(what_is_lent_comes_first),
		cmocka_unit_test(what_grows_keeps_its_items),
		cmocka_unit_test(lists_of_names_are_ordered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
