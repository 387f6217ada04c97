// Bodies of small requests: null is an empty one, what follows it is not.
#include "tests/tools/api/server.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void null_is_empty_and_garbage_behind_it_is_not(void **unused)
{
	static const struct {
		const char *body;
		long status;
	} cases[] = {{"null", 200}, {"null \r\n\t", 200}, {"{}", 200}, {"null garbage", 400},
		{"nullgarbage", 400}, {"null null", 400}, {"null{}", 400}, {"nul", 400},
		{"garbage", 400}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct response r =
			http(server, "PUT", "/v1/operator/scheduler/configuration", cases[i].body);
		if (r.status != cases[i].status)
			fail_msg("%s: %ld %s", cases[i].body, r.status, r.body);
		response_free(&r);
	}
}

static void zeros_are_no_blanks(void **unused)
{
	static const char *const path = "/v1/operator/scheduler/configuration";
	static const char zeros[4096], blanks[] = " \r\n\t";
	struct response r = http_with(server, "PUT", path, zeros, sizeof zeros, "X: y");
	assert_int_equal(r.status, 400);
	response_free(&r);
	r = http_with(server, "PUT", path, "null\0", 5, "X: y");
	assert_int_equal(r.status, 400);
	response_free(&r);
	r = http_with(server, "PUT", path, blanks, sizeof blanks - 1, "X: y");
	assert_int_equal(r.status, 200);
	response_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(null_is_empty_and_garbage_behind_it_is_not),
		cmocka_unit_test(zeros_are_no_blanks),
	};
	return cmocka_run_group_tests(tests, server_group_begin, server_group_end);
}
