// Cores that tasks reserve for themselves.
#include "placement/scheduler/rules/cores.h"
#include "placement/scheduler/rules/device_assign.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/world.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

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
	struct world *w = world_create();
	const struct node *n = world_node(w, "cpu=8000");
	struct job *job = world_job(w, "service web");
	add_task(group_of(job), "t")->resources.cores = 3;
	struct task_room room;
	task_room_begin(&room, group_of(job), n->node_class);
	struct allocated_task *task = task_room_entry(&room, "t");
	core_set_remove(&some, &gone);
	assert_false(core_set_take(&some, 7, &room, task));
	assert_int_equal(task->reserved_cores.count, 0);
	assert_true(core_set_take(&some, 3, &room, task));
	assert_int_equal(*ARRAY_AT(&task->reserved_cores, int64_t, 2), 4);
	struct core_set taken = {{0}};
	core_set_add_details(&taken, room.details);
	assert_int_equal(core_set_count(&taken), 3);
	alloc_details_release(room.details);
	task_room_begin(&room, group_of(job), n->node_class);
	assert_int_equal(core_set_count(&some), 3); // as many as are wanted
	assert_true(core_set_take(&some, 3, &room, task_room_entry(&room, "t")));
	assert_int_equal(core_set_count(&some), 0);
	alloc_details_release(room.details);
	world_destroy(w);
}

static void cores_stand_for_cpu_in_the_footprint(void **state)
{
	struct world *w = world_create();
	struct job *job = world_job(w, "service web cpu=300");
	struct task *second = add_task(group_of(job), "cores");
	second->resources.cores = 2;
	second->resources.cpu = 0;
	assert_int_equal(cpu_with_cores(group_of(job), 500), 1300);
	assert_int_equal(group_cores(group_of(job)), 2);
	struct node *n = world_node(w, "cpu=8000 cores=0-3");
	assert_int_equal(node_shares_per_core(n), 2000);
	n = world_node(w, "cpu=8000 cores=0-3 attr.cpu.numcores=8");
	assert_int_equal(node_shares_per_core(n), 1000);
	n = world_node(w, "cpu=8000 cores=0-3 attr.cpu.numcores=2"); // it has those that it gives
	assert_int_equal(node_shares_per_core(n), 2000);
	n = world_node(w, "cpu=8000");
	assert_int_equal(node_shares_per_core(n), 0);
	assert_int_equal(cpu_with_cores(group_of(job), ASK_MAX), ASK_MAX);
	world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cores_by_their_ranges),
		cmocka_unit_test(cores_stand_for_cpu_in_the_footprint),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
