// Numbers in names: the lowest free, overlapping, the highest (row C46).
#include "placement/scheduler/reconcile/name_index.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_lowest_free_number_comes_first(void **state)
{
	struct name_index names;
	name_index_init(&names, 4, 100);
	number_set_add(&names.taken, 1);
	number_set_add(&names.taken, 99);
	assert_int_equal(name_index_lowest_free(&names), 0);
	assert_int_equal(name_index_next(&names), 0);
	assert_int_equal(name_index_next(&names), 2);
	name_index_free(&names, 1);
	assert_int_equal(name_index_next(&names), 1);
	assert_int_equal(name_index_next(&names), 3);
	name_index_release(&names);
}

static void without_a_free_one_they_overlap_from_the_start(void **state)
{
	struct name_index names;
	name_index_init(&names, 2, 0);
	for (uint32_t number = 0; number < 2; number++)
		assert_int_equal(name_index_next(&names), number);
	assert_int_equal(name_index_lowest_free(&names), 2);
	for (uint32_t number = 0; number < 3; number++)
		assert_int_equal(name_index_next(&names), number);
	name_index_release(&names);
}

static void move_highest(const uint32_t *numbers, uint32_t count, uint32_t size)
{
	struct number_set from, to;
	number_set_init(&from, size);
	number_set_init(&to, size);
	for (uint32_t i = 0; i < count; i++)
		number_set_add(&from, numbers[i]);
	number_set_move_highest(&from, &to, 0);
	assert_true(number_set_has(&from, numbers[count - 1]));
	number_set_move_highest(&from, &to, 3);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(number_set_has(&to, numbers[i]), i + 3 >= count);
		assert_int_equal(number_set_has(&from, numbers[i]), i + 3 < count);
	}
	number_set_move_highest(&from, &to, 100);
	for (uint32_t i = 0; i < count; i++)
		assert_true(number_set_has(&to, numbers[i]));
	assert_false(number_set_has(&to, size));
	number_set_remove(&to, numbers[0]);
	assert_false(number_set_has(&to, numbers[0]));
	number_set_release(&from);
	number_set_release(&to);
}

static void the_highest_are_moved(void **state)
{
	static const uint32_t many[] = {0, 5, 63, 64, 130, 199}, few[] = {0, 5, 31, 62};
	move_highest(many, 6, 200);
	move_highest(many, 3, 64);
	move_highest(few, 4, 63);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lowest_free_number_comes_first),
		cmocka_unit_test(without_a_free_one_they_overlap_from_the_start),
		cmocka_unit_test(the_highest_are_moved),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
