// A command inside a container that runs, through the engine's API, from its beginning to its end. It is run as the
// container's own command is: as its user, in its folder, with its environment.
#pragma once
#include "tools/agent/container/engine.h"

struct container_exec {
	const char *socket, *name;
	char *const *arguments; // NULL-ended
	uint64_t timeout_ms;
	int stop_fd;       // once it is readable, the command is to end
	engine_sink *sink; // takes what it writes, of both streams
	void *context;
};

enum container_exec_end {
	CONTAINER_EXEC_ENDED,
	CONTAINER_EXEC_LATE,
	CONTAINER_EXEC_NOT, // it could not be run, or was told to end
	CONTAINER_EXEC_GONE // with its container
};

// Waits for its end, and kills a command that takes too long or is to end, as far as its process can be found: engines
// have no request for that. The message says what was not to be had.
enum container_exec_end container_exec_run(
	const struct container_exec *, int *exit_code, char *message, uint32_t message_size);
