// Random lives of nodes that are revoked, taken back, given other keys, admitted and not admitted, each against a naive
// model: every rule is looked at for every node, every time.
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/nodes/admit_rule.h"
#include "state/records/nodes/sender.h"
#include "tests/state/evaluations.h"
#include "tests/support/controller.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define NODES 6u
#define RULES 8u
#define SEEDS 4u
#define STEPS 3000u

static const char *const names[] = {"a", "ab", "abc", "b"};
static const char *const pools[] = {"default", "gpu", "cpu"};

struct model_node {
	bool is_known, is_revoked, is_down, is_eligible;
	int64_t key_generation;
	const char *name, *pool; // as it registered
	int64_t cpu_mhz;
};

struct model_rule {
	bool is_there;
	char pattern[UUID_TEXT_BYTES];
	const char *pool; // glob; NULL: any
	struct optional_i64 cpu_mhz;
};

struct life {
	struct controller c;
	struct prng prng;
	struct model_node nodes[NODES];
	struct model_rule rules[RULES];
	uint32_t done, refused, judged;
};

static uint32_t below(struct life *l, uint32_t bound)
{
	return (uint32_t)prng_below(&l->prng, bound);
}

static struct uuid id_of(uint32_t number)
{
	return number_uuid(number + 1);
}

// 0: an id, 1: a name without '*', 2: a glob.
static uint32_t class_of(const char *pattern)
{
	struct uuid id;

	return uuid_parse(pattern, &id) ? 0 : strchr(pattern, '*') ? 2 : 1;
}

static uint32_t plain(const char *pattern)
{
	uint32_t count = 0;

	for (; *pattern; pattern++)
		count += *pattern != '*';
	return count;
}

static bool stands_before(const struct model_rule *a, const struct model_rule *b)
{
	if (class_of(a->pattern) != class_of(b->pattern))
		return class_of(a->pattern) < class_of(b->pattern);
	if (plain(a->pattern) != plain(b->pattern))
		return plain(a->pattern) > plain(b->pattern);
	return strcmp(a->pattern, b->pattern) < 0;
}

static enum admission judge(
	const struct life *l, uint32_t number, const char *name, const char *pool, int64_t cpu_mhz)
{
	const struct model_rule *best = NULL;
	char id[UUID_TEXT_BYTES];
	struct uuid uuid = id_of(number);

	uuid_format(&uuid, id);
	for (uint32_t i = 0; i < RULES; i++) {
		const struct model_rule *r = &l->rules[i];
		bool fits = r->is_there &&
			    (glob_matches(r->pattern, id) || glob_matches(r->pattern, name));
		if (fits && (!best || stands_before(r, best)))
			best = r;
	}
	if (!best)
		return l->c.admits_known ? ADMIT_UNKNOWN : ADMIT;
	if (best->pool && !glob_matches(best->pool, pool))
		return ADMIT_POOL;
	return best->cpu_mhz.set && cpu_mhz > best->cpu_mhz.value ? ADMIT_CPU : ADMIT;
}

static void judge_again(struct life *l)
{
	for (uint32_t i = 0; i < NODES; i++) {
		struct model_node *n = &l->nodes[i];
		if (!n->is_known || !n->is_eligible ||
			judge(l, i, n->name, n->pool, n->cpu_mhz) == ADMIT)
			continue;
		n->is_eligible = false;
		l->judged++;
	}
}

static void join(struct life *l)
{
	static struct node_registration node;
	uint32_t number = below(l, NODES);
	struct model_node *n = &l->nodes[number];
	const char *name = names[below(l, 4)], *pool = pools[below(l, 3)];
	int64_t cpu_mhz = 1000 * (1 + below(l, 4));

	build_node(&node, number + 1, (uint64_t)controller_now_ms(&l->c));
	node.node = id_of(number);
	node.name = text_of(name);
	node.pool = text_of(pool);
	node.total.cpu_mhz = (uint32_t)cpu_mhz;
	node.reserved = (struct resources){0};
	enum command_outcome outcome = core_join(&l->c.core, &node);
	enum admission admission = judge(l, number, name, pool, cpu_mhz);
	if (n->is_revoked) {
		assert_int_equal(outcome, OUTCOME_REVOKED);
		l->refused++;
		return;
	}
	if (admission != ADMIT) {
		assert_int_equal(outcome, OUTCOME_NOT_ADMITTED);
		assert_int_equal(node.admission, admission);
		l->refused++;
		return;
	}
	assert_int_equal(outcome, OUTCOME_DONE);
	if (!n->is_known)
		n->is_eligible = true;
	n->is_known = true;
	n->is_down = false;
	n->name = name;
	n->pool = pool;
	n->cpu_mhz = cpu_mhz;
	l->done++;
}

static void say(struct life *l)
{
	char name[SENDER_NAME_BYTES];
	uint32_t number = below(l, NODES);
	struct model_node *n = &l->nodes[number];
	struct uuid id = id_of(number);
	struct command_sender sender = {
		.name = sender_of_node(&id, name), .action = below(l, SENDER_ACTIONS)};
	struct command command = {.type = COMMAND_SENDER, .sender = &sender};
	enum command_outcome outcome = controller_run(&l->c, &command);

	if (sender.action == SENDER_RESTORE && !n->is_revoked) {
		assert_int_equal(outcome, OUTCOME_UNKNOWN_SENDER);
		return;
	}
	assert_int_equal(outcome, OUTCOME_DONE);
	bool goes_down = sender.action != SENDER_RESTORE && n->is_known && !n->is_down;
	assert_int_equal(sender.went_down, goes_down);
	n->is_down |= goes_down;
	n->is_revoked = sender.action == SENDER_REVOKE;
	n->key_generation += sender.action == SENDER_REKEY;
	assert_int_equal(sender.key_generation, n->key_generation);
}

static void random_pattern(struct life *l, char pattern[static UUID_TEXT_BYTES])
{
	static const char *const globs[] = {"*", "a*", "*b", "ab*", "a*c", "*b*", "0*"};
	struct uuid id = id_of(below(l, NODES));

	switch (below(l, 4)) {
	case 0: uuid_format(&id, pattern); break;
	case 1: snprintf(pattern, UUID_TEXT_BYTES, "%s", names[below(l, 4)]); break;
	default: snprintf(pattern, UUID_TEXT_BYTES, "%s", globs[below(l, 7)]);
	}
}

static struct model_rule *rule_named(struct life *l, const char *pattern)
{
	for (uint32_t i = 0; i < RULES; i++)
		if (l->rules[i].is_there && strcmp(l->rules[i].pattern, pattern) == 0)
			return &l->rules[i];
	return NULL;
}

static struct model_rule *free_rule(struct life *l)
{
	for (uint32_t i = 0; i < RULES; i++)
		if (!l->rules[i].is_there)
			return &l->rules[i];
	return NULL;
}

static void put_rule(struct life *l)
{
	struct admit_rule *rule = record_create(&admit_rule_description);
	struct model_rule next = {.is_there = true};

	random_pattern(l, next.pattern);
	rule->pattern = text_copy(text_of(next.pattern));
	next.pool = below(l, 2) ? NULL : below(l, 2) ? "gpu" : "*pu";
	if (next.pool)
		*(char **)array_append(&rule->pools, sizeof(char *)) =
			text_copy(text_of(next.pool));
	next.cpu_mhz = (struct optional_i64){below(l, 2), 1000 * below(l, 5)};
	if (next.cpu_mhz.set)
		rule->cpu_mhz = next.cpu_mhz;
	struct model_rule *known = rule_named(l, next.pattern);
	struct model_rule *at = known ? known : free_rule(l);
	struct command command = {.type = COMMAND_ADMIT_RULE, .admit_rule = {.rule = rule}};
	assert_int_equal(controller_run(&l->c, &command), at ? OUTCOME_DONE : OUTCOME_TABLE_FULL);
	record_free(&admit_rule_description, command.admit_rule.rule);
	if (at)
		*at = next;
}

static void drop_rule(struct life *l)
{
	char pattern[UUID_TEXT_BYTES];

	random_pattern(l, pattern);
	struct model_rule *rule = rule_named(l, pattern);
	struct command command = {.type = COMMAND_ADMIT_RULE_DELETE,
		.admit_rule_delete = {.pattern = text_of(pattern)}};
	assert_int_equal(
		controller_run(&l->c, &command), rule ? OUTCOME_DONE : OUTCOME_UNKNOWN_RULE);
	if (rule)
		rule->is_there = false;
}

static void set_eligible(struct life *l)
{
	uint32_t number = below(l, NODES);
	struct model_node *n = &l->nodes[number];
	struct command command = {.type = COMMAND_NODE_ELIGIBILITY,
		.node_eligibility = {.node = id_of(number), .eligible = true}};
	enum command_outcome outcome = controller_run(&l->c, &command);

	if (!n->is_known) {
		assert_int_equal(outcome, OUTCOME_UNKNOWN_NODE);
	} else if (n->is_eligible) {
		assert_int_equal(outcome, OUTCOME_DONE);
	} else {
		bool may = judge(l, number, n->name, n->pool, n->cpu_mhz) == ADMIT;
		assert_int_equal(outcome, may ? OUTCOME_DONE : OUTCOME_NOT_ADMITTED);
		n->is_eligible = may;
	}
}

static void fall_silent(struct life *l)
{
	uint32_t number = below(l, NODES);
	struct uuid id = id_of(number);

	state_read_begin();
	const struct node *n = state_node_by_id(l->c.state, &id);
	uint32_t slot = n ? n->slot : 0, generation = n ? n->generation : 0;
	state_read_end();
	if (!l->nodes[number].is_known)
		return;
	assert_int_equal(
		controller_node(&l->c, COMMAND_NODE_EXPIRED, slot, generation), OUTCOME_DONE);
	l->nodes[number].is_down = true;
}

static void expect_node(const struct life *l, uint32_t number)
{
	const struct model_node *m = &l->nodes[number];
	struct uuid id = id_of(number);
	char name[SENDER_NAME_BYTES];

	const struct sender *sender = state_sender(l->c.state, sender_of_node(&id, name));
	assert_int_equal(sender != NULL, m->is_revoked || m->key_generation > 0);
	if (sender) {
		assert_int_equal(sender->is_revoked, m->is_revoked);
		assert_int_equal(sender->key_generation, m->key_generation);
	}
	const struct node *n = state_node_by_id(l->c.state, &id);
	assert_int_equal(n != NULL, m->is_known);
	if (!n)
		return;
	assert_int_equal(n->status == NODE_DOWN, m->is_down);
	assert_int_equal(n->eligibility == NODE_ELIGIBLE, m->is_eligible);
	assert_false(m->is_revoked && n->status == NODE_READY);
}

static void step(struct life *l)
{
	static const struct {
		uint32_t often;
		void (*act)(struct life *);
	} actions[] = {{40, join}, {20, say}, {15, put_rule}, {12, drop_rule}, {10, set_eligible},
		{6, fall_silent}};
	uint32_t chosen = below(l, 103), at = 0;

	while (chosen >= actions[at].often)
		chosen -= actions[at++].often;
	l->c.time.wall_ns += NS_PER_MS * (1 + below(l, 5000));
	actions[at].act(l);
	// What the rules say now counts before the next command.
	struct command nothing = {.type = COMMAND_COLLECT};
	controller_run(&l->c, &nothing);
	judge_again(l);
	state_read_begin();
	for (uint32_t i = 0; i < NODES; i++)
		expect_node(l, i);
	state_read_end();
}

static void nodes_are_heard_and_admitted_as_the_rules_say(void **unused)
{
	static const struct state_limits limits = {.admit_rules = RULES, .refused_nodes = 3};

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct life *l = memory_take(sizeof *l);

		prng_seed(&l->prng, seed);
		controller_init(&l->c, limits);
		l->c.admits_known = seed % 2;
		controller_open(&l->c);
		for (uint32_t i = 0; i < STEPS; i++) {
			step(l);
			if (i % 100 == 0)
				controller_verify(&l->c);
			if (i % 1000 == 999)
				expect_restores(&l->c);
		}
		print_message("seed %lu: %u admitted, %u refused, %u judged again\n",
			(unsigned long)seed, l->done, l->refused, l->judged);
		assert_true(l->done > STEPS / 20 && l->refused > STEPS / 20 && l->judged > 10);
		controller_free(&l->c);
		free(l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_heard_and_admitted_as_the_rules_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
