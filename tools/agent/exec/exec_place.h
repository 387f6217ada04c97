// Where a command runs that somebody has run inside a task: in the task's control group, namespaces and root folder,
// with no more rights than the task's process has, and as the task's user. What of it differs from the agent's is found
// at the task's process, so it holds whatever the driver did to confine it.
#pragma once
#include "tools/agent/base/user.h"
#include "tools/agent/task/process.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sock_fprog;

struct exec_place {
	int task_fd;       // pidfd of the task's process
	int root_fd;       // its root folder; -1: the agent's
	int group_fd;      // its control group's list of processes; -1: the agent's group
	int namespaces;    // CLONE_NEW… of those that are not the agent's
	uint64_t bounding; // capabilities that the process can ever have
	uint64_t ambient;  // capabilities that programs of its user have, who is not the superuser
	bool has_filter;   // of system calls, which the agent has not
	const struct sock_fprog
		*filter;    // the same, set by the caller; NULL: nothing runs beside such a process
	bool no_new_rights; // programs give it none
	bool changes_user;
	struct user user;
};

// user "": that of the process. 0, or -errno and a sentence; -ESRCH: the process is over. Another process that has got
// its number since is not taken for it, and what cannot be read of it is not taken for nothing. Close the place in both
// cases.
int exec_place_find(struct exec_place *, const struct process *, const char *user, char *message,
	uint32_t message_size);
void exec_place_close(struct exec_place *);

// For a child after fork(); they take no memory. 0, or -1 and errno.
//
// Enters group, namespaces and root. The caller's own children are in the process namespace, itself it is not.
int exec_place_enter(const struct exec_place *);
// Gives up the rights that the task has not, and becomes its user.
int exec_place_become(const struct exec_place *);
