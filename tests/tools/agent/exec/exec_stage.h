// A task's process to run commands beside, and commands.
#pragma once
#include "tools/agent/exec/exec_command.h"
#include <stddef.h>
#include <sys/types.h>

struct exec_stage {
	struct process task;
	struct exec_place place;
	char folder[64]; // of the task, and the commands'
};

// Starts a process that sleeps; prepare, in it, may change what it has. as_user: the task's, "" is the agent's.
void stage_open(struct exec_stage *, void (*prepare)(void), const char *as_user);
void stage_end_task(struct exec_stage *);
void stage_close(struct exec_stage *);
// arguments are NULL-ended; asserts that it starts.
void stage_start(const struct exec_stage *, struct exec_command *, bool has_terminal,
	char *const *arguments);
// Everything that it writes until it ends, NUL-terminated, and its exit code.
int stage_finish(struct exec_command *, char *output, size_t size);
// The same of a shell's line.
int stage_run(const struct exec_stage *, const char *line, char *output, size_t size);
// Whether a process is there that is no zombie.
bool stage_is_alive(pid_t);
// Waits until it is not.
void stage_await_end(pid_t);
