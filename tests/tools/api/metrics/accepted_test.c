#include "tools/api/metrics/accepted.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define OPEN "application/openmetrics-text"

static void expect_each(const char *const *headers, bool preferred)
{
	for (; *headers; headers++)
		if (openmetrics_is_preferred(*headers) != preferred)
			fail_msg("Accept: %s", *headers);
}

static void scrapers_that_like_it_best_get_it(void **unused)
{
	static const char *const headers[] = {OPEN, OPEN "; version=1.0.0",
		OPEN ";version=\"1.0.0\"",
		"APPLICATION/OpenMetrics-Text; Version=1.0.0; charset=utf-8",
		// Prometheus 2.42, 2.49, 3.0
		OPEN ";version=1.0.0," OPEN
		     ";version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		OPEN ";version=1.0.0;q=0.5," OPEN
		     ";version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		OPEN ";version=1.0.0;escaping=allow-utf-8;q=0.6," OPEN
		     ";version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
		     "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		"text/plain;q=0.5, " OPEN, OPEN ", text/plain", OPEN ";q=0.1, application/json",
		NULL};
	expect_each(headers, true);
}

static void all_others_get_the_classic_form(void **unused)
{
	static const char *const headers[] = {"", " ", ",", ";", "*/*", "text/plain", "text/*",
		"application/json", "application/*", OPEN ";q=0", OPEN ";q=0.0",
		OPEN ";version=0.0.1", OPEN ";version=2.0.0", OPEN "s", "x" OPEN,
		"text/plain, " OPEN, OPEN ";q=0.3, text/plain;q=0.4",
		"text/plain;version=0.0.4;q=0.9," OPEN ";q=0.8", "*/*;q=0.5," OPEN ";q=0.4", NULL};
	assert_false(openmetrics_is_preferred(NULL));
	expect_each(headers, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scrapers_that_like_it_best_get_it),
		cmocka_unit_test(all_others_get_the_classic_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
