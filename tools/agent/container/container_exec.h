// A command inside a container that runs, through the engine's API. It is run as the container's own command is: as its
// user, in its folder, with its environment. Its input and output are one connection, of container_frames.h.
#pragma once
#include "tools/agent/container/engine.h"

struct container_exec_start {
	const char *socket, *name; // of the engine and of the container; they outlive the command
	char *const *arguments;    // NULL-ended
	bool has_input, has_terminal;
	uint32_t timeout_ms; // for its start
	int stop_fd;         // once it is readable, the start is given up
};

struct container_exec {
	const char *socket, *name;
	int fd;       // does not block; its end is that of the output. -1: closed
	char id[128]; // of the command
};

// 0, or -1 and what the engine says. Nothing runs then, as far as is known. Caller closes fd.
int container_exec_start(const struct container_exec_start *, struct container_exec *,
	char *message, uint32_t message_size);
// Sets the size of its terminal, in characters. False: the engine refuses, which it may do until the command runs.
bool container_exec_resize(const struct container_exec *, uint16_t rows, uint16_t columns);
// Whether it has ended, and how. False, and a message: it runs, or the engine does not tell.
bool container_exec_has_ended(
	const struct container_exec *, int *exit_code, char *message, uint32_t message_size);
// Ends a command that goes on, with SIGHUP and half a second later SIGKILL, as far as its process can be found: engines
// have no request for that. Waits for that.
void container_exec_kill(const struct container_exec *);
// Whether a container is there and runs, or nobody can tell.
bool container_exec_has_place(const char *socket, const char *name);
