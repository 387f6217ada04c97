#include "placement/direct/feasibility.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void globs_match_as_fnmatch_says(void **state)
{
	struct prng p;
	prng_seed(&p, 1);
	for (uint32_t i = 0; i < 200000; i++) {
		char pattern[8] = "", text[12] = "";
		for (uint32_t j = (uint32_t)prng_below(&p, 8); j > 0; j--)
			pattern[j - 1] = "ab*"[prng_below(&p, 3)];
		pattern[7] = 0;
		for (uint32_t j = (uint32_t)prng_below(&p, 11); j > 0; j--)
			text[j - 1] = "ab"[prng_below(&p, 2)];
		if (glob_matches(pattern, text) != (fnmatch(pattern, text, 0) == 0))
			fail_msg("pattern \"%s\" text \"%s\"", pattern, text);
	}
	assert_true(glob_matches("dc*-east", "dc-prod-east"));
	assert_false(glob_matches("dc?", "dc1")); // only the star is special
}

static const struct group_ask two_asks = {
	.device_count = 2, .devices = {{"gpu", 2}, {"nvidia/gpu", 3}}};

static void devices_are_chosen(void **state)
{
	struct device_matches matches = {{0x3, 0x1}}; // the first ask can use both groups
	struct device_set free = {{0xff0, 0xf0}}, chosen;
	assert_true(devices_choose(&two_asks, &matches, &free, &chosen));
	assert_int_equal(__builtin_popcountll(chosen.groups[0]), 5);
	assert_int_equal(chosen.groups[0] & ~free.groups[0], 0);
	assert_int_equal(chosen.groups[1], 0);
}

// The first ask must leave the group that only the second ask can use.
static void a_greedy_choice_is_taken_back(void **state)
{
	struct device_matches matches = {{0x3, 0x1}};
	struct device_set free = {{0x7, 0x3}}, chosen;
	uint8_t counts[NODE_DEVICE_GROUPS_MAX] = {3, 2};
	assert_true(devices_suffice(&two_asks, &matches, counts));
	assert_true(devices_choose(&two_asks, &matches, &free, &chosen));
	assert_int_equal(chosen.groups[0], 0x7);
	assert_int_equal(chosen.groups[1], 0x3);
	free.groups[1] = 1;
	counts[1] = 1;
	assert_false(devices_suffice(&two_asks, &matches, counts));
	assert_false(devices_choose(&two_asks, &matches, &free, &chosen));
}

static void all_64_instances_can_be_asked_for(void **state)
{
	struct group_ask ask = {.device_count = 1, .devices = {{"gpu", 64}}};
	struct device_matches matches = {{0x8}};
	struct device_set free = {{0, 0, 0, ~0ull}}, chosen;
	assert_true(devices_choose(&ask, &matches, &free, &chosen));
	assert_true(chosen.groups[3] == ~0ull);
}

static void constrain(struct array *to, const char *left, const char *operand, const char *right)
{
	struct constraint *c = array_append(to, sizeof *c);
	*c = (struct constraint){
		text_copy(text_of(left)), text_copy(text_of(right)), text_copy(text_of(operand))};
}

static uint8_t verdict_of(const char *left, const char *operand, const char *right)
{
	static struct attribute attributes[] = {{.name = "a", .value = "aaaa"}};
	const struct node_class class = {.attributes = attributes, .attribute_count = 1};
	struct device_matches matches;
	struct job *job = job_create();
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	record_init(&task_group_description, group);
	job->type = JOB_DIRECT;
	constrain(&group->constraints, left, operand, right);
	assert_true(job_derive(job));
	struct feasibility *f = feasibility_create(job, 0);
	uint8_t verdict = feasibility_of_class(f, &class, &matches);
	feasibility_destroy(f);
	job_free(job);
	return verdict;
}

// Here the applier decides, and everybody waits for it: 10,000 nodes with a search of ten milliseconds each would be
// minutes without a commit. Validation refuses such jobs; one that was stored before finds no node.
static void patterns_are_not_searched_for(void **state)
{
	assert_int_equal(verdict_of("${attr.a}", "=", "aaaa"), VERDICT_PASS);
	assert_int_equal(verdict_of("${attr.a}", "set_contains_any", "b,aaaa"), VERDICT_PASS);
	assert_int_equal(verdict_of("${attr.a}", "regexp", "a"), VERDICT_CONSTRAINT);
	assert_int_equal(verdict_of("${attr.unique.a}", "regexp", "a"), VERDICT_CONSTRAINT);
	assert_int_equal(verdict_of("aaaa", "regexp", "${attr.a}"), VERDICT_CONSTRAINT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(globs_match_as_fnmatch_says),
		cmocka_unit_test(devices_are_chosen),
		cmocka_unit_test(a_greedy_choice_is_taken_back),
		cmocka_unit_test(patterns_are_not_searched_for),
		cmocka_unit_test(all_64_instances_can_be_asked_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
