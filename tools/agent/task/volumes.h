// The host volumes that a task mounts: what its node offers by their names, and where the task sees it.
#pragma once
#include "tools/agent/confine/mounts.h"
#include "tools/agent/task/environment.h"

#define TASK_VOLUME_TARGET_BYTES 260u

// Texts of the mounts.
struct task_volume {
	char source[ATTRIBUTE_VALUE_BYTES_MAX + 1], target[TASK_VOLUME_TARGET_BYTES];
};

struct task_volumes {
	uint32_t count;
	struct mount_volume mounts[MOUNT_VOLUMES_MOST]; // views into the texts
	struct task_volume texts[MOUNT_VOLUMES_MOST];
};

// The environment expands destinations, as the task sees its folders. False and a sentence: one cannot be had.
bool task_volumes_read(struct task_volumes *, const struct alloc_spec *, const struct task_spec *,
	const struct environment *, const struct node_facts *, char *message,
	uint32_t message_size);
