// Stores each allocation, so that a restarted agent knows it.
#pragma once
#include "tools/agent/task/alloc_run.h"

// 0, or -errno, which is logged. The former state stays until the new one is on the disk.
int alloc_store_save(const char *state_folder, struct alloc_run *);
// The same for what must be known even after the machine lost its power.
int alloc_store_save_for_good(const char *state_folder, struct alloc_run *);
// Removes the files with its tasks' exit statuses, too.
void alloc_store_remove(const char *state_folder, const struct alloc_run *);
// Calls found with each stored allocation; found owns it. Attaches processes that still run, and notes how the others
// ended. 0, or -errno and a sentence.
int alloc_store_load(const struct alloc_place *, const struct driver *const *drivers,
	void (*found)(void *context, struct alloc_run *), void *context, char *message,
	uint32_t message_size);
