// The control groups of a node's tasks:
//
//	PARENT/share/ALLOCATION/TASK.scope     tasks that share the cores that are nobody's
//	PARENT/reserve/ALLOCATION/TASK.scope   tasks with cores of their own
//
// A group is found by its name again when the agent is started anew.
#pragma once
#include "state/base/uuid.h"
#include "tools/agent/confine/limits.h"

struct groups {
	char mount[128];      // of cgroup v2; "": this node has none
	char parent[400];     // a folder
	uint32_t controllers; // that tasks get
	bool is_usable;       // groups can be made
	char fault[200];      // why they cannot be
};

// parent: below the mount, such as "berth.slice". Makes what is missing. Says in `fault` what is in the way.
void groups_open(struct groups *, const char *mounts_file, const char *parent);
// Makes a task's group, empty, with its limits; only where groups can be made. A descriptor, which the caller closes,
// or -errno and a sentence.
int groups_begin(const struct groups *, const struct uuid *alloc, const char *task,
	const struct limits *, char *message, uint32_t message_size);
// Kills what is left in a task's group and removes it. Returns how many processes were killed for want of memory.
uint64_t groups_end(const struct groups *, const struct uuid *alloc, const char *task);
// A list of cores less another: "0-3" less "1" is "0,2-3". An empty text when it does not fit or is no list.
void groups_cores_less(const char *all, const char *less, char *text, size_t size);
