// Paths that jobs say, as paths below their allocation's folder.
#pragma once
#include "state/base/bytes.h"
#include "tools/agent/task/environment.h"

#define INNER_PATH_BYTES 512u

// "local/x" of the task web is "web/local/x", "../alloc/x" is "alloc/x"; a path that the environment gave
// (NOMAD_SECRETS_DIR) is what it is. False: it leads out, or is too long.
bool inner_path(const struct task_folders *, const char *task, const char *path,
	char inner[static INNER_PATH_BYTES]);
// Opens the allocation's folder. The caller closes it; -errno.
int inner_open(const struct task_folders *);
// Appends what a file holds, reached without any link. False and why not.
bool inner_read(int top, const char *inner, size_t bytes_max, struct bytes_writer *, char *message,
	uint32_t message_size);

struct inner_file {
	const char *path; // below the open folder
	mode_t mode;
	int64_t uid, gid; // -1: the agent's
};
// Writes a file whole, or leaves the one that is there. 0, or -errno.
int inner_write(int top, const struct inner_file *, const void *bytes, size_t size);
