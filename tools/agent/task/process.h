// A task's process, which outlives the agent. Between them stands a shim, a fork of the agent that only waits: it makes
// the task's session, kills the rest of its process group when the task ends, and writes the exit status to a file, so
// that a restarted agent still learns it. It also reads what the task writes and keeps it in files (output.h).
#pragma once
#include "tools/agent/task/output.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_start {
	char *const *arguments; // for execve; [0] is searched in the environment's PATH
	char *const *environment;
	const char *folder;                   // working folder
	const char *output_path, *error_path; // of the files of its outputs, without their numbers
	struct output_rule output_rule;       // of both
	const char *exit_path;                // the shim writes the exit status here
	const char *user;                     // "": the agent's
	int kept_fd;                          // descriptor that the program keeps; 0: none
	// Called when the process exists, before it runs the program: what the agent stores here is enough to find the
	// process again. If the agent dies before, the program never runs.
	void (*started)(void *context);
	void *context;
};

struct process {
	pid_t shim, task;                    // task leads its session and process group; 0: none
	uint64_t shim_started, task_started; // clock ticks since boot, from /proc
	int fd;        // pidfd of the shim, readable when it is over; -1: none
	bool is_child; // of this agent
};

struct process_end {
	int exit_code, signal;
	bool is_known; // false: the shim was killed before it could tell
};

// 0, or a negative error and a sentence.
int process_start(
	const struct process_start *, struct process *, char *message, uint32_t message_size);
// Gives what has this name in an open folder (AT_FDCWD: of this path) to a user, not what a link means; "" changes
// nothing. Does nothing when this agent may not change to that user. 0, or -errno.
int process_give_file(int folder, const char *name, const char *user);
// Attaches to a process that a former agent started, with the pids and start times it stored. False when the shim is
// over: it kills the rest of the task, and process_end_of() tells how it ended.
bool process_attach(struct process *);
// Signals the whole process group; does nothing when the process is over.
void process_signal(const struct process *, int signal);
// Forgets the process; call it once fd is readable.
struct process_end process_end_of(struct process *, const char *exit_path);
// Number of a signal by name ("SIGTERM", "TERM"), 0 for an unknown name.
int signal_number(const char *name);
// When a process started, in clock ticks since boot; 0: no such process.
uint64_t process_started(pid_t);
