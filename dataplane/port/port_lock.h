// A lock for each queue of a port, so that a second daemon is refused before it touches the device: an AF_XDP driver
// that fails to start takes the program of the first one away. The lock is a file under /run that the kernel unlocks
// when the process ends, however it ends.
#pragma once
#include "dataplane/port/device.h"

#define PORT_LOCK_DIRECTORY "/run/berth"

struct port_lock {
	int fd; // -1: nothing is locked
	char path[128];
};

// Locks one queue of a device that others could have, too; captures, loops and the like are locked by nobody. Without
// rights on the directory it warns and goes on. index is the port's number. message: what, where and what to do.
int port_lock_take(struct port_lock *, const char *directory, const struct device *, uint32_t index,
	uint32_t queue, char *message, uint32_t message_size);
// Does nothing when nothing is locked.
void port_lock_release(struct port_lock *);
