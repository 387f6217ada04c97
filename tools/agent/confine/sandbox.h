// How a task's process is confined, prepared by the agent and taken on by the process before it runs its program, in
// this order: control group, file system, capabilities and user, filter. What it does after the fork takes no memory
// and no lock.
#pragma once
#include "tools/agent/confine/capabilities.h"
#include "tools/agent/confine/filter.h"
#include "tools/agent/confine/mounts.h"
#include <stddef.h>

struct sandbox {
	int group;         // open control group; -1: none
	bool is_isolated;  // false: nothing but its group
	bool has_own_pids; // a process namespace, whose first process the task is
	bool has_own_ipc;
	const struct mount_plan *mounts;
	struct capabilities capabilities;
	const struct sock_fprog *filter;
};

// Child, and its shim: what the shim does before it forks the task, so that the task is in the new namespace.
int sandbox_prepare_fork(const struct sandbox *);
// Child. Each of them 0, or -1 with errno; *row: of the mount plan, if one failed.
int sandbox_enter_group(const struct sandbox *);
int sandbox_enter_root(const struct sandbox *, int *row);
int sandbox_bound(const struct sandbox *);
int sandbox_finish(const struct sandbox *, bool is_root);

// What a row of the plan was to do, for a message; "" when no row failed.
const char *sandbox_row_target(const struct sandbox *, int row);
