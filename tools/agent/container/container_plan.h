// What a task's configuration asks of an engine, as the JSON that the container's process goes by:
//
//	Socket, Engine (its name), Name, Image, Pulls ("always", "missing"), PullTimeout (ns), Auth (base64, or ""),
//	Exit (file; what else is written is beside it), Tty, Create (the body of /containers/create)
//
// or, of a container that only has to go: Socket, Name, Removes (true)
#pragma once
#include "tools/agent/container/container.h"

#define CONTAINER_NAME_BYTES 200u
void container_name(
	char name[static CONTAINER_NAME_BYTES], const char *task, const struct uuid *alloc);
// NULL, and a sentence: the configuration is wrong, or asks for what the agent does not allow. Caller frees.
json_t *container_plan(const struct container_settings *, enum container_engine,
	const struct task *, const struct task_start *, char *message, uint32_t message_size);
