// The drivers docker and podman. A container is run by a process of the agent's own program (container_run.h) through
// the engine's socket, as other tasks are run by their programs: it pulls the image, creates and starts the container,
// writes what the container writes, ends as it ends and removes it. So the agent waits for no engine, and finds its
// containers again as it finds its processes.
//
//	agent ── plan ──► shim ── container process ── HTTP ──► engine
//	      ◄─ news ─────────────────┘
#pragma once
#include "tools/agent/task/task.h"

enum container_engine { ENGINE_DOCKER, ENGINE_PODMAN, CONTAINER_ENGINES };

#define DOCKER_SOCKET_DEFAULT "/var/run/docker.sock"
#define PODMAN_SOCKET_DEFAULT "/run/podman/podman.sock"
struct container_settings {
	const char *sockets[CONTAINER_ENGINES]; // "": no such driver
	const char *program;                    // that runs containers; mostly the agent's own
	const char *capabilities;               // that tasks may have: "chown,kill", or "all"
	bool allows_privileged, allows_volumes; // of the host
};

// What the drivers go by; the caller keeps it. Before the first task starts.
void container_configure(const struct container_settings *);

// Whether it is one of these drivers.
bool container_is_of(const struct driver *);

// Of a task of these drivers: the socket of its engine, which is the settings', and the name of its container.
const char *container_find(
	const struct task *, const struct uuid *alloc, char *name, size_t name_size);

extern const struct driver driver_docker, driver_podman;
