// A process of a task, that outlives the agent. Between them stands a shim, a fork of the agent that does
// nothing but wait: it makes the task's session, kills what is left of its process group when the task ends,
// and writes down how it ended, so that an agent that was restarted meanwhile still learns it.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_start {
	char *const *arguments; // of execve; [0] is the program, found in PATH of the environment
	char *const *environment;
	const char *folder;                   // where it starts
	const char *output_path, *error_path; // appended to
	const char *exit_path;                // where the shim writes
	const char *user;                     // "": ours
	int kept_fd;                          // of ours, that the program has too; 0: none
	// Called when the process is there and known, but before it runs the program: what is remembered by then
	// is enough to find it again. An agent that dies before runs nothing.
	void (*started)(void *context);
	void *context;
};

struct process {
	pid_t shim, task;                    // task leads its session and process group; 0: none
	uint64_t shim_started, task_started; // clock ticks since boot, from /proc
	int fd;        // pidfd of the shim, readable when it is over; -1: none
	bool is_child; // of this very process
};

struct process_end {
	int exit_code, signal;
	bool is_known; // false: the shim was killed before it could tell
};

// 0, or a negative error and a sentence.
int process_start(
	const struct process_start *, struct process *, char *message, uint32_t message_size);
// Gives a file or folder to a user ("": leaves it ours). Does nothing when this agent may not change to that user. 0,
// or -errno.
int process_give_file(const char *path, const char *user);
// Attaches to a process that a former agent started; pid and start times as they were. False when its shim is over:
// whatever was left of the task is killed, and process_end_of() tells how it ended.
bool process_attach(struct process *);
// Signals the whole group; does nothing when the process is over.
void process_signal(const struct process *, int signal);
// Forgets the process; called once its fd is readable.
struct process_end process_end_of(struct process *, const char *exit_path);
// A signal's number by name ("SIGTERM", "TERM"), 0 when there is none.
int signal_number(const char *name);
// Start of a process in clock ticks since boot; 0: not there.
uint64_t process_started(pid_t);
