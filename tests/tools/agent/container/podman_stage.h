// Containers of a real podman, with a service and a storage of their own, as tasks "a" of one allocation. One a
// program.
#pragma once
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/container/container.h"

extern const struct node_facts podman_facts;
extern const struct uuid podman_id; // of the allocation
extern char podman_folder[], podman_socket[64];
extern struct container_settings podman_settings;
extern bool podman_has_groups; // containers have control groups; before the service starts

// Of the group of tests: the service, and a registry. They need root.
int podman_begin(void **unused);
int podman_end_all(void **unused);
void podman_start_service(void);
void podman_stop_service(void);
// Of each test: the stage.
int podman_open(void **unused);
int podman_close(void **unused);

// further: members of the task, each with its comma.
struct alloc_run *podman_run(const char *type, const char *further, const char *config);
// Stops what podman_run() runs, and waits until nothing is left.
void podman_end(struct alloc_run *);
#define IMAGE "\"image\":\"localhost/test:1\""
#define SHELL(text) IMAGE ",\"command\":\"/bin/sh\",\"args\":[\"-c\",\"" text "\"]"

// The runner's time goes on with that of the containers, and faster.
void podman_pass_until(bool (*holds)(const struct task *));
bool podman_has_ended(const struct task *);
bool podman_has_written(const struct task *); // and runs
// The message of its first event of this type; "" if there is none.
const char *podman_noted(const struct task *, const char *type);
// Of "stdout" or "stderr".
void podman_read(const struct alloc_run *, const char *which, char text[static 2000]);
size_t podman_count(void); // of containers
void podman_expect_none(void);
