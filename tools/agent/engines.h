// The engines of containers on this node: what the drivers docker and podman go by, and what is registered of them.
#pragma once
#include "tools/agent/container/container.h"
#include "tools/agent/container/engine_watch.h"
#include "tools/agent/fingerprint.h"
#include "tools/agent/options.h"

struct engines {
	struct container_settings settings;
	struct engine_watch watches[CONTAINER_ENGINES];
};

// Configures the drivers; the engines outlive their tasks.
void engines_open(struct engines *, const struct agent_options *);
void engines_close(struct engines *);
// True when the node is to be described anew.
bool engines_step(struct engines *, int epoll_fd, uint64_t now_ns);
uint64_t engines_due_ns(const struct engines *);
// Asks those that there are and waits for their answers a while, for the first description.
void engines_look(struct engines *);
// Adds their drivers and attributes.
void engines_describe(const struct engines *, struct fingerprint *);
