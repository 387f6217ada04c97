// Files of control groups (cgroup v2). A group is a folder; one that is open outlives its name. What is marked "child"
// takes no memory and no lock, so that it may run between fork and exec.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cgroup_controller {
	CGROUP_CPU = 1,
	CGROUP_CPUSET = 2,
	CGROUP_MEMORY = 4,
	CGROUP_PIDS = 8,
};
#define CGROUP_CONTROLLERS 4u
extern const char *const cgroup_controller_names[CGROUP_CONTROLLERS];

// Bits of the known names in a text such as "cpuset cpu io".
uint32_t cgroup_controllers_of(const char *text);
// "cpu, memory"; "" for none.
void cgroup_controllers_text(uint32_t controllers, char *text, size_t size);
// The number behind a name in lines such as "oom_kill 3"; 0 without that line.
uint64_t cgroup_event_count(const char *events, const char *name);
// The group in a text as of /proc/self/cgroup: "/system.slice/x". False: it names none of cgroup v2.
bool cgroup_own_path(const char *text, char *path, size_t size);

// Where cgroup v2 is mounted, by a file as /proc/self/mounts; "" when it is not.
void cgroup_find_mount(const char *mounts_file, char *path, size_t size);

// A whole file of a group, "" when it cannot be read.
void cgroup_read(const char *group, const char *file, char *text, size_t size);
int cgroup_write(const char *group, const char *file, const char *text); // 0 or -errno
// Passes these controllers on to the group's children, as far as that is possible. Returns those that they have.
uint32_t cgroup_pass_on(const char *group, uint32_t controllers);
// Makes a group, or takes the one that is there. 0 or -errno.
int cgroup_make(const char *group);
// A descriptor above those of a shim, which the caller closes, or -errno.
int cgroup_open(const char *group);

// Child: moves the caller into the open group. 0, or -1 with errno.
int cgroup_enter(int group);
// Child: kills whatever is in the open group, and waits until it is empty, up to wait_ms. False: something is left.
bool cgroup_kill(int group, uint32_t wait_ms);
