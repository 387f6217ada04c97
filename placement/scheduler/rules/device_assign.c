#include "placement/scheduler/rules/device_assign.h"
#include "state/base/check.h"

_Static_assert(NODE_DEVICE_GROUPS_MAX <= 10 && NODE_DEVICES_MAX <= 100,
	"the id of an instance has three digits at most");

// Its id is "group-instance".
static char *instance_id(struct task_room *room, uint32_t group, uint32_t instance)
{
	CHECK(group < NODE_DEVICE_GROUPS_MAX && instance < NODE_DEVICES_MAX);
	char id[5] = {(char)('0' + group), '-'}, *at = id + 2;
	if (instance >= 10)
		*at++ = (char)('0' + instance / 10);
	*at = (char)('0' + instance % 10);
	return task_room_text(room, (struct text){id, (uint32_t)(at + 1 - id)});
}

static struct allocated_device *device_entry(struct task_room *room, const struct task *task,
	const struct device_group *from, int64_t count)
{
	struct array *devices = &task_room_entry(room, task->name)->devices;
	uint32_t asks = task->resources.devices.count;

	CHECK(devices->count < asks);
	if (devices->count == 0)
		devices->items = task_room_items(room, asks * sizeof(struct allocated_device));
	struct allocated_device *device =
		ARRAY_AT(devices, struct allocated_device, devices->count++);
	device->vendor = task_room_text(room, text_of(from->vendor));
	device->type = task_room_text(room, text_of(from->type));
	device->name = task_room_text(room, text_of(from->name));
	device->device_ids.items = task_room_items(room, (size_t)count * sizeof(char *));
	return device;
}

void device_needs_assign(const struct device_needs *needs, const struct task_group *group,
	const struct node_class *c, const struct device_set *free_set,
	const struct device_choice *choice, struct device_set *taken, struct task_room *room)
{
	CHECK(needs->count <= DEVICE_NEEDS_MAX);
	struct device_set left = *free_set;
	for (uint32_t i = 0; i < needs->count; i++) {
		const struct device_need *need = &needs->items[i];
		const struct task *task = ARRAY_AT(&group->tasks, struct task, need->task);
		uint32_t from = choice->groups[i];
		CHECK(from < c->device_count);
		struct allocated_device *device =
			device_entry(room, task, &c->devices[from], need->ask->count);
		char **ids = device->device_ids.items;
		for (int64_t n = 0; n < need->ask->count; n++)
			ids[device->device_ids.count++] =
				instance_id(room, from, device_set_take_lowest(&left, from));
	}
	device_choice_take(needs, choice, free_set, taken);
}
