// The way to a port of a virtual machine: a WebSocket to the controller.
#pragma once
#include "tools/berth/cli/session.h"
#include <stdint.h>

#define VM_SSH_PORT 22u

struct http_socket;

// Opens it. NULL after a complaint, and then *status. The session is only read: several threads may do so.
struct http_socket *vm_way_open(
	struct session *, const char *machine, uint16_t port, enum exit_status *status);
// The same as a command line for ssh's ProxyCommand; what else it needs to know goes through the environment. False
// after a complaint. Caller frees *line.
bool vm_way_command(const struct session *, const char *machine, char **line);
