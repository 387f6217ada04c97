// What a node gives to the tasks of a group, written into details that hold it in one piece.
#pragma once
#include "state/records/alloc_details.h"
#include "state/records/job.h"
#include "state/records/nodes/node.h"

struct task_room {
	struct alloc_details *details;
	uint8_t *at, *end; // what is left of the details' room
};

// Makes details with room for all that the node's class can give to the tasks.
void task_room_begin(struct task_room *, const struct task_group *, const struct node_class *);
// The entry of a task; made when there is none.
struct allocated_task *task_room_entry(struct task_room *, const char *task);
// Room for the items of a list.
void *task_room_items(struct task_room *, size_t bytes);
char *task_room_text(struct task_room *, struct text);
