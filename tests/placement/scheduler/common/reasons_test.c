// Reasons of refusals: each text is kept once.
#include "placement/scheduler/common/reasons.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void texts_are_kept_once(void **state)
{
	struct reasons r = {0};
	const char *kept[300];
	char text[32];
	for (uint32_t i = 0; i < 300; i++)
		kept[i] = reasons_format(&r, "reason %u", i);
	for (uint32_t i = 0; i < 300; i++) {
		snprintf(text, sizeof text, "reason %u", i);
		assert_string_equal(kept[i], text);
		assert_ptr_equal(reasons_keep(&r, text), kept[i]);
	}
	assert_int_equal(r.count, 300);
	reasons_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_kept_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
