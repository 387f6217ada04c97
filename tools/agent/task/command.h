// What the drivers raw_exec and exec have in common: the command of a task's configuration as a process, in a control
// group with the task's limits.
#pragma once
#include "tools/agent/confine/limits.h"
#include "tools/agent/confine/sandbox.h"
#include "tools/agent/task/task.h"

struct command {
	const struct task_folders *folders; // as the task sees them
	const char *const *options;         // that the driver's configuration may have; NULL-ended
	struct sandbox sandbox;             // its group is set here
};

// As start of struct driver.
int command_start(struct task *, const struct task_start *, struct command *, char *message,
	uint32_t message_size, bool *recoverable);
void command_signal(struct task *, int signal, int64_t now_ns);
// The limits that the task asks for. 0, or a sentence and -EINVAL: its configuration is wrong, or -EAGAIN: the node
// does not know itself yet.
int command_limits(const struct task_spec *, const struct node_facts *, uint32_t pids_default,
	struct limits *, char *message, uint32_t message_size);

// What both drivers' configurations may have.
#define COMMAND_OPTIONS "command", "args", "cpu_hard_limit", "cpu_cfs_period", "pids_limit"
