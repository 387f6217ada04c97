// A command inside a container, as commands beside processes are (exec_command.h): its keeper is a thread, which passes
// on what goes over the engine's one connection, and looks after its end. It holds no more than a few kilobytes: what
// nobody takes is not read.
//
//	input ── pipe ──► keeper ── connection ──► engine
//	output, error ◄── pipes ──┘     size of the terminal ── keeper_fd ──► keeper ── how it ended ──► keeper_fd
#pragma once
#include "tools/agent/exec/exec_command.h"

struct exec_container_start {
	const char *socket, *name; // of the engine, and of the container; they outlive the command
	char *const *arguments;    // NULL-ended
	bool has_input;            // else that is closed from the beginning
	bool has_terminal;
	uint32_t timeout_ms; // for its start
	int stop_fd;         // once it is readable, the start is given up
};

// As exec_command_start().
int exec_container_start(const struct exec_container_start *, struct exec_command *, char *message,
	uint32_t message_size);
