// Which allocation and which task a command of allocations means.
#pragma once
#include "tools/berth/cli/lookup.h"

// The allocation of the first argument, whose id is complete already, or the newest running one of --job, which then
// takes the place of that argument. *used: how many arguments it took.
enum exit_status alloc_target(struct session *, const char **arguments, int count,
	char id[static LOOKUP_BYTES], int *used);
// The task of --task, else the next argument, else the only one that the allocation has. is_needed: when it has
// several, one must be named; else "" stands for all.
enum exit_status alloc_target_task(struct session *, const char *id, const char *argument,
	bool is_needed, char task[static LOOKUP_BYTES]);
