// The small parts that a stack is made of.
#include "placement/scheduler/common/reasons.h"
#include "placement/scheduler/node/class_memo.h"
#include "placement/scheduler/node/victim_counts.h"
#include "placement/scheduler/rules/cores.h"
#include "placement/scheduler/rules/device_needs.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/scheduler/world.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void texts_are_kept_once(void **state)
{
	struct reasons r = {0};
	const char *kept[300];
	char text[32];
	for (uint32_t i = 0; i < 300; i++)
		kept[i] = reasons_format(&r, "reason %u", i);
	for (uint32_t i = 0; i < 300; i++) {
		snprintf(text, sizeof text, "reason %u", i);
		assert_string_equal(kept[i], text);
		assert_ptr_equal(reasons_keep(&r, text), kept[i]);
	}
	assert_int_equal(r.count, 300);
	reasons_release(&r);
}

static void classes_are_remembered_until_their_number_is_reused(void **state)
{
	struct class_memo memo = {0};
	struct node_class first = {.id = 700, .hash = 1}, second = {.id = 700, .hash = 2};
	class_memo_begin(&memo, 3);
	class_memo_of(&memo, &first)->groups[2] = CLASS_ELIGIBLE;
	assert_int_equal(class_memo_of(&memo, &first)->groups[2], CLASS_ELIGIBLE);
	assert_int_equal(class_memo_of(&memo, &first)->hash, 1);
	assert_int_equal(class_memo_of(&memo, &second)->groups[2], CLASS_UNKNOWN);
	assert_int_equal(class_memo_of(&memo, &second)->hash, 2);
	class_memo_release(&memo);
}

static void cores_by_their_ranges(void **state)
{
	static const struct {
		const char *ranges;
		uint32_t count;
	} rows[] = {{"", 0}, {"0", 1}, {"0-7", 8}, {"0-3,8-11", 8}, {"5,5", 1}, {"1020-1030", 4},
		{"3-1", 0}, {"x", 0}, {"2,x", 1}, {"-1", 0}};
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct core_set set = core_set_parse(rows[i].ranges);
		assert_int_equal(core_set_count(&set), rows[i].count);
	}
	struct core_set some = core_set_parse("0-7"), gone = core_set_parse("1-2");
	struct alloc_details *details = alloc_details_create();
	struct allocated_task *task = details_task(details, "t");
	core_set_remove(&some, &gone);
	assert_false(core_set_take(&some, 7, task));
	assert_int_equal(task->reserved_cores.count, 0);
	assert_true(core_set_take(&some, 3, task));
	assert_int_equal(*ARRAY_AT(&task->reserved_cores, int64_t, 2), 4);
	struct core_set taken = {{0}};
	core_set_add_details(&taken, details);
	assert_int_equal(core_set_count(&taken), 3);
	alloc_details_release(details);
}

static void cores_stand_for_cpu_in_the_footprint(void **state)
{
	struct world *w = world_create();
	struct job *job = world_job(w, "service web cpu=300");
	struct task *second = add_task(group_of(job), "cores");
	second->resources.cores = 2;
	second->resources.cpu = 0;
	assert_int_equal(footprint_with_cores(group_of(job), 500).cpu_mhz, 1300);
	struct node *n = world_node(w, "cpu=8000 cores=0-3");
	assert_int_equal(node_shares_per_core(n), 2000);
	n = world_node(w, "cpu=8000 cores=0-3 attr.cpu.numcores=8");
	assert_int_equal(node_shares_per_core(n), 1000);
	n = world_node(w, "cpu=8000");
	assert_int_equal(node_shares_per_core(n), 0);
	world_destroy(w);
}

// What only one group serves must not be taken by an ask that two groups serve.
static void devices_are_shared_out_so_that_all_asks_are_served(void **state)
{
	struct world *w = world_create();
	const struct node *n = world_node(w, "device.nvidia/gpu/a100=1 device.nvidia/gpu/t4=1");
	struct job *job = world_job(w, "service web");
	struct device_needs needs;
	struct device_choice choice;
	ask_device(job, "gpu", 1);
	ask_device(job, "nvidia/gpu/a100", 1);
	device_needs_compile(&needs, group_of(job));
	struct device_set all = device_set_of_class(n->node_class), taken;
	assert_true(device_needs_choose(&needs, n->node_class, &all, &choice));
	assert_int_equal(choice.groups[0], 1);
	assert_int_equal(choice.groups[1], 0);
	struct alloc_details *details = alloc_details_create();
	device_needs_assign(&needs, group_of(job), n->node_class, &all, &choice, &taken, details);
	assert_memory_equal(&taken, &all, sizeof all);
	alloc_details_release(details);
	device_needs_release(&needs);
	world_destroy(w);
}

static void victims_are_counted_by_job_and_group(void **state)
{
	struct world *w = world_create();
	struct victim_counts counts = {0};
	char words[32];
	world_node(w, "");
	for (uint32_t i = 0; i < 40; i++) {
		snprintf(words, sizeof words, "batch job%u", i / 2);
		struct job *job = world_job(w, words); // another version every second time
		victim_counts_add(&counts, world_allocate(w, job, 0, 0, i));
	}
	for (const struct world_allocation *a = w->allocations; a; a = a->next)
		assert_int_equal(victim_counts_of(&counts, &a->record), 2);
	struct job *job = world_job(w, "batch job0");
	add_task(add_group(job, "b"), "t");
	world_job_changed(job);
	assert_int_equal(victim_counts_of(&counts, world_allocate(w, job, 1, 0, 0)), 0);
	victim_counts_release(&counts);
	world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_kept_once),
		cmocka_unit_test(classes_are_remembered_until_their_number_is_reused),
		cmocka_unit_test(cores_by_their_ranges),
		cmocka_unit_test(cores_stand_for_cpu_in_the_footprint),
		cmocka_unit_test(devices_are_shared_out_so_that_all_asks_are_served),
		cmocka_unit_test(victims_are_counted_by_job_and_group),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
