// Rules of admission through the applier: what is refused and noted, which rule counts, that nodes are judged again,
// and that a successor has it all.
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/nodes/admit_rule.h"
#include "tests/state/evaluations.h"
#include "tests/support/controller.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct state_limits limits = {.admit_rules = 3, .refused_nodes = 4};

static int open_world(void **test, bool admits_known)
{
	struct controller *c = memory_take(sizeof *c);

	controller_init(c, limits);
	c->admits_known = admits_known;
	controller_open(c);
	*test = c;
	return 0;
}

static int setup(void **test)
{
	return open_world(test, false);
}

static int setup_known(void **test)
{
	return open_world(test, true);
}

static int teardown(void **test)
{
	expect_restores(*test);
	controller_verify(*test);
	controller_free(*test);
	free(*test);
	return 0;
}

static struct admit_rule *build_rule(const char *pattern)
{
	struct admit_rule *rule = record_create(&admit_rule_description);

	rule->pattern = text_copy(text_of(pattern));
	return rule;
}

static void add_name(struct array *names, const char *name)
{
	*(char **)array_append(names, sizeof(char *)) = text_copy(text_of(name));
}

static enum command_outcome put_rule(struct controller *c, struct admit_rule *rule)
{
	struct command command = {.type = COMMAND_ADMIT_RULE, .admit_rule = {.rule = rule}};
	enum command_outcome outcome = controller_run(c, &command);

	assert_int_equal(command.admit_rule.rule != NULL, outcome != OUTCOME_DONE);
	record_free(&admit_rule_description, command.admit_rule.rule);
	return outcome;
}

static enum command_outcome delete_rule(struct controller *c, const char *pattern)
{
	struct command command = {.type = COMMAND_ADMIT_RULE_DELETE,
		.admit_rule_delete = {.pattern = text_of(pattern)}};

	return controller_run(c, &command);
}

static void limit_cpu(struct controller *c, const char *pattern, int64_t most)
{
	struct admit_rule *rule = build_rule(pattern);

	rule->cpu_mhz = (struct optional_i64){true, most};
	assert_int_equal(put_rule(c, rule), OUTCOME_DONE);
}

// A node of 4000 MHz, 8000 MB, 50000 MB of disk and two devices.
static void describe(struct controller *c, struct node_registration *node, uint32_t number)
{
	c->time.wall_ns += NS_PER_S;
	build_node(node, number, (uint64_t)controller_now_ms(c));
	node->name = TEXT("rack1-a");
	node->pool = TEXT("gpu");
	node->datacenter = TEXT("east");
	node->class_name = TEXT("big");
	node->total = (struct resources){4000, 8000, 50000};
	node->reserved = (struct resources){0};
	node->device_group_count = 1;
	node->device_groups[0] =
		(struct node_device_group){TEXT("nvidia"), TEXT("gpu"), TEXT("a100"), 2};
}

static enum command_outcome join(
	struct controller *c, uint32_t number, struct node_registration *node)
{
	describe(c, node, number);
	return core_join(&c->core, node);
}

static struct uuid id_of(uint32_t number)
{
	struct node_registration node;

	build_node(&node, number, 1);
	return node.node;
}

// The note of a refused node, or NULL. Until the state changes.
static const struct refused_node *note_of(const struct controller *c, uint32_t number)
{
	const struct refused_node *refused;
	struct uuid id = id_of(number);
	uint64_t cursor = 0;

	while ((refused = state_next(c->state, STATE_REFUSED_NODES, &cursor)))
		if (uuid_equal(&refused->id, &id))
			break;
	return refused;
}

static uint32_t count_notes(const struct controller *c)
{
	uint64_t cursor = 0;
	uint32_t count = 0;

	while (state_next(c->state, STATE_REFUSED_NODES, &cursor))
		count++;
	return count;
}

static void expect_refusal(struct controller *c, uint32_t number, enum admission claim)
{
	struct node_registration *node = memory_take(sizeof *node);

	assert_int_equal(join(c, number, node), OUTCOME_NOT_ADMITTED);
	assert_int_equal(node->admission, claim);
	state_read_begin();
	const struct refused_node *note = note_of(c, number);
	assert_non_null(note);
	assert_int_equal(note->claim, claim);
	assert_string_equal(note->name, "rack1-a");
	assert_string_equal(note->pool, "gpu");
	state_read_end();
	free(node);
}

static void expect_admission(struct controller *c, uint32_t number)
{
	struct node_registration *node = memory_take(sizeof *node);

	assert_int_equal(join(c, number, node), OUTCOME_DONE);
	state_read_begin();
	assert_null(note_of(c, number));
	state_read_end();
	free(node);
}

static void each_claim_has_its_bound(void **test)
{
	struct controller *c = *test;
	struct admit_rule *rule;

	rule = build_rule("rack1-*");
	add_name(&rule->pools, "default");
	add_name(&rule->pools, "c*");
	assert_int_equal(put_rule(c, rule), OUTCOME_DONE);
	expect_refusal(c, 1, ADMIT_POOL);
	rule = build_rule("rack1-*");
	add_name(&rule->pools, "g*");
	add_name(&rule->datacenters, "west");
	assert_int_equal(put_rule(c, rule), OUTCOME_DONE);
	expect_refusal(c, 1, ADMIT_DATACENTER);
	rule = build_rule("rack1-*");
	add_name(&rule->datacenters, "*st");
	add_name(&rule->classes, "small");
	assert_int_equal(put_rule(c, rule), OUTCOME_DONE);
	expect_refusal(c, 1, ADMIT_CLASS);
	limit_cpu(c, "rack1-*", 3999);
	expect_refusal(c, 1, ADMIT_CPU);
	rule = build_rule("rack1-*");
	rule->cpu_mhz = (struct optional_i64){true, 4000};
	rule->memory_mb = (struct optional_i64){true, 7999};
	assert_int_equal(put_rule(c, rule), OUTCOME_DONE);
	expect_refusal(c, 1, ADMIT_MEMORY);
	rule = build_rule("rack1-*");
	rule->disk_mb = (struct optional_i64){true, 49999};
	assert_int_equal(put_rule(c, rule), OUTCOME_DONE);
	expect_refusal(c, 1, ADMIT_DISK);
	rule = build_rule("rack1-*");
	rule->devices = (struct optional_i64){true, 1};
	assert_int_equal(put_rule(c, rule), OUTCOME_DONE);
	expect_refusal(c, 1, ADMIT_DEVICES);
	rule = build_rule("rack1-*");
	rule->devices = (struct optional_i64){true, 2};
	assert_int_equal(put_rule(c, rule), OUTCOME_DONE);
	expect_admission(c, 1);
}

// An id before a name, a name before a glob, and of globs the one that says more.
static void the_closest_rule_counts(void **test)
{
	struct controller *c = *test;
	struct uuid id = id_of(1);
	char text[UUID_TEXT_BYTES];

	limit_cpu(c, "*", 1);
	expect_refusal(c, 1, ADMIT_CPU);
	limit_cpu(c, "rack*", 4000);
	expect_admission(c, 1);
	limit_cpu(c, "rack1-a", 2);
	expect_refusal(c, 1, ADMIT_CPU);
	assert_int_equal(delete_rule(c, "*"), OUTCOME_DONE);
	limit_cpu(c, uuid_format(&id, text), 4000);
	expect_admission(c, 1);
	expect_refusal(c, 2, ADMIT_CPU);
}

static void rules_that_say_nothing_are_refused(void **test)
{
	struct controller *c = *test;
	struct admit_rule *rule = build_rule("");

	assert_int_equal(put_rule(c, rule), OUTCOME_BAD_DESCRIPTION);
	rule = build_rule("*");
	rule->cpu_mhz = (struct optional_i64){true, -1};
	assert_int_equal(put_rule(c, rule), OUTCOME_BAD_DESCRIPTION);
	rule = build_rule("*");
	add_name(&rule->pools, "");
	assert_int_equal(put_rule(c, rule), OUTCOME_BAD_DESCRIPTION);
	assert_int_equal(delete_rule(c, "*"), OUTCOME_UNKNOWN_RULE);
	for (uint32_t i = 0; i < 3; i++) {
		char pattern[8];
		snprintf(pattern, sizeof pattern, "a%u*", i);
		limit_cpu(c, pattern, 1);
	}
	assert_int_equal(put_rule(c, build_rule("b")), OUTCOME_TABLE_FULL);
	limit_cpu(c, "a1*", 2);
}

static void only_known_nodes_may_register(void **test)
{
	struct controller *c = *test;

	expect_refusal(c, 1, ADMIT_UNKNOWN);
	assert_int_equal(put_rule(c, build_rule("rack1-a")), OUTCOME_DONE);
	expect_admission(c, 1);
}

static const struct node *node_of(const struct controller *c, uint32_t number)
{
	struct uuid id = id_of(number);

	return state_node_by_id(c->state, &id);
}

static enum command_outcome set_eligible(struct controller *c, uint32_t number)
{
	struct command command = {.type = COMMAND_NODE_ELIGIBILITY,
		.node_eligibility = {.node = id_of(number), .eligible = true}};

	return controller_run(c, &command);
}

// What runs there goes on, but nothing new comes.
static void who_is_there_already_is_judged_again(void **test)
{
	struct controller *c = *test;

	expect_admission(c, 1);
	expect_admission(c, 2);
	limit_cpu(c, "rack1-*", 4000);
	state_read_begin();
	assert_int_equal(node_of(c, 1)->eligibility, NODE_ELIGIBLE);
	state_read_end();
	limit_cpu(c, "rack1-*", 3000);
	struct command nothing = {.type = COMMAND_COLLECT};
	controller_run(c, &nothing);
	for (uint32_t i = 1; i <= 2; i++) {
		state_read_begin();
		const struct node *n = node_of(c, i);
		assert_int_equal(n->eligibility, NODE_INELIGIBLE);
		assert_int_equal(n->status, NODE_READY);
		state_read_end();
	}
	assert_int_equal(set_eligible(c, 1), OUTCOME_NOT_ADMITTED);
	assert_int_equal(delete_rule(c, "rack1-*"), OUTCOME_DONE);
	assert_int_equal(set_eligible(c, 1), OUTCOME_DONE);
}

// Of many that ask the newest are shown, and who asks again is no news for a while.
static void the_list_of_refused_nodes_is_bounded(void **test)
{
	struct controller *c = *test;

	limit_cpu(c, "*", 1);
	for (uint32_t i = 1; i <= 20; i++)
		expect_refusal(c, i, ADMIT_CPU);
	state_read_begin();
	assert_in_range(count_notes(c), 2, limits.refused_nodes);
	uint64_t index = note_of(c, 20)->record.modify_index;
	state_read_end();
	expect_refusal(c, 20, ADMIT_CPU);
	state_read_begin();
	assert_int_equal(note_of(c, 20)->record.modify_index, index);
	state_read_end();
	c->time.wall_ns += 60 * NS_PER_S;
	expect_refusal(c, 20, ADMIT_CPU);
	state_read_begin();
	assert_true(note_of(c, 20)->record.modify_index > index);
	assert_true(note_of(c, 20)->newest_ns > note_of(c, 20)->first_ns);
	state_read_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_claim_has_its_bound, setup, teardown),
		cmocka_unit_test_setup_teardown(the_closest_rule_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(
			rules_that_say_nothing_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(
			only_known_nodes_may_register, setup_known, teardown),
		cmocka_unit_test_setup_teardown(
			who_is_there_already_is_judged_again, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_list_of_refused_nodes_is_bounded, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
