// After a start the packet path takes every node as what it is known as: those that are heard are armed, those that
// were silent are news when they are heard.
#include "dataplane/requests/lines.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { NODES = 4, NOW_MS = 5000, GRACE_MS = 700 };

static void register_job_that_may_be_away(struct controller *c, struct uuid *eval)
{
	struct command_job_register result = {0};
	struct job *job = build_scheduled_job("web", JOB_SERVICE);

	ARRAY_AT(&job->task_groups, struct task_group, 0)->max_client_disconnect_ns =
		(struct optional_i64){true, 60000000000};
	assert_int_equal(register_job(c, job, &result), OUTCOME_DONE);
	*eval = result.made.id;
}

static void tell(struct controller *c, const struct node_registration *n, enum command_type type)
{
	assert_int_equal(controller_node(c, type, n->slot, n->generation), OUTCOME_DONE);
}

static void expect_line(
	const struct controller *c, uint32_t slot, enum node_status status, bool is_heard)
{
	const struct node_table *table = state_node_table(c->state);
	const struct node_line *line = node_table_line(table, slot);

	state_read_begin();
	assert_int_equal(state_node_at(c->state, slot)->status, status);
	state_read_end();
	assert_int_equal(line->flags & NODE_LINE_DOWN, is_heard ? 0 : NODE_LINE_DOWN);
	assert_int_equal(atomic_load(&table->last_heard_ms[slot]),
		is_heard ? NOW_MS + GRACE_MS : NODE_NOT_ARMED);
	assert_int_equal(line->key_id, 0);
}

static void nodes_are_heard_or_are_news(void **unused)
{
	struct node_registration nodes[NODES];
	struct controller c;
	struct uuid eval;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	register_job_that_may_be_away(&c, &eval);
	for (uint32_t i = 0; i < NODES; i++) {
		controller_register(&c, i + 1, &nodes[i]);
		if (i > 1)
			place_one(&c, &eval, "web", &nodes[i], i);
	}
	for (uint32_t i = 1; i < NODES; i++)
		tell(&c, &nodes[i], COMMAND_NODE_EXPIRED);
	tell(&c, &nodes[3], COMMAND_NODE_RETURNED);
	assert_int_equal(lines_restore(c.state, state_node_table(c.state), NOW_MS, GRACE_MS), 2);
	expect_line(&c, nodes[0].slot, NODE_READY, true);
	expect_line(&c, nodes[1].slot, NODE_DOWN, false);
	expect_line(&c, nodes[2].slot, NODE_DISCONNECTED, false);
	expect_line(&c, nodes[3].slot, NODE_INITIALIZING, true);
	line_leave(state_node_table(c.state), nodes[0].slot);
	line_leave(state_node_table(c.state), UINT32_MAX); // whose there is none
	assert_int_equal(atomic_load(&state_node_table(c.state)->last_heard_ms[nodes[0].slot]),
		NODE_NOT_ARMED);
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_heard_or_are_news),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
