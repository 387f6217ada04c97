// Metadata that an operator sets on a node: over what the node says, over its registrations, and gone with the node.
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/records/nodes/node_metadata.h"
#include "state/tables/nodes/node_metadata_table.h"
#include "state/tables/table.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct world {
	struct controller c;
	struct node_registration said;
	uint64_t sequence;
};

static void say(struct world *w, const char *name, const char *value)
{
	w->said.pairs[w->said.pair_count++] =
		(struct node_pair){PAIR_META, text_of(name), text_of(value)};
}

static void registers(struct world *w)
{
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = &w->said};

	w->said.sequence = (uint64_t)CONTROLLER_WALL_MS + ++w->sequence;
	w->said.parts = 1;
	assert_int_equal(controller_run(&w->c, &command), OUTCOME_DONE);
}

// The node says rack=r1, zone=a and unique.serial=7.
static int setup(void **test)
{
	struct world *w = memory_take(sizeof *w);

	controller_init(&w->c, (struct state_limits){0});
	controller_open(&w->c);
	build_node(&w->said, 1, 0);
	say(w, "rack", "r1");
	say(w, "unique.serial", "7");
	say(w, "zone", "a");
	registers(w);
	controller_node(&w->c, COMMAND_NODE_RETURNED, w->said.slot, w->said.generation);
	*test = w;
	return 0;
}

static int teardown(void **test)
{
	struct world *w = *test;

	expect_restores(&w->c);
	controller_free(&w->c);
	free(w);
	return 0;
}

// value NULL: it is taken away.
static struct metadata_change a_change(const char *name, const char *value)
{
	return (struct metadata_change){text_of(name), text_of(value), !value};
}

static enum command_outcome change(
	struct world *w, const struct metadata_change *changes, uint32_t count)
{
	struct command command = {.type = COMMAND_NODE_METADATA,
		.node_metadata = {.node = w->said.node, .changes = changes, .count = count}};
	return controller_run(&w->c, &command);
}

static void set(struct world *w, const char *name, const char *value)
{
	struct metadata_change one = a_change(name, value);
	assert_int_equal(change(w, &one, 1), OUTCOME_DONE);
}

// What constraints see; value NULL: nothing.
static void expect_shown(struct world *w, const char *name, const char *value)
{
	state_read_begin();
	const char *shown = node_meta(state_node_by_id(w->c.state, &w->said.node), name);
	if (!value)
		assert_null(shown);
	else
		assert_string_equal(shown ? shown : "(nothing)", value);
	state_read_end();
}

// What is remembered: "set over said", each of which may be "-" for nothing.
static void expect_layers(struct world *w, const char *name, const char *layers)
{
	char found[64] = "";

	state_read_begin();
	const struct node_metadata *m = state_node_metadata(w->c.state, &w->said.node);
	const struct node_metadatum *item = node_metadata_find(m, name);
	if (item)
		snprintf(found, sizeof found, "%s over %s", item->is_set ? item->value : "-",
			item->is_said ? item->said : "-");
	state_read_end();
	assert_string_equal(found, layers);
}

static void what_is_set_lies_over_what_the_node_says(void **test)
{
	struct world *w = *test;
	const struct metadata_change some[] = {
		a_change("rack", "r2"), a_change("dyn", "1"), a_change("unique.serial", "8")};

	assert_int_equal(change(w, some, 3), OUTCOME_DONE);
	expect_shown(w, "rack", "r2");
	expect_shown(w, "dyn", "1");
	expect_shown(w, "unique.serial", "8");
	expect_shown(w, "zone", "a");
	expect_layers(w, "rack", "r2 over r1");
	expect_layers(w, "dyn", "1 over -");
	expect_layers(w, "unique.serial", "8 over 7");
	expect_layers(w, "zone", "");
}

static void what_is_taken_away_hides_what_the_node_says(void **test)
{
	struct world *w = *test;

	set(w, "dyn", "1");
	set(w, "dyn", NULL);
	expect_shown(w, "dyn", NULL);
	expect_layers(w, "dyn", "");
	set(w, "rack", "r2");
	set(w, "rack", NULL);
	set(w, "zone", NULL);
	set(w, "nosuch", NULL);
	expect_shown(w, "rack", NULL);
	expect_shown(w, "zone", NULL);
	expect_layers(w, "rack", "- over r1");
	expect_layers(w, "zone", "- over a");
	expect_layers(w, "nosuch", "");
	set(w, "zone", "b");
	expect_shown(w, "zone", "b");
	expect_layers(w, "zone", "b over a");
}

static void a_registration_leaves_it(void **test)
{
	struct world *w = *test;

	set(w, "rack", "r2");
	set(w, "dyn", "1");
	set(w, "zone", NULL);
	// From now on it says rack=r3, dyn=x and new=n, and nothing of its zone.
	build_node(&w->said, 1, 0);
	say(w, "rack", "r3");
	say(w, "dyn", "x");
	say(w, "new", "n");
	registers(w);
	expect_shown(w, "rack", "r2");
	expect_shown(w, "dyn", "1");
	expect_shown(w, "new", "n");
	expect_shown(w, "zone", NULL);
	expect_layers(w, "rack", "r2 over r3");
	expect_layers(w, "dyn", "1 over x");
	expect_layers(w, "zone", "");
	say(w, "zone", "c");
	registers(w);
	expect_shown(w, "zone", "c");
	set(w, "dyn", NULL);
	expect_shown(w, "dyn", NULL);
	expect_layers(w, "dyn", "- over x");
}

static void it_goes_with_its_node(void **test)
{
	struct world *w = *test;
	struct command purge = {.type = COMMAND_NODE_PURGE, .node_named = {.node = w->said.node}};

	for (int i = 0; i < 2; i++) {
		set(w, "rack", "r2");
		assert_int_equal(controller_run(&w->c, &purge), OUTCOME_DONE);
		state_read_begin();
		assert_null(state_node_metadata(w->c.state, &w->said.node));
		state_read_end();
		struct metadata_change one = a_change("rack", "r2");
		assert_int_equal(change(w, &one, 1), OUTCOME_UNKNOWN_NODE);
		registers(w);
		expect_shown(w, "rack", "r1");
		expect_layers(w, "rack", "");
	}
	set(w, "rack", "r3");
}

// All of it stays as it was but what was asked for, and the node's lines are left alone.
static void the_node_stays_as_it_was(void **test)
{
	struct world *w = *test;
	struct job *job = build_scheduled_job("web", JOB_SERVICE);
	struct command_job_register made = {0};

	register_job(&w->c, job, &made);
	assert_int_equal(place_one(&w->c, &made.made.id, "web", &w->said, 1), OUTCOME_DONE);
	state_read_begin();
	struct node before = *state_node_by_id(w->c.state, &w->said.node);
	state_read_end();
	set(w, "rack", "r2");
	state_read_begin();
	const struct node *n = state_node_by_id(w->c.state, &w->said.node);
	assert_int_equal(n->generation, before.generation);
	assert_int_equal(n->status, NODE_READY);
	assert_int_equal(n->register_index, before.register_index);
	assert_int_equal(n->register_sequence, before.register_sequence);
	assert_int_equal(n->event_count, before.event_count);
	assert_int_equal(n->record.create_index, before.record.create_index);
	assert_int_equal(n->record.modify_index, state_index(w->c.state));
	assert_int_equal(n->described_index, state_index(w->c.state));
	assert_true(node_is_usable(n) && n->node_class->serial != before.node_class->serial);
	assert_string_equal(node_attribute(n, "cpu.arch"), "amd64");
	assert_string_equal(node_attribute(n, "unique.hostname"), "a-node");
	state_read_end();
	// The job on it is looked at again.
	advance_ms(&w->c, 5000);
	applier_step(w->c.applier);
	assert_int_equal(count_evaluations(&w->c, "web", TRIGGER_NODE_UPDATE), 1);
}

static void a_node_that_is_away_stays_so(void **test)
{
	struct world *w = *test;
	struct command closed = {.type = COMMAND_NODE_ELIGIBILITY,
		.node_eligibility = {.node = w->said.node, .eligible = false}};

	assert_int_equal(controller_run(&w->c, &closed), OUTCOME_DONE);
	controller_node(&w->c, COMMAND_NODE_EXPIRED, w->said.slot, w->said.generation);
	uint64_t lost = state_index(w->c.state);
	set(w, "rack", "r2");
	state_read_begin();
	const struct node *n = state_node_by_id(w->c.state, &w->said.node);
	assert_int_equal(n->status, NODE_DOWN);
	assert_string_equal(node_status_description(n), "Node heartbeat missed");
	assert_int_equal(n->missed_heartbeat_index, lost);
	assert_int_equal(n->eligibility, NODE_INELIGIBLE);
	state_read_end();
}

static void what_changes_nothing_is_no_change(void **test)
{
	struct world *w = *test;

	set(w, "nosuch", NULL);
	set(w, "rack", "r2");
	uint64_t index = state_index(w->c.state);
	set(w, "rack", "r2");
	set(w, "nosuch", NULL);
	assert_int_equal(state_index(w->c.state), index);
}

static void too_much_is_refused(void **test)
{
	struct world *w = *test;
	struct metadata_change changes[NODE_METADATA_MAX + 1];
	char names[NODE_METADATA_MAX + 1][16];
	char value[ATTRIBUTE_VALUE_BYTES_MAX + 2];

	for (uint32_t i = 0; i <= NODE_METADATA_MAX; i++) {
		snprintf(names[i], sizeof names[i], "n%u", i);
		changes[i] = a_change(names[i], "v");
	}
	assert_int_equal(change(w, changes, NODE_METADATA_MAX + 1), OUTCOME_BAD_DESCRIPTION);
	expect_shown(w, "n0", NULL);
	assert_int_equal(change(w, changes, NODE_METADATA_MAX), OUTCOME_DONE);
	expect_shown(w, "n63", "v");
	memset(value, 'x', sizeof value - 1);
	value[sizeof value - 1] = '\0';
	changes[0] = a_change("n0", value);
	assert_int_equal(change(w, changes, 1), OUTCOME_BAD_DESCRIPTION);
	changes[0] = a_change("n0", "a\nb");
	assert_int_equal(change(w, changes, 1), OUTCOME_BAD_DESCRIPTION);
	changes[0] = a_change("n0", value + 1);
	assert_int_equal(change(w, changes, 1), OUTCOME_DONE);
	expect_shown(w, "n0", value + 1);
}

// A node may say as much as it likes under what was set.
static void a_full_description_has_room_for_it(void **test)
{
	struct world *w = *test;
	char names[NODE_ATTRIBUTES_MAX][16];

	for (uint32_t i = 0; i < NODE_METADATA_MAX; i++) {
		snprintf(names[i], sizeof names[i], "set%u", i);
		set(w, names[i], "v");
	}
	for (uint32_t i = w->said.pair_count; i < NODE_ATTRIBUTES_MAX; i++) {
		snprintf(names[i], sizeof names[i], "said%u", i);
		say(w, names[i], "s");
	}
	registers(w);
	expect_shown(w, "set0", "v");
	expect_shown(w, "said255", "s");
	set(w, "set0", NULL);
	expect_shown(w, "set0", NULL);
	expect_shown(w, "set63", "v");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(what_is_set_lies_over_what_the_node_says),
		CASE(what_is_taken_away_hides_what_the_node_says),
		CASE(a_registration_leaves_it),
		CASE(it_goes_with_its_node),
		CASE(the_node_stays_as_it_was),
		CASE(a_node_that_is_away_stays_so),
		CASE(what_changes_nothing_is_no_change),
		CASE(too_much_is_refused),
		CASE(a_full_description_has_room_for_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
