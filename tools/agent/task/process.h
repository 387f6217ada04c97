// A task's process, which outlives the agent. Between them stands a shim, a fork of the agent that only waits: it makes
// the task's session, kills what the task leaves behind when it ends, in whatever session, and writes the exit status
// to a file, so that a restarted agent still learns it. The file has its room before the task begins. The shim also
// reads what the task writes and keeps it in files (output.h).
#pragma once
#include "tools/agent/task/shim.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
	pid_t shim, task;                    // task leads its session and process group; 0: none
	uint64_t shim_started, task_started; // clock ticks since boot, from /proc
	int fd;        // pidfd of the shim, readable when it is over; -1: none
	bool is_child; // of this agent
};

enum task_beginning { TASK_BEGAN, TASK_NOT_BEGUN, TASK_NEVER_BEGINS };

struct process_end {
	int exit_code, signal;
	bool is_known; // false: the shim was killed before it could tell
	bool is_oom;   // a process of the task was killed for want of memory
	// What a driver found out: whether what its process was to begin ever ran, and whether another try may help.
	enum task_beginning beginning;
	bool is_nodes_fault;
};

// 0, or a negative error and a sentence.
int process_start(
	const struct process_start *, struct process *, char *message, uint32_t message_size);
// Gives what has this name in an open folder (AT_FDCWD: of this path) to a user, not what a link means; "" changes
// nothing. Does nothing when this agent may not change to that user. 0, or -errno.
int process_give_file(int folder, const char *name, const char *user);
// Attaches to a process that a former agent started, with the pids and start times it stored. 1; or 0 when the shim is
// over: it kills the rest of the task, and process_end_of() tells how it ended. -errno: this cannot be told now.
int process_attach(struct process *);
// Signals the whole process group; does nothing when the process is over.
void process_signal(const struct process *, int signal);
// Forgets the process; call it once fd is readable.
struct process_end process_end_of(struct process *, const char *exit_path);
// Number of a signal by name ("SIGTERM", "TERM"), 0 for an unknown name.
int signal_number(const char *name);
// When a process started, in clock ticks since boot; 0: no such process, or errno is neither ENOENT nor ESRCH, and says
// why it cannot be told.
uint64_t process_started(pid_t);
// Whether a process is the one that started then: 1, 0, or -errno when it cannot be told. pid 0 is none.
int process_is_there(pid_t, uint64_t started);
