// The way to a port of a virtual machine, or of a worker: a WebSocket to the controller.
#pragma once
#include "tools/berth/cli/session.h"
#include <stdint.h>

#define VM_SSH_PORT 22u

struct http_socket;

struct vm_way {
	const char *list; // "/v1/vms" or "/v1/workers"
	const char *name; // of the machine or the worker
	uint16_t port;
};

// How long a machine is waited for. False after a complaint.
bool vm_way_read_wait(const struct session *, uint64_t *wait_s);
// Says on standard error that a machine is waited for that does not run yet, and how long. Nothing when it runs, or
// when it may not be looked at.
void vm_way_note_wait(struct session *, const char *machine);
// Opens it. NULL after a complaint, and then *status. The session is only read: several threads may do so.
struct http_socket *vm_way_open(struct session *, const struct vm_way *, enum exit_status *status);
// The same as a command line for ssh's ProxyCommand; what else it needs to know goes through the environment. False
// after a complaint. Caller frees *line.
bool vm_way_command(const struct session *, const char *machine, char **line);
