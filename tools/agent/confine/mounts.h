// What a confined task sees of the file system: a plan, made by the agent, and carried out by the task's process before
// it runs its program.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mount_kind {
	MOUNT_BIND,      // source, and what is mounted below it
	MOUNT_TMPFS,     // source has its options
	MOUNT_PROC,      // of the process's own namespace
	MOUNT_SYSFS,     //
	MOUNT_PTS,       // terminals of the task's own
	MOUNT_LINK,      // a symbolic link to source
	MOUNT_READ_ONLY, // what is at the target, from now on
	MOUNT_HIDE,      // what is at the target is empty
};

struct mount_row {
	enum mount_kind kind;
	const char *source;
	const char *target; // below the root, without a leading slash
	bool is_read_only;
	bool is_file;      // a bind mount's target is a file
	bool is_volume;    // of the node, which may be written to and follow its mounts
	bool follows_node; // what is mounted there on the node later is seen, too
	bool is_optional; // nothing is done where the source, or the target of the latter kinds, is missing
};

// A folder of the node that a task sees in its own.
#define MOUNT_VOLUMES_MOST 32u
struct mount_volume {
	const char *source; // absolute
	const char *target; // below the root, without a leading slash
	bool is_read_only, follows_node;
};

#define MOUNTS_MOST (80u + MOUNT_VOLUMES_MOST)
struct mount_plan {
	char root[700];    // the task's folder, which becomes its root
	char logs[700];    // what the shim writes
	bool follows_node; // one of its rows does
	uint32_t count;
	struct mount_row rows[MOUNTS_MOST];
};

struct mount_ask {
	const char *task_folder, *alloc_folder;
	const char *const *hidden; // paths that the task must not see, NULL-ended
	const struct mount_volume *volumes;
	uint32_t volume_count;
};

// Whether a volume may be mounted there: not in what is mounted in each task, where no folder can be made.
bool mount_target_is_free(const char *target);
// The texts of the ask live as long as the plan.
void mount_plan_make(struct mount_plan *, const struct mount_ask *);
// Makes the folders on which the plan mounts, in the open task folder. 0 or -errno.
int mount_plan_prepare(const struct mount_plan *, int task_folder);
// Child: in mount and process namespaces of its own, makes the task's file system and enters it. -1: done; else the
// number of the row that failed, or plan->count for the root itself, with errno.
int mount_plan_enter(const struct mount_plan *);
