// Details that hold what tasks are given in one piece.
#include "placement/scheduler/rules/cores.h"
#include "placement/scheduler/rules/device_assign.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/world.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct job *asking_job(struct world *w)
{
	struct job *job = world_job(w, "service web");
	struct task *second = add_task(group_of(job), "a");

	ask_device(job, "gpu", 2);
	ask_device(job, "nvidia/gpu/t4", 1);
	second->resources.cores = 2;
	return job;
}

static void assign_devices(struct job *job, const struct node_class *c, struct task_room *room)
{
	const struct task_group *group = group_of(job);
	struct device_needs needs;
	struct arena memory = {0};
	struct device_choice choice;
	struct device_set all = device_set_of_class(c), taken;

	uint8_t counts[NODE_DEVICE_GROUPS_MAX];
	device_needs_compile(&needs, job, group, &memory);
	device_counts(&all, counts);
	assert_true(device_needs_choose(&needs, c, NULL, counts, &choice));
	device_needs_assign(&needs, group, c, &all, &choice, &taken, room);
	device_needs_release(&needs);
	arena_release(&memory);
}

// Entries stand in the order of names; networks, which nobody can size before, are pieces of their own.
static void tasks_lie_in_the_room_but_for_their_networks(void **state)
{
	struct world *w = world_create();
	const struct node *n =
		world_node(w, "device.nvidia/gpu/a100=2 device.nvidia/gpu/t4=1 cores=0-3");
	struct job *job = asking_job(w);
	const struct task_group *group = group_of(job);
	struct core_set cores = core_set_parse("0-3");
	struct task_room room;

	task_room_begin(&room, group, n->node_class);
	assign_devices(job, n->node_class, &room);
	struct allocated_task *second = task_room_entry(&room, "a");
	assert_true(core_set_take(&cores, 2, &room, second));
	struct allocated_network *network = array_append(&second->networks, sizeof *network);
	set(&network->ip, "10.0.0.1");
	assert_int_equal(room.details->tasks.count, 2);
	assert_string_equal(ARRAY_AT(&room.details->tasks, struct allocated_task, 0)->task, "a");
	struct allocated_task *first = task_room_entry(&room, task_of(asking_job(w))->name);
	assert_ptr_equal(first, ARRAY_AT(&room.details->tasks, struct allocated_task, 1));
	const struct allocated_device *t4 = ARRAY_AT(&first->devices, struct allocated_device, 1);
	assert_string_equal(t4->name, "t4");
	assert_string_equal(*ARRAY_AT(&t4->device_ids, char *, 0), "1-0");
	struct alloc_details *copy = alloc_details_copy(room.details);
	assert_true(record_equal(&alloc_details_description, copy, room.details));
	alloc_details_release(room.details);
	assert_int_equal(copy->room_bytes, 0);
	alloc_details_release(copy);
	world_destroy(w);
}

// Which device of a class an ask gets is not known when the room is made.
static void the_longest_names_of_a_class_have_room(void **state)
{
	static const char *const order[] = {
		"device.a/gpu/b=1 device.nvidia/gpu/with-a-long-name=1",
		"device.nvidia/gpu/with-a-long-name=1 device.a/gpu/b=1",
		"device.a/gpu/b=1 device.nvidia/gpu/with-a-long-name=1 device.c/gpu/d=1",
	};
	for (uint32_t i = 0; i < COUNT(order); i++) {
		struct world *w = world_create();
		const struct node *n = world_node(w, order[i]);
		struct job *job = world_job(w, "service web");
		struct task_room room;
		ask_device(job, "nvidia/gpu/with-a-long-name", 1);
		task_room_begin(&room, group_of(job), n->node_class);
		assign_devices(job, n->node_class, &room);
		const struct allocated_task *task =
			ARRAY_AT(&room.details->tasks, struct allocated_task, 0);
		const struct allocated_device *device =
			ARRAY_AT(&task->devices, struct allocated_device, 0);
		assert_string_equal(device->name, "with-a-long-name");
		alloc_details_release(room.details);
		world_destroy(w);
	}
}

// It is refused later, and takes little memory until then.
static void who_asks_for_more_than_there_can_be_gets_room_for_what_can_be(void **state)
{
	struct world *w = world_create();
	const struct node *n = world_node(w, "device.nvidia/gpu/a100=2 cores=0-3");
	struct job *job = world_job(w, "service web");
	struct task_room room;
	ask_device(job, "gpu", INT32_MAX);
	task_of(job)->resources.cores = INT32_MAX;
	task_room_begin(&room, group_of(job), n->node_class);
	assert_true(room.end - room.at < 100000);
	alloc_details_release(room.details);
	world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_lie_in_the_room_but_for_their_networks),
		cmocka_unit_test(the_longest_names_of_a_class_have_room),
		cmocka_unit_test(who_asks_for_more_than_there_can_be_gets_room_for_what_can_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
