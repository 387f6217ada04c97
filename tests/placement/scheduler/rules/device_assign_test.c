// The devices that a group's asks get.
#include "placement/scheduler/rules/device_assign.h"
#include "state/base/check.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/world.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// An ask that two groups can serve must not take what another ask gets from only one group.
static void devices_are_shared_out_so_that_all_asks_are_served(void **state)
{
	struct world *w = world_create();
	const struct node *n = world_node(w, "device.nvidia/gpu/a100=1 device.nvidia/gpu/t4=1");
	struct job *job = world_job(w, "service web");
	struct device_needs needs;
	struct arena memory = {0};
	struct device_choice choice;
	ask_device(job, "gpu", 1);
	ask_device(job, "nvidia/gpu/a100", 1);
	device_needs_compile(&needs, job, group_of(job), &memory);
	struct device_set all = device_set_of_class(n->node_class), taken;
	uint8_t counts[NODE_DEVICE_GROUPS_MAX];
	device_counts(&all, counts);
	assert_true(device_needs_choose(&needs, n->node_class, NULL, counts, &choice));
	assert_int_equal(choice.groups[0], 1);
	assert_int_equal(choice.groups[1], 0);
	struct task_room room;
	task_room_begin(&room, group_of(job), n->node_class);
	device_needs_assign(&needs, group_of(job), n->node_class, &all, &choice, &taken, &room);
	assert_memory_equal(&taken, &all, sizeof all);
	alloc_details_release(room.details);
	device_needs_release(&needs);
	arena_release(&memory);
	world_destroy(w);
}

// Conditions of all asks lie in one piece.
static void each_ask_has_conditions_of_its_own(void **state)
{
	static const char *const models[] = {"t4", "a100", "v100"};
	struct world *w = world_create();
	const struct node *n = world_node(
		w, "device.nvidia/gpu/a100=1 device.nvidia/gpu/t4=1 device.nvidia/gpu/v100=1");
	struct job *job = world_job(w, "service web");
	struct device_needs needs;
	struct arena memory = {0};
	struct device_choice choice;
	uint8_t counts[NODE_DEVICE_GROUPS_MAX];
	for (uint32_t i = 0; i < COUNT(models); i++) {
		struct device_ask *ask = ask_device(job, "gpu", 1);
		struct affinity *affinity = prefer(&ask->affinities);
		set(&affinity->l_target, "${device.model}");
		set(&affinity->r_target, models[i]);
		affinity->weight = 50;
		constrain(&ask->constraints, "${device.vendor}", "=", "nvidia");
		constrain(&ask->constraints, "${device.model}", "=", models[i]);
	}
	device_needs_compile(&needs, job, group_of(job), &memory);
	struct device_set all = device_set_of_class(n->node_class);
	device_counts(&all, counts);
	assert_true(device_needs_choose(&needs, n->node_class, NULL, counts, &choice));
	for (uint32_t i = 0; i < COUNT(models); i++)
		assert_string_equal(n->node_class->devices[choice.groups[i]].name, models[i]);
	device_needs_release(&needs);
	arena_release(&memory);
	world_destroy(w);
}

// The failing function's arrays are lost (GUARDED_FAILURES_MAX of state/base/limits.h).
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

// What is chosen is there to be taken; were it not, the work that asked fails and nothing else.
static void a_choice_that_nobody_can_serve_fails_its_work_alone(void **state)
{
	struct world *w = world_create();
	const struct node *n = world_node(w, "device.nvidia/gpu/a100=1");
	struct job *job = world_job(w, "service web");
	struct device_needs needs;
	struct arena memory = {0};
	struct device_choice choice = {.groups = {0}};
	struct check_guard guard;
	ask_device(job, "gpu", 2);
	device_needs_compile(&needs, job, group_of(job), &memory);
	struct device_set all = device_set_of_class(n->node_class), taken;
	struct task_room room;
	task_room_begin(&room, group_of(job), n->node_class);
	if (setjmp(guard.back) == 0) {
		check_guard_set(&guard);
		device_needs_assign(
			&needs, group_of(job), n->node_class, &all, &choice, &taken, &room);
		check_guard_set(NULL);
		fail();
	}
	assert_non_null(strstr(guard.text, "device_needs.c:"));
	assert_non_null(strstr(guard.text, "set->groups[group]"));
	alloc_details_release(room.details);
	device_needs_release(&needs);
	arena_release(&memory);
	world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_are_shared_out_so_that_all_asks_are_served),
		cmocka_unit_test(each_ask_has_conditions_of_its_own),
		cmocka_unit_test(a_choice_that_nobody_can_serve_fails_its_work_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
