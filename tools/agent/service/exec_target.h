// What a command inside a task needs to know of it, copied from the runner.
#pragma once
#include "tools/agent/exec/exec_place.h"
#include "tools/agent/service/service_settings.h"
#include "tools/agent/task/environment.h"

struct exec_target {
	const char *socket;     // of its container's engine, the agent's; NULL: it is no container
	char container[256];    // the name; all below is of other tasks
	struct process process; // of the task; not attached
	char user[128];
	char folder[512];
	const struct sock_fprog *filter; // of confined tasks; NULL: there is none. The agent's
	struct environment environment;
};

// Finds an allocation's task. 0, or the code to close the WebSocket with and why, in the words of Nomad's clients.
// Free the target in both cases.
uint16_t exec_target_find(const struct agent_service_settings *, const char *alloc,
	const char *task, struct exec_target *, char *reason, size_t reason_size);
void exec_target_free(struct exec_target *);
