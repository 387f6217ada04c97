// What a task writes, in files of a bounded size: PATH.0, PATH.1, …, of which the newest are kept. The agent finds
// where to go on; the shim, which outlives the agent, reads what the task writes from a pipe and appends it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The block `logs` of a task.
struct output_rule {
	uint32_t files_max;      // at least 1
	uint64_t file_bytes_max; // at least 1
	bool is_disabled;        // nothing is kept
};

struct output {
	char path[700]; // without the number
	struct output_rule rule;
	uint32_t oldest, newest; // numbers of files that are there, or 0
	uint64_t size;           // of the newest
	int file;                // the shim's; -1: none is open
};

// Looks which files there are. For the agent, before the fork. 0, or -errno: there may be others, and what a task
// writes would come before them.
int output_find(struct output *, const char *path, const struct output_rule *);
// Makes the first file, so that it is there before the task writes. What cannot be made is made when there is output.
void output_begin(const char *path, const struct output_rule *);
void output_newest_path(const struct output *, char *path, size_t size);

// For the shim. Begins a new file where the newest is full, at an end of line if there is one, and removes the oldest.
// What cannot be written, for instance to a full disk, is lost; the task never waits for it.
void output_write(struct output *, const char *bytes, size_t size);
void output_close(struct output *);
