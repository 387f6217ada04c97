// A thread that the system refuses to the applier: it is said, the others are over, and what is asked for is done once
// there are threads.
#include "state/base/check.h"
#include "state/base/error.h"
#include "tests/failpoints/walk.h"
#include "tests/support/controller.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>

#include <cmocka.h>

static const struct walk_row rows[] = {
	{FAILPOINT_APPLIER_TABLES, "eagain", NULL, false, false},
	{FAILPOINT_APPLIER_JOURNAL, "eagain", NULL, false, false},
	{FAILPOINT_APPLIER_THREAD, "eagain", NULL, false, false},
};

static void *prepare(const struct walk_row *row)
{
	return walk_shared(1);
}

static void clear(void *shared)
{
	assert_int_equal(munmap(shared, 1), 0);
}

static enum command_outcome ask(struct controller *c, struct node_registration *node)
{
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = node};
	uint32_t done = 0;

	build_node(node, 1, (uint64_t)controller_now_ms(c));
	controller_push(c, &command, &done);
	controller_await(&done, 1);
	return command.outcome;
}

// Starts until it is not refused, as a daemon does that is started again.
static bool work(void *shared)
{
	static struct node_registration node;
	struct controller c;
	int error, first = 0;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	for (uint32_t i = 0; i < 8 && (error = applier_start(c.applier, -1)) < 0; i++) {
		first = first ? first : error;
		walk_said(error_text(error)); // who starts it says so
	}
	if (error == 0) {
		CHECK(ask(&c, &node) == OUTCOME_DONE);
		applier_stop(c.applier, 1000);
	}
	CHECK(state_verify(c.state, NULL, NULL) == 0);
	controller_free(&c);
	CHECK(first == 0 || first == -EAGAIN);
	return first == 0;
}

static void look(void *shared)
{
	CHECK(work(shared));
}

static void a_thread_that_is_refused_is_said(void **area)
{
	const struct walk w = {rows, sizeof rows / sizeof rows[0], prepare, work, look, clear};

	walk_area(&w, *area);
}

int main(int argc, char **argv)
{
	assert_true(argc == 2);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(a_thread_that_is_refused_is_said, argv[1]),
	};
	return cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
}
