#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ITEMS = 3000 };

struct item {
	uint64_t key;
	uint32_t position;
	bool is_in;
};

static void walk(const struct sequence *s, struct item *items, uint32_t count)
{
	uint64_t cursor = 0;
	uint32_t left = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!items[i].is_in)
			continue;
		left++;
		assert_ptr_equal(sequence_next(s, &cursor), &items[i]);
		assert_true(sequence_holds(s, &items[i], items[i].key));
		assert_ptr_equal(sequence_find(s, items[i].key), &items[i]);
	}
	assert_null(sequence_next(s, &cursor));
	assert_int_equal(s->count, left);
	cursor = UINT64_MAX;
	for (uint32_t i = count; i-- > 0;)
		if (items[i].is_in) {
			cursor = sequence_key_before(s, cursor);
			assert_int_equal(cursor, items[i].key);
		}
	assert_int_equal(sequence_key_before(s, cursor), 0);
}

static void keeps_order_through_holes(void **unused)
{
	struct item *items = memory_take_array(ITEMS, sizeof *items);
	struct sequence s;
	struct prng prng;
	uint64_t key = 0;

	prng_seed(&prng, 3);
	sequence_init(&s, offsetof(struct item, position));
	state_read_begin();
	walk(&s, items, 0);
	for (uint32_t i = 0; i < ITEMS; i++) {
		items[i].key = key += 1 + prng_below(&prng, 5);
		items[i].is_in = true;
		sequence_append(&s, items[i].key, &items[i]);
		struct item *gone = &items[prng_below(&prng, i + 1)];
		if (gone->is_in && prng_below(&prng, 10) < 9) {
			sequence_remove(&s, gone);
			gone->is_in = false;
		}
		if (i % 100 == 0)
			walk(&s, items, i + 1);
	}
	walk(&s, items, ITEMS);
	assert_int_equal(sequence_last_key(&s), key);
	for (uint32_t i = 0; i < ITEMS; i++) // all go: it becomes small again
		if (items[i].is_in) {
			sequence_remove(&s, &items[i]);
			items[i].is_in = false;
		}
	walk(&s, items, ITEMS);
	state_read_end();
	sequence_release(&s);
	free(items);
}

static void a_cursor_outlives_its_item(void **unused)
{
	struct item items[4] = {{.key = 10}, {.key = 20}, {.key = 30}, {.key = 40}};
	struct sequence s;
	uint64_t cursor = 0;

	sequence_init(&s, offsetof(struct item, position));
	state_read_begin();
	for (int i = 0; i < 4; i++)
		sequence_append(&s, items[i].key, &items[i]);
	assert_ptr_equal(sequence_next(&s, &cursor), &items[0]);
	assert_ptr_equal(sequence_next(&s, &cursor), &items[1]);
	sequence_remove(&s, &items[1]);
	sequence_remove(&s, &items[2]);
	assert_ptr_equal(sequence_next(&s, &cursor), &items[3]);
	assert_null(sequence_next(&s, &cursor));
	assert_null(sequence_find(&s, 20));
	cursor = 15;
	assert_ptr_equal(sequence_next(&s, &cursor), &items[3]);
	state_read_end();
	sequence_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_order_through_holes),
		cmocka_unit_test(a_cursor_outlives_its_item),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
