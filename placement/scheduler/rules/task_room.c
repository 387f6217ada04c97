#include "placement/scheduler/rules/task_room.h"
#include "state/base/check.h"
#include "state/base/limits.h"
#include <string.h>

#define PIECE_BYTES 8u

static size_t whole_pieces(size_t bytes)
{
	return (bytes + PIECE_BYTES - 1) / PIECE_BYTES * PIECE_BYTES;
}

static size_t text_bytes(const char *string)
{
	return whole_pieces((size_t)text_of(string).size + 1);
}

static bool may_get_something(const struct task *task)
{
	const struct task_resources *ask = &task->resources;

	return ask->devices.count > 0 || ask->cores > 0 || ask->networks.count > 0 ||
	       ask->memory_max_mb > 0;
}

// A device with the longest names of the class.
static size_t device_bytes(const struct node_class *c)
{
	size_t longest = 0;

	for (uint32_t i = 0; i < c->device_count; i++) {
		const struct device_group *device = &c->devices[i];
		size_t bytes = text_bytes(device->vendor) + text_bytes(device->type) +
			       text_bytes(device->name);
		longest = bytes > longest ? bytes : longest;
	}
	return sizeof(struct allocated_device) + longest;
}

// What asks for more than any node has is refused before anything is written.
static size_t least_of(int64_t count, uint32_t most)
{
	return count < most ? (size_t)count : most;
}

static size_t room_of_task(const struct task *task, const struct node_class *c)
{
	const struct array *asks = &task->resources.devices;
	size_t bytes = text_bytes(task->name);

	CHECK(task->resources.cores >= 0);
	if (asks->count > 0)
		bytes += asks->count * device_bytes(c);
	for (uint32_t i = 0; i < asks->count; i++)
		bytes += least_of(ARRAY_AT(asks, struct device_ask, i)->count, NODE_DEVICES_MAX) *
			 (sizeof(char *) + PIECE_BYTES);
	return bytes + least_of(task->resources.cores, CORES_MAX) * sizeof(int64_t);
}

void task_room_begin(
	struct task_room *room, const struct task_group *group, const struct node_class *c)
{
	size_t entries = 0, bytes = 0;

	for (uint32_t i = 0; i < group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&group->tasks, struct task, i);
		if (!may_get_something(task))
			continue;
		entries += sizeof(struct allocated_task);
		bytes += room_of_task(task, c);
	}
	room->details = alloc_details_create_with_room(entries + bytes);
	room->at = alloc_details_room(room->details) + entries;
	room->end = room->at + bytes;
	CHECK(whole_pieces(entries + bytes) == entries + bytes);
}

void *task_room_items(struct task_room *room, size_t bytes)
{
	uint8_t *items = room->at;

	bytes = whole_pieces(bytes);
	CHECK(bytes <= (size_t)(room->end - room->at));
	room->at += bytes;
	return items;
}

char *task_room_text(struct task_room *room, struct text text)
{
	char *copy = task_room_items(room, (size_t)text.size + 1);

	if (text.size > 0)
		memcpy(copy, text.data, text.size);
	CHECK(copy[text.size] == 0); // as all of the room
	return copy;
}

struct allocated_task *task_room_entry(struct task_room *room, const char *task)
{
	struct array *entries = &room->details->tasks;
	uint32_t at;

	if (map_find(entries, sizeof(struct allocated_task), task, &at))
		return ARRAY_AT(entries, struct allocated_task, at);
	entries->items = alloc_details_room(room->details);
	struct allocated_task *entry = ARRAY_AT(entries, struct allocated_task, at);
	memmove(entry + 1, entry, (entries->count++ - at) * sizeof *entry);
	*entry = (struct allocated_task){.task = task_room_text(room, text_of(task))};
	return entry;
}
