// Kept results for classes of nodes.
#include "placement/scheduler/node/class_memo.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void classes_are_remembered_until_their_number_is_reused(void **state)
{
	struct class_memo memo = {0};
	struct node_class first = {.id = 700, .serial = 7, .hash = 1},
			  second = {.id = 700, .serial = 8, .hash = 2}, again = first;
	class_memo_begin(&memo, 3);
	class_memo_of(&memo, &first)->groups[2] = CLASS_ELIGIBLE;
	assert_int_equal(class_memo_of(&memo, &first)->groups[2], CLASS_ELIGIBLE);
	assert_int_equal(class_memo_of(&memo, &again)->groups[2], CLASS_ELIGIBLE);
	assert_int_equal(class_memo_of(&memo, &first)->hash, 1);
	assert_int_equal(class_memo_of(&memo, &second)->groups[2], CLASS_UNKNOWN);
	assert_int_equal(class_memo_of(&memo, &second)->hash, 2);
	class_memo_release(&memo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_are_remembered_until_their_number_is_reused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
