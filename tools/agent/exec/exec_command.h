// A command that runs inside a task, with its input and outputs in the agent's hands. Between them stands a keeper, a
// fork of the agent that only waits: it ends the command with all that belongs to it when the agent lets go of it, also
// by its death, and when the task ends; and it tells how the command ended.
#pragma once
#include "tools/agent/exec/exec_keeper.h"

struct exec_command_start {
	char *const *arguments;   // NULL-ended; [0] is searched in the environment's PATH
	char *const *environment; // NULL-ended
	const char *folder; // as the task sees it; one that is not there under its root is the root
	const struct exec_place *place;
	bool has_terminal; // a new one for all three, else pipes
};

struct exec_command;

// Of commands that are not beside a process, what they have in place of a keeper that is one.
struct exec_other_keeper {
	void (*resize)(const struct exec_command *, uint16_t rows, uint16_t columns);
	void (*join)(void *context); // waits for its end, once all descriptors are closed
};

// Descriptors do not block; -1: closed, or there is none.
struct exec_command {
	int input, output, error; // of a terminal input and output are the same one, twice
	int keeper_fd; // readable when the command has ended; closed, it ends the command
	pid_t keeper;
	bool has_terminal;
	const struct exec_other_keeper *other; // NULL: it is the process
	void *context;                         // of the other
};

// 0, or -errno and what failed, without what it was for: "fork/exec /no/such/bin: no such file or directory".
int exec_command_start(const struct exec_command_start *, struct exec_command *, char *message,
	uint32_t message_size);
// Sets the size of its terminal, in characters.
void exec_command_resize(const struct exec_command *, uint16_t rows, uint16_t columns);
// Says how it ended; call it once keeper_fd is readable.
struct exec_command_end exec_command_ended(const struct exec_command *);
// Ends what still runs of it, in a container as far as its engine tells, with SIGHUP and half a second later SIGKILL,
// and closes the descriptors. Waits for that.
void exec_command_finish(struct exec_command *);
