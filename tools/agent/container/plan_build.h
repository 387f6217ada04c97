// A plan while it is made, by the files that each know some of the options.
#pragma once
#include "tools/agent/container/container.h"

struct plan_build {
	const struct container_settings *settings;
	enum container_engine engine;
	const struct task *task;
	const struct task_start *start;
	const json_t *config;         // with its texts expanded
	json_t *plan, *create, *host; // the plan's, its Create's, and HostConfig's
	char *message;
	uint32_t message_size;
};

// Says what is wrong with the configuration; false.
bool plan_refuse(struct plan_build *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
// A block of HCL is a list of maps. The map; NULL: it is none.
const json_t *plan_map(const json_t *value);

// plan_mounts.c: the folders of the task, and volumes, mount, tmpfs.
bool plan_folders(struct plan_build *, const struct environment *);
bool plan_volumes(struct plan_build *, const json_t *value);
bool plan_mounts(struct plan_build *, const json_t *value);
bool plan_tmpfs(struct plan_build *, const json_t *value);
// plan_limits.c: what the container may take and do.
bool plan_resources(struct plan_build *);
bool plan_capabilities(struct plan_build *);
bool plan_ulimits(struct plan_build *, const json_t *value);
// plan_network.c
bool plan_network_mode(struct plan_build *, const json_t *value);
bool plan_ports(struct plan_build *, const json_t *value);
bool plan_port_map(struct plan_build *, const json_t *value);
