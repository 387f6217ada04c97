// The files of a task's output: alloc/logs/TASK.stdout.N, of which the oldest are removed and new ones are begun.
#pragma once
#include "tools/agent/service/alloc_files.h"
#include <stdint.h>

struct log_file {
	int64_t index; // N
	int64_t bytes;
};

// All files of an output ("main.stdout"), the oldest first; none where there is no folder of logs. 0, or -errno: nobody
// can tell which there are, and *list has none. The caller frees *list.
int log_files_list(
	const struct alloc_files *, const char *output, struct log_file **list, uint32_t *count);
// The oldest that is newer than this one (-1: the oldest of all); *next -1: there is none, or nobody can tell.
// 0, or -errno as above.
int log_files_after(const struct alloc_files *, const char *output, int64_t index, int64_t *next);
void log_file_path(const char *output, int64_t index, char path[static ALLOC_PATH_BYTES]);

// Where a reader begins.
struct log_place {
	int64_t index, offset; // index -1: there is no file
};
// So many bytes from the beginning of the oldest, or before the end of the newest. Zero before the end is the beginning
// of the newest file, as Nomad has it.
struct log_place log_place_find(
	const struct log_file *list, uint32_t count, int64_t bytes, bool is_from_end);
