// How the agent confines what it runs, for the whole node: control groups, who may run, and what confined tasks may do.
#pragma once
#include "tools/agent/confine/capabilities.h"
#include "tools/agent/confine/filter.h"
#include "tools/agent/confine/groups.h"
#include <linux/filter.h>

#define CONFINE_PARENT_DEFAULT "berth.slice"
#define CONFINE_PARENT_BYTES_MAX 200u
#define CONFINE_USERS_DENIED_DEFAULT "root"
#define CONFINE_PIDS_DEFAULT 16384u
#define CONFINE_HIDDEN_MOST 4u

struct confine_settings {
	const char *group_parent; // below the mount of cgroup v2
	const char *users_denied; // with commas between, to confined tasks; "": nobody is
	const char *capabilities; // that tasks may add
	uint32_t pids;            // of a task that asks for no other number; 0: any
	const char *hidden[CONFINE_HIDDEN_MOST]; // paths that no confined task sees; NULL-ended
};

struct confine {
	struct groups groups;
	const char *users_denied;
	uint64_t allowed; // capabilities
	uint32_t pids;
	struct sock_fprog filter;
	char *hidden[CONFINE_HIDDEN_MOST + 1]; // NULL-ended
	char fault[300];                       // why the driver exec is not healthy; "": it is
};

// 0, or -errno and a sentence: the settings are wrong. What this node lacks is logged, once.
int confine_open(
	struct confine *, const struct confine_settings *, char *message, uint32_t message_size);
void confine_close(struct confine *);
// The settings' texts, for the table of options: true, or false and a sentence.
bool confine_capabilities_are_sound(const char *names, char *message, uint32_t message_size);
// Whether a confined task may run as this user; else a sentence.
bool confine_may_run_as(
	const struct confine *, const char *user, char *message, uint32_t message_size);
