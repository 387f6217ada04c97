// What the command line says of a drain or a dead node that is not there yet.
#include "tests/tools/api/scheduling.h"
#include "tests/tools/berth/run.h"
#include "tests/tools/berth/two_nodes.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint32_t place_of(const char *job)
{
	json_t *all = api_get("/v1/job/*/allocations", job);
	assert_int_equal(json_array_size(all), 1);
	bool second = strcmp(member_text(json_array_get(all, 0), "NodeID"), node_ids[1]) == 0;
	json_decref(all);
	return second;
}

static int ask(const char *command, uint32_t node)
{
	char line[256];
	snprintf(line, sizeof line, "%s %s", command, node_ids[node]);
	return berth(line);
}

static void printed(const char *part)
{
	if (!strstr(run.out, part))
		fail_msg("no \"%s\" in %s", part, run.out);
}

static void where_each_would_go(void **unused)
{
	char to[16];
	json_decref(run_job(job_body("web", "service", "1", 5000)));
	uint32_t from = place_of("web");
	assert_int_equal(ask("node drain --dry-run", from), 0);
	printed("if it were drained: 1 moves.");
	snprintf(to, sizeof to, "%.8s", node_ids[!from]);
	printed(to);
	assert_int_equal(ask("node what-if", from), 0);
	printed("if it died: 1 moves.");
	assert_int_equal(ask("node what-if", !from), 0);
	printed("if it died: nothing runs there.");
	assert_int_equal(ask("node what-if --json", from), 0);
	printed("\"Outcome\": \"moves\"");
	// Nothing came of it.
	assert_int_equal(place_of("web"), from);
	json_t *node = api_get("/v1/node/*", node_ids[from]);
	assert_true(json_is_null(json_object_get(node, "DrainStrategy")));
	json_decref(node);
}

static void what_would_not_fit(void **unused)
{
	json_decref(run_job(job_body("other", "service", "1", 5000)));
	assert_int_equal(ask("node drain --dry-run", place_of("web")), 4);
	printed("1 fits nowhere");
	printed("Job \"web\" group \"g\" does not fit:");
	printed("memory");
}

static void it_goes_with_nothing_else(void **unused)
{
	assert_int_equal(ask("node drain --dry-run --enable", 0), 2);
	assert_int_equal(ask("node drain --dry-run --deadline 1m", 0), 2);
	assert_int_equal(berth("node what-if 00000000-dead-4000-8000-000000000000"), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_each_would_go),
		cmocka_unit_test(what_would_not_fit),
		cmocka_unit_test(it_goes_with_nothing_else),
	};
	return cmocka_run_group_tests(tests, two_nodes_begin, two_nodes_end);
}
