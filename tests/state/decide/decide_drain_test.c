// Drains of nodes: how they begin, change and end, and what is remembered of them.
#include "state/base/time_units.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define NOW_NS (CONTROLLER_WALL_MS * 1000000)

struct world {
	struct controller c;
	struct node_registration node;
};

static void open_world(struct world *w)
{
	controller_init(&w->c, (struct state_limits){0});
	controller_open(&w->c);
	controller_register(&w->c, 1, &w->node);
}

static void close_world(struct world *w)
{
	expect_restores(&w->c);
	controller_free(&w->c);
}

static enum command_outcome drain(struct world *w, struct command_node_drain *c)
{
	struct command command = {.type = COMMAND_NODE_DRAIN, .node_drain = c};

	c->node = w->node.node;
	return controller_run(&w->c, &command);
}

static enum command_outcome begin(struct world *w, int64_t deadline_s)
{
	return drain(w, &(struct command_node_drain){.deadline_ns = deadline_s * NS_PER_S});
}

static enum command_outcome end(struct world *w, enum drain_end how, bool mark_eligible)
{
	return drain(w, &(struct command_node_drain){.end = how, .mark_eligible = mark_eligible});
}

// What is shown of the node's drains.
struct shown {
	bool drains, eligible, ignores_system, ever;
	int64_t deadline_ns, force_deadline_ns, started_ns, last_started_ns, last_updated_ns;
	uint8_t last_status;
	uint32_t meta_count, events;
	char meta[64], message[64], detail[64];
};

static struct shown show(const struct world *w)
{
	struct shown s = {0};

	state_read_begin();
	const struct node *n = state_node_by_id(w->c.state, &w->node.node);
	const struct node_message_text *newest =
		&node_messages[node_events(n)[n->event_count - 1].message];
	snprintf(s.message, sizeof s.message, "%s", newest->message);
	snprintf(s.detail, sizeof s.detail, "%s=%s", newest->detail ? newest->detail : "",
		newest->value ? newest->value : "");
	s.events = n->event_count;
	s.eligible = n->eligibility == NODE_ELIGIBLE;
	s.drains = n->drain != NULL;
	if (n->drain) {
		s.deadline_ns = n->drain->deadline_ns;
		s.force_deadline_ns = n->drain->force_deadline_ns;
		s.started_ns = n->drain->started_at_ns;
		s.ignores_system = n->drain->ignore_system_jobs;
	}
	s.ever = node_last_drain(n) != NULL;
	if (node_last_drain(n)) {
		const struct last_drain *last = node_last_drain(n);
		s.last_started_ns = last->started_at_ns;
		s.last_updated_ns = last->updated_at_ns;
		s.last_status = last->status;
		s.meta_count = last->meta_count;
		for (uint32_t i = 0; i < last->meta_count; i++) {
			size_t used = strlen(s.meta);
			snprintf(s.meta + used, sizeof s.meta - used, "%s=%s;", last->meta[i].name,
				last->meta[i].value);
		}
	}
	state_read_end();
	return s;
}

static void a_drain_begins(void **unused)
{
	struct world w;
	const struct node_pair meta[] = {{.name = TEXT("who"), .value = TEXT("ann")},
		{.name = TEXT("reason"), .value = TEXT("fan")}};

	open_world(&w);
	struct shown s = show(&w);
	assert_false(s.drains || s.ever);
	struct command_node_drain c = {.deadline_ns = 60 * NS_PER_S,
		.ignore_system_jobs = true,
		.meta = meta,
		.meta_count = 2};
	assert_int_equal(drain(&w, &c), OUTCOME_DONE);
	assert_int_equal(c.made.index, state_index(w.c.state));
	s = show(&w);
	assert_true(s.drains && s.ever && s.ignores_system);
	assert_false(s.eligible);
	assert_int_equal(s.deadline_ns, 60 * NS_PER_S);
	assert_true(s.started_ns >= NOW_NS);
	assert_int_equal(s.force_deadline_ns, s.started_ns + 60 * NS_PER_S);
	assert_int_equal(s.last_started_ns, s.started_ns);
	assert_int_equal(s.last_status, LAST_DRAIN_DRAINING);
	assert_string_equal(s.meta, "reason=fan;who=ann;");
	assert_string_equal(s.message, "Node drain strategy set");
	struct state_counts counts;
	state_counts(w.c.state, &counts);
	assert_int_equal(counts.nodes_draining, 1);
	assert_int_equal(counts.nodes_ineligible, 1);
	close_world(&w);
}

static void deadlines_are_never_at_once_or_a_time(void **unused)
{
	struct world w;

	open_world(&w);
	begin(&w, 0);
	assert_int_equal(show(&w).force_deadline_ns, 0);
	begin(&w, -1);
	assert_int_equal(show(&w).force_deadline_ns, 0);
	assert_int_equal(show(&w).deadline_ns, -NS_PER_S);
	struct command_node_drain c = {.deadline_ns = INT64_MAX};
	assert_int_equal(drain(&w, &c), OUTCOME_BAD_DESCRIPTION);
	close_world(&w);
}

static void a_change_keeps_when_it_began(void **unused)
{
	struct world w;
	const struct node_pair meta = {.name = TEXT("who"), .value = TEXT("ann")};
	struct command_node_drain c = {
		.deadline_ns = 60 * NS_PER_S, .meta = &meta, .meta_count = 1};

	open_world(&w);
	drain(&w, &c);
	int64_t began_ns = show(&w).started_ns;
	advance_ms(&w.c, 10 * 1000);
	assert_int_equal(begin(&w, 100), OUTCOME_DONE);
	struct shown s = show(&w);
	assert_int_equal(s.started_ns, began_ns);
	assert_int_equal(s.last_started_ns, began_ns);
	assert_true(s.last_updated_ns >= began_ns + 10 * NS_PER_S);
	assert_int_equal(s.force_deadline_ns, s.last_updated_ns + 100 * NS_PER_S);
	assert_string_equal(s.meta, "who=ann;");
	assert_string_equal(s.message, "Node drain strategy updated");
	close_world(&w);
}

static void a_drain_that_is_done_leaves_the_node_ineligible(void **unused)
{
	struct world w;

	open_world(&w);
	begin(&w, 60);
	int64_t began_ns = show(&w).started_ns;
	advance_ms(&w.c, 5 * 1000);
	assert_int_equal(end(&w, DRAIN_COMPLETE, true), OUTCOME_DONE);
	struct shown s = show(&w);
	assert_false(s.drains || s.eligible);
	assert_int_equal(s.last_status, LAST_DRAIN_COMPLETE);
	assert_int_equal(s.last_started_ns, began_ns);
	assert_true(s.last_updated_ns >= began_ns + 5 * NS_PER_S);
	assert_string_equal(s.message, "Node drain complete");
	assert_string_equal(s.detail, "=");
	// Once more, as its deadline would be: there is nothing to end.
	assert_int_equal(end(&w, DRAIN_DEADLINE_REACHED, false), OUTCOME_DONE);
	assert_string_equal(show(&w).detail, "=");
	begin(&w, 1);
	assert_true(show(&w).last_started_ns >= began_ns + 5 * NS_PER_S);
	assert_int_equal(show(&w).meta_count, 0);
	assert_int_equal(end(&w, DRAIN_DEADLINE_REACHED, false), OUTCOME_DONE);
	s = show(&w);
	assert_string_equal(s.message, "Node drain complete");
	assert_string_equal(s.detail, "deadline_reached=true");
	assert_int_equal(s.last_status, LAST_DRAIN_COMPLETE);
	close_world(&w);
}

static void a_canceled_drain_may_take_new_work_again(void **unused)
{
	struct world w;
	struct state_counts counts;

	open_world(&w);
	register_job(&w.c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	begin(&w, 60);
	assert_int_equal(end(&w, DRAIN_CANCELED, false), OUTCOME_DONE);
	struct shown s = show(&w);
	assert_false(s.drains || s.eligible);
	assert_int_equal(s.last_status, LAST_DRAIN_CANCELED);
	assert_string_equal(s.message, "Node drain disabled");
	state_counts(w.c.state, &counts);
	assert_int_equal(counts.jobs_marked, 0);
	begin(&w, 60);
	assert_int_equal(end(&w, DRAIN_CANCELED, true), OUTCOME_DONE);
	assert_true(show(&w).eligible);
	// Jobs that want to be on every node are looked at.
	state_counts(w.c.state, &counts);
	assert_int_equal(counts.jobs_marked, 1);
	assert_int_equal(counts.nodes_draining, 0);
	assert_int_equal(counts.nodes_ineligible, 0);
	close_world(&w);
}

static void who_does_not_drain_may_be_made_eligible(void **unused)
{
	struct world w;

	open_world(&w);
	begin(&w, 60);
	end(&w, DRAIN_COMPLETE, false);
	assert_int_equal(end(&w, DRAIN_CANCELED, false), OUTCOME_DONE);
	assert_false(show(&w).eligible);
	assert_int_equal(end(&w, DRAIN_CANCELED, true), OUTCOME_DONE);
	assert_true(show(&w).eligible);
	assert_int_equal(show(&w).last_status, LAST_DRAIN_COMPLETE);
	assert_string_equal(show(&w).message, "Node marked as eligible for scheduling");
	close_world(&w);
}

static void nobody_makes_a_draining_node_eligible(void **unused)
{
	struct world w;

	open_world(&w);
	begin(&w, 0);
	struct command command = {
		.type = COMMAND_NODE_ELIGIBILITY, .node_eligibility = {w.node.node, true, {{{0}}}}};
	assert_int_equal(controller_run(&w.c, &command), OUTCOME_DRAINING);
	close_world(&w);
}

static void a_registration_keeps_the_drain(void **unused)
{
	struct world w;
	const struct node_pair meta = {.name = TEXT("who"), .value = TEXT("ann")};
	struct command_node_drain c = {.deadline_ns = NS_PER_S, .meta = &meta, .meta_count = 1};

	open_world(&w);
	drain(&w, &c);
	int64_t began_ns = show(&w).started_ns;
	controller_node(&w.c, COMMAND_NODE_EXPIRED, w.node.slot, w.node.generation);
	controller_node(&w.c, COMMAND_NODE_RETURNED, w.node.slot, w.node.generation);
	build_node(&w.node, 1, w.node.sequence + 1);
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = &w.node};
	assert_int_equal(controller_run(&w.c, &command), OUTCOME_DONE);
	struct shown s = show(&w);
	assert_true(s.drains);
	assert_false(s.eligible);
	assert_string_equal(s.meta, "who=ann;");
	assert_int_equal(s.started_ns, began_ns);
	close_world(&w);
}

static void what_is_said_with_a_drain_has_limits(void **unused)
{
	struct world w;
	static char large[ATTRIBUTE_VALUE_BYTES_MAX + 1];
	struct node_pair meta[NODE_DRAIN_META_MAX + 1] = {{0}};
	struct command_node_drain c = {.meta = meta, .meta_count = 1};

	open_world(&w);
	assert_int_equal(drain(&w, &c), OUTCOME_BAD_DESCRIPTION); // no name
	meta[0].name = TEXT("a");
	memset(large, 'x', sizeof large);
	meta[0].value = (struct text){large, sizeof large};
	assert_int_equal(drain(&w, &c), OUTCOME_BAD_DESCRIPTION);
	meta[0].value = (struct text){large, sizeof large - 1};
	meta[1].name = TEXT("a");
	c.meta_count = 2;
	assert_int_equal(drain(&w, &c), OUTCOME_BAD_DESCRIPTION); // twice
	c.meta_count = NODE_DRAIN_META_MAX + 1;
	assert_int_equal(drain(&w, &c), OUTCOME_BAD_DESCRIPTION);
	assert_false(show(&w).drains);
	c.meta_count = 1;
	assert_int_equal(drain(&w, &c), OUTCOME_DONE);
	w.node.node = number_uuid(99);
	assert_int_equal(drain(&w, &c), OUTCOME_UNKNOWN_NODE);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_drain_begins),
		cmocka_unit_test(deadlines_are_never_at_once_or_a_time),
		cmocka_unit_test(a_change_keeps_when_it_began),
		cmocka_unit_test(a_drain_that_is_done_leaves_the_node_ineligible),
		cmocka_unit_test(a_canceled_drain_may_take_new_work_again),
		cmocka_unit_test(who_does_not_drain_may_be_made_eligible),
		cmocka_unit_test(nobody_makes_a_draining_node_eligible),
		cmocka_unit_test(a_registration_keeps_the_drain),
		cmocka_unit_test(what_is_said_with_a_drain_has_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
