// Which device groups serve a group's asks.
#include "placement/feasibility/device_needs.h"
#include "state/base/prng.h"
#include "tests/placement/job_check/job_build.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct device_group groups[] = {
	{"nvidia", "gpu", "a100", 8}, {"nvidia", "gpu", "t4", 2}, {"xilinx", "fpga", "u50", 64}};
static const struct node_class node_class = {.devices = groups, .device_count = COUNT(groups)};

static bool is_served(struct job *job, const uint8_t *free, struct device_choice *choice)
{
	struct device_needs needs;
	struct arena memory = {0};
	uint8_t matches[DEVICE_NEEDS_MAX];
	device_needs_compile(&needs, job, group_of(job), &memory);
	device_needs_match(&needs, &node_class, matches);
	bool served = device_needs_choose(&needs, NULL, matches, free, choice);
	struct device_choice other;
	assert_int_equal(device_needs_choose(&needs, &node_class, NULL, free, &other), served);
	if (served)
		assert_memory_equal(choice->groups, other.groups, needs.count);
	device_needs_release(&needs);
	arena_release(&memory);
	return served;
}

static void groups_are_named_by_type_vendor_and_name(void **state)
{
	static const struct {
		const char *name;
		bool is[3];
	} rows[] = {{"gpu", {true, true, false}}, {"nvidia/gpu", {true, true, false}},
		{"nvidia/gpu/t4", {false, true, false}}, {"xilinx/gpu", {false}},
		{"fpga", {false, false, true}}, {"t4", {false}}, {"nvidia", {false}}, {"", {false}},
		{"nvidia/gpu/t4/x", {false}}, {"gpu/", {false}}};
	for (uint32_t i = 0; i < COUNT(rows); i++)
		for (uint32_t d = 0; d < COUNT(groups); d++)
			assert_int_equal(device_is_named(&groups[d], rows[i].name), rows[i].is[d]);
}

// Several asks take from the same group, and asks of one name from several.
static void asks_share_groups_and_are_served_by_several(void **state)
{
	struct job *job = job_of(JOB_DIRECT);
	struct device_choice choice;
	ask_device(job, "gpu", 2);
	ask_device(job, "gpu", 1);
	assert_true(is_served(job, (uint8_t[NODE_DEVICE_GROUPS_MAX]){3, 0}, &choice));
	assert_int_equal(choice.groups[0], 0);
	assert_int_equal(choice.groups[1], 0);
	assert_true(is_served(job, (uint8_t[NODE_DEVICE_GROUPS_MAX]){1, 2}, &choice));
	assert_int_equal(choice.groups[0], 1);
	assert_int_equal(choice.groups[1], 0);
	assert_false(is_served(job, (uint8_t[NODE_DEVICE_GROUPS_MAX]){1, 1}, &choice));
	job_free(job);
}

// The first ask must leave the group that only the second ask can use.
static void a_greedy_choice_is_taken_back(void **state)
{
	struct job *job = job_of(JOB_DIRECT);
	struct device_choice choice;
	struct device_set free_set = {{0xe0, 0x3}}, taken;
	struct device_needs needs;
	struct arena memory = {0};
	ask_device(job, "gpu", 2);
	ask_device(job, "nvidia/gpu/a100", 3);
	assert_true(is_served(job, (uint8_t[NODE_DEVICE_GROUPS_MAX]){3, 2}, &choice));
	device_needs_compile(&needs, job, group_of(job), &memory);
	device_choice_take(&needs, &choice, &free_set, &taken);
	assert_memory_equal(&taken, &free_set, sizeof taken);
	free_set.groups[0] = 0xff0;
	device_choice_take(&needs, &choice, &free_set, &taken);
	assert_int_equal(taken.groups[0], 0x70);
	assert_int_equal(taken.groups[1], 0x3);
	device_needs_release(&needs);
	arena_release(&memory);
	assert_false(is_served(job, (uint8_t[NODE_DEVICE_GROUPS_MAX]){3, 1}, &choice));
	job_free(job);
}

// The first ask likes the group that it has to leave; what it liked there does not count.
static void only_the_affinities_of_the_choice_count(void **state)
{
	struct job *job = job_of(JOB_SERVICE);
	struct device_choice choice;
	struct device_needs needs;
	struct arena memory = {0};
	double score;
	const uint8_t free[NODE_DEVICE_GROUPS_MAX] = {2, 2};
	struct affinity *likes = prefer(&ask_device(job, "gpu", 2)->affinities);
	set(&likes->l_target, "${device.model}");
	set(&likes->r_target, "a100");
	likes->weight = 60;
	likes = prefer(&ask_device(job, "nvidia/gpu/a100", 1)->affinities);
	set(&likes->l_target, "${device.type}");
	set(&likes->r_target, "gpu");
	likes->weight = 20;
	device_needs_compile(&needs, job, group_of(job), &memory);
	assert_true(device_needs_choose(&needs, &node_class, NULL, free, &choice));
	assert_int_equal(choice.groups[0], 1);
	assert_true(choice.matched == 20);
	assert_true(device_needs_score(&needs, &node_class, free, &score));
	assert_true(score == 20.0 / 80);
	device_needs_release(&needs);
	arena_release(&memory);
	job_free(job);
}

static void all_64_instances_can_be_asked_for(void **state)
{
	struct job *job = job_of(JOB_DIRECT);
	struct device_choice choice;
	ask_device(job, "fpga", 64);
	assert_true(is_served(job, (uint8_t[NODE_DEVICE_GROUPS_MAX]){0, 0, 64}, &choice));
	assert_int_equal(choice.groups[0], 2);
	assert_false(is_served(job, (uint8_t[NODE_DEVICE_GROUPS_MAX]){64, 64, 63}, &choice));
	struct device_set all = device_set_of_class(&node_class);
	assert_true(all.groups[2] == ~0ull);
	assert_int_equal(all.groups[1], 0x3);
	job_free(job);
}

// Every assignment, by the letter.
static bool serves_somehow(const struct array *asks, uint32_t at, const int64_t *left)
{
	bool served = at == asks->count;
	for (uint32_t d = 0; d < COUNT(groups) && !served; d++) {
		const struct device_ask *ask = ARRAY_AT(asks, struct device_ask, at);
		int64_t rest[COUNT(groups)];
		memcpy(rest, left, sizeof rest);
		rest[d] -= ask->count;
		served = device_is_named(&groups[d], ask->name) && rest[d] >= 0 &&
			 serves_somehow(asks, at + 1, rest);
	}
	return served;
}

static void is_served_whenever_some_assignment_does(void **state)
{
	static const char *const names[] = {
		"gpu", "nvidia/gpu", "nvidia/gpu/a100", "fpga", "xilinx/fpga"};
	struct prng p;
	prng_seed(&p, 7);
	for (uint32_t round = 0; round < 4000; round++) {
		struct job *job = job_of(JOB_DIRECT);
		struct device_choice choice;
		uint8_t free[NODE_DEVICE_GROUPS_MAX] = {0};
		int64_t left[COUNT(groups)];
		for (uint32_t i = (uint32_t)prng_below(&p, 5); i > 0; i--)
			ask_device(job, names[prng_below(&p, 5)], 1 + (int64_t)prng_below(&p, 3));
		for (uint32_t i = 0; i < COUNT(groups); i++)
			left[i] = free[i] = (uint8_t)prng_below(&p, 6);
		const struct array *asks = &task_of(job)->resources.devices;
		assert_int_equal(is_served(job, free, &choice), serves_somehow(asks, 0, left));
		job_free(job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_named_by_type_vendor_and_name),
		cmocka_unit_test(asks_share_groups_and_are_served_by_several),
		cmocka_unit_test(a_greedy_choice_is_taken_back),
		cmocka_unit_test(only_the_affinities_of_the_choice_count),
		cmocka_unit_test(all_64_instances_can_be_asked_for),
		cmocka_unit_test(is_served_whenever_some_assignment_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
